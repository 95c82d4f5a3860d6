"""Short-time Fourier transforms."""

from __future__ import annotations

import warnings
from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..kernels.meta import has_numbers
from ..tape.batching import shifted
from ..tape.declare import general, view
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from .fft import fft_c2c, fft_c2r, fft_r2c

# PyTorch cuts frames by as_strided
frames_of = view(
    "frames_of",
    lambda F, g, self_shape, dim, size, step: F.unfold_backward(g, self_shape, dim, size, step),
    statics=("dim", "size", "step"),
    kernel="unfold_dim",
    node="AsStridedBackward0",
    vmap=shifted(lambda F: F.frames_of, 0),
)
# of a result nobody else sees: no view, although its memory is the transform's
frames_last = general(
    "frames_last",
    lambda F, g: F.transpose(g, 1, 2),
    node="TransposeBackward1",
    vmap=lambda F, flags, x: F.transpose(x, 2, 3),
    jvp="linear",
    shape=lambda x: (
        (x.shape[0], x.shape[2], x.shape[1]),
        x.dtype,
        (x.strides[0], x.strides[2], x.strides[1]),
    ),
)


def _kind(x: Tensor) -> str:
    """PyTorch's old name of a tensor's class, which booleans and complex numbers never had."""
    name = x.dtype.legacy
    known = x.dtype.category in (dtypes.INT, dtypes.FLOAT)
    return f"torch.{name}Tensor" if known else f"CPU{name}Type"


def _described(x: Any) -> str:
    return "None" if x is None else f"{_kind(x)}{{{list(x.shape)}}}"


def _shown(flag: Any) -> str:
    return "None" if flag is None else str(int(flag))


def _no_window(rest: str) -> None:
    warnings.warn(f"A window was not provided. A rectangular window will be applied{rest}",
                  UserWarning, stacklevel=4)  # fmt: skip


_PADDINGS = {"reflect": "reflection_pad1d", "replicate": "replication_pad1d"}


def _centred(x: Tensor, pad: int, mode: str) -> Tensor:
    """Padded on both sides, so that frames are centred on their times."""
    n = x.shape[-1]
    if x.dtype is dtypes.bool_ and mode in _PADDINGS:
        raise not_implemented(_PADDINGS[mode], x.dtype)
    if mode == "constant":
        side = TENSOR.zeros((*x.shape[:-1], pad), dtype=x.dtype, device=x.device)
        return TENSOR.cat([side, x, side], -1)
    if mode == "reflect":
        if pad >= n:
            full = [1] * (3 - x.ndim) + list(x.shape)
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({pad}, {pad}) at dimension 2 of input {full}"
            )
        left, right = TENSOR.narrow(x, -1, 1, pad), TENSOR.narrow(x, -1, n - 1 - pad, pad)
        return TENSOR.cat([TENSOR.flip(left, (-1,)), x, TENSOR.flip(right, (-1,))], -1)
    if mode == "replicate":
        left, right = TENSOR.narrow(x, -1, 0, 1), TENSOR.narrow(x, -1, n - 1, 1)
        shape = (*x.shape[:-1], pad)
        return TENSOR.cat([TENSOR.expand(left, shape), x, TENSOR.expand(right, shape)], -1)
    if mode == "circular":
        return TENSOR.cat([TENSOR.narrow(x, -1, n - pad, pad), x, TENSOR.narrow(x, -1, 0, pad)], -1)
    raise NotImplementedError(f"Unrecognised padding mode {mode}")


