"""Random tensors and in-place fills, bit for bit PyTorch's CPU streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices, dtypes
from ..kernels import meta
from ..kernels import random as kernels
from ..kernels.meta import MetaArray
from ..random import Generator, default_generator
from ..tape.op import Op, public
from ..tape.slow import record
from ..tape.views import bump, check_in_place, requires_grad
from ..tensor import Tensor, wrap
from .arguments import common_shape, ints, wrong_type
from .create import check_sizes, like, sizes


def _generator(generator: Any) -> Generator:
    return default_generator if generator is None else generator


def _sample(draw: Any, shape: tuple[int, ...], dtype: Any, device: Any, grad: bool) -> Tensor:
    """A tensor whose array ``draw(numpy_dtype)`` makes; nothing is drawn on the meta device."""
    d = dtype or dtypes.get_default_dtype()
    if devices.resolve(device).type == "meta":
        t = wrap(meta.empty(shape, d.array))
    else:
        t = wrap(draw(d.array))
    return t.requires_grad_() if grad else t


def _random_function(name: str, kernel: Any, doc: str) -> Any:
    def make(
        *size: Any,
        generator: Any = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        **named: Any,
    ) -> Tensor:
        shape = sizes(name, (named["size"],) if "size" in named else size)
        check_sizes(shape)
        g = _generator(generator)
        t = _sample(lambda d: kernel(g, shape, d), shape, dtype, device, requires_grad)
        if out is None:
            return t
        from ..tape.slow import write_out

        return write_out(t, out)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return public(make)


rand = _random_function("rand", kernels.uniform, "Uniform numbers in [0, 1).")
randn = _random_function("randn", kernels.normal, "Standard normal numbers.")


def _random_like(name: str, kernel: Any, doc: str) -> Any:
    def make(
        input: Tensor,
        *,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        generator: Any = None,
        **other: Any,
    ) -> Tensor:
        t = like(None, input, dtype=dtype, device=device)
        if type(t._data) is not MetaArray:
            kernel(_generator(generator), t._data)
        return t.requires_grad_() if requires_grad else t

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return public(make)


rand_like = _random_like("rand_like", kernels.uniform_, "`rand` with the shape of ``input``.")
randn_like = _random_like("randn_like", kernels.normal_, "`randn` with the shape of ``input``.")


@public
def randint(
    *args: Any,
    generator: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """Integers from ``low`` (0) up to but not including ``high``."""
    values = list(args)
    size = named.pop("size", None) if "size" in named else values.pop()
    if not isinstance(size, (tuple, list)):
        raise wrong_type(f"randint.size.{len(args)}", "tuple of ints", size)
    low = named.get("low", values[0] if len(values) > 1 else 0)
    high: Any = named.get("high", values[-1] if values else None)
    shape, g = ints((size,)), _generator(generator)
    return _sample(
        lambda d: kernels.randint(g, int(low), int(high), shape, d),
        shape,
        dtype or dtypes.int64,
        device,
        requires_grad,
    )


@public
def randperm(
    n: int,
    *,
    generator: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **other: Any,
) -> Tensor:
    """A random permutation of 0 … n - 1."""
    g = _generator(generator)
    return _sample(
        lambda d: kernels.randperm(g, n, d), (n,), dtype or dtypes.int64, device, requires_grad
    )


def _drawn(name: str, node: str, *inputs: str) -> Any:
    """Numbers drawn with tensors as parameters are recorded, with gradient 0."""
    rules = (lambda F, g: F.zeros_like(g),) * len(inputs)
    op = Op(name, _no_kernel, inputs=inputs, rules=rules, node=node)

    def finish(data: Any, *args: Tensor) -> Tensor:
        t = wrap(data)
        record(op, args, [t])
        return t

    return finish


def _no_kernel(*arrays: Any) -> Any:
    raise NotImplementedError("drawing random numbers inside a transform")


_drawn_mean = _drawn("normal_mean", "NormalBackward1", "mean")
_drawn_std = _drawn("normal_std", "NormalBackward2", "std")
_drawn_normal = _drawn("normal_both", "NormalBackward3", "mean", "std")
_drawn_bernoulli = _drawn("bernoulli_of", "BernoulliBackward0", "self")


@public
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, **kw: Any) -> Any:
    """Normal numbers of given means and standard deviations, each a number or a tensor."""
    g = _generator(generator)
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        m, s = (x._data if isinstance(x, Tensor) else x for x in (mean, std))
        kind = mean if isinstance(mean, Tensor) else std
        if type(kind._data) is MetaArray:
            shape = common_shape(*(x for x in (mean, std) if isinstance(x, Tensor)))
            return wrap(meta.empty(shape, kind._data.dtype))
        data = kernels.normal_tensors(g, m, s, kind._data.dtype)
        if isinstance(mean, Tensor) and isinstance(std, Tensor):
            return _drawn_normal(data, mean, std)
        return _drawn_mean(data, mean) if kind is mean else _drawn_std(data, std)
    shape = ints((size,))
    return _sample(
        lambda d: kernels.normal(g, shape, d, float(mean), float(std)),
        shape,
        kw.get("dtype"),
        kw.get("device"),
        kw.get("requires_grad", False),
    )


@public
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """Ones with the probabilities ``input`` (or ``p``, in the shape of ``input``)."""
    g = _generator(generator)
    x = input._data
    if type(x) is MetaArray:
        return like(None, input)
    if p is not None and not isinstance(p, Tensor):
        return wrap(kernels.bernoulli(g, float(p), x.shape, x.dtype))
    chances = x if p is None else p._data
    out = np.empty_like(x)
    kernels.bernoulli_tensor_(g, out, chances)
    return _drawn_bernoulli(out, input)


@public
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Indices drawn with the (unnormalised) probabilities of each row."""
    if type(input._data) is MetaArray:
        return wrap(meta.empty((*input.shape[:-1], num_samples), np.int64))
    g = _generator(generator)
    return wrap(kernels.multinomial(g, input._data, num_samples, replacement))


