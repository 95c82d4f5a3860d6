"""User-written operations (``autograd.Function``) inside transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import pytree
from ..modes import MODE
from ..tensor import NO_EDGE, Tensor
from . import batching, function_duals
from .levels import below, constant, recorded, with_tangent, wrapped_in
from .wrappers import Batched, Dual, Taped, entered, lowered

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
_NEEDS_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
    f"...), it must override the setup_context staticmethod. {_MORE}"
)
_NO_RULE = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and implement "
    f"the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
)
_TWO_RULES = (
    "You tried to vmap over {}, but it has both generate_vmap_rule=True and an overridden vmap "
    "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod "
    f"to avoid ambiguity. {_MORE}"
)
_TWO_RETURNS = (
    "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
    "structure compatible with the output. Got {} instead"
)
_OTHER_DIMS = (
    "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
    "Expected out_dims={} to be compatible with the structure of `output`. out_dims has structure "
    "{} but output has structure {}. " + _MORE
)


class VmapInfo(NamedTuple):
    """What a Function's ``vmap`` is told: the size of the batch, and vmap's ``randomness``."""

    batch_size: int
    randomness: str


def process_function(cls: Any, args: tuple[Any, ...]) -> Any:
    """A user-written operation at the highest level among its arguments."""
    if cls.setup_context is None:
        raise RuntimeError(_NEEDS_SETUP)
    top = max(wrapped_in(args), key=lambda a: a._level)
    level = top._level
    if type(top) is Batched:
        return _batched(cls, args, level)
    values = tuple(below(type(top), level, a) for a in args)
    with lowered(level):
        result = cls.apply(*values)
    finish = _taped if type(top) is Taped else _dual
    return finish(cls, args, values, result, level)


def _each(result: Any, change: Callable[[int, Any], Any]) -> Any:
    """``change(number, output)`` for a Function's one or several outputs."""
    if type(result) in (tuple, list):
        return type(result)(change(nr, z) for nr, z in enumerate(result))
    return change(0, result)


def _written(ctx: Any, args: Any, values: Any, out: Any) -> Any:
    """The argument, seen at this level, that is marked as dirty and returned as ``out``."""
    if any(out is d for d in ctx.dirty_tensors):
        return next((a for a, v in zip(args, values, strict=True) if v is out), None)
    return None


def _taped(cls: Any, args: Any, values: Any, result: Any, level: float) -> Any:
    edges = [
        a._edge if type(a) is Taped and a._level == level else NO_EDGE
        for a in args
        if isinstance(a, Tensor)
    ]
    ctx = cls.new_context(args, edges)
    cls.setup_context(ctx, values, result)
    outs = list(result) if type(result) in (tuple, list) else [result]
    known = [(tuple(o.shape), o.dtype) if isinstance(o, Tensor) else None for o in outs]
    ctx.outputs_info = known
    shapes = [() if info is None else info[0] for info in known]
    types = [None if info is None else info[1].array for info in known]
    ctx.shape, ctx.dtype = (shapes[0], types[0]) if len(outs) == 1 else (shapes, types)
    recording = MODE.grad and any(edge is not NO_EDGE for edge in edges)

    def wrap(nr: int, z: Any) -> Any:
        fixed = not isinstance(z, Tensor) or any(z is n for n in ctx.non_differentiable)
        if fixed or not recording:
            return constant(Taped, level, z)
        target = _written(ctx, args, values, z)
        if target is None:
            return recorded(level, z, ctx, nr)
        target._data, target._edge = z, (ctx, nr)
        return target

    return _each(result, wrap)


def _dual(cls: Any, args: Any, values: Any, result: Any, level: float) -> Any:
    if not hasattr(cls, "jvp"):
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )
    ctx = cls.new_context(args, [NO_EDGE for a in args if isinstance(a, Tensor)])
    cls.setup_context(ctx, values, result)
    tangents = [a.tangent if type(a) is Dual and a._level == level else None for a in args]
    with lowered(level):
        found = function_duals.call_jvp(cls, ctx, values, tangents)
    parts = list(found) if type(found) in (tuple, list) else [found]

    def wrap(nr: int, z: Any) -> Any:
        if parts[nr] is None:
            return constant(Dual, level, z)
        target = _written(ctx, args, values, z)
        if target is None:
            return with_tangent(level, z, parts[nr])
        target._data, target.tangent = z, parts[nr]
        return target

    return _each(result, wrap)


# --- vmap -----------------------------------------------------------------------------------------


def _batched(cls: Any, args: Any, level: float) -> Any:
    inside = [t for t in MODE.transforms if t.level == level]
    values = [below(Batched, level, a) for a in args]
    is_batched = lambda a: type(a) is Batched and a._level == level
    size = next(a._data.shape[0] for a in wrapped_in(args) if is_batched(a))
    own = hasattr(cls, "vmap")
    if own and cls.generate_vmap_rule:
        raise RuntimeError(_TWO_RULES.format(cls.__name__))
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(_NO_RULE.format(cls.__name__))
    with lowered(level):
        if own:
            dims = pytree.map_tree(lambda a: 0 if is_batched(a) else None, tuple(args))
            info = VmapInfo(size, inside[0].randomness if inside else "error")
            return _with_dims(cls.vmap(info, dims, *values), level)
        rows = [cls.apply(*[_row(a, i, level) for a in args]) for i in range(size)]
        found = batching.stack_rows(rows)
    return _each(found, lambda nr, z: constant(Batched, level, z))


def _row(a: Any, i: int, level: float) -> Any:
    if type(a) in (tuple, list):
        return type(a)(_row(x, i, level) for x in a)
    return a._data[i] if type(a) is Batched and a._level == level else a


def _with_dims(returned: Any, level: float) -> Any:
    """The outputs of a Function's own ``vmap``; RuntimeError if it gives no dimensions that fit."""
    if type(returned) is not tuple or len(returned) != 2:
        kind = f"{len(returned)} returns" if type(returned) is tuple else f"a {type(returned)}"
        raise RuntimeError(_TWO_RETURNS.format(kind))
    result, out_dims = returned
    dims = pytree.prefix_of(out_dims, result)
    if dims is None:
        texts = (pytree.described(out_dims), pytree.described(result))
        raise RuntimeError(_OTHER_DIMS.format(out_dims, *texts))
    it = iter(dims)
    return pytree.map_tree(lambda z: _entered(level, z, next(it)), result)


def _entered(level: float, z: Any, dim: Any) -> Any:
    return z if dim is None or not isinstance(z, Tensor) else entered(level, z, dim)
