"""What the installed CuPy offers: names, parameters and ufunc types, printed as JSON.

``python -I record_cupy.py [FOLDER]``, where FOLDER is what CuPy was installed into. It needs no
GPU. ``compat_tests/standin_cupy/table.json`` is its output for the version named there.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from typing import Any

MODULES = (
    "", "linalg", "fft", "cuda", "cuda.runtime", "lib.stride_tricks", "cuda.Device", "cuda.Stream",
    "cuda.Event", "cuda.MemoryPool",
)  # fmt: skip


def parameters(function: Any) -> list[str] | None:
    """The names of a function's parameters; None where nothing says them."""
    try:
        found = inspect.signature(function).parameters.values()
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        return [stars.get(p.kind, "") + p.name for p in found]
    except (ValueError, TypeError):
        lines = (getattr(function, "__doc__", "") or "").strip().splitlines()
        match = re.match(r"[\w.]+\((.*?)\)( ->.*)?$", lines[0]) if lines else None
        if match is None:
            return None
        parts = [part.split("=")[0].split()[-1] for part in match[1].split(",") if part.strip()]
        return [part for part in parts if part not in ("self", "/")]


def describe(owner: Any) -> dict[str, Any]:
    """Every public name of a module or class."""
    found: dict[str, Any] = {}
    for name in dir(owner):
        if name.startswith("_"):
            continue
        value = getattr(owner, name)
        if isinstance(getattr(value, "types", None), list):
            found[name] = {"types": list(value.types), "nin": value.nin, "nout": value.nout}
        elif callable(value) and not isinstance(value, type):
            found[name] = parameters(value)
        else:
            found[name] = type(value).__name__
    return found


def everything() -> dict[str, Any]:
    """The table that the stand-in is held to."""
    import cupy
    import cupyx
    import cupyx.scipy.special

    table = {"version": cupy.__version__, "ndarray": describe(cupy.ndarray)}
    for path in MODULES:
        owner = cupy
        for part in path.split(".") if path else ():
            owner = getattr(owner, part)
        table[f"cupy.{path}".rstrip(".")] = describe(owner)
    table["cupyx"] = describe(cupyx)
    table["cupyx.scipy.special"] = describe(cupyx.scipy.special)
    return table


if __name__ == "__main__":
    sys.path[:0] = sys.argv[1:]
    print(json.dumps(everything(), sort_keys=True))
