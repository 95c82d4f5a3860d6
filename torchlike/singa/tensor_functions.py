"""Functions on tensors. None of them is recorded: results have no history."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import torchlike as torch

from .arithmetic import ARITHMETIC, COMPARISONS, divide, number
from .device import Device, get_default_device
from .singa_wrap import Tensor as CTensor
from .singa_wrap import dtype_of
from .tensor_class import Tensor, along, checked, code
from .tensor_class import float16 as float16
from .tensor_class import float32 as float32
from .tensor_class import int32 as int32

__all__ = """
abs add add_column add_row average axpy bernoulli ceil concatenate contiguous copy_data_to_from
copy_from_numpy div einsum eltwise_mult eq exp float16 float32 from_numpy from_raw_tensor
from_raw_tensors gaussian ge gt int32 le log lt mult ones ones_like pow product random repeat
reshape sigmoid sign sizeof softmax sqrt square sub sum sum_columns sum_rows tanh tensordot to_host
to_numpy transpose uniform zeros zeros_like
""".split()

_NARROWER = {"float64": np.float32, "int64": np.int32}


def _like(t: Tensor, core: Any) -> Tensor:
    # SINGA has no tensors without dimensions
    return t._like(core if core.ndim else core.reshape(1, 1))


def _operand(x: Any) -> Any:
    found = x.values if isinstance(x, Tensor) else number(x)
    if found is None:
        raise TypeError(f"operands are Tensors and numbers, not {type(x).__name__}")
    return found


def _into(ret: Tensor | None, result: Tensor) -> Tensor:
    """The result, or ``ret`` with the result written to it; ValueError if the shapes differ."""
    if ret is None:
        return result
    if ret.shape != result.shape:
        raise ValueError(f"a result of shape {result.shape} does not go into {ret.shape}")
    ret.copy_data(result)
    return ret


# --- from and to other things ---


def from_raw_tensor(t: CTensor) -> Tensor:
    """The Tensor of a raw one, in the same memory."""
    return Tensor(data=t, device=t.device())


def from_raw_tensors(tt: Any) -> list[Tensor]:
    """The Tensors of several raw ones."""
    return [from_raw_tensor(t) for t in tt]


def from_numpy(np_array: np.ndarray, dev: Device | None = None) -> Tensor:
    """A copy of an array; float64 becomes float32, and int64 int32."""
    if not isinstance(np_array, np.ndarray):
        raise AssertionError(f"from_numpy takes an ndarray, not {type(np_array).__name__}")
    narrower = _NARROWER.get(np_array.dtype.name)
    array = np_array if narrower is None else np_array.astype(narrower)
    return Tensor(data=checked(array), device=dev)


def to_numpy(t: Tensor) -> np.ndarray:
    """A copy of the values as an array."""
    return np.array(t.values.cpu().numpy(), order="C")


def to_host(t: Tensor) -> Tensor:
    """A copy on the CPU."""
    copy = t.clone()
    copy.to_host()
    return copy


def copy_from_numpy(data: CTensor, np_array: np.ndarray) -> None:
    """Set a raw tensor's elements from an array of as many."""
    data.copy_from(np_array)


def copy_data_to_from(
    dst: Tensor, src: Tensor, size: int, dst_offset: int = 0, src_offset: int = 0
) -> None:
    """Copy ``size`` elements, counted in order from the offsets; ValueError beyond the ends."""
    for name, t, offset in (("dst", dst, dst_offset), ("src", src, src_offset)):
        if min(offset, size) < 0 or offset + size > t.size():
            raise ValueError(f"{name} has {t.size()} elements, not {size} from {offset} on")
    flat, source = dst.values.flatten().clone(), src.values.to(dst.device.place).flatten()
    flat[dst_offset : dst_offset + size] = source[src_offset : src_offset + size].to(flat.dtype)
    dst.writable().copy_(flat.reshape(dst.core.shape))


# --- new ones ---


def _new(shape: Any, device: Device | None) -> Tensor:
    return Tensor(shape, get_default_device() if device is None else device)