def _check_stft(x: Tensor, n_fft: int, hop: int, win: int, window: Any, tail: str) -> None:
    def refuse(text: str) -> None:
        raise RuntimeError(
            f"stft({_kind(x)}{list(x.shape)}, n_fft={n_fft}, hop_length={hop}, "
            f"win_length={win}, window={_described(window)}, {tail}) : expected {text}"
        )

    if x.dtype.category < dtypes.FLOAT:
        refuse("a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        refuse("a 1D or 2D tensor")
    size = x.shape[-1]
    if n_fft <= 0 or n_fft > size:
        refuse(f"0 < n_fft < {size}, but got n_fft={win}")
    if hop <= 0:
        refuse(f"hop_length > 0, but got hop_length={hop}")
    if win <= 0 or win > n_fft:
        refuse(f"0 < win_length <= n_fft, but got win_length={win}")
    if window is not None and (window.ndim != 1 or window.shape[0] != win):
        refuse(
            f"a 1D window tensor of size equal to win_length={win}, but got window with size "
            f"{list(window.shape)}"
        )


def _full_window(window: Any, win: int, n_fft: int, x: Tensor) -> Any:
    """The window in the middle of ``n_fft`` points; None if it changes nothing."""
    if win == n_fft:
        return window
    left = (n_fft - win) // 2
    middle = TENSOR.ones((win,), dtype=x.dtype, device=x.device) if window is None else window
    sides = [
        TENSOR.zeros((n,), dtype=middle.dtype, device=x.device) for n in (left, n_fft - win - left)
    ]
    return TENSOR.cat([sides[0], middle, sides[1]], 0)


@public
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Fourier transforms of overlapping windows: (..., frequencies, frames)."""
    x = input
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    complex_in = x.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if window is None:
        _no_window(",which is known to cause spectral leakage. Other windows such as "
                   "torch.hann_window or torch.hamming_window are recommended to reduce spectral "
                   "leakage.To suppress this warning and use a rectangular window, explicitly set "
                   "`window=torch.ones(n_fft, device=<device>)`.")  # fmt: skip
    if not return_complex and not complex_in and return_complex is None:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    as_complex = complex_in if return_complex is None else return_complex
    if center:
        x = _centred(x, n_fft // 2, pad_mode)
    tail = (
        f"normalized={int(normalized)}, onesided={_shown(onesided)}, "
        f"return_complex={_shown(return_complex)}, align_to_window={_shown(align_to_window)}"
    )
    _check_stft(x, n_fft, hop, win, window, tail)
    half = not complex_in if onesided is None else onesided
    if half and complex_in:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    rows = x if x.ndim == 2 else TENSOR.unsqueeze(x, 0)
    rows = rows if rows.is_contiguous() else rows.contiguous()
    z = frames_of(rows, 1, n_fft, hop)
    window = _full_window(window, win, n_fft, x)
    z = z if window is None else z * window
    if z.dtype.array in dtypes.HALF:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {z.dtype.legacy}")
    norm = int(normalized)
    if complex_in:
        z = fft_c2c(z, (2,), norm, True)
    else:
        z = fft_r2c(z, (2,), norm, half)
    z = frames_last(z)
    z = z if x.ndim == 2 else TENSOR.squeeze_product(z, (0,))
    return z if as_complex else TENSOR.view_as_real(z)


def _check_istft(
    x: Tensor, n_fft: int, hop: int, win: int, window: Any, half: bool, tail: str
) -> str:
    """PyTorch's errors; how the call is named in those that come later."""
    call = (
        f"istft(CPU{x.dtype.legacy}Type{list(x.shape)}, n_fft={n_fft}, hop_length={hop}, "
        f"win_length={win}, window={_described(window)}, {tail})"
    )
    if not x.numel():
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    if x.ndim not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 2 or 3 dimensions, but got {x.ndim}")
    if half and n_fft // 2 + 1 != x.shape[-2]:
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match n_fft / 2 + 1 when onesided=True, but got {x.shape[-2]}"
        )
    if not half and n_fft != x.shape[-2]:
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match n_fft when onesided=False, but got {x.shape[-2]}"
        )
    if not 0 < hop <= win:
        raise RuntimeError(f"{call} : expected 0 < hop_length <= win_length")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft")
    if window is not None and (window.ndim != 1 or window.shape[0] != win):
        raise RuntimeError(f"{call} : Invalid window shape. window has to be 1D and length of "
                           "`win_length`")  # fmt: skip
    return call


@public
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose ``stft`` is ``input``, from overlapping windows."""
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    half = input.shape[-2] != n_fft if onesided is None else onesided
    tail = (
        f"center={int(center)}, normalized={int(normalized)}, onesided={_shown(onesided)}, "
        f"length={length}, return_complex={int(return_complex)}"
    )
    if window is None:
        _no_window(".Please provide the same window used by stft to make the inversion lossless."
                   "To suppress this warning and use a rectangular window, explicitly set "
                   "`window=torch.ones(n_fft, device=<device>)`.")  # fmt: skip
    call = _check_istft(input, n_fft, hop, win, window, half, tail)
    if window is not None and window.dtype.is_complex and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    x = input if input.ndim == 3 else TENSOR.unsqueeze(input, 0)
    x = TENSOR.view_as_complex(TENSOR.transpose(TENSOR.view_as_real(x), 1, 2))
    norm = 1 if normalized else 2
    if return_complex:
        frames = fft_c2c(x, (2,), norm, False)
    else:
        kept = x if half else TENSOR.slice_(x, 2, 0, n_fft // 2 + 1, 1)
        frames = fft_c2r(kept, (2,), norm, n_fft)
    weight = window if window is not None else TENSOR.ones((win,), dtype=_real(x.dtype))
    weight = _full_window(weight, win, n_fft, weight)
    y = _overlapped(frames, weight, n_fft, hop, center, length, call)
    return y if input.ndim == 3 else TENSOR.squeeze(y, 0)


def _real(kind: Any) -> Any:
    return dtypes.float32 if kind is dtypes.complex64 else dtypes.float64


def _overlapped(
    frames: Tensor, window: Tensor, n_fft: int, hop: int, center: bool, length: Any, call: str
) -> Tensor:
    """Windowed frames added up, divided by what the windows add up to."""
    count = frames.shape[1]
    full = n_fft + hop * (count - 1)
    windowed = frames * TENSOR.reshape(window, (1, 1, n_fft))
    y = TENSOR.unfold_backward(windowed, (frames.shape[0], full), 1, n_fft, hop)
    squares = TENSOR.expand(TENSOR.reshape(window * window, (1, 1, n_fft)), (1, count, n_fft))
    envelope = TENSOR.unfold_backward(squares, (1, full), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else full - n_fft // 2 if center else full
    y = TENSOR.slice_(y, 1, start, min(end, full), 1)
    envelope = TENSOR.slice_(envelope, 1, start, min(end, full), 1)
    sums = envelope._data
    if has_numbers(sums) and sums.size and not abs(sums).min() > 1e-11:
        raise RuntimeError(f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    y = y / envelope
    if end > full:
        warnings.warn("The length of signal is shorter than the length parameter. Result is being "
                      "padded with zeros in the tail. Please check your center and hop_length "
                      "settings.", UserWarning, stacklevel=3)  # fmt: skip
        zeros = TENSOR.zeros((y.shape[0], end - full), dtype=y.dtype)
        y = TENSOR.cat([y, zeros], 1)
    return y
