"""Random tensors and in-place fills, bit for bit PyTorch's CPU streams."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..errors import not_implemented
from ..kernels import meta
from ..kernels import random as kernels
from ..kernels.binomial import binomial as binomial_kernel
from ..kernels.meta import MetaArray
from ..kernels.poisson import poisson as poisson_kernel
from ..modes import MODE
from ..random import Generator, default_generator
from ..tape import duals
from ..tape.duals import FORWARD
from ..tape.foreign import on
from ..tape.op import TENSOR, Op, public
from ..tape.operands import no_form
from ..tape.out import out_of
from ..tape.slow import record
from ..tape.sparse import is_sparse, refused
from ..tape.wrappers import born
from ..tensor import Tensor, wrap
from . import drawing
from .arguments import common_shape, ints, need_tensor, wrong_type
from .create import as_dtype, check_sizes, like, recorded, sizes
from .given import given
from .layouts import need_strided
from .pointwise import no_derivative


def _source(generator: Any, device: devices.device) -> tuple[Any, Generator]:
    """The kernels and the generator for numbers on a device."""
    if generator is not None and generator.device.type != device.type != "meta":
        raise RuntimeError(
            f"Expected a '{device.type}' device type for generator but found "
            f"'{generator.device.type}'"
        )
    if device.type != "cuda":
        return kernels, default_generator if generator is None else generator
    from .. import gpu_random
    from ..kernels.cupy import random as gpu_kernels

    return gpu_kernels, gpu_random.default(device.index or 0) if generator is None else generator


def sample(
    draw: Any, generator: Any, shape: tuple[int, ...], dtype: Any, device: Any, grad: bool
) -> Tensor:
    """A tensor whose array ``draw(kernels, generator, numpy_dtype)`` makes, but for meta ones."""
    d, where = dtype or dtypes.get_default_dtype(), devices.resolve(device)
    if where.type == "cpu":
        t = wrap(draw(*_source(generator, where), d.array))
    elif where.type == "meta":
        t = wrap(meta.empty(shape, d.array))
    else:
        with on(where):
            t = wrap(draw(*_source(generator, where), d.array))
    return recorded(t, grad)


def _random_function(name: str, kernel: str, doc: str) -> Any:
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
        if named and (size or named.keys() != {"size"}):
            raise no_form(name, size, named)
        shape = sizes(name, (named["size"],) if "size" in named else size)
        if MODE.transforms and (batch := drawing.vmapped(out)):
            options = {"generator": generator, "dtype": dtype, "device": device}
            t = drawing.of_shape(lambda s: made(*s, **options), shape, batch)
            return born(recorded(t, requires_grad))
        check_sizes(shape)
        dtype = as_dtype(dtype, name)
        if layout is not None:
            need_strided(layout, name)
        draw = lambda k, g, d: getattr(k, kernel)(g, shape, d)
        kind = out.dtype if out is not None and dtype is None else dtype
        t = sample(draw, generator, shape, kind, device, requires_grad)
        t = given(t, out, dtype, name)
        return born(t) if MODE.transforms and out is None else t

    made = make
    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return public(make)


def into(kernel: str, generator: Any, t: Tensor, *args: Any) -> None:
    """Fill the memory of a tensor."""
    if type(t._data) is np.ndarray:
        library, g = _source(generator, devices.cpu)
        getattr(library, kernel)(g, t._data, *args)
        return
    if is_sparse(t):
        raise refused(kernel)
    where = t.device
    library, g = _source(generator, where)
    with on(where):
        getattr(library, kernel)(g, t._data, *args)


rand = _random_function("rand", "uniform", "Uniform numbers in [0, 1).")
randn = _random_function("randn", "normal", "Standard normal numbers.")


def _random_like(name: str, kernel: str, doc: str) -> Any:
    def make(
        input: Tensor,
        *,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        generator: Any = None,
        layout: Any = None,
        memory_format: Any = None,
        pin_memory: bool = False,
    ) -> Tensor:
        need_tensor(input, f"{name}.input.1")
        if layout is not None:
            need_strided(layout, name.removesuffix("_like"))
        kind = as_dtype(dtype, name)
        if MODE.transforms and drawing.concerns(input):
            options = {"dtype": dtype, "device": device, "generator": generator}
            t = drawing.like(lambda x: made(x, **options), input)
            return born(recorded(t, requires_grad))
        t = like(None, input, dtype=kind, device=device, memory_format=memory_format)
        if type(t._data) is not MetaArray:
            into(kernel, generator, t)
        t = recorded(t, requires_grad)
        return born(t) if MODE.transforms else t

    made = make
    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return public(make)


rand_like = _random_like("rand_like", "uniform_", "`rand` with the shape of ``input``.")
randn_like = _random_like("randn_like", "normal_", "`randn` with the shape of ``input``.")


def _drawn(name: str, node: str, *inputs: str, rule: Any = lambda F, g: F.zeros_like(g)) -> Any:
    """Numbers drawn with tensors as parameters are recorded, with gradient 0 or by ``rule``.

    So are their tangents.
    """
    rules = (rule,) * len(inputs)
    op = Op(name, _no_kernel, inputs=inputs, rules=rules, node=node, jvp="elementwise")

    def finish(data: Any, *args: Tensor) -> Tensor:
        t = wrap(data)
        record(op, args, [t])
        return duals.extend(op, args, t) if FORWARD.level else t

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
    out = kw.pop("out", None)
    if size is not None:
        mean, std = (x.item() if isinstance(x, Tensor) and not x.ndim else x for x in (mean, std))
    _check_normal(mean, std, size, kw)
    if MODE.transforms and drawing.concerns(mean, std, out=out):
        return _normal_in_transforms(mean, std, size, generator, kw)
    if out is not None and size is None:
        return _normal_into(out, mean, std, generator)
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        return _normal_of_tensors(mean, std, generator)
    shape = ints((size,))
    dtype = as_dtype(kw.get("dtype"), "normal")
    t = sample(
        lambda k, g, d: k.normal(g, shape, d, float(mean), float(std)),
        generator,
        shape,
        out.dtype if out is not None and dtype is None else dtype,
        kw.get("device"),
        kw.get("requires_grad", False),
    )
    return given(t, out, dtype, "normal")


def _normal_in_transforms(mean: Any, std: Any, size: Any, generator: Any, kw: Any) -> Any:
    if size is None:
        return drawing.of_tensors(functools.partial(normal, generator=generator), mean, std)
    batch = drawing.vmapped()
    assert batch is not None
    draw = lambda s: normal(mean, std, s, generator=generator, **kw)
    return born(drawing.of_shape(draw, ints((size,)), batch))


_NORMAL = frozenset("dtype layout device pin_memory requires_grad".split())


def _check_normal(mean: Any, std: Any, size: Any, kw: dict[str, Any]) -> None:
    """PyTorch's errors for arguments that are no form of ``normal``."""
    tensors = isinstance(mean, Tensor) or isinstance(std, Tensor)
    fits = isinstance(size, (tuple, list)) and kw.keys() <= _NORMAL
    if tensors != (size is None) or not (tensors or fits):
        given = (mean, std) if size is None else (mean, std, size)
        raise no_form("normal", given, kw)
    if isinstance(std, Tensor) and std.dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")