def zeros(shape: Any, device: Device | None = None) -> Tensor:
    """Zeros, float32."""
    return _new(shape, device)


def ones(shape: Any, device: Device | None = None) -> Tensor:
    """Ones, float32."""
    return _new(shape, device).set_value(1.0)


def random(shape: Any, device: Device | None = None) -> Tensor:
    """Uniform numbers from [0, 1), float32."""
    return _new(shape, device).uniform(0, 1)


def zeros_like(t: Tensor) -> Tensor:
    """Zeros of the shape, data type and device of another tensor."""
    return t._like(torch.zeros_like(t.values))


def ones_like(t: Tensor) -> Tensor:
    """Ones of the shape, data type and device of another tensor."""
    return t._like(torch.ones_like(t.values))


def product(shape: Any) -> int:
    """The number of elements of a shape."""
    return math.prod(shape)


def sizeof(dtype: Any) -> int:
    """The bytes of one element of a data type."""
    return int(dtype_of(code(dtype)).itemsize)


# --- the same elements in other places ---


def contiguous(tensor: Tensor) -> Tensor:
    """As ``tensor.contiguous()``."""
    return tensor.contiguous()


def reshape(tensor: Tensor, shape: Any) -> Tensor:
    """As ``tensor.reshape(shape)``."""
    return tensor.reshape(shape)


def transpose(t: Tensor, axes: Any = None) -> Tensor:
    """As ``t.transpose(axes)``."""
    return t.transpose(axes)


def repeat(t: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """As ``t.repeat(repeats, axis)``."""
    return t.repeat(repeats, axis)


def concatenate(tensors: Any, axis: int) -> Tensor:
    """Tensors side by side along an axis."""
    tensors = list(tensors)
    if not tensors:
        raise ValueError("concatenate takes at least one tensor")
    return tensors[0]._like(torch.cat([t.values for t in tensors], axis))


# --- element by element ---


def _unary(name: str, compute: Any, text: str) -> Any:
    def function(t: Tensor) -> Tensor:
        return t._like(compute(t.values))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


abs = _unary("abs", torch.abs, "The absolute values.")
exp = _unary("exp", torch.exp, "e to the power of each element.")
ceil = _unary("ceil", torch.ceil, "The next whole numbers upwards.")
log = _unary("log", torch.log, "The natural logarithms.")
sigmoid = _unary("sigmoid", torch.sigmoid, "1 / (1 + exp(-t)).")
sign = _unary("sign", torch.sign, "-1, 0 or 1.")
sqrt = _unary("sqrt", torch.sqrt, "The square roots.")
square = _unary("square", torch.square, "The squares.")
tanh = _unary("tanh", torch.tanh, "The hyperbolic tangents.")


def _binary(name: str, compute: Any, text: str) -> Any:
    def function(lhs: Any, rhs: Any, ret: Tensor | None = None) -> Tensor:
        t = lhs if isinstance(lhs, Tensor) else rhs
        return _into(ret, t._like(compute(_operand(lhs), _operand(rhs))))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text} With ``ret``: written there, and that returned."
    return function


add = _binary("add", ARITHMETIC["add"], "lhs + rhs.")
sub = _binary("sub", ARITHMETIC["sub"], "lhs - rhs.")
eltwise_mult = _binary("eltwise_mult", ARITHMETIC["mul"], "lhs * rhs, element by element.")
div = _binary("div", divide, "lhs / rhs; of integers the integer next to it towards zero.")


