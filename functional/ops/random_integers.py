"""Random integers and permutations, bit for bit PyTorch's CPU streams."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..modes import MODE
from ..tape.op import public
from ..tape.operands import no_form
from ..tensor import Tensor
from . import drawing
from .arguments import integer, ints, wrong_type
from .create import as_dtype, check_sizes, like, recorded
from .given import given
from .layouts import need_strided
from .random import into, sample

_OPTIONS = frozenset("out layout pin_memory".split())


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
    given_names = {k: v for k, v in named.items() if k not in _OPTIONS}
    low, high, size = _bounds(args, given_names)
    shape = ints((size,))
    if MODE.transforms and (batch := drawing.vmapped(named.get("out"))):
        options = {"generator": generator, "dtype": dtype, "device": device}
        return drawing.of_shape(lambda s: randint(low, high, s, **options), shape, batch)
    check_sizes(shape)
    return _made(
        lambda k, g, d: k.randint(g, low, high, shape, d),
        "randint", shape, generator, dtype, device, requires_grad, named,
    )  # fmt: skip


def _made(
    draw: Any,
    name: str,
    shape: Any,
    generator: Any,
    dtype: Any,
    device: Any,
    grad: bool,
    named: Any,
) -> Tensor:
    """What ``draw`` makes, in ``dtype`` or that of ``out``, which takes it."""
    out = named.get("out")
    if named.get("layout") is not None:
        need_strided(named["layout"], name)
    kind = as_dtype(dtype, name)
    target = kind or (dtypes.int64 if out is None else out.dtype)
    return given(sample(draw, generator, shape, target, device, grad), out, kind, name)


def _bounds(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, int, Any]:
    """Bounds and size, by place or by name; PyTorch's errors."""
    values = list(args)
    if not named.keys() <= {"low", "high", "size"} or len(args) + len(named) not in (2, 3):
        raise no_form("randint", args, named)
    size = named["size"] if "size" in named else values.pop()
    if not isinstance(size, (tuple, list)):
        raise wrong_type(f"randint.size.{len(args)}", "tuple of ints", size)
    low = named.get("low", values[0] if len(values) > 1 or ("high" in named and values) else 0)
    high: Any = named.get("high", values[-1] if values else None)
    names = (("low", low), ("high", high))
    for name, value in names:
        if isinstance(value, float) or not hasattr(value, "__index__"):
            raise wrong_type(f"randint.{name}.{max(len(values), 1)}", "int", value)
        if not -(2**63) <= int(value) < 2**63:
            raise ValueError("Overflow when unpacking long long")
    return int(low), int(high), size


_LIKE = frozenset("device layout memory_format pin_memory requires_grad low high".split())


@public
def randint_like(
    input: Tensor, *bounds: Any, dtype: Any = None, generator: Any = None, **named: Any
) -> Tensor:
    """`randint` with the shape, dtype, device and memory order of ``input``."""
    if not isinstance(input, Tensor) or not named.keys() <= _LIKE:
        raise no_form("randint_like", (input, *bounds), named)
    if MODE.transforms and drawing.concerns(input):
        options = {"dtype": dtype, "generator": generator}
        return drawing.like(lambda x: randint_like(x, *bounds, **options, **named), input)
    if named.get("layout") is not None:
        need_strided(named["layout"], "randint_like")
    limits: dict[str, Any] = {k: named[k] for k in ("low", "high") if k in named}
    low, high, _ = _bounds((*bounds, ()), limits)
    kind = as_dtype(dtype, "randint_like")
    where = {k: named[k] for k in ("device", "memory_format") if k in named}
    t = like(None, input, dtype=kind, **where)
    if not t.is_meta:
        into("randint_", generator, t, low, high)
    return recorded(t, bool(named.get("requires_grad")))


@public
def randperm(
    n: int,
    *,
    generator: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **named: Any,
) -> Tensor:
    """A random permutation of 0 … n - 1."""
    if not named.keys() <= _OPTIONS:
        raise no_form("randperm", (n,), named)
    n = integer(n, "randperm.n.1")
    if MODE.transforms and (batch := drawing.vmapped(named.get("out"))):
        options = {"generator": generator, "dtype": dtype, "device": device}
        return drawing.row_by_row(lambda: randperm(n, **options), batch)
    return _made(
        lambda k, g, d: k.randperm(g, n, d),
        "randperm", (n,), generator, dtype, device, requires_grad, named,
    )  # fmt: skip
