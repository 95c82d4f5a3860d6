"""``vmap``: a function of single examples, for whole batches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import pytree
from ..random import default_generator
from ..tape.op import TENSOR, public
from ..tape.wrappers import Batched, entered, new_level
from ..tensor import Tensor
from .arguments import Function

RANDOMNESS = ("error", "different", "same")


def _name(func: Any) -> str:
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return repr(func)


# --- inputs ---------------------------------------------------------------------------------------


def _in_dims(func: Any, in_dims: Any, args: tuple[Any, ...], leaves: list[Any]) -> list[Any]:
    """The dimension of each input's batch, counted from the front, or None; PyTorch's errors."""
    where = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{where}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you "
            "are trying to vmap over a function with no inputs. The latter is unsupported."
        )
    dims = pytree.prefix_of(in_dims, args)
    if dims is None:
        raise ValueError(
            f"{where}: in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {pytree.described(in_dims)} but inputs has structure "
            f"{pytree.described(args)}."
        )
    return [_in_dim(where, x, d) for x, d in zip(leaves, dims, strict=True)]


def _in_dim(where: str, x: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None."
        )
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot "
            "vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -x.ndim <= dim < x.ndim:
        raise ValueError(
            f"{where}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {x.ndim} so expected in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}."
        )
    return dim % x.ndim


def _batch_size(leaves: list[Any], dims: list[Any]) -> int:
    sizes = [leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


# --- outputs --------------------------------------------------------------------------------------


def _check_out_dims(func: Any, out_dims: Any) -> None:
    for dim in pytree.flatten(out_dims):
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None "
                "or a python collection of ints representing where in the outputs the vmapped "
                "dimension should appear."
            )


def _out_dims(func: Any, out_dims: Any, output: Any) -> list[Any]:
    """The place of the batch dimension in each output."""
    if isinstance(output, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    dims = pytree.prefix_of(out_dims, output)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible "
            "with the structure of `outputs`. out_dims has structure "
            f"{pytree.described(out_dims)} but outputs has structure {pytree.described(output)}."
        )
    return dims


def _leave(func: Any, level: int, x: Any, dim: int | None, size: int) -> Any:
    """An output with its batch dimension at ``dim``."""
    batched = type(x) is Batched and x._level == level
    name = _name(func)
    if dim is None:
        if batched:
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return x
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you "
            "mean to set out_dims= to None for output?"
        )
    x = x._data if batched else TENSOR.expand(x, (size, *x.shape))
    return TENSOR.movedim(x, 0, dim) if dim else x


# --- the transform --------------------------------------------------------------------------------


class _Call:
    """One call of a mapped function: its inputs, and how they and the outputs lie."""

    def __init__(self, func: Function, in_dims: Any, out_dims: Any, randomness: str) -> None:
        self.func, self.in_dims, self.out_dims = func, in_dims, out_dims
        self.randomness = randomness

    def prepare(self, args: tuple[Any, ...]) -> int:
        """Take the inputs; the size of the batch."""
        _check_out_dims(self.func, self.out_dims)
        self.args, self.leaves = args, pytree.flatten(args)
        self.dims = _in_dims(self.func, self.in_dims, args, self.leaves)
        return _batch_size(self.leaves, self.dims)

    def run(self, leaves: list[Any], size: int, kwargs: Any) -> tuple[Any, list[Any], list[Any]]:
        """(an output of this structure, its leaves, the dimensions of their batches)."""
        with new_level(Batched, size, self.randomness) as level:
            inputs = [
                x if d is None else entered(level, x, d)
                for x, d in zip(leaves, self.dims, strict=True)
            ]
            output = self.func(*pytree.unflatten(self.args, inputs), **kwargs)
        dims = _out_dims(self.func, self.out_dims, output)
        outs = zip(pytree.flatten(output), dims, strict=True)
        return output, [_leave(self.func, level, x, d, size) for x, d in outs], dims

    def in_chunks(self, sizes: list[int], kwargs: Any) -> Any:
        """The same in parts of these sizes, one after the other."""
        state = default_generator.get_state() if self.randomness == "same" else None  # type: ignore[attr-defined]
        parts, start = [], 0
        for size in sizes:
            if state is not None:
                default_generator.set_state(state)  # type: ignore[attr-defined]
            leaves = [
                x if d is None else TENSOR.narrow(x, d, start, size)
                for x, d in zip(self.leaves, self.dims, strict=True)
            ]
            output, outs, dims = self.run(leaves, size, kwargs)
            parts.append(outs)
            start += size
        joined = [TENSOR.cat(list(column), d) for column, d in zip(zip(*parts, strict=True), dims)]
        return pytree.unflatten(output, joined)


def _mapped(call: _Call, sizes: Callable[[int], list[int]]) -> Function:
    if call.randomness not in RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{call.randomness}"
        )
    form = (call.func, call.in_dims, call.out_dims, call.randomness)

    @functools.wraps(call.func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        this = _Call(*form)
        size = this.prepare(args)
        parts = sizes(size)
        if len(parts) > 1:
            return this.in_chunks(parts, kwargs)
        output, outs, _ = this.run(this.leaves, size, kwargs)
        return pytree.unflatten(output, outs)

    return wrapped


@public
def vmap(
    func: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """``func`` for whole batches: over dimension ``in_dims`` of every input (None: the same).

    ``in_dims`` may be a tuple with a dimension for each argument, nested as the arguments are;
    ``out_dims`` says where the batch lies in the outputs. Random numbers are refused ("error"), or
    "same" or "different" for the examples. ``chunk_size`` examples are computed at a time.
    ValueError for dimensions that the inputs or outputs do not have, or of several sizes.
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def sizes(total: int) -> list[int]:
        if chunk_size is None or total <= chunk_size:
            return [total]
        rest = total % chunk_size
        return [chunk_size] * (total // chunk_size) + [rest] * bool(rest)

    return _mapped(_Call(func, in_dims, out_dims, randomness), sizes)


def in_parts(func: Function, in_dims: Any, out_dims: Any, randomness: str, parts: int) -> Function:
    """`vmap` in so many parts of a batch, as ``torch.chunk`` makes them."""

    def sizes(total: int) -> list[int]:
        return [len(piece) for piece in TENSOR.arange(total).chunk(parts)]

    return _mapped(_Call(func, in_dims, out_dims, randomness), sizes)
