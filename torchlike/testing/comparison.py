"""Assertions that tensors, numbers, and containers of them are equal up to rounding."""

from __future__ import annotations

import cmath
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import torchlike as torch
from functional.tensor import Tensor

__all__ = ["assert_allclose", "assert_close"]

_EXACT = (0.0, 0.0)
_TOLERANCES = {  # relative and absolute
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
_OF_NUMBERS = {float: torch.float64, complex: torch.complex128, int: torch.int64}
_ATTRIBUTES = ("shape", "layout", "device", "dtype", "stride")
Pair = tuple[Any, Any, tuple[Any, ...]]


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Takes tensors, arrays, numbers, None, and sequences and mappings of them, of one structure.
    ``rtol`` and ``atol`` are given together; by default they follow from the dtypes, and are zero
    for whole numbers. The ``check_`` options tell which attributes of tensors must be equal too;
    where dtypes may differ, values are compared in the promoted one. ``msg`` replaces the error's
    text, or is a function of it.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    o = SimpleNamespace(
        subclasses=allow_subclasses, rtol=rtol, atol=atol, equal_nan=equal_nan,
        device=check_device, dtype=check_dtype, layout=check_layout, stride=check_stride,
        shape=True, msg=msg,
    )  # fmt: skip
    for one, other, place in list(_pairs(actual, expected, (), o)):
        text = _difference(one, other, o)
        if text:
            _fail(text, place, o)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """``assert_close`` of what can be made tensors, whatever their dtypes and devices."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
        "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    one, other = (x if isinstance(x, Tensor) else torch.tensor(x) for x in (actual, expected))
    if rtol is None and atol is None:
        pairs = [_TOLERANCES.get(x.dtype, _EXACT) for x in (one, other)]
        rtol, atol = (max(both) for both in zip(*pairs, strict=True))
    assert_close(
        one, other, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True,
        check_dtype=False, check_stride=False, msg=msg or None,
    )  # fmt: skip


def _fail(text: str, place: tuple[Any, ...], o: Any, kind: type[Exception] = AssertionError) -> Any:
    if place:
        text += "\n\nThe failure occurred for item " + "".join(f"[{key!r}]" for key in place)
    if kind is AssertionError and o.msg is not None:
        text = o.msg(text) if callable(o.msg) else o.msg
    raise kind(text) from None


# --- structure ------------------------------------------------------------------------------------


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes))


def _pairs(actual: Any, expected: Any, place: tuple[Any, ...], o: Any) -> Iterator[Pair]:
    """What is to be compared, and where it stands."""
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            lengths = f"{len(actual)} != {len(expected)}"
            _fail(f"The length of the sequences mismatch: {lengths}", place, o)
        for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(one, other, (*place, i), o)
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in _keys(actual, expected, place, o):
            yield from _pairs(actual[key], expected[key], (*place, key), o)
    else:
        yield *_leaves(actual, expected, place, o), place


def _keys(
    actual: Mapping[Any, Any], expected: Mapping[Any, Any], place: tuple[Any, ...], o: Any
) -> list[Any]:
    missing, additional = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if missing or additional:
        _fail(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
            f"Additional keys in the actual mapping: {sorted(additional, key=str)}",
            place,
            o,
        )
    try:
        return sorted(actual)
    except TypeError:
        return list(actual)


def _leaves(actual: Any, expected: Any, place: tuple[Any, ...], o: Any) -> tuple[Any, Any]:
    """Both as tensors or as numbers; TypeError for what neither can be."""
    both = (actual, expected)
    if actual is None or expected is None:
        return both
    if all(isinstance(x, (bool, np.bool_)) for x in both):
        return bool(actual), bool(expected)
    if all(isinstance(x, (int, float, complex, np.number)) for x in both):
        one, other = (x.item() if isinstance(x, np.generic) else x for x in both)
        return one, other
    directly = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if type(actual) is type(expected) or (o.subclasses and directly):
        if isinstance(actual, Tensor):
            return both
        if isinstance(actual, np.ndarray):
            return torch.as_tensor(actual), torch.as_tensor(expected)
    kinds = f"{type(actual)} and {type(expected)}"
    text = f"No comparison pair was able to handle inputs of type {kinds}."
    return _fail(text, place, o, TypeError)


# --- values ---------------------------------------------------------------------------------------


def _difference(one: Any, other: Any, o: Any) -> str:
    """What is different; empty if nothing is."""
    if one is None or other is None:
        return "" if one is other else f"None mismatch: {one} is not {other}"
    if isinstance(one, Tensor):
        return _difference_of_tensors(one, other, o)
    if isinstance(one, bool) and isinstance(other, bool):
        return "" if one is other else f"Booleans mismatch: {one} is not {other}"
    if o.dtype and type(one) is not type(other):
        return f"The (d)types do not match: {type(one)} != {type(other)}."
    limits = _limits([_OF_NUMBERS.get(type(x), torch.int64) for x in (one, other)], o)
    return _difference_of_numbers(one, other, limits, o.equal_nan)


def _limits(dtypes: list[Any], o: Any) -> tuple[float, float]:
    """(relative, absolute) tolerance."""
    if o.rtol is not None:
        return o.rtol, o.atol
    relative, absolute = zip(*(_TOLERANCES.get(d, _EXACT) for d in dtypes), strict=True)
    return max(relative), max(absolute)


def _difference_of_numbers(one: Any, other: Any, limits: tuple[float, float], nan: bool) -> str:
    relative, absolute = limits
    if one == other or (nan and cmath.isnan(one) and cmath.isnan(other)):
        return ""
    away = abs(one - other)
    if cmath.isfinite(one) and cmath.isfinite(other) and away <= absolute + relative * abs(other):
        return ""
    ratio = away / abs(other) if other else float("inf")
    return (
        f"Scalars are not {_word(limits)}!\n\nExpected {other} but got {one}.\n"
        f"Absolute difference: {away}{_allowed(absolute, limits)}\n"
        f"Relative difference: {ratio}{_allowed(relative, limits)}"
    )


def _word(limits: tuple[float, float]) -> str:
    return "close" if any(limits) else "equal"


def _allowed(limit: float, limits: tuple[float, float]) -> str:
    return f" (up to {limit} allowed)" if any(limits) else ""


def _attribute(t: Tensor, name: str) -> Any:
    return t.stride() if name == "stride" else getattr(t, name)


def _difference_of_tensors(one: Tensor, other: Tensor, o: Any) -> str:
    for name in _ATTRIBUTES:
        if not getattr(o, name):
            continue
        first, second = _attribute(one, name), _attribute(other, name)
        if first != second:
            shown = "stride()" if name == "stride" else name
            return f"The values for attribute '{shown}' do not match: {first} != {second}."
    if "meta" in (one.device.type, other.device.type):
        return ""
    limits = _limits([one.dtype, other.dtype], o)
    with torch.no_grad():
        one, other = (t.detach().cpu() for t in (one, other))
        wide = torch.promote_types(one.dtype, other.dtype)
        one, other = one.to(wide), other.to(wide)
        if one.layout is not other.layout:
            one, other = one.to_dense(), other.to_dense()
        if one.layout is not torch.strided:
            return _difference_of_sparse(one, other, limits, o.equal_nan)
        return _difference_of_values(one, other, limits, o.equal_nan)


def _difference_of_values(
    one: Tensor, other: Tensor, limits: tuple[float, float], nan: bool, what: str = "Tensor-likes"
) -> str:
    matches = torch.isclose(one, other, *limits, equal_nan=nan)
    return "" if matches.all() else _report(one, other, matches, limits, what)


def _difference_of_sparse(
    one: Tensor, other: Tensor, limits: tuple[float, float], nan: bool
) -> str:
    """The parts of two sparse tensors of one layout, the indices exactly."""
    kind = str(one.layout).removeprefix("torch.sparse_").upper()
    if one.is_sparse and one.is_coalesced() != other.is_coalesced():
        one, other = one.coalesce(), other.coalesce()
    counts = [("specified values", [t._nnz() for t in (one, other)])]
    if one.is_sparse:
        counts.insert(0, ("sparse dimensions", [t.sparse_dim() for t in (one, other)]))
    for name, (first, second) in counts:
        if first != second:
            return (
                f"The number of {name} in sparse {kind} tensors does not match: {first} != {second}"
            )
    for name in _SPARSE_PARTS[kind]:
        parts = [getattr(t, name)() for t in (one, other)]
        title = f"Sparse {kind} {name.lstrip('_')}"
        exact = (0, 0) if "indices" in name else limits
        found = _difference_of_values(*parts, exact, nan, title)
        if found:
            return found
    return ""


_SPARSE_PARTS = {
    "COO": ("_indices", "_values"),
    "CSR": ("crow_indices", "col_indices", "values"),
    "CSC": ("ccol_indices", "row_indices", "values"),
}


def _report(
    one: Tensor, other: Tensor, matches: Tensor, limits: tuple[float, float], what: str
) -> str:
    relative, absolute = limits
    if not one.ndim:
        return _difference_of_numbers(one.item(), other.item(), limits, False)
    if not (one.is_floating_point() or one.is_complex()):
        one, other = one.to(torch.int64), other.to(torch.int64)
    away = (one - other).abs().masked_fill(matches, 0)
    ratio = (away / other.abs()).masked_fill(matches, 0)
    count, total = int((~matches).sum()), matches.numel()
    return (
        f"{what} are not {_word(limits)}!\n\n"
        f"Mismatched elements: {count} / {total} ({count / total:.1%})\n"
        f"Greatest absolute difference: {_greatest(away)}{_allowed(absolute, limits)}\n"
        f"Greatest relative difference: {_greatest(ratio)}{_allowed(relative, limits)}"
    )


def _greatest(t: Tensor) -> str:
    flat = int(t.argmax())
    index = tuple(map(int, np.unravel_index(flat, t.shape)))
    return f"{t.flatten()[flat].item()} at index {index}"
