"""Ufuncs with the methods that CuPy's lack: reductions, scans and scattered writes of all kinds."""

from __future__ import annotations

from typing import Any

import cupy
import numpy

# dtypes for which CuPy's atomic operations are there; the others take another way
_ATOMIC = {"add": "iIQfd", "maximum": "iIQfd", "minimum": "iIQfd"}
_REAL_ONLY = {"logical_and", "logical_or", "logical_xor", "logical_not"}
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any", "fmax": "nanmax", "fmin": "nanmin",
}  # fmt: skip


def listed(x: Any) -> Any:
    """Lists of arrays as one array; anything else as it is."""
    if type(x) in (list, tuple) and any(isinstance(v, cupy.ndarray) for v in x):
        return cupy.stack([cupy.asarray(v) for v in x])
    return x


def shifted(x: Any, axis: int, start: Any, stop: Any) -> Any:
    """A slice along one axis."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _is_complex(x: Any) -> bool:
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


class Ufunc:
    """One of CuPy's ufuncs, with every method of NumPy's."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.__name__ = function, name
        self.nin, self.nout = function.nin, function.nout

    def __call__(self, *args: Any, where: Any = True, **kwargs: Any) -> Any:
        if where is not True:
            return self._masked(args, where, **kwargs)
        if not any(isinstance(a, cupy.ndarray) for a in args) and "out" not in kwargs:
            return getattr(numpy, self.__name__)(*args, **kwargs)
        if self.__name__ in _REAL_ONLY:
            args = tuple(a != 0 if _is_complex(a) else a for a in args)
        return self.function(*args, **kwargs)

    def _masked(self, args: Any, where: Any, out: Any, **kwargs: Any) -> Any:
        cupy.copyto(out, self.function(*args, **kwargs), where=where)
        return out

    def outer(self, a: Any, b: Any) -> Any:
        """The function of every pair."""
        return self(a.reshape(a.shape + (1,) * b.ndim), b)

    def reduce(
        self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = None,
    ) -> Any:  # fmt: skip
        """Along one axis, several or (None) all of them."""
        x = listed(x)
        if initial is not None and x.size == 0:
            return cupy.full(numpy.empty(x.shape).sum(axis, keepdims=keepdims).shape, initial)
        name = _REDUCTIONS.get(self.__name__)
        if name is None:
            found = self._last(x, axis, keepdims)
        elif name in ("sum", "prod"):
            # CuPy widens small integers, as NumPy does, and takes a dtype
            found = getattr(cupy, name)(x, axis=axis, dtype=dtype, keepdims=keepdims)
        else:
            found = getattr(cupy, name)(x, axis=axis, keepdims=keepdims)
        if initial is not None:
            found = self.function(found, initial)
        if out is None:
            return found
        out[...] = found
        return out

    def _last(self, x: Any, axis: Any, keepdims: bool) -> Any:
        """The last element of a scan."""
        if axis is None:
            x, axis = x.reshape(-1), 0
        found = shifted(self.accumulate(x, axis), axis % x.ndim, -1, None)
        return found if keepdims else found.squeeze(axis)

    def accumulate(self, x: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Every partial result: by doubling the distance, for an associative function."""
        axis %= x.ndim
        if self.__name__ in ("add", "multiply"):
            scan = cupy.cumsum if self.__name__ == "add" else cupy.cumprod
            found = scan(x, axis=axis, dtype=dtype)
        else:
            found = x.astype(x.dtype if dtype is None else dtype)
            step, n = 1, x.shape[axis]
            while step < n:
                new = found.copy()
                tail = self(shifted(found, axis, step, None), shifted(found, axis, None, n - step))
                shifted(new, axis, step, None)[...] = tail
                found, step = new, 2 * step
        if out is None:
            return found
        out[...] = found
        return out

    def reduceat(self, x: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
        """Along one axis, from each index up to the next; the indices increase."""
        if self.__name__ == "add":
            return self.function.reduceat(x, indices, axis, dtype)
        lines = cupy.moveaxis(x, axis, 0)
        run = cupy.zeros(len(lines), numpy.int64)
        run[indices] = 1
        run = cupy.cumsum(run)
        found = self._scan_runs(lines, run)
        last = cupy.concatenate([indices[1:], cupy.asarray([len(lines)])]) - 1
        return cupy.moveaxis(found[last], 0, axis)

    def _scan_runs(self, values: Any, run: Any) -> Any:
        """Every partial result inside its run of equal numbers, along the first axis."""
        step = 1
        while step < len(run):
            new = values.copy()
            same = (run[step:] == run[:-step]).reshape(-1, *(1,) * (values.ndim - 1))
            joined = self(values[step:], values[:-step]).astype(values.dtype, copy=False)
            new[step:] = cupy.where(same, joined, values[step:])
            values, step = new, 2 * step
        return values

    def at(self, x: Any, key: Any, values: Any) -> None:
        """``x[key] = function(x[key], values)`` with every repetition of an index counted."""
        if x.size == 0:
            return
        values = cupy.asarray(values)
        if values.dtype != x.dtype:
            values = values.astype(x.dtype)
        name, kind = self.__name__, x.dtype
        if name == "add" and kind.kind == "c":
            self.at(x.real, key, values.real)
            self.at(x.imag, key, values.imag)
        elif name == "subtract":
            ADD.at(x, key, -values)
        elif name == "add" and kind.char in "lq":  # the same bits
            self.function.at(x.view("Q"), key, values.view("Q"))
        elif kind.char in _ATOMIC.get(name, ""):
            self.function.at(x, key, values)
        else:
            self._in_runs(x, key, values)

    def _in_runs(self, x: Any, key: Any, values: Any) -> None:
        """Sort the writes by their place, and scan each run of equal places."""
        places = cupy.arange(x.size).reshape(x.shape)[key]
        if places.size == 0:
            return
        values = cupy.broadcast_to(values, places.shape).reshape(-1)
        order = cupy.argsort(places.reshape(-1))
        places, values = places.reshape(-1)[order], values[order]
        values = self._scan_runs(values, places)
        last = cupy.ones(places.shape, bool)
        last[:-1] = places[1:] != places[:-1]
        places, values = places[last], values[last]
        at = cupy.unravel_index(places, x.shape) if x.ndim else ()
        x[at] = self(x[at], values).astype(x.dtype, copy=False)


ADD = Ufunc(cupy.add, "add")
