"""Comparing facts: exactly, except for numbers, which have a tolerance by dtype."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCE = {
    # libraries round transcendental functions differently in the last bit or two
    "torch.float64": (1e-11, 1e-12),
    "torch.complex128": (1e-11, 1e-12),
    "torch.float32": (2e-5, 2e-6),
    "torch.complex64": (2e-5, 2e-6),
    # one unit in the last place: half types are computed in float32 and rounded once
    "torch.float16": (1.0e-3, 1e-7),
    "torch.bfloat16": (8.0e-3, 1e-7),
}
PICKED = 6  # elements of a large array that a digest keeps
DIGITS = 1e-8  # relative rounding of recorded numbers


@dataclass
class Digest:
    """What is recorded of an array: its shape, and its elements, or a few and a weighted sum."""

    shape: list[int]
    numbers: list[float]
    dtype: str = ""  # of the case whose numbers these only stand for


def digest(x: np.ndarray) -> Digest:
    """The digest of an array."""
    return Digest(list(x.shape), _numbers(x).tolist())


def _numbers(x: np.ndarray) -> np.ndarray:
    flat = np.concatenate([x.real.ravel(), x.imag.ravel()]) if x.dtype.kind == "c" else x.ravel()
    flat = flat.astype(np.float64)
    if flat.size <= PICKED + 1:
        return flat
    picks = flat[np.linspace(0, flat.size - 1, PICKED).astype(int)]
    with np.errstate(invalid="ignore", over="ignore"):
        return np.append(picks, flat @ np.cos(np.arange(flat.size)))


def close(expected: Any, found: Any, dtype: str) -> bool:
    """Whether two arrays (or a digest and an array) agree."""
    if expected is None or found is None:
        return expected is found
    rtol, atol = TOLERANCE.get(dtype, (0, 0))
    if isinstance(expected, Digest):
        rtol, atol = max((rtol, atol), TOLERANCE.get(expected.dtype, (0, 0)))
        if expected.shape != list(found.shape):
            return False
        rtol = max(rtol, DIGITS)
        if len(expected.numbers) < found.size:  # the last number is a sum
            with np.errstate(over="ignore"):  # elements may be as large as there are
                total = float(np.abs(found)[np.isfinite(found)].sum())
            atol = atol + rtol * min(total, 1e300)
        expected, found = np.array(expected.numbers), _numbers(found)
    if expected.shape != found.shape:
        return False
    return bool(np.allclose(found, expected, rtol, atol, equal_nan=True))


def differences(expected: Any, found: Any, dtype: str, path: str = "") -> list[str]:
    """Where two sets of facts differ, in words."""
    arrays = (np.ndarray, Digest)
    if isinstance(expected, arrays) or isinstance(found, arrays):
        if close(expected, found, dtype):
            return []
        return [f"{path}: expected {expected!r}, found {found!r}"]
    if isinstance(expected, dict) and isinstance(found, dict):
        return _between_dicts(expected, found, dtype, path)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, dtype, f"{path}[{i}]")]
    return [] if expected == found else [f"{path}: expected {expected!r}, found {found!r}"]


def _between_dicts(expected: Any, found: Any, dtype: str, path: str) -> list[str]:
    if ("error" in expected) != ("error" in found):
        expected, found = expected.get("error"), found.get("error")
        return [f"{path}.error: expected {expected!r}, found {found!r}"]
    own = expected.get("dtype", dtype)
    keys = [*expected, *(k for k in found if k not in expected)]
    return [d for k in keys for d in differences(expected.get(k), found.get(k), own, f"{path}.{k}")]
