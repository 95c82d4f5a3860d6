"""The modules of the stand-in, made from NumPy's functions and the table of CuPy's names."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from . import device
from .arrays import FUNCTIONS, TABLE, ndarray, wrap
from .functions import attach_methods, attach_operators, lift, module_functions, ufunc


def _asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *,
             blocking: bool = True) -> Any:  # fmt: skip
    return a.get(order=order) if type(a) is ndarray else np.asarray(a, order=order)


def _as_strided(x: Any, shape: Any = None, strides: Any = None) -> Any:
    return wrap(np.lib.stride_tricks.as_strided(x._a, shape, strides), x)


def _scatter_add(a: Any, slices: Any, value: Any) -> None:
    FUNCTIONS["add"].at(a, slices, value)


def _module(name: str, members: dict[str, Any]) -> Any:
    made = ModuleType(name)
    made.__dict__.update(members)
    return made


def _special() -> dict[str, Any]:
    try:
        import scipy.special as theirs
    except ImportError:
        return {}
    found = {}
    for name, facts in TABLE["cupyx.scipy.special"].items():
        if isinstance(facts, dict) and hasattr(theirs, name):
            found[name] = ufunc(name, getattr(theirs, name), facts)
        elif isinstance(facts, list) and hasattr(theirs, name):
            found[name] = lift(name, getattr(theirs, name), facts, "cupyx.scipy.special.")
    return found


def modules() -> dict[str, Any]:
    """``cupy`` and ``cupyx`` with the parts that the backend uses."""
    attach_methods()
    attach_operators()
    names = module_functions("cupy", np)
    names |= {
        "ndarray": ndarray, "ufunc": ufunc, "asnumpy": _asnumpy, "__version__": TABLE["version"],
        "ElementwiseKernel": device.ElementwiseKernel,
        "get_default_memory_pool": lambda: device.POOL,
    }  # fmt: skip
    special = _special()
    for name, facts in TABLE["cupy"].items():  # CuPy takes some from SciPy's family
        if isinstance(facts, dict) and name not in names and name in special:
            names[name] = special[name]
    cupy = _module("cupy", names)
    tricks = _module("cupy.lib.stride_tricks", {"as_strided": _as_strided})
    cuda = _module("cupy.cuda", device.CUDA)
    cuda.runtime = _module("cupy.cuda.runtime", device.RUNTIME)
    linalg = module_functions("cupy.linalg", np.linalg)
    for name, function in linalg.items():
        if isinstance(TABLE["cupy.linalg"].get(name), list):
            linalg[name] = device.silent(name, function)
    linalg["LinAlgError"] = np.linalg.LinAlgError
    cupy.linalg = _module("cupy.linalg", linalg)
    cupy.fft = _module("cupy.fft", module_functions("cupy.fft", np.fft))
    cupy.lib = _module("cupy.lib", {"stride_tricks": tricks})
    cupy.cuda = cuda
    cupyx = _module("cupyx", {"errstate": device.errstate, "scatter_add": _scatter_add})
    cupyx.scipy = _module("cupyx.scipy", {})
    cupyx.scipy.special = _module("cupyx.scipy.special", special)
    for package in (cupy, cupy.lib, cuda, cupyx, cupyx.scipy):
        package.__path__ = []
    FUNCTIONS.update(names, Device=device.Device, module=cupy)
    found = (cupy, cupy.linalg, cupy.fft, cupy.lib, tricks, cuda, cuda.runtime)
    return {m.__name__: m for m in (*found, cupyx, cupyx.scipy, cupyx.scipy.special)}
