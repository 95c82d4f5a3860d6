"""Windows of signal processing: ``torch.signal.windows`` and ``torch.NAME_window``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..tape.op import public
from ..tensor import Tensor
from .create import placed
from .layouts import is_strided, options_text

# --- torch.signal.windows -------------------------------------------------------------------------


def _kind(name: str, M: int, dtype: Any, layout: Any) -> Any:
    """The dtype a window is made in; PyTorch's errors."""
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and str(layout) not in ("torch.strided", "torchlike.strided"):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if kind not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {kind}")
    return kind.array


def _line(start: float, end: float, count: int, kind: Any) -> np.ndarray:
    """``count`` points from start to end, as torch.linspace makes them: from both ends."""
    if count == 1:
        return np.array([start], kind)
    step = kind.type((end - start) / (count - 1)) if kind.itemsize == 8 else kind.type(
        (kind.type(end) - kind.type(start)) / kind.type(count - 1)
    )  # fmt: skip
    k = np.arange(count, dtype=kind)
    low = kind.type(start) + step * k
    high = kind.type(end) - step * (kind.type(count - 1) - k)
    return np.where(k < count // 2, low, high)


def _window(name: str, doc: str, shape: Any, **extra: Any) -> Any:
    """A public function; ``shape(M, sym, kind, **extra)`` gives the numbers."""

    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **named: Any,
    ) -> Tensor:
        unknown = set(named) - set(extra)
        if unknown:
            raise TypeError(f"{name}() got an unexpected keyword argument '{unknown.pop()}'")
        kind = _kind(titles.get(name, name), M, dtype, layout)
        if not M:
            return placed(np.empty(0, kind), device, requires_grad)
        values = shape(M, sym, kind, **{**extra, **named})
        return placed(np.asarray(values, kind), device, requires_grad)

    window.__name__ = window.__qualname__ = f"window_{name}"
    window.__doc__ = doc
    public(window)
    return window


# the function that checks, where one is made of another
titles = dict.fromkeys(("hann", "hamming", "nuttall", "general_hamming"), "general_cosine")


def _exponential(M: int, sym: bool, kind: Any, center: Any, tau: float) -> Any:
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
    factor = 1 / tau
    k = _line(-middle * factor, (-middle + (M - 1)) * factor, M, kind)
    return np.exp(-np.abs(k))


def _cosine(M: int, sym: bool, kind: Any) -> Any:
    start, factor = 0.5, math.pi / (M + 1 if not sym and M > 1 else M)
    return np.sin(_line(start * factor, (start + (M - 1)) * factor, M, kind))


def _gaussian(M: int, sym: bool, kind: Any, std: float) -> Any:
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    factor = 1 / (std * math.sqrt(2))
    return np.exp(-(_line(start * factor, (start + (M - 1)) * factor, M, kind) ** 2))


def _kaiser(M: int, sym: bool, kind: Any, beta: float) -> Any:
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M == 1:
        return np.ones(1, kind)
    step = 2.0 * beta / (M if not sym else M - 1)
    k = _line(-beta, min(beta, -beta + (M - 1) * step), M, kind)
    root = np.sqrt(np.maximum(beta * beta - k.astype(np.float64) ** 2, 0))
    return np.i0(root) / np.i0(beta)


def _bartlett(M: int, sym: bool, kind: Any) -> Any:
    start, factor = -1.0, 2.0 / (M if not sym else M - 1) if M > 1 else 1.0
    if M == 1:
        return np.ones(1, kind)
    return 1 - np.abs(_line(start, start + (M - 1) * factor, M, kind))


def _cosines(M: int, sym: bool, kind: Any, a: Any) -> Any:
    """Σ ±a_i cos(i k): the sum that most windows are."""
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if M == 1:
        return np.ones(1, kind)
    factor = 2 * math.pi / (M if not sym else M - 1)
    k = _line(0.0, (M - 1) * factor, M, kind)
    i = np.arange(len(a), dtype=kind)
    weights = np.array([(-1) ** j * w for j, w in enumerate(a)], kind)
    return (weights[:, None] * np.cos(i[:, None] * k)).sum(0)


def _hamming(M: int, sym: bool, kind: Any, alpha: float) -> Any:
    return _cosines(M, sym, kind, (alpha, 1.0 - alpha))


