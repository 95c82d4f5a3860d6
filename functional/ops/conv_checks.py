"""PyTorch's errors for the arguments of convolutions, in the order in which it looks."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .conv_dtypes import by_onednn
from .nn_checks import listed


def check_rank(x: Tensor, n: int, transposed: bool = False) -> None:
    """``conv1d`` to ``conv3d`` take one example or a batch."""
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
            f"conv{'_transpose' * transposed}{n}d, but got input of size: {list(x.shape)}"
        )


def check_groups(weight: Tensor, groups: int) -> None:
    """What comes before the lengths of the settings."""
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


_PLACES = {"stride": 4, "padding": 5, "dilation": 6, "output_padding": 8}


def per_dimension(
    value: Any, n: int, name: str, kernel: int, broadcast: bool = False
) -> tuple[int, ...]:
    """One int for every dimension of the kernel, of the ``n`` that the function has, or one each.

    ``broadcast`` chooses the words that padding "same" has for a wrong length.
    """
    items = listed(value, f"convolution.{name}.{_PLACES[name]}")
    if not isinstance(value, (tuple, list)):
        items *= n
    if len(items) == kernel:
        return items
    if len(items) == 1:
        return items * kernel
    if broadcast:
        raise RuntimeError(f"{name} cannot broadcast to {kernel} dimensions")
    raise RuntimeError(
        f"expected {name} to be a single integer value or a list of {kernel} values to match the "
        f"convolution dimensions, but got {name}={list(items)}"
    )


def check_signs(stride: Any, padding: Any, dilation: Any, output: Any = ()) -> None:
    """Signs of a convolution's settings; PyTorch's kernels look for a dilation of zero."""
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")
    if any(p < 0 for p in output):
        raise RuntimeError("negative output_padding is not supported")
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(d < 0 for d in dilation):
        raise RuntimeError("dilation should be greater than zero")


def batched(x: Tensor, n: int) -> list[int]:
    """The shape of a batch: one example is a batch of one."""
    return [1, *x.shape] if x.ndim == n + 1 else list(x.shape)


def check_same_rank(shape: list[int], weight: Tensor, space: str = " ") -> None:
    """A kernel over other dimensions than the input's; padding "same" leaves out the space."""
    if weight.ndim != len(shape):
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional "
            f"weight{space}{list(weight.shape)}, but got {len(shape)}-dimensional input of size "
            f"{shape} instead"
        )


def check_shapes(
    shape: list[int], weight: Tensor, bias: Any, groups: int, transposed: bool = False
) -> None:
    """Ranks, groups, channels and the bias, of a batch of that shape."""
    check_same_rank(shape, weight)
    wanted = list(weight.shape)
    if wanted[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
            f"but got weight of size {wanted} instead"
        )
    if wanted[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{wanted}] instead"
        )
    given = "transposed=1" if transposed else f"groups={groups}"
    channels = wanted[0] if transposed else wanted[1] * groups
    if shape[1] != channels:
        raise RuntimeError(
            f"Given {given}, weight of size {wanted}, expected input{shape} to have "
            f"{channels} channels, but got {shape[1]} channels instead"
        )
    outputs = wanted[1] * groups if transposed else wanted[0]
    if bias is not None and tuple(bias.shape) != (outputs,):
        given = "Given transposed=1," if transposed else "Given"
        raise RuntimeError(
            f"{given} weight of size {wanted}, expected bias to be 1-dimensional with {outputs} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


def check_kernel_fits(shape: list[int], weight: Tensor, padding: Any, dilation: Any) -> None:
    """The kernel may not be larger than the input, padded on both sides."""
    size = [s + 2 * p for s, p in zip(shape[2:], padding, strict=True)]
    kernel = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(k > s for k, s in zip(kernel, size, strict=True)):
        show = [" x ".join(map(str, v)) for v in (size, kernel)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({show[0]}). Kernel size: ({show[1]}). "
            "Kernel size can't be greater than actual input size"
        )


# --- what PyTorch's kernels look at themselves; they treat lines as images of one row -----------

_SIDES = ("depth", "height", "width")


def _as_image(values: Any, one: int = 1) -> list[int]:
    values = list(values)
    return [one, *values] if len(values) == 1 else values


def _named(name: str, values: list[int], comma: str) -> str:
    sides = _SIDES[-len(values) :]
    return comma.join(f"{name}_{s}: {v}" for s, v in zip(sides, values, strict=True))


def check_kernels(shape: list[int], x: Tensor, weight: Tensor, settings: Any) -> None:
    """Empty inputs, kernels of size zero and a dilation of zero."""
    if 0 in shape[2:] and 0 not in shape[:2]:
        shown = [*shape[:2], *_as_image(shape[2:])]
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {shown}"
        )
    if 0 in shape:
        return
    dilation, transposed = settings[2], settings[3]
    if 0 in dilation or 0 in weight.shape[1:]:
        if by_onednn(x, weight, settings):
            _refuse_by_onednn(weight, dilation, transposed)
        elif transposed:
            _refuse_transposed(weight, settings)
        else:
            _refuse(weight, dilation)


