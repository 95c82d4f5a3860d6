"""dtype objects, the promotion lattice, and what a Python number is worth.

The lattice and the three ranks (dimensioned, zero-dimensional, Python number) are PyTorch's,
not NumPy's: see https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from . import errors

BOOL, INT, FLOAT, COMPLEX = range(4)  # categories, lowest first


class dtype:
    """The type of a tensor's elements. Instances are singletons; compare them with ``is``."""

    __slots__ = ("array", "category", "itemsize", "legacy", "name")

    def __init__(self, name: str, array: Any, category: int, legacy: str) -> None:
        self.name = name
        self.array = np.dtype(array)  # the NumPy dtype that holds it
        self.category = category
        self.itemsize = self.array.itemsize
        self.legacy = legacy  # the word error messages use: Float, Long, ...

    is_floating_point = property(lambda self: self.category == FLOAT)
    is_complex = property(lambda self: self.category == COMPLEX)
    is_signed = property(lambda self: self.category != BOOL and self.array.kind != "u")

    def to_real(self) -> dtype:
        """The real dtype of one part of this (complex) dtype."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """The complex dtype whose parts are this dtype."""
        return {"float64": complex128}.get(self.name, self if self.is_complex else complex64)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name, (self.name,)

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> dtype:
        return self


float64 = double = dtype("float64", np.float64, FLOAT, "Double")
float32 = float_ = dtype("float32", np.float32, FLOAT, "Float")
float16 = half = dtype("float16", np.float16, FLOAT, "Half")
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, FLOAT, "BFloat16")
complex64 = cfloat = dtype("complex64", np.complex64, COMPLEX, "ComplexFloat")
complex128 = cdouble = dtype("complex128", np.complex128, COMPLEX, "ComplexDouble")
uint8 = dtype("uint8", np.uint8, INT, "Byte")
int8 = dtype("int8", np.int8, INT, "Char")
int16 = short = dtype("int16", np.int16, INT, "Short")
int32 = int_ = dtype("int32", np.int32, INT, "Int")
int64 = long = dtype("int64", np.int64, INT, "Long")
uint16 = dtype("uint16", np.uint16, INT, "UInt16")
uint32 = dtype("uint32", np.uint32, INT, "UInt32")
uint64 = dtype("uint64", np.uint64, INT, "UInt64")
bool_ = dtype("bool", np.bool_, BOOL, "Bool")

_C_NAMES = {
    "Long": "long int", "Short": "short int", "Byte": "unsigned char", "Char": "signed char",
    "Half": "c10::Half", "BFloat16": "c10::BFloat16", "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def c_name(d: dtype) -> str:
    """The C++ name of a dtype, as some of PyTorch's errors print it."""
    return _C_NAMES.get(d.legacy, d.legacy.lower())


ALL: tuple[dtype, ...] = (
    float64,
    float32,
    float16,
    bfloat16,
    complex64,
    complex128,
    uint8,
    int8,
    int16,
    int32,
)
ALL += (int64, uint16, uint32, uint64, bool_)
NAMES = {d.name: d for d in ALL}
ALIASES = {"double": float64, "float": float32, "half": float16, "cfloat": complex64}
ALIASES |= {"cdouble": complex128, "short": int16, "int": int32, "long": int64}
FROM_ARRAY = {d.array: d for d in ALL}  # NumPy dtype -> dtype
HALF = (float16.array, bfloat16.array)
F32, F64 = float32.array, float64.array
C64, C128 = complex64.array, complex128.array


def by_name(name: str) -> dtype:
    return NAMES[name]


class _Default:
    dtype = float32


DEFAULT = _Default()


def get_default_dtype() -> dtype:
    """The floating dtype that Python floats and new tensors get."""
    return DEFAULT.dtype


def set_default_dtype(d: dtype) -> None:
    """Set the default floating dtype; TypeError for one that is not floating."""
    if not isinstance(d, dtype):
        raise TypeError(
            "invalid dtype object: only floating-point types are supported as the default type"
        )
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    DEFAULT.dtype = d


def _promote_ints(a: dtype, b: dtype) -> dtype:
    if a.array.kind == b.array.kind:
        return a if a.itemsize >= b.itemsize else b
    unsigned, signed = (a, b) if a.array.kind == "u" else (b, a)
    if unsigned is not uint8:
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {a.legacy} and {b.legacy}"
        )
    return int16 if signed is int8 else signed


def _promote(a: dtype, b: dtype) -> dtype:
    if a is b:
        return a
    if a.category < b.category:
        a, b = b, a
    if a.category == COMPLEX:
        return complex128 if complex128 in (a, b) or b is float64 else complex64
    if a.category == FLOAT:
        if b.category != FLOAT:
            return a
        if a.itemsize == b.itemsize:
            return float32  # float16 with bfloat16
        return a if a.itemsize > b.itemsize else b
    return a if b is bool_ else _promote_ints(a, b)


_TABLE: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both convert to, in PyTorch's lattice."""
    found = _TABLE.get((type1, type2))
    if found is None:
        found = _TABLE[type1, type2] = _promote(type1, type2)
    return found


def of_number(value: Any) -> dtype:
    """The dtype a Python (or NumPy) number stands for."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return DEFAULT.dtype
    return DEFAULT.dtype.to_complex()


def _over(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """Combine two ranks: the lower one counts only where its category is higher."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category == COMPLEX or (higher.category == FLOAT and lower.category <= FLOAT):
        return higher
    if higher is float16:
        raise NotImplementedError("float16 with a complex number is complex32, which is missing")
    if higher.category == FLOAT:
        return higher.to_complex()
    if higher is bool_ or lower.category >= FLOAT:
        return promote_types(higher, lower)
    return higher


def result_type(operands: Any) -> dtype:
    """The dtype of an operation on ``(dtype, ndim)`` pairs and Python numbers.

    A tensor with dimensions outranks a zero-dimensional one, which outranks a number.
    """
    ranks: list[dtype | None] = [None, None, None]
    for operand in operands:
        if type(operand) is tuple:
            found, rank = operand[0], 0 if operand[1] else 1
        else:
            found, rank = of_number(operand), 2
        before = ranks[rank]
        ranks[rank] = found if before is None else promote_types(before, found)
    result = _over(ranks[0], _over(ranks[1], ranks[2]))
    assert result is not None
    return result


def check_cast(found: dtype, wanted: dtype) -> None:
    """The error for results of dtype ``found`` where a tensor of ``wanted`` cannot hold them."""
    if not can_cast(found, wanted):
        raise RuntimeError(errors.NO_CAST.format(found.legacy, wanted.legacy))


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of dtype ``from_`` may be written into ``to`` (same or higher category)."""
    if from_.category == INT and to is bool_:
        return False
    return from_.category <= to.category
