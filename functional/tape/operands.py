"""What the functions of two operands take, and PyTorch's errors for anything else.

Operators are not concerned: Python asks the other operand before it raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import type_name
from ..tensor import NO_EDGE, Tensor, wrap

# Two numbers as well.
_NUMBERS = frozenset("add sub mul div floor_divide".split())
# No numbers at all.
TENSORS = frozenset(
    """
    atan2 maximum minimum fmax fmin logical_and logical_or logical_xor nextafter hypot gcd lcm
    heaviside igamma igammac logaddexp logaddexp2 ldexp complex polar
    """.split()
)
# PyTorch has a form for numbers, and says of others that none of its forms fits. The first operand
# must be a tensor in these, and one of the two in the next.
_AFTER = set("eq ne lt le gt ge fmod copysign rsub clamp_min clamp_max max min".split())
_EITHER = set(
    """
    remainder pow float_power bitwise_and bitwise_or bitwise_xor bitwise_left_shift
    bitwise_right_shift xlogy special_xlog1py special_zeta
    """.split()
)
_NAMES = {"complex": ("real", "imag"), "polar": ("abs", "angle"), "heaviside": ("input", "values")}


def is_number(value: Any) -> bool:
    """Whether an operand is one of Python's numbers or NumPy's."""
    if isinstance(value, (int, float, complex)):
        return True
    return (
        hasattr(value, "dtype")
        and not isinstance(value, (Tensor, np.ndarray))
        and getattr(value, "shape", None) == ()
    )


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def _has_forms(name: str) -> bool:
    return name in _AFTER or name in _EITHER or name.startswith("special_")


def first_operand(name: str, first: Any, second: Any) -> Any:
    """The first operand, as a tensor where the function ``name`` takes two numbers."""
    if name in _NUMBERS and is_number(first) and is_number(second):
        return wrap(np.asarray(first, dtypes.of_number(first).array))
    return first


def check_operands(name: str, first: Any, second: Any) -> None:
    """Raise PyTorch's TypeError for operands that its function ``name`` does not take."""
    tensors = _is_tensor(first), _is_tensor(second)
    if all(tensors):
        return
    numbers = is_number(first), is_number(second)
    if _has_forms(name):
        fits = (tensors[0] and numbers[1]) or (numbers[0] and tensors[1] and name not in _AFTER)
        if not fits:
            raise no_form(name, (first, second))
        return
    for at, value in enumerate((first, second)):
        if not tensors[at] and (name in TENSORS or not numbers[at]):
            label = _NAMES.get(name, ("input", "other"))[at]
            raise TypeError(
                f"{name}(): argument '{label}' (position {at + 1}) must be Tensor, not "
                f"{type_name(value)}"
            )


def factor(name: str, what: str, value: Any) -> Any:
    """A number that multiplies, which may come as a tensor without dimensions."""
    if isinstance(value, Tensor) and not value.ndim and value._edge is NO_EDGE:
        return value._data.item()
    if not is_number(value):
        raise TypeError(f"{name}(): argument '{what}' must be Number, not {_kind(value)}")
    return value


def no_tensor(name: str, args: tuple[Any, ...]) -> TypeError:
    """The error for a call without any tensor."""
    if _has_forms(name):
        return no_form(name, args)
    label = _NAMES.get(name, ("input",))[0]
    return TypeError(
        f"{name}(): argument '{label}' (position 1) must be Tensor, not {type_name(args[0])}"
    )


def not_a_tensor(method: str, value: Any) -> TypeError:
    """The error for a method of tensors, called by its name on something else."""
    return TypeError(
        f"descriptor '{method}' for 'torch._C.TensorBase' objects doesn't apply to a "
        f"'{type(value).__name__}' object"
    )


def _kind(value: Any) -> str:
    """What PyTorch's errors call the type of an argument."""
    return "Tensor" if isinstance(value, Tensor) else type_name(value)


def no_form(name: str, args: Any, named: dict[str, Any] | None = None) -> TypeError:
    """The first line of PyTorch's error where none of a function's forms fits."""
    found = [_kind(a) for a in args]
    found += [f"{k}={_kind(v)}" for k, v in (named or {}).items()]
    kinds = ", ".join(found) + ", " * (bool(named) and not len(args))
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one "
        "of:"
    )
