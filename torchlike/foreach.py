"""``torch._foreach_*``: one operation on every tensor of a list.

``_foreach_exp(tensors)`` gives a tuple; ``_foreach_exp_(tensors)`` writes into the tensors and
gives the list. Second operands are a number, a 0-d tensor, or a list with one for each tensor.
Lists of different lengths, and empty ones, raise RuntimeError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from functional.errors import type_name
from functional.tape.op import TENSOR
from functional.tensor import Tensor

_UNARY = """
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg
    reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
""".split()
_BINARY = "add sub mul div clamp_min clamp_max maximum minimum pow".split()
# what they are called where one operand is a number
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}
_TERNARY = "addcmul addcdiv".split()


def _need_list(name: str, tensors: Any) -> None:
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(
            f"_foreach_{name}(): argument 'self' (position 1) must be tuple of Tensors, not "
            f"{type_name(tensors)}"
        )
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")


def _each(tensors: Sequence[Tensor], operand: Any) -> list[Any]:
    """One operand for every tensor."""
    if isinstance(operand, Tensor):
        if operand.ndim or operand.numel() != 1:
            raise RuntimeError(
                f"scalar tensor expected to be 0 dim but it has {operand.ndim} dimensions and "
                f"{operand.numel()} elements."
            )
        return [operand] * len(tensors)
    if not isinstance(operand, (list, tuple)):
        return [operand] * len(tensors)
    if len(operand) != len(tensors):
        if operand and not isinstance(operand[0], Tensor):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        raise RuntimeError(
            "Tensor lists must have the same number of tensors, got "
            f"{len(tensors)} and {len(operand)}"
        )
    return list(operand)


def _collected(tensors: Sequence[Tensor], results: list[Tensor], in_place: bool) -> Any:
    return tensors if in_place else tuple(results)


def _unary(name: str, in_place: bool) -> Callable[..., Any]:
    work = getattr(TENSOR, name + "_" * in_place)

    def call(self: Sequence[Tensor]) -> Any:
        _need_list(call.__name__[9:], self)
        return _collected(self, [work(t) for t in self], in_place)

    return call


def _binary(name: str, in_place: bool) -> Callable[..., Any]:
    end = "_" * in_place

    def work(t: Any, other: Any, more: dict[str, Any]) -> Tensor:
        tensors = isinstance(other, Tensor) and isinstance(t, Tensor)
        kind = name if tensors else _OF_NUMBERS.get(name, name)
        if in_place and name in _OF_NUMBERS and tensors:
            return t.copy_(getattr(TENSOR, name)(t, other))
        return getattr(TENSOR, kind + end)(t, other, **more)

    def call(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        more = {} if alpha == 1 else {"alpha": alpha}
        if name == "pow" and not isinstance(self, (list, tuple)):  # a number to many powers
            _need_list("pow", other)
            return tuple(work(self, t, more) for t in other)
        _need_list(call.__name__[9:], self)
        pairs = zip(self, _each(self, other), strict=True)
        return _collected(self, [work(t, o, more) for t, o in pairs], in_place)

    return call


def _ternary(name: str, in_place: bool) -> Callable[..., Any]:
    work = getattr(TENSOR, name + "_" * in_place)

    def call(self: Any, tensor1: Any, tensor2: Any, scalars: Any = None, *, value: Any = 1) -> Any:
        _need_list(call.__name__[9:], self)
        factors = value if scalars is None else scalars
        if isinstance(factors, Tensor) and factors.ndim == 1:
            factors = factors.tolist()
        groups = zip(
            self, _each(self, tensor1), _each(self, tensor2), _each(self, factors), strict=True
        )
        return _collected(self, [work(t, a, b, value=v) for t, a, b, v in groups], in_place)

    return call


def _lerp(in_place: bool) -> Callable[..., Any]:
    work = TENSOR.lerp_ if in_place else TENSOR.lerp

    def call(self: Any, tensors1: Any, weights: Any) -> Any:
        _need_list("lerp", self)
        groups = zip(self, _each(self, tensors1), _each(self, weights), strict=True)
        return _collected(self, [work(t, end, w) for t, end, w in groups], in_place)

    return call


def _foreach_norm(self: Sequence[Tensor], ord: float = 2, dtype: Any = None) -> Any:
    _need_list("norm", self)
    return tuple(TENSOR.linalg_vector_norm(t, ord, dtype=dtype) for t in self)


def _foreach_powsum(self: Sequence[Tensor], ord: float = 2, dtype: Any = None) -> Any:
    _need_list("powsum", self)
    return tuple(TENSOR.sum(TENSOR.abs(t) ** ord, dtype=dtype) for t in self)


def _foreach_max(self: Sequence[Tensor]) -> Any:
    _need_list("max", self)
    return tuple(t.max() for t in self)


def _foreach_mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> Any:
    _need_list("mm", self)
    return tuple(a @ b for a, b in zip(self, _each(self, mat2), strict=True))


def _foreach_clone(self: Sequence[Tensor], *, memory_format: Any = None) -> Any:
    _need_list("clone", self)
    return tuple(t.clone(memory_format=memory_format) for t in self)


def _foreach_copy_(self: Any, src: Sequence[Tensor], non_blocking: bool = False) -> Any:
    _need_list("copy_", self)
    for t, new in zip(self, _each(self, src), strict=True):
        t.copy_(new, non_blocking)
    return self


def _foreach_zero_(self: Any) -> Any:
    _need_list("zero_", self)
    for t in self:
        t.zero_()
    return self


def _install() -> None:
    makers = {**dict.fromkeys(_UNARY, _unary), **dict.fromkeys(_BINARY, _binary)}
    makers |= dict.fromkeys(_TERNARY, _ternary)
    makers["lerp"] = lambda name, in_place: _lerp(in_place)
    for name, make in makers.items():
        for end in ("", "_"):
            function = make(name, bool(end))
            function.__name__ = function.__qualname__ = f"_foreach_{name}{end}"
            globals()[function.__name__] = function


_install()
