"""``finfo`` and ``iinfo``: the limits of floating and integer dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from functional import dtypes

# decimal digits that survive, as 10 ** -digits
_RESOLUTION = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-15}
_MESSAGES = {
    "finfo": "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
    "'torch.finfo'",
    "iinfo": "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
    "'torch.iinfo'",
}
_MISSING = object()


def _argument(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The dtype argument of a constructor, or ``_MISSING``."""
    if len(args) + len(kwargs) > 1:
        given = len(args) + len(kwargs)
        raise TypeError(f"{name}() takes 1 positional argument but {given} were given")
    value = args[0] if args else kwargs.get("type", _MISSING)
    if kwargs and value is _MISSING:
        raise TypeError(f'{name}() missing 1 required positional arguments: "type"')
    if value is not _MISSING and not isinstance(value, dtypes.dtype):
        kind = type(value).__name__
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {kind}")
    return value


class _Info:
    """What both share: immutable, compared by value, not hashable."""

    __slots__ = ("_dtype", "_limits")
    _dtype: dtypes.dtype
    _limits: Any

    bits = property(lambda self: 8 * self._dtype.itemsize, doc="Bits per number.")
    dtype = property(lambda self: self._dtype.name, doc="The name of the dtype, a string.")

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return self._dtype is other._dtype  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._dtype,)


class finfo(_Info):
    """The limits of a floating dtype (or of a complex dtype's parts); default dtype if none."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = _argument("finfo", args, kwargs)
        found = dtypes.get_default_dtype() if given is _MISSING else given
        if found.category < dtypes.FLOAT:
            raise TypeError(_MESSAGES["finfo"])
        self._dtype = found.to_real()
        self._limits = _limits(self._dtype)

    eps = property(lambda self: float(self._limits.eps), doc="The step after 1.")
    max = property(lambda self: float(self._limits.max), doc="The greatest finite number.")
    min = property(lambda self: float(self._limits.min), doc="The least finite number.")
    tiny = property(lambda self: float(self._limits.smallest_normal), doc="Smallest normal.")
    smallest_normal = property(lambda self: self.tiny, doc="The smallest normal number.")
    resolution = property(lambda self: _RESOLUTION[self._dtype.name], doc="Decimal resolution.")

    def __repr__(self) -> str:
        names = "resolution min max eps smallest_normal tiny".split()
        numbers = ", ".join(f"{name}={getattr(self, name):.6g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo(_Info):
    """The limits of an integer dtype."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = _argument("iinfo", args, kwargs)
        if given is _MISSING:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        if given.category > dtypes.INT:
            raise TypeError(_MESSAGES["iinfo"])
        if given is dtypes.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        self._dtype, self._limits = given, np.iinfo(given.array)

    max = property(lambda self: int(self._limits.max), doc="The greatest number.")
    min = property(lambda self: int(self._limits.min), doc="The least number.")

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _limits(d: dtypes.dtype) -> Any:
    if d is dtypes.bfloat16:
        import ml_dtypes

        return ml_dtypes.finfo(d.array)
    return np.finfo(d.array)
