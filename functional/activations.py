"""Stateless activations of neural networks, under PyTorch's names and signatures."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .kernels.meta import MetaArray
from .modes import MODE
from .nn import softmax
from .ops import activation as ops
from .ops import create, drawing, gather, pointwise
from .ops.activation import softplus as _softplus
from .ops.arguments import need_tensor, one_dim, wrong_type
from .ops.errorfn import gelu as gelu
from .ops.random_fills import exponential_, uniform_
from .ops.refusals import no_complex_gradient
from .ops.views import reshape
from .tape.op import TENSOR, public
from .tape.out import out_of
from .tape.slow import in_place
from .tape.wrappers import Wrapped, lowered
from .tensor import Tensor, wrap

_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805  # of SELU (G. Klambauer et al., 2017)
_THIRD, _EIGHTH = 1.0 / 3, 1.0 / 8


def _written(name: str, function: Any) -> Any:
    """``function(input, ..., inplace=True)`` as the function ``NAME_``."""

    def twin(input: Tensor, *args: Any, **named: Any) -> Tensor:
        return function(input, *args, **named, inplace=True)

    twin.__name__ = twin.__qualname__ = f"{name}_"
    twin.__doc__ = f"``{name}``, written over ``input``."
    return public(twin)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x, and alpha (exp(x) - 1) below 0."""
    return (ops.elu.in_place if inplace else ops.elu)(input, alpha, 1, 1)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """``elu`` with the scale and alpha that keep mean 0 and variance 1."""
    return (ops.elu.in_place if inplace else ops.elu)(input, _ALPHA, _SCALE, 1)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x, and alpha (exp(x / alpha) - 1) below 0."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return (ops.celu.in_place if inplace else ops.celu)(input, alpha)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (ops.hardtanh.in_place if inplace else ops.hardtanh)(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x limited to [0, 6]."""
    return (ops.hardtanh.in_place if inplace else ops.hardtanh)(input, 0, 6)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above ``threshold``, else ``value``."""
    if isinstance(threshold, str):
        raise wrong_type("threshold.threshold.2", "Number", threshold)
    return (ops.threshold.in_place if inplace else ops.threshold)(input, threshold, value)


def _switch(name: str, form: Any, doc: str) -> Any:
    def function(input: Tensor, inplace: bool = False) -> Tensor:
        return (form.in_place if inplace else form)(input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x sigmoid(x)."""
    if inplace:
        return ops.silu.in_place(input)
    if input.dtype.is_complex:
        _check_silu(input)
    return ops.silu(input)


_check_silu = no_complex_gradient("silu")
mish = _switch("mish", ops.mish, "x tanh(softplus(x)).")
hardswish = _switch("hardswish", ops.hardswish, "x hardsigmoid(x).")
hardsigmoid = _switch("hardsigmoid", ops.hardsigmoid, "(x + 3) / 6, limited to [0, 1].")


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, ``negative_slope`` times x elsewhere."""
    if inplace:
        return in_place(ops.leaky_relu_over.op, (input, negative_slope))
    return pointwise.leaky_relu(input, negative_slope)


@public
def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x, and 0 where |x| <= lambd."""
    if out is not None:
        return out_of(hardshrink, out, input, lambd)
    return ops.hardshrink(input, lambd)


@public
def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x moved towards 0 by ``lambd``, as far as 0."""
    if out is not None:
        return out_of(softshrink, out, input, lambd)
    return ops.softshrink(input, lambd)


@public
def softplus(
    input: Tensor, beta: float = 1, threshold: float = 20, *, out: Tensor | None = None
) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above ``threshold``."""
    if out is not None:
        return out_of(softplus, out, input, beta, threshold)
    return _softplus(input, beta, threshold)


@public
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(sigmoid(x))."""
    if out is not None:
        return out_of(logsigmoid, out, input)
    return ops.log_sigmoid(input)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - pointwise.tanh(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (pointwise.abs(input) + 1)


def softmin(input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``softmax`` of -x."""
    return softmax(-input, dim, _stacklevel, dtype)


@public
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second half."""
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    at = one_dim(input, dim)
    if input.shape[at] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {at} is size {input.shape[at]}"
        )
    return ops.glu_dim(input, at)


@public
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, ``weight`` times x elsewhere; one weight, or one per channel."""
    need_tensor(weight, "prelu.weight.2")
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    n = weight.numel()
    if n != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != n:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{n} and channel size = {channels}."
            )
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.legacy} and "
            f"{weight.dtype.legacy}"
        )
    if weight.ndim != input.ndim:
        shape = (1, n, *(1,) * (input.ndim - 2)) if input.ndim > 1 else (n,) * input.ndim
        weight = reshape(weight, shape if input.ndim else ())
    return ops.prelu_kernel(input, weight)


def _noise(input: Tensor, lower: float, upper: float) -> Tensor:
    """Slopes for the elements that are not positive, drawn in turn; 1 for the others."""
    while isinstance(input, Wrapped):
        input = input._data
    with lowered(0):
        return _plain_noise(input, lower, upper)


def _plain_noise(input: Tensor, lower: float, upper: float) -> Tensor:
    noise = create.ones_like(input.detach())
    x = input.detach()._data
    if type(x) is MetaArray:
        return noise
    below = (x <= 0).reshape(-1)
    draws = create.empty((int(below.sum()),), dtype=dtypes.float64)
    uniform_(draws, lower, upper)
    flat = noise._data.reshape(-1).copy()
    flat[below] = draws._data.astype(flat.dtype)
    return wrap(flat.reshape(x.shape))


def rrelu(
    input: Tensor,
    lower: float = _EIGHTH,
    upper: float = _THIRD,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """``leaky_relu`` with the mean of both bounds as slope; in training with random slopes."""
    if not lower <= upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if MODE.transforms:
        drawing.refuse("rrelu")
    noise = _noise(input, lower, upper) if training else create.empty_like(input.detach())
    form = ops.rrelu_with_noise.in_place if inplace else ops.rrelu_with_noise
    return form(input, noise, lower, upper, training)


elu_, selu_, celu_ = _written("elu", elu), _written("selu", selu), _written("celu", celu)
hardtanh_, threshold_ = _written("hardtanh", hardtanh), _written("threshold", threshold)
rrelu_, leaky_relu_ = _written("rrelu", rrelu), _written("leaky_relu", leaky_relu)
for _function in (celu, selu, rrelu, threshold):
    public(_function)

# --- built of others ------------------------------------------------------------------------------


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Samples of the Gumbel-softmax distribution; one-hot, but with its gradient, if ``hard``."""
    noise = -pointwise.log(exponential_(create.empty_like(logits.detach())))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = TENSOR.max(soft, dim, keepdim=True)[1]
    one_hot = gather.scatter_(create.zeros_like(logits.detach()), dim, index, 1.0)
    return one_hot - soft.detach() + soft