def _normal_into(out: Tensor, mean: Any, std: Any, generator: Any) -> Tensor:
    """Numbers drawn in the dtype of ``out``, which has their shape or is empty."""
    if out.dtype.category != dtypes.FLOAT:
        raise not_implemented("normal_kernel_cpu", out.dtype)
    shape = common_shape(*(x for x in (mean, std) if isinstance(x, Tensor)))
    if out.numel():
        common_shape(wrap(np.broadcast_to(np.float32(0), shape)), out)
    draw = functools.partial(normal, generator=generator)
    return out_of(draw, out, mean, std, name="normal")


def _normal_of_tensors(mean: Any, std: Any, generator: Any) -> Tensor:
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    shape = common_shape(*tensors)
    m, s = (x._data if isinstance(x, Tensor) else x for x in (mean, std))
    kind = tensors[0]
    if type(kind._data) is MetaArray:
        return wrap(meta.empty(shape, kind._data.dtype))
    library, g = _source(generator, kind.device)
    with on(kind.device):
        data = library.normal_tensors(g, m, s, kind._data.dtype)
    if len(tensors) == 2:
        return _drawn_normal(data, mean, std)
    return _drawn_mean(data, mean) if kind is mean else _drawn_std(data, std)


@public
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None, out: Any = None) -> Tensor:
    """Ones with the probabilities ``input`` (or ``p``, in the shape of ``input``)."""
    if out is not None:
        drawing.vmapped(out)
        draw = functools.partial(bernoulli, generator=generator)
        return out_of(draw, out, input, p, name="bernoulli")
    if MODE.transforms and drawing.concerns(input, p):
        return drawing.of_tensors(functools.partial(bernoulli, generator=generator), input, p)
    x = input._data
    made = like(None, input, memory_format="torch.contiguous_format")
    if type(x) is MetaArray:
        return made
    if p is not None and not isinstance(p, Tensor):
        library, g = _source(generator, input.device)
        with on(input.device):
            return wrap(library.bernoulli(g, float(p), x.shape, x.dtype))
    into("bernoulli_tensor_", generator, made, x if p is None else p._data)
    return _drawn_bernoulli(made._data, input)


