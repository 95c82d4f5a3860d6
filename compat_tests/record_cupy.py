"""What the installed CuPy offers: names, parameters and ufunc types, printed as JSON.

Run with the interpreter of an environment that has CuPy; it needs no GPU and nothing else.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

MODULES = (
    "", "linalg", "fft", "random", "cuda", "cuda.runtime", "lib.stride_tricks", "random.Generator",
    "random.XORWOW", "cuda.Device", "cuda.Stream", "cuda.Event", "cuda.MemoryPool",
)  # fmt: skip
SCATTERING = ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")


def parameters(function: Any) -> list[str] | None:
    """The names of a function's parameters; None where nothing says them."""
    try:
        found = inspect.signature(function).parameters.values()
        names = [("*" * (p.kind - 1) if p.kind in (2, 4) else "") + p.name for p in found]
        return [n.replace("***", "**") for n in names]
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
    print(json.dumps(everything(), sort_keys=True))