def _refuse_by_onednn(weight: Tensor, dilation: Any, transposed: bool) -> None:
    if 0 in dilation and not transposed:
        raise RuntimeError("non-positive dilation is not supported")
    if 0 in dilation and len(dilation) == 3:
        raise RuntimeError("dimensions are invalid")
    rows = zip(weight.shape[2:], dilation, strict=True)
    if 0 not in weight.shape and all(d or k == 1 for k, d in rows):  # nothing to spread
        return
    kind = "deconvolution" if transposed else "convolution"
    raise RuntimeError(
        f"could not create a primitive descriptor for the {kind} forward propagation primitive. "
        "Run workload with environment variable ONEDNN_VERBOSE=all to get additional diagnostic "
        "information."
    )


def _refuse(weight: Tensor, dilation: Any) -> None:
    kernel, spread = _as_image(weight.shape[2:]), _as_image(dilation)
    if 0 in kernel:
        start = "kernel size should be greater than zero, but got"
        if {*dilation} != {1}:
            raise RuntimeError(f"{start} {kernel}")
        if len(kernel) == 3:
            raise RuntimeError(f"{start}: {' x '.join(map(str, kernel))} (TxHxW)")
        raise RuntimeError(f"{start} {_named('kernel', kernel, ' ')}")
    raise RuntimeError(f"dilation should be greater than zero, but got {spread}")


def _refuse_transposed(weight: Tensor, settings: Any) -> None:
    kernel, spread = _as_image(weight.shape[2:]), _as_image(settings[2])
    shown = [*weight.shape[:2], *kernel]
    if 0 in kernel and len(kernel) == 2:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {_named('kernel', kernel, ' ')}"
        )
    if 0 in spread:
        named = _named("dilation", spread, ", ")
        raise RuntimeError(f"dilation should be greater than zero, but got {named}")
    check_output_padding(settings[4], settings[0], settings[2])
    if len(kernel) == 2:
        raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {shown}")
    raise RuntimeError(
        "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x "
        f"kernel_width) tensor expected for weight, but got: {shown}"
    )


def check_output_size(shape: list[int], x: Tensor, weight: Tensor, settings: Any) -> None:
    """A transposed convolution's padding may not eat up all of its result."""
    stride, padding, dilation, _, output, _ = settings
    rows = zip(shape[2:], weight.shape[2:], stride, padding, dilation, output, strict=True)
    size = [(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in rows]
    if min(size) >= 1 or 0 in shape:
        return
    if by_onednn(x, weight, settings):
        if min(size) < 0:
            raise RuntimeError("could not construct a memory descriptor using a format tag")
        return
    given, found = (" x ".join(map(str, _as_image(v))) for v in (shape[2:], size))
    raise RuntimeError(
        f"Given input size per channel: ({given}). Calculated output size per channel: ({found}). "
        "Output size is too small"
    )


def check_output_padding(output: Any, stride: Any, dilation: Any) -> None:
    """What a transposed convolution adds must be less than what its stride leaves open."""
    rows = zip(output, stride, dilation, strict=True)
    if all(p < s or p < d for p, s, d in rows):
        return
    named = {"output_padding": _as_image(output, 0), "stride": _as_image(stride)}
    named["dilation"] = _as_image(dilation)
    listed = " ".join(_named(name, values, " ") for name, values in named.items())
    raise RuntimeError(
        f"output padding must be smaller than either stride or dilation, but got {listed}"
    )
