"""Normalization layers as functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import dtypes
from .kernels.norm import parameter_type
from .modes import MODE
from .ops.arguments import ints
from .ops.dtype_checks import check_parameters, need_floats
from .ops.memory_formats import dense_in_own_format
from .ops.nn_checks import remembered
from .ops.normalization import batch_norm_of, group_norm_of, layer_norm_of
from .ops.pointwise import add_number
from .ops.reduce import to_dtype_of
from .tape.duals import PlainDual
from .tape.op import TENSOR, public
from .tape.wrappers import is_batched
from .tensor import Tensor

# --- over the batch -------------------------------------------------------------------------------


def _batch_checked(
    x: Tensor, weight: Any, bias: Any, mean: Any, var: Any, training: bool, native: bool
) -> str:
    """What there is to do: 'all', or nothing where there are no 'elements' or no 'channels'."""
    stats = {"running_mean": mean, "running_var": var, "weight": weight, "bias": bias}
    for name in ("running_mean", "running_var"):
        if stats[name] is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    channels = x.shape[1] if x.ndim > 1 else 0
    for name, t in stats.items():
        if t is not None and t.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t.numel()}")
    if not x.numel() and not native:
        return "elements"
    need_floats(x, "batch_norm")
    check_parameters(x, "batch_norm", weight, bias, mean, var)
    return "all" if x.ndim > 1 else "channels"


def _check_batches(input: Tensor, mean: Any, var: Any) -> None:
    """PyTorch's error for running statistics that are no batch in vmap, though the input is."""
    if is_batched(input) and any(t is not None and not is_batched(t) for t in (mean, var)):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which "
            "will be updated in place, were not batched.\nIf you are using a module and do not "
            "need eval mode, please set `track_running_stats` to be False.If you are using a "
            "prebuilt module and do not need eval mode, please see the functorch website for "
            "resources on how to patch your module to work with vmap"
        )


def _batch_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float, native: bool,
) -> Any:  # fmt: skip
    tensors = (input, weight, bias, running_mean, running_var)
    dual = not training and type(input) is PlainDual
    if dual and PlainDual in (type(running_mean), type(running_var)):
        raise RuntimeError(
            "batch_norm is not differentiable wrt running_mean and running_var, they cannot have "
            "forward grad defined"
        )
    if MODE.transforms and training:
        _check_batches(input, running_mean, running_var)
    task = remembered(_batch_checked, tensors, (training, native))
    if task == "all":
        return batch_norm_of(*tensors, training, float(momentum), float(eps))
    out = TENSOR.clone(input)
    if task == "elements":
        out = out if weight is None else TENSOR.mul(out, TENSOR.select(weight, 0, 0))
        out = out if bias is None else TENSOR.add(out, TENSOR.select(bias, 0, 0))
    return out, input.detach(), input.detach()


@public
def native_batch_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The normalized input (N, C, *), and the batch's mean and 1 / sqrt(var + eps), each (C,)."""
    out, mean, invstd = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )
    if not training:
        return out, TENSOR.narrow(mean, 0, 0, 0), TENSOR.narrow(invstd, 0, 0, 0)
    return out, mean, invstd


def _torch_batch_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """The normalized input (N, C, *); running statistics are renewed when ``training``."""
    out: Tensor = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, False
    )[0]
    return out


_torch_batch_norm.__name__ = _torch_batch_norm.__qualname__ = "batch_norm"
public(_torch_batch_norm)


