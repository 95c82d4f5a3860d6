"""Comparison, logic, and operations that choose elements: where, clamp, masked_fill."""

from __future__ import annotations

from typing import Any

from .. import blame
from ..dtypes import COMPLEX, INT, bool_, c_name, result_type, uint8
from ..errors import not_implemented
from ..kernels.meta import has_numbers
from ..tape.declare import binary, elementwise, general, unary
from ..tape.inplace import twin_of
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tensor import Tensor
from .arguments import broadcast_shapes, common_shape, number_for, operand
from .refusals import check_written

# --- comparison and logic -------------------------------------------------------------------------


def _comparison(name: str) -> Any:
    """Not recorded; in place, where a floating tensor is overwritten, it is, with gradient 0."""
    closure = binary(name, result="bool", in_place=False)
    title = name.capitalize() + "Backward"
    rule = lambda F, g: F.zeros_like(g)
    write = elementwise(
        f"{name}_write", rule, rule, inputs=("self", "other"), kernel=name, node=f"{title}1"
    )
    number = elementwise(
        f"{name}_write_scalar",
        rule,
        inputs=("self",),
        statics=("other",),
        kernel=name,
        node=f"{title}0",
        result="numbers",
    )
    write.op.truth = number.op.truth = True
    closure.in_place = twin_of(f"{name}_", write.op, number.op)
    setattr(TENSOR, f"{name}_", closure.in_place)
    return closure


eq, ne, lt, le, gt, ge = (_comparison(n) for n in ("eq", "ne", "lt", "le", "gt", "ge"))
isnan, isinf = unary("isnan", in_place=False), unary("isinf", in_place=False)
isfinite = unary("isfinite", in_place=False)
logical_not = unary("logical_not")
logical_and, logical_or = binary("logical_and"), binary("logical_or")
logical_xor = binary("logical_xor")
bitwise_and, bitwise_or = binary("bitwise_and"), binary("bitwise_or")
bitwise_xor, bitwise_not = binary("bitwise_xor"), unary("bitwise_not")

# --- selection ------------------------------------------------------------------------------------

where_select = elementwise(
    "where_select",
    None,
    lambda F, g, condition: F.where(condition, g, 0.0),
    lambda F, g, condition: F.where(condition, 0.0, g),
    inputs=("condition", "self", "other"),
    kernel="where",
    node="WhereBackward0",
)
where_select.op.fixed = frozenset({"condition"})  # takes no part in promotion


def _check_where(condition: Tensor, self: Any, other: Any) -> None:
    if condition.dtype is uint8:
        blame.warn_once(_BYTE_CONDITION)
    elif condition.dtype is not bool_:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.legacy}"
        )
    for number, tensor in ((self, other), (other, self)):
        if type(number) is int and isinstance(tensor, Tensor) and tensor.dtype.category == INT:
            number_for(number, tensor.dtype)


_BYTE_CONDITION = (
    "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a "
    "future version of PyTorch. Use a boolean condition instead."
)
where_select.op.check = _check_where


@public
def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """``input`` where ``condition`` holds, else ``other``; alone, the indices where it holds."""
    if out is not None:
        return out_of(where, out, condition, input, other)
    if input is None and other is None:
        return TENSOR.nonzero(condition, as_tuple=True)
    return where_select(condition, input, other)


def _clamp_vjp(F: Any, g: Any, self: Any, low: Any, high: Any) -> Any:
    inside = True
    if low is not None:
        inside = self >= low
    if high is not None:
        inside = inside & (self <= high) if low is not None else self <= high
    return F.where(inside, g, 0.0)


clamp_scalar = elementwise(
    "clamp_scalar",
    _clamp_vjp,
    inputs=("self",),
    statics=("low", "high"),
    kernel="clamp",
    node="ClampBackward1",
    result="numbers",
)