def _comparison(name: str, sign: str) -> Any:
    def function(t: Tensor, x: Any) -> Tensor:
        return t._like(COMPARISONS[name](t.values, _operand(x)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"1. where t {sign} x, else 0."
    return function


lt = _comparison("lt", "<")
le = _comparison("le", "<=")
gt = _comparison("gt", ">")
ge = _comparison("ge", ">=")
eq = _comparison("eq", "==")


def pow(t: Tensor, x: Any, out: Tensor | None = None) -> Tensor:
    """t to the power of a number, or of a Tensor's elements."""
    return _into(out, t._like(torch.pow(t.values, _operand(x))))


def axpy(alpha: float, x: Tensor, y: Tensor) -> Tensor:
    """y += alpha x, in place; returns y."""
    y.writable().add_(x.values, alpha=alpha)
    return y


# --- reductions ---


def sum(t: Tensor, axis: Any = None, out: Tensor | None = None) -> Tensor:
    """The sum over an axis or several, which go; over all (the default) of shape (1, 1)."""
    axes = tuple(range(t.ndim())) if axis is None else axis
    return _into(out, _like(t, t.values.sum(axes, dtype=t.core.dtype)))


def average(t: Tensor, axis: int | None = None) -> Any:
    """The mean of all elements, a float; over an axis (of a tensor of more than one) a Tensor."""
    if axis is None or t.ndim() == 1:
        return float(t.values.float().mean())
    return t._like(t.values.float().mean(axis))


def softmax(t: Tensor, out: Tensor | None = None) -> Tensor:
    """The softmax of each row, or of a vector."""
    return _into(out, t._like(torch.softmax(t.values, -1)))


def sum_columns(M: Tensor) -> Tensor:
    """The sum of the columns of (rows, columns): shape (rows, 1)."""
    return M._like(_matrix("sum_columns", M).sum(1, keepdim=True, dtype=M.core.dtype))


def sum_rows(M: Tensor) -> Tensor:
    """The sum of the rows of (rows, columns): shape (1, columns)."""
    return M._like(_matrix("sum_rows", M).sum(0, keepdim=True, dtype=M.core.dtype))


def _matrix(name: str, M: Tensor) -> Any:
    if M.ndim() != 2:
        raise ValueError(f"{name} takes a matrix, not a tensor of shape {M.shape}")
    return M.values


def add_column(alpha: float, v: Tensor, beta: float, M: Tensor) -> Tensor:
    """M = alpha v + beta M, v (rows,) for each column, in place; returns M."""
    return _add_along(alpha, v, beta, M, "column")


def add_row(alpha: float, v: Tensor, beta: float, M: Tensor) -> Tensor:
    """M = alpha v + beta M, v (columns,) for each row, in place; returns M."""
    return _add_along(alpha, v, beta, M, "row")


def _add_along(alpha: float, v: Tensor, beta: float, M: Tensor, where: str) -> Tensor:
    vector = along(v, where, M)
    M.writable().mul_(beta).add_(vector, alpha=alpha)
    return M


# --- products ---


def mult(
    A: Tensor, B: Tensor, C: Tensor | None = None, alpha: float = 1.0, beta: float = 0.0
) -> Tensor:
    """alpha A B, of vectors, matrices and batches; with ``C`` alpha A B + beta C, in place."""
    found = torch.matmul(A.values, B.values)
    result = _like(A, found if alpha == 1 else found * alpha)
    if C is None:
        return result
    return _into(C, result if beta == 0 else result + C * beta)


def einsum(ops: str, *args: Tensor) -> Tensor:
    """The sum of products that ``ops`` says, as NumPy's einsum; a number has shape (1, 1)."""
    return _like(args[0], torch.einsum(ops, *(t.values for t in args)))


def tensordot(A: Tensor, B: Tensor, axes: Any = 2) -> Tensor:
    """Products summed over the last ``axes`` of A and first of B, or over two lists of axes."""
    if not isinstance(axes, int):
        axes = tuple([a] if isinstance(a, int) else list(a) for a in axes)
    return _like(A, torch.tensordot(A.values, B.values, dims=axes))


# --- random numbers ---


def bernoulli(p: float, t: Tensor) -> Tensor:
    """As ``t.bernoulli(p)``."""
    return t.bernoulli(p)


def gaussian(mean: float, std: float, t: Tensor) -> Tensor:
    """As ``t.gaussian(mean, std)``."""
    return t.gaussian(mean, std)


def uniform(low: float, high: float, t: Tensor) -> Tensor:
    """As ``t.uniform(low, high)``."""
    return t.uniform(low, high)
