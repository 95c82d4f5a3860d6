"""The arrays of the stand-in, and the way in and out of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

TABLE = json.loads((Path(__file__).parent / "table.json").read_text())
SCALARS = (bool, int, float, complex, np.generic)
FUNCTIONS: dict[str, Any] = {}  # what operators and methods call, by name
TRANSFERS = {"get": 0, "set": 0}  # how many arrays went to the host, and came from there
CURRENT = SimpleNamespace(device=0)


class Memory:
    """A pointer into the memory of a device."""

    def __init__(self, owner: np.ndarray, offset: int = 0) -> None:
        self.owner, self.offset = owner, offset

    ptr = property(lambda self: self.owner.__array_interface__["data"][0] + self.offset)
    device = property(lambda self: FUNCTIONS["Device"](0))

    def __add__(self, offset: int) -> Memory:
        return Memory(self.owner, self.offset + offset)

    def array(self, shape: Any, dtype: Any, strides: Any) -> np.ndarray:
        """An array at this place."""
        if 0 in shape:
            return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)
        place = Place()
        place.owner = self.owner
        strides = strides or np.empty(0, dtype).reshape(0, *shape).strides[1:]
        place.__array_interface__ = {
            "data": (self.ptr, False), "shape": tuple(shape), "strides": tuple(strides),
            "typestr": np.dtype(f"V{np.dtype(dtype).itemsize}").str, "version": 3,
        }  # fmt: skip
        return np.asarray(place).view(dtype)


class Place:
    """Memory that NumPy can make an array of."""

    owner: Any
    __array_interface__: dict[str, Any]


class Flags:
    """The three flags that CuPy's arrays have."""

    def __init__(self, flags: Any, owndata: bool) -> None:
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata, self.forc, self.fnc = owndata, flags.forc, flags.fnc


def implicit(what: str) -> TypeError:
    """CuPy's error for a conversion that nobody asked for."""
    return TypeError(
        "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a "
        f"NumPy array explicitly. ({what})"
    )


class ndarray:
    """An array on a device that does not exist."""

    __slots__ = ("__weakref__", "_a", "_base")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None,
        order: str = "C",
    ) -> None:  # fmt: skip
        if memptr is None:
            self._a = np.empty(shape, dtype, order)
        else:
            self._a = memptr.array(shape, dtype, strides)
        self._base: Any = None

    # --- conversions ------------------------------------------------------------------------------

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise implicit("__array__")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise implicit(f"numpy.{func.__name__}")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        known = all(type(x) is ndarray or isinstance(x, SCALARS) for x in inputs)
        if method != "__call__" or kwargs or not known:
            raise implicit(f"numpy.{ufunc.__name__}")
        return FUNCTIONS[ufunc.__name__](*inputs)

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        """A copy on the host."""
        TRANSFERS["get"] += 1
        return self._a.copy(order)

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        """Take the numbers of an array on the host."""
        assert type(arr) is np.ndarray and arr.dtype == self.dtype and arr.shape == self.shape
        TRANSFERS["set"] += 1
        self._a[...] = arr

    def item(self) -> Any:
        return self._a.item()

    def tolist(self) -> Any:
        return self._a.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return self._a.tobytes(order)

    def __bool__(self) -> bool:
        return bool(self._a)

    def __int__(self) -> int:
        return int(self._a)

    def __float__(self) -> float:
        return float(self._a)

    def __complex__(self) -> complex:
        return complex(self._a)

    def __repr__(self) -> str:
        return repr(self._a)

    def __format__(self, spec: str) -> str:
        return format(self._a, spec)

    def __len__(self) -> int:
        return len(self._a)

    def __iter__(self) -> Any:
        if not self._a.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._a)))

    def __reduce__(self) -> Any:
        return on_device, (self._a,)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()

    # --- what it looks like -----------------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._a.__array_interface__, "version": 3, "stream": 1}

    dtype = property(lambda self: self._a.dtype)
    strides = property(lambda self: self._a.strides)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    itemsize = property(lambda self: self._a.itemsize)
    nbytes = property(lambda self: self._a.nbytes)
    base = property(lambda self: self._base)
    data = property(lambda self: Memory(self._a))
    device = property(lambda self: FUNCTIONS["Device"](0))
    flags = property(lambda self: Flags(self._a.flags, self._base is None))
    T = property(lambda self: wrap(self._a.T, self))
    mT = property(lambda self: wrap(self._a.mT, self))

    @property
    def shape(self) -> Any:
        return self._a.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self._a.shape = value

    @property
    def real(self) -> Any:
        return wrap(self._a.real, self)

    @real.setter
    def real(self, value: Any) -> None:
        self._a.real = inner(value)

    @property
    def imag(self) -> Any:
        return wrap(self._a.imag, self)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._a.imag = inner(value)

    # --- elements ---------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        key = whole(self._a, key)
        found = self._a[key]
        if not any(isinstance(k, (np.ndarray, bool)) for k in key):
            return wrap(found, self)
        return wrap(np.array(found, order="C"))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._a[whole(self._a, key)] = inner(value)

    def fill(self, value: Any) -> None:
        """Set every element to a number (or to the only element of an array)."""
        self._a.fill(inner(value))

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return wrap(self._a.view() if dtype is None else self._a.view(dtype), self)

    def copy(self, order: str = "C") -> ndarray:
        return wrap(self._a.copy(order))

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        if not copy and self._a.dtype == dtype and order == "K":
            return self
        with np.errstate(all="ignore"):
            return wrap(self._a.astype(dtype, order, casting or "unsafe"))


def wrap(a: Any, base: Any = None) -> Any:
    """An array of the stand-in over a NumPy array."""
    made = object.__new__(ndarray)
    made._a = np.asarray(a)
    if base is not None and not made._a.flags.writeable:  # CuPy knows no read-only memory
        made._a = Memory(made._a).array(made._a.shape, made._a.dtype, made._a.strides)
    made._base = base if base is None or base._base is None else base._base
    return made


def inner(value: Any) -> Any:
    """The NumPy array of an argument; arrays of the host are refused."""
    if type(value) is ndarray:
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if type(value) in (list, tuple):
        return type(value)(inner(v) for v in value)
    return value


def whole(a: np.ndarray, key: Any) -> Any:
    """An index for NumPy: of arrays that wrap around, and never giving a scalar."""
    parts = list(key) if type(key) is tuple else [key]
    found: list[Any] = []
    used = sum(_takes(k) for k in parts)
    axis, masks = 0, 0
    for k in parts:
        if k is Ellipsis:
            found.append(k)
            axis = a.ndim - (used - axis)
            continue
        if isinstance(k, np.ndarray):
            raise TypeError("an index on the host")
        n = k if k is None or type(k) is bool else inner(k)
        if type(n) is list:
            n = np.array(n)
        if isinstance(n, np.ndarray):
            masks += n.dtype == bool
            if n.dtype.kind in "iu" and a.shape[axis]:
                n = n % a.shape[axis]
        found.append(n)
        axis += _takes(k)
    if masks > 1:
        raise NotImplementedError("CuPy takes one mask per index")
    if not any(k is Ellipsis for k in parts):
        found.append(Ellipsis)
    return tuple(found)


def _takes(k: Any) -> int:
    """How many axes a part of an index takes."""
    if k is None or k is Ellipsis or type(k) is bool:
        return 0
    return k.ndim if type(k) is ndarray and k.dtype == bool else 1


def on_device(a: np.ndarray) -> ndarray:
    """What a pickle makes an array of."""
    return wrap(a.copy())