def _clamp_self_vjp(F: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    return _clamp_vjp(F, g, self, min, max)


def _clamp_min_vjp(F: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    hit = self < min
    return F.where(hit if max is None else hit & (min < max), g, 0.0)


def _clamp_max_vjp(F: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    hit = self > max
    return F.where(hit if min is None else hit | (max < min), g, 0.0)


clamp_tensor = elementwise(
    "clamp_tensor",
    _clamp_self_vjp,
    _clamp_min_vjp,
    _clamp_max_vjp,
    inputs=("self", "min", "max"),
    kernel="clamp",
    node="ClampBackward0",
)


_CLAMPED = {  # is there a least number, and a greatest? Kernels for tensors and for numbers
    (True, False): ("maximum_cpu", "clamp_min_scalar_cpu"),
    (False, True): ("minimum_cpu", "clamp_max_scalar_cpu"),
    (True, True): ("clamp_cpu", "clamp_scalar_cpu"),
}


def _check_limits(self: Tensor, min: Any, max: Any) -> None:
    own = self.dtype
    if own.category == COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")
    numbers, unusual = True, own is bool_
    for limit in (min, max):
        if isinstance(limit, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
        if isinstance(limit, Tensor):
            numbers, unusual = False, unusual or limit.dtype.category == COMPLEX
        elif type(limit) is int and own.category == INT and numbers:
            number_for(limit, own)
    if unusual:
        found = result_type([operand(x) for x in (self, min, max) if x is not None])
        both = min is not None and max is not None
        if found.is_complex or (found is bool_ and (both or numbers)):
            kernel = _CLAMPED[min is not None, max is not None][numbers]
            raise not_implemented(kernel, found)


clamp_scalar.op.check = clamp_tensor.op.check = _check_limits


def _clamp_form(min: Any, max: Any) -> Any:
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return clamp_tensor if isinstance(min, Tensor) or isinstance(max, Tensor) else clamp_scalar


@public
def clamp(self: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """Limit every element to [min, max], numbers or tensors."""
    if out is not None:
        tensors = isinstance(min, Tensor) or isinstance(max, Tensor)
        name = "clamp" if tensors else "clamp.number"
        return out_of(clamp, out, self, min, max, name=name)
    return _clamp_form(min, max)(self, min, max)


def _clamp_twin(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """``clamp`` in place."""
    form = _clamp_form(min, max)
    if self.dtype.is_complex or (form is clamp_scalar and self.dtype.is_floating_point):
        _check_limits(self, min, max)
    check_written(self, *(x for x in (min, max) if x is not None))
    return form.in_place(self, min, max)


TENSOR.clamp_ = _clamp_twin


def _check_masked_fill(self: Tensor, mask: Tensor, value: Any) -> None:
    if isinstance(value, str):
        raise TypeError(
            "masked_fill() received an invalid combination of arguments - got (Tensor, str), but "
            "expected one of:"
        )
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if mask.dtype is not bool_:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{c_name(mask.dtype)}"
        )
    common_shape(mask, self)
    check_fill(self, value)


def check_fill(self: Tensor, value: Any) -> None:
    """PyTorch's error for a number, or 0-dim tensor, that the dtype of ``self`` cannot hold."""
    if not isinstance(value, Tensor):
        number_for(value, self.dtype)
    elif value.dtype is not self.dtype and has_numbers(value._data):
        number_for(value._data.item(), self.dtype)


masked_fill_value = general(
    "masked_fill_value",
    lambda F, g, mask: F.masked_fill(g, mask, 0),
    None,
    inputs=("self", "mask"),
    statics=("value",),
    kernel="masked_fill",
    node="MaskedFillBackward0",
    check=_check_masked_fill,
    shape=lambda x, mask, value: (broadcast_shapes(x.shape, mask.shape), x.dtype),
)
masked_fill_tensor = general(
    "masked_fill_tensor",
    lambda F, g, mask: F.masked_fill(g, mask, 0),
    None,
    lambda F, g, mask: F.where(mask, g, 0.0),
    inputs=("self", "mask", "value"),
    kernel="masked_fill",
    node="MaskedFillBackward1",
    check=_check_masked_fill,
    shape=lambda x, mask, value: (broadcast_shapes(x.shape, mask.shape), x.dtype),
)


for _form in (masked_fill_value, masked_fill_tensor):
    _form.op.rewrites, _form.op.loose = "masked_fill_", ("value",)


@public
def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy of ``self`` with ``value``, a number or a 0-dim tensor, where ``mask`` holds."""
    form = masked_fill_tensor if isinstance(value, Tensor) else masked_fill_value
    return form(self, mask, value)


def _masked_fill_twin(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``masked_fill`` in place."""
    common_shape(self, mask)  # named in the other order than by masked_fill
    form = masked_fill_tensor if isinstance(value, Tensor) else masked_fill_value
    return in_place(form.op, (self, mask, value))


TENSOR.masked_fill_ = _masked_fill_twin