_window("exponential", "A window that decays exponentially from its center.", _exponential,
        center=None, tau=1.0)  # fmt: skip
_window("cosine", "Half a period of a sine.", _cosine)
_window("gaussian", "A Gaussian curve.", _gaussian, std=1.0)
_window("kaiser", "The Kaiser window, a ratio of Bessel functions.", _kaiser, beta=12.0)
_window("bartlett", "A triangle.", _bartlett)
_window("general_cosine", "A weighted sum of cosines.", _cosines, a=None)
_window("general_hamming", "α - (1 - α) cos.", _hamming, alpha=0.54)
_window("hamming", "The Hamming window.", lambda M, sym, kind: _hamming(M, sym, kind, 0.54))
_window("hann", "The Hann window.", lambda M, sym, kind: _hamming(M, sym, kind, 0.5))
_window(
    "blackman",
    "The Blackman window.",
    lambda M, sym, kind: _cosines(M, sym, kind, (0.42, 0.5, 0.08)),
)
_window(
    "nuttall",
    "Nuttall's window of least side lobes with four terms.",
    lambda M, sym, kind: _cosines(M, sym, kind, (0.3635819, 0.4891775, 0.1365995, 0.0106411)),
)

# --- torch.NAME_window ----------------------------------------------------------------------------


def _old(
    name: str, length: int, periodic: bool, dtype: Any, layout: Any, device: Any, grad: bool,
    values: Any,
) -> Tensor:  # fmt: skip
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    if not is_strided(layout, f"{name}_window"):
        chosen = dtype is not None or name != "hann"
        raise RuntimeError(
            f"{name}_window is not implemented for sparse types, got: "
            f"{options_text(kind, layout, chosen)}"
        )
    if not kind.is_floating_point:
        title = dtypes.c_name(kind)
        raise RuntimeError(
            f"{name}_window expects floating point dtypes, got: TensorOptions(dtype={title}, "
            "device=cpu, layout=Strided (default), requires_grad=false (default), "
            "pinned_memory=false, memory_format=(nullopt))"
        )
    if length < 0:
        raise RuntimeError(
            f"{name}_window requires non-negative window_length, got window_length={length}"
        )
    if length < 2:
        return placed(np.ones(length, kind.array), device, grad)
    wide = np.dtype(np.float32) if kind.array in dtypes.HALF else kind.array
    count = length + 1 if periodic else length
    found = values(np.arange(count, dtype=wide), count, wide)[:length]
    return placed(np.asarray(found, wide).astype(kind.array), device, grad)


@public
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
    dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """α - β cos(2πn / (N - 1))."""
    form = lambda k, n, kind: alpha - beta * np.cos(k * kind.type(2 * math.pi / (n - 1)))
    return _old("hamming", window_length, periodic, dtype, layout, device, requires_grad, form)


@public
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """(1 - cos(2πn / (N - 1))) / 2."""
    form = lambda k, n, kind: 0.5 - 0.5 * np.cos(k * kind.type(2 * math.pi / (n - 1)))
    return _old("hann", window_length, periodic, dtype, layout, device, requires_grad, form)


@public
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2πn / (N - 1)) + 0.08 cos(4πn / (N - 1))."""

    def form(k: Any, n: int, kind: Any) -> Any:
        angle = k * kind.type(math.pi / (n - 1))
        return np.cos(4 * angle) * kind.type(0.08) - np.cos(2 * angle) * kind.type(0.5) + kind.type(
            0.42
        )  # fmt: skip

    return _old("blackman", window_length, periodic, dtype, layout, device, requires_grad, form)


@public
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A triangle."""
    form = lambda k, n, kind: 1 - np.abs(k * kind.type(2 / (n - 1)) - 1)
    return _old("bartlett", window_length, periodic, dtype, layout, device, requires_grad, form)


@public
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None,
    layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """I₀(β √(1 - (2n / (N - 1) - 1)²)) / I₀(β)."""

    def form(k: Any, n: int, kind: Any) -> Any:
        x = k.astype(np.float64) * (2 / (n - 1)) - 1
        return np.i0(beta * np.sqrt(np.maximum(1 - x * x, 0))) / np.i0(beta)

    return _old("kaiser", window_length, periodic, dtype, layout, device, requires_grad, form)
