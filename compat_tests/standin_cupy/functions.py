"""The functions and ufuncs of the stand-in: NumPy's, held to CuPy's names, parameters and types."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import FUNCTIONS, TABLE, Memory, implicit, inner, ndarray, whole, wrap

SCATTERS = {  # dtypes of CuPy's atomic operations
    "add": "iIQfde", "subtract": "iI", "maximum": "iIQfd", "minimum": "iIQfd",
    "bitwise_and": "iIQ", "bitwise_or": "iIQ", "bitwise_xor": "iIQ",
}  # fmt: skip
KEEPING = {"array", "asarray", "copy", "empty_like", "zeros_like", "ones_like", "full_like",
           "asfortranarray", "asanyarray"}  # fmt: skip
# they say something about arrays or types, and give no array
FACTS = {"result_type", "can_cast", "promote_types", "broadcast_shapes", "may_share_memory",
         "shares_memory", "isscalar", "ndim", "shape", "size", "common_type", "min_scalar_type",
         "iscomplexobj", "isrealobj", "array_equal", "format_float_positional"}  # fmt: skip
IN_ORDER = ("sort", "partition")  # methods that work in place, on contiguous memory only
MAKERS = {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"}
# parameters that are sizes, axes or counts on the host
ON_HOST = {"shape", "reps", "repeats", "axis", "k", "shift", "N", "M", "num", "minlength",
           "newshape", "pad_width", "n", "axes", "source", "destination", "*shape", "*axes",
           "axis1", "axis2", "ndmin", "kth", "ddof", "offset", "dtype", "order"}  # fmt: skip
ARRAY_FIRST = {"a", "x", "ar", "arr", "array", "m", "v", "ary", "mat", "keys"}


def outer(result: Any, *sources: Any, keep: bool = False) -> Any:
    """What NumPy gave, as CuPy gives it."""
    if type(result) is tuple or (type(result) is list):
        return type(result)(outer(r, *sources, keep=keep) for r in result)
    if hasattr(result, "_fields"):  # named results of linalg
        return type(result)(*(outer(r, *sources, keep=keep) for r in result))
    if isinstance(result, np.generic):
        return wrap(np.asarray(result))
    if not isinstance(result, np.ndarray):
        return result
    for source in sources:
        if type(source) is ndarray and np.may_share_memory(result, source._a):
            if result is source._a:
                return source
            return wrap(result, source)
    if not result.size:  # which shares no memory with anything
        return wrap(Memory(np.empty(1)).array(result.shape, result.dtype, result.strides))
    return wrap(result if keep else np.array(result, order="C", copy=None))


def check_host(name: str, parameters: list[str], args: Any, named: Any) -> None:
    """TypeError for an array of the device where CuPy wants a number of the host."""
    starred = next((i for i, p in enumerate(parameters) if p.startswith("*")), len(parameters))
    where = parameters[:starred] + parameters[starred : starred + 1] * len(args)
    given = [*zip(where, args), *named.items()]
    for parameter, value in given:
        if parameter in ON_HOST and arrays_in([value]):
            raise TypeError(f"{name}: '{parameter}' is an array on the device")


def arrays_in(args: Any) -> list[ndarray]:
    """The arrays among arguments, nested ones included."""
    found = []
    for a in args:
        if type(a) is ndarray:
            found.append(a)
        elif type(a) in (list, tuple):
            found += arrays_in(a)
    return found


def lift(name: str, function: Any, parameters: list[str] | None, path: str) -> Any:
    """A function of NumPy's as CuPy has it."""
    several = parameters is not None and any(p.startswith("*") for p in parameters)

    def lifted(*args: Any, **named: Any) -> Any:
        if parameters is not None:
            unknown = set(named) - set(parameters)
            if unknown and not any(p.startswith("**") for p in parameters):
                raise TypeError(f"{path}{name}() got an unexpected keyword argument {unknown}")
            if not several and len(args) > len(parameters):
                raise TypeError(f"{path}{name}() takes {len(parameters)} arguments: {args}")
            first = args[0] if args else None
            takes_array = name not in MAKERS and parameters and parameters[0] in ARRAY_FIRST
            if name == "where" and type(first) is bool:
                raise TypeError("where: the condition is no array")
            joined = parameters[:1] in (["tup"], ["arrays"]) and type(first) is not ndarray
            if joined and not all(type(part) is ndarray for part in first):
                raise TypeError(f"{path}{name} takes arrays only")
            if takes_array and type(first) is not ndarray:
                raise TypeError(f"{path}{name}: {type(first)} is no cupy.ndarray")
            check_host(name, parameters, args, named)
        if name in MAKERS and type(args[0]) is np.ndarray:
            named = {**named, "copy": True} if "copy" in (parameters or ()) else named
            return wrap(np.array(function(*args, **named)))  # the explicit way to the device
        sources = arrays_in((*args, *named.values()))
        plain = {k: inner(v) for k, v in named.items() if k != "blocking"}
        with np.errstate(all="ignore"):
            result = function(*[inner(a) for a in args], **plain)
        if name in FACTS:
            return result
        return outer(result, *sources, keep=name in KEEPING)

    lifted.__name__ = name
    return lifted