def _check_several(size: Any) -> None:
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def batch_norm(
    input: Tensor,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of (N, C, *) normalized over the batch, or by running statistics.

    When ``training``, running statistics move by ``momentum`` towards the batch's, in place.
    """
    if training:
        _check_several(input.shape)
    return _torch_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def _torch_instance_norm(
    input: Tensor, weight: Any, bias: Any, running_mean: Any, running_var: Any,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Tensor:  # fmt: skip
    """Each channel of each sample of (N, C, *) normalized over its elements."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    shape = tuple(input.shape)
    rows = TENSOR.view(TENSOR.contiguous(input), (1, shape[0] * shape[1], *shape[2:]))

    def tiled(t: Any) -> Any:
        return None if t is None else TENSOR.repeat(t, (shape[0],))

    stats = [tiled(t) for t in (running_mean, running_var)]
    if running_mean is not None:  # PyTorch goes by its dtype for both
        kind = (input if weight is None else weight).dtype
        if running_mean.dtype is not kind:
            stats = [t if t is None else TENSOR.to_dtype(t, kind) for t in stats]
    mean, var = stats
    out = _torch_batch_norm(
        rows, tiled(weight), tiled(bias), mean, var, use_input_stats, momentum, eps
    )
    for own, new in zip((running_mean, running_var), stats, strict=True):
        if own is not None and use_input_stats:
            average = TENSOR.mean(TENSOR.view(new, (shape[0], shape[1])), 0)
            TENSOR.detach(own).copy_(average)
    return TENSOR.view(out, shape)


_torch_instance_norm.__name__ = _torch_instance_norm.__qualname__ = "instance_norm"
public(_torch_instance_norm)


def instance_norm(
    input: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample of (N, C, *) normalized over its elements."""
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"torch.Size({list(input.shape)})"
        )
    return _torch_instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
    )


# --- over features --------------------------------------------------------------------------------


def _check_features(x: Tensor, shape: tuple[int, ...], weight: Any, bias: Any, sep: str) -> None:
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(t.shape)} and normalized_shape = {list(shape)}"
            )
    if x.ndim < len(shape) or tuple(x.shape[x.ndim - len(shape) :]) != shape:
        sizes = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{sep}{sizes}], but "
            f"got input of size{list(x.shape)}"
        )


def _layer_norm(x: Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    count = remembered(_layer_checked, (x, weight, bias), (ints((shape,)),))
    return layer_norm_of(x, weight, bias, count, float(eps))


def _layer_checked(x: Tensor, weight: Any, bias: Any, size: tuple[int, ...]) -> int:
    """The number of normalized dimensions."""
    _check_features(x, size, weight, bias, ", ")
    check_parameters(x, "LayerNormKernelImpl", weight, bias)
    return len(size)


@public
def native_layer_norm(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalized input, and each row's mean and 1 / sqrt(var + eps)."""
    out, mean, rstd = _layer_norm(input, normalized_shape, weight, bias, eps)
    kind = parameter_type(input, weight, bias)
    return out, to_dtype_of(mean, kind), to_dtype_of(rstd, kind)


@public
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """The input normalized over its last dimensions, ``normalized_shape``."""
    out: Tensor = _layer_norm(input, normalized_shape, weight, bias, eps)[0]
    return out


_WIDE = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


@public
def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Tensor:
    """The input over its root mean square of the last dimensions, ``normalized_shape``."""
    shape = ints((normalized_shape,))
    _check_features(input, shape, weight, None, "")
    wide = input
    if input.dtype not in _WIDE:
        if input.dtype.category < dtypes.FLOAT:
            need_floats(input, "rms_norm")
        wide = TENSOR.to_dtype(input, dtypes.float32)
    if eps is None:
        eps = float(np.finfo(wide.dtype.array).eps)
    axes = tuple(range(-len(shape), 0))
    square = TENSOR.pow(wide, 2)
    root = TENSOR.rsqrt(add_number(TENSOR.mean(square, axes, True), eps))
    out = TENSOR.mul(wide, root)
    if weight is not None:
        out = TENSOR.mul(out, weight)
    out = dense_in_own_format(out)
    return out if out.dtype is input.dtype else TENSOR.to_dtype(out, input.dtype)


# --- over groups of channels ----------------------------------------------------------------------


def _group_norm(x: Tensor, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    remembered(_group_checked, (x, weight, bias), (groups,))
    return group_norm_of(dense_in_own_format(x), weight, bias, groups, float(eps))


def _group_checked(x: Tensor, weight: Any, bias: Any, groups: int) -> bool:
    channels = x.shape[1]
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(x.shape)} and num_groups={groups}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and (t.ndim != 1 or t.numel() != channels):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(t.shape)} and input of shape {list(x.shape)}"
            )
    check_parameters(x, "GroupNormKernelImpl", weight, bias)
    return True


@public
def native_group_norm(
    input: Tensor, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalized input, and each group's mean and 1 / sqrt(var + eps), (N, group)."""
    out, mean, rstd = _group_norm(input, group, weight, bias, eps)
    return out, mean, rstd


def _torch_group_norm(
    input: Tensor,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """(N, C, *) normalized over each of ``num_groups`` groups of channels."""
    out: Tensor = _group_norm(input, num_groups, weight, bias, eps)[0]
    return out


_torch_group_norm.__name__ = _torch_group_norm.__qualname__ = "group_norm"
public(_torch_group_norm)


def group_norm(
    input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """(N, C, *) normalized over each of ``num_groups`` groups of channels."""
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    shape = list(input.shape)
    _check_several([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    return _torch_group_norm(input, num_groups, weight, bias, eps)


@public
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """input / (k + alpha · mean of squares over ``size`` neighbouring channels) ** beta."""
    from .nn import avg_pool2d, avg_pool3d, pad  # it is built on pooling

    if input.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got "
            f"{input.ndim} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares: Any = TENSOR.unsqueeze(TENSOR.mul(input, input), 1)
    before, after = size // 2, (size - 1) // 2
    if input.ndim == 3:
        padded = pad(squares, (0, 0, before, after))
        means = TENSOR.squeeze(avg_pool2d(padded, (size, 1), stride=1), 1)
    else:
        shape = tuple(input.shape)
        flat = TENSOR.view(squares, (shape[0], 1, shape[1], shape[2], -1))
        padded = pad(flat, (0, 0, 0, 0, before, after))
        pooled = TENSOR.squeeze(avg_pool3d(padded, (size, 1, 1), stride=1), 1)
        means = TENSOR.view(pooled, shape)
    divisor = TENSOR.pow(TENSOR.add(TENSOR.mul(means, alpha), k), beta)
    return TENSOR.div(input, divisor)