# --- in-place fills -------------------------------------------------------------------------------


def _fill(self: Tensor, draw: Any) -> Tensor:
    check_in_place(self, requires_grad(self))
    if type(self._data) is not MetaArray:
        draw(self._data)
    bump(self)
    return self


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **kw: Any
) -> Tensor:
    """Fill with uniform numbers in [from, to)."""
    low, g = kw.get("from", from_), _generator(generator)
    return _fill(self, lambda x: kernels.uniform_(g, x, float(low), float(to)))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    g = _generator(generator)
    return _fill(self, lambda x: kernels.normal_(g, x, float(mean), float(std)))


def random_(self: Tensor, *bounds: Any, generator: Any = None, **kw: Any) -> Tensor:
    """Fill with integers: of the whole range of the dtype, below ``to``, or in [from, to)."""
    g = _generator(generator)
    values = [b for b in (*bounds, kw.get("from"), kw.get("to")) if b is not None]
    if not values:
        return _fill(self, lambda x: kernels.random_(g, x))
    low, high = (0, values[0]) if len(values) == 1 else values
    return _fill(self, lambda x: kernels.randint_(g, x, int(low), int(high)))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones with probability ``p``, a number or a tensor."""
    g = _generator(generator)
    if isinstance(p, Tensor):
        return _fill(self, lambda x: kernels.bernoulli_tensor_(g, x, p._data))
    return _fill(self, lambda x: kernels.bernoulli_(g, x, float(p)))


def _one_parameter(name: str, first: Any, second: Any, doc: str) -> Any:
    def fill(self: Tensor, a: Any = first, b: Any = second, *, generator: Any = None) -> Tensor:
        kernel = getattr(kernels, name)
        args = [float(v) for v in (a, b) if v is not None]
        return _fill(self, lambda x: kernel(_generator(generator), x, *args))

    fill.__name__ = fill.__qualname__ = name
    fill.__doc__ = doc
    return fill


exponential_ = _one_parameter("exponential_", 1.0, None, "Fill with exponential numbers.")
geometric_ = _one_parameter("geometric_", None, None, "Fill with geometric numbers.")
cauchy_ = _one_parameter("cauchy_", 0.0, 1.0, "Fill with Cauchy numbers.")
log_normal_ = _one_parameter("log_normal_", 1.0, 2.0, "Fill with log-normal numbers.")


# --- a Generator's state as a tensor --------------------------------------------------------------


def get_state(self: Generator) -> Tensor:
    """The whole state: a uint8 tensor of shape (5056,), in PyTorch's layout."""
    return wrap(self.state_bytes())


def set_state(self: Generator, new_state: Tensor) -> None:
    """Continue from a state that ``get_state`` or PyTorch made."""
    if not isinstance(new_state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
    self.load_state_bytes(new_state._data)


# Generator lies on a lower floor and knows no tensors
Generator.get_state, Generator.set_state = get_state, set_state  # type: ignore[attr-defined]