class ufunc:
    """A ufunc of NumPy's with the types that CuPy's has."""

    def __init__(self, name: str, function: Any, facts: dict[str, Any]) -> None:
        self.__name__ = self.name = name
        self._function, self.types = function, facts["types"]
        self.nin, self.nout = facts["nin"], facts["nout"]
        self._loops = {t.split("->")[0] for t in self.types}

    def __call__(
        self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind"
    ) -> Any:
        if len(args) > self.nin:
            assert out is None
            args, out = args[: self.nin], args[self.nin]
        if len(args) < self.nin:
            raise TypeError(f"{self.name} takes {self.nin} arguments")
        plain = [inner(a) for a in args]
        for a in plain:
            if type(a) in (list, tuple) or a is None:
                raise TypeError(f"Unsupported type {type(a)}")
        named: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        if out is not None:
            out = out if type(out) is tuple else (out,)
            if any(o is not None and type(o) is not ndarray for o in out):
                raise TypeError("Output arguments type must be cupy.ndarray")
            named["out"] = tuple(None if o is None else o._a for o in out)
            shape = np.broadcast_shapes(*(np.shape(a) for a in plain))
            if any(o is not None and o.shape != shape for o in out):
                raise ValueError("Out shape is mismatched")
        self._check(plain, dtype)
        with np.errstate(all="ignore"):
            if isinstance(self._function, np.ufunc):
                named["casting"] = casting
            result = self._function(*plain, **named)
        if out is not None and len(out) == 1:
            return out[0]
        return outer(result, *(out or ()))

    def _check(self, args: list[Any], dtype: Any) -> None:
        """TypeError where CuPy has no loop for these types."""
        kinds = [np.asarray(a).dtype for a in args if isinstance(a, (np.ndarray, np.generic))]
        if any(d.kind == "V" for d in kinds):  # CuPy's letter for bfloat16 is E
            if any("E" in loop.split("->")[0] for loop in self.types):
                return
            raise TypeError(f"cupy_{self.name} does not take bfloat16")
        common = np.result_type(*args) if dtype is None else np.dtype(dtype)
        for loop in self.types:
            chars = loop.split("->")[0]
            if "E" in chars or "V" in chars:
                continue
            want = [np.dtype(c) for c in chars]
            given = args if dtype is None else [common] * len(args)
            if all(_fits(g, w) for g, w in zip(given, want, strict=True)):
                return
        raise TypeError(f"Wrong type ({common}) of arguments for cupy_{self.name}")

    def outer(self, A: Any, B: Any) -> Any:
        return outer(self._function.outer(inner(A), inner(B)))

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False
    ) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.name}.reduce` is not supported yet")
        how = FUNCTIONS["sum" if self.name == "add" else "prod"]
        return how(array, axis=axis, dtype=dtype, out=out, keepdims=keepdims)

    def accumulate(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.name}.accumulate` is not supported yet")
        how = FUNCTIONS["cumsum" if self.name == "add" else "cumprod"]
        return how(array, axis=axis, dtype=dtype, out=out)

    def reduceat(
        self, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        if self.name != "add":
            raise NotImplementedError(f"`cupy_{self.name}.reduceat` is not supported yet")
        return outer(np.add.reduceat(array._a, inner(indices), axis, dtype))

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        kinds = SCATTERS.get(self.name)
        if kinds is None:
            raise NotImplementedError(f"`cupy_{self.name}.at` is not supported yet")
        if np.dtype(a.dtype).char not in kinds:
            raise TypeError(f"cupy.{self.name}.at does not support {a.dtype}")
        if type(b) is ndarray:
            b = b.astype(a.dtype)
        self._function.at(a._a, whole(a._a, indices), inner(b))


def _fits(given: Any, want: Any) -> bool:
    """Whether an argument (or a dtype) can be cast; Python's numbers adapt."""
    if isinstance(given, (bool, int, float, complex)) and not isinstance(given, np.generic):
        return np.can_cast(np.result_type(given, want), want)
    return np.can_cast(given if isinstance(given, np.dtype) else np.asarray(given).dtype, want)


# --- operators and methods ------------------------------------------------------------------------

OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
    "matmul": "matmul",
}  # fmt: skip
COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
               "gt": "greater", "ge": "greater_equal"}  # fmt: skip