_drawn_poisson = _drawn("poisson_of", "PoissonBackward0", "self")


@public
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson numbers of the rates ``input``."""
    if MODE.transforms and drawing.concerns(input):
        return drawing.of_tensors(functools.partial(poisson, generator=generator), input)
    x = input._data
    if type(x) is MetaArray:
        return like(None, input)
    if input.dtype.category != dtypes.FLOAT:
        raise not_implemented("poisson_cpu", input.dtype)
    if (x < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    library, source = _source(generator, input.device)
    with on(input.device):
        draw = poisson_kernel if library is kernels else library.poisson
        return _drawn_poisson(draw(source, x), input)


_drawn_binomial = _drawn(
    "binomial_of", "NotImplemented", "count", "prob", rule=no_derivative("binomial")
)


@public
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """Successes in ``count`` trials of probability ``prob``; the shapes broadcast."""
    for i, (name, t) in enumerate((("count", count), ("prob", prob)), 1):
        if not isinstance(t, Tensor):
            raise wrong_type(f"binomial.{name}.{i}", "Tensor", t)
        if t.dtype.category != dtypes.FLOAT:
            kind = t.dtype.legacy
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {kind}"
            )
    if count.dtype is not prob.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.legacy} but expected {count.dtype.legacy}")
    if MODE.transforms and drawing.concerns(count, prob):
        return drawing.of_tensors(functools.partial(binomial, generator=generator), count, prob)
    shape = common_shape(count, prob)
    if type(count._data) is MetaArray:
        return wrap(meta.empty(shape, count.dtype.array))
    library, source = _source(generator, count.device)
    with on(count.device):
        draw = binomial_kernel if library is kernels else library.binomial
        return _drawn_binomial(draw(source, count._data, prob._data), count, prob)


@public
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None,
    out: Any = None,
) -> Tensor:  # fmt: skip
    """Indices drawn with the (unnormalised) probabilities of each row."""
    if out is not None:
        drawing.vmapped(out)
        if out.dtype is not dtypes.int64:
            raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.legacy}")
        draw = functools.partial(multinomial, generator=generator)
        return out_of(draw, out, input, num_samples, replacement, name="multinomial")
    if MODE.transforms and drawing.concerns(input):
        rest = (num_samples, replacement)
        return drawing.of_tensors(lambda x: _rows_of_rows(x, *rest, generator), input)
    if type(input._data) is MetaArray:
        return wrap(meta.empty((*input.shape[:-1], num_samples), np.int64))
    library, g = _source(generator, input.device)
    with on(input.device):
        return wrap(library.multinomial(g, input._data, num_samples, replacement))


def _rows_of_rows(x: Tensor, count: int, replacement: bool, generator: Any) -> Tensor:
    """`multinomial` of rows in up to two dimensions."""
    lead = tuple(x.shape[:-1])
    rows = TENSOR.reshape(x, (-1, x.shape[-1])) if len(lead) > 1 else x
    found = multinomial(rows, count, replacement, generator=generator)
    return TENSOR.reshape(found, (*lead, count))


# --- a Generator's state as a tensor --------------------------------------------------------------


def get_state(self: Generator) -> Tensor:
    """The whole state: a uint8 tensor of shape (5056,), in PyTorch's layout."""
    return wrap(self.state_bytes())


def set_state(self: Generator, new_state: Tensor) -> Generator:
    """Continue from a state that ``get_state`` or PyTorch made; returns the generator."""
    if not isinstance(new_state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
    self.load_state_bytes(new_state._data)
    return self


# Generator lies on a lower floor and knows no tensors
Generator.get_state, Generator.set_state = get_state, set_state  # type: ignore[attr-defined]
