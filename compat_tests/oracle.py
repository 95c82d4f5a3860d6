"""PyTorch's facts about every record: asked of PyTorch, or read from what was recorded of it."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import observe
from .compare import Digest, digest
from .records import FAMILIES, RECORDS, Record
from .records.base import DTYPES

GOLDEN = Path(__file__).parent / "golden" / "ops"
SWEEP = 2  # samples that are tried with every dtype; the others with float64 and float32
try:
    TORCH: Any = observe.library("torch")
except ImportError:
    TORCH = None

OBSERVERS: dict[str, Any] = {
    "run": observe.observe,
    "in_place": observe.observe_in_place,
    "out": observe.observe_out,
    "bad": observe.observe_bad,
    "saved": observe.observe_saved,
}


def public(records: dict[str, Record] = RECORDS) -> list[str]:
    """The records that PyTorch can run."""
    return [name for name, r in records.items() if not r.internal]


def cases(record: Record, kind: str) -> Iterator[tuple[int, str]]:
    """The (sample, dtype) pairs that a kind of test looks at."""
    if kind == "bad":
        yield from ((i, "float32") for i in range(len(record.bad)))
    elif kind == "saved":
        if record.differentiable and "float64" in record.dtypes:
            yield from ((i, "float64") for i in range(min(len(record.samples), SWEEP)))
    elif kind == "out":
        chosen = "float64" if "float64" in record.dtypes else record.dtypes[0]
        yield from ((i, chosen) for i in range(len(record.samples) if record.out else 0))
    elif kind != "in_place" or record.in_place:
        for i in range(len(record.samples)):
            few = [d for d in DTYPES[:2] if d in record.dtypes] or record.dtypes[:1]
            for dtype in DTYPES if i < SWEEP else few:
                if dtype in record.dtypes:
                    yield i, dtype


def facts(torch: Any, record: Record, kind: str, index: int, dtype: str) -> Any:
    """What is seen of one case with a library."""
    if kind == "run":
        # half types round after every step of a rule, so their gradients are not compared
        return observe.observe(torch, record, index, dtype, 0 if dtype in observe.HALF else 2)
    if kind == "bad":
        return observe.observe_bad(torch, record, index)
    return OBSERVERS[kind](torch, record, index, dtype)


def expected(record: Record, kind: str, index: int, dtype: str) -> Any:
    """PyTorch's facts about one case."""
    if TORCH is not None:
        return facts(TORCH, record, kind, index, dtype)
    stored = _recorded()[record.name]
    found = unpack(stored, f"{kind}/{index}/{dtype}")
    if kind == "run" and not record.second:
        found.pop("grads_again", None)
    return found


# --- recorded facts -------------------------------------------------------------------------------

SAME = {"float32": "float64", "complex64": "complex128"}  # whose numbers stand for whose


@functools.cache
def _recorded() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(GOLDEN.glob("*.json.gz")):
        found |= json.loads(gzip.decompress(path.read_bytes()))
    return found


def family_of(name: str) -> str:
    """The file that a record is recorded in."""
    module = RECORDS[name].call.__module__.rsplit(".", 1)[-1]
    known = {m.__name__.rsplit(".", 1)[-1] for m in FAMILIES}
    return module if module in known else "other"


def pack(x: Any, numbers: bool) -> Any:
    """Facts as JSON: arrays as digests, or as ``=`` where another dtype's serve."""
    if isinstance(x, np.ndarray):
        if not numbers:
            return {"=": 1}
        d = digest(x)
        return {"#": d.shape, "n": [float(f"{v:.9g}") for v in d.numbers]}
    if isinstance(x, dict):
        return {k: pack(v, numbers) for k, v in x.items() if k != "grads_again"}
    if isinstance(x, list):
        return [pack(v, numbers) for v in x]
    return x


def unpack(stored: dict[str, Any], key: str) -> Any:
    """The facts that ``pack`` stored under ``key``."""
    kind, index, dtype = key.split("/")
    other = stored.get(f"{kind}/{index}/{SAME.get(dtype, dtype)}")
    result = _opened(stored[key], other, f"torch.{dtype}")
    if isinstance(result, dict) and "grads" in result and kind == "run":
        result["grads_again"] = [None if g is None else g["values"] for g in result["grads"]]
    return result


def _opened(x: Any, other: Any, dtype: str) -> Any:
    if isinstance(x, dict):
        if "#" in x:
            return Digest(x["#"], x["n"])
        if "=" in x:
            return None if other is None else Digest(other["#"], other["n"], dtype)
        same = isinstance(other, dict)
        return {k: _opened(v, other.get(k) if same else None, dtype) for k, v in x.items()}
    if isinstance(x, list):
        same = isinstance(other, list) and len(other) == len(x)
        return [_opened(v, other[i] if same else None, dtype) for i, v in enumerate(x)]
    return x