UNARY = {"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"}


def attach_operators() -> None:
    """Give the array its operators."""

    def binary(name: str) -> Any:
        return lambda x, y: FUNCTIONS[name](x, y)

    def reflected(name: str) -> Any:
        return lambda x, y: FUNCTIONS[name](y, x)

    def in_place(name: str) -> Any:
        return lambda x, y: FUNCTIONS[name](x, y, out=x)

    for short, name in OPERATORS.items():
        setattr(ndarray, f"__{short}__", binary(name))
        setattr(ndarray, f"__r{short}__", reflected(name))
        if short != "matmul":
            setattr(ndarray, f"__i{short}__", in_place(name))
    for short, name in COMPARISONS.items():
        setattr(ndarray, f"__{short}__", binary(name))
    for short, name in UNARY.items():
        setattr(ndarray, f"__{short}__", lambda x, name=name: FUNCTIONS[name](x))
    ndarray.__divmod__ = lambda x, y: (x // y, x % y)  # type: ignore[attr-defined]


def method(name: str, parameters: list[str]) -> Any:
    """A method of the array that NumPy's has too."""
    free = any(p.startswith("*") for p in parameters)

    def call(self: Any, *args: Any, **named: Any) -> Any:
        if set(named) - set(parameters) or (not free and len(args) > len(parameters)):
            raise TypeError(f"ndarray.{name}() takes {parameters}, not {args} {named}")
        check_host(name, parameters, args, named)
        if name in IN_ORDER and not (self._a.ndim and self._a.flags.c_contiguous):
            raise NotImplementedError("Sorting non-contiguous array is not supported.")
        target = named.get("out")
        if target is not None and type(target) is not ndarray:
            raise implicit("out=")
        plain = {k: inner(v) for k, v in named.items()}
        with np.errstate(all="ignore"):
            result = getattr(self._a, name)(*[inner(a) for a in args], **plain)
        if target is not None:
            return target
        return outer(result, self)

    call.__name__ = name
    return call


def attach_methods() -> None:
    """Give the array the methods that are not written out."""
    for name, parameters in TABLE["ndarray"].items():
        missing = not hasattr(ndarray, name) and hasattr(np.ndarray, name)
        if isinstance(parameters, list) and missing:
            setattr(ndarray, name, method(name, parameters))


class _Grid:
    """``ogrid`` and ``mgrid``."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __getitem__(self, key: Any) -> Any:
        return outer(self._theirs[key])


def module_functions(path: str, library: Any) -> dict[str, Any]:
    """Everything of one module of CuPy's that NumPy's module of that name has too."""
    found: dict[str, Any] = {}
    for name, facts in TABLE[path].items():
        if not hasattr(library, name):
            continue
        theirs = getattr(library, name)
        if isinstance(facts, dict):
            found[name] = ufunc(name, theirs, facts)
        elif isinstance(facts, list):
            found[name] = lift(name, theirs, facts, f"{path}.")
        elif facts == "nd_grid":
            found[name] = _Grid(theirs)
        elif facts in ("type", "float", "NoneType", "_DTypeMeta"):
            found[name] = theirs
    return found
