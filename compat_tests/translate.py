"""PyTorch's objects and test functions as torchlike's, for the runners over its test databases.

A test function of PyTorch (a lambda of an OpInfo, say) is run with torchlike by giving its code
globals in which ``torch`` is torchlike.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
from typing import Any

import ml_dtypes
import numpy as np

import torchlike

try:
    import torch
except ImportError:  # the runners say so
    torch = None  # type: ignore[assignment]

_OWN_BITS = {"torch.bfloat16": (np.int16, ml_dtypes.bfloat16)}


class Untranslatable(TypeError):
    """Something that has no counterpart here, such as a sparse tensor."""


def database(module: str, name: str) -> list[Any]:
    """One of the databases in PyTorch's testing package."""
    found = list(getattr(importlib.import_module(f"torch.testing._internal.{module}"), name))
    # importing it forbids setting torch.backends flags, which other tests do
    torch.backends.__allow_nonbracketed_mutation_flag = True
    return found


# --- values ---------------------------------------------------------------------------------------


def translated(x: Any, memo: dict[Any, Any] | None = None) -> Any:
    """A tree of PyTorch's objects as torchlike's; what is in two places, or shared, stays so."""
    memo = {} if memo is None else memo
    if isinstance(x, torch.Tensor):
        if id(x) not in memo:
            memo[id(x)] = tensor(x, memo)
        return memo[id(x)]
    if isinstance(x, dict):
        return {k: translated(v, memo) for k, v in x.items()}
    if isinstance(x, torch.Size):
        return torchlike.Size(x)
    if isinstance(x, (list, tuple)):
        parts = [translated(v, memo) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, slice):
        return slice(*translated([x.start, x.stop, x.step], memo))
    return _constant(x)


def _constant(x: Any) -> Any:
    if isinstance(x, (torch.dtype, torch.memory_format, torch.layout)):
        return found(torchlike, str(x)[len("torch.") :])
    if isinstance(x, torch.device):
        return torchlike.device(str(x))
    if isinstance(x, functools.partial):
        return functools.partial(translated(x.func), *translated(x.args), **translated(x.keywords))
    if isinstance(x, types.FunctionType) and _is_test_function(x):
        return rebound(x)
    if isinstance(x, torch.nn.Module):
        return module(x)
    if isinstance(x, types.BuiltinFunctionType) and x is torch.nn.functional.gelu:
        return torchlike.nn.functional.gelu
    if callable(x) and getattr(x, "__module__", None) and x.__module__.split(".")[0] == "torch":
        path = f"{x.__module__}.{x.__qualname__}".removeprefix("torch.").replace("_C._nn.", "nn.")
        return found(torchlike, path)
    return x


def found(root: Any, path: str) -> Any:
    """``root.a.b.c``, submodules imported on the way."""
    for part in path.split("."):
        if not hasattr(root, part) and isinstance(root, types.ModuleType):
            with contextlib.suppress(ImportError):
                importlib.import_module(f"{root.__name__}.{part}")
        root = getattr(root, part)
    return root


def tensor(t: Any, memo: dict[Any, Any] | None = None) -> Any:
    """A copy of a tensor with its strides; ``memo`` has the copies of its storage, by address."""
    if t.layout != torch.strided:
        return _sparse(t)
    if isinstance(t, torch.nn.Parameter):
        return torchlike.nn.Parameter(tensor(t.data, memo), t.requires_grad)
    if t.is_meta:
        kind = found(torchlike, str(t.dtype)[len("torch.") :])
        return torchlike.empty_strided(tuple(t.shape), t.stride(), dtype=kind, device="meta")
    plain = t.detach().resolve_conj().resolve_neg()
    memo = {} if memo is None else memo
    key = plain.untyped_storage().data_ptr(), str(plain.dtype)
    if key not in memo or not key[0]:
        memo[key] = torchlike.from_numpy(_memory(plain))
    made = memo[key].detach()
    geometry = tuple(plain.shape), plain.stride(), plain.storage_offset()
    if geometry != (tuple(made.shape), made.stride(), 0):
        made = made.as_strided(*geometry).detach()
    return made.requires_grad_() if t.requires_grad else made


def _sparse(t: Any) -> Any:
    """A copy of a sparse tensor."""
    name, plain = str(t.layout).removeprefix("torch."), t.detach()
    if name == "sparse_coo":
        held = plain._indices(), plain._values()
        made = torchlike.sparse_coo_tensor(
            *map(tensor, held), tuple(t.shape), is_coalesced=t.is_coalesced()
        )
    elif name == "sparse_csr" and t.ndim == 2:
        held = plain.crow_indices(), plain.col_indices(), plain.values()
        made = torchlike.sparse_csr_tensor(*map(tensor, held), tuple(t.shape))
    else:
        raise Untranslatable(str(t.layout))
    return made.requires_grad_() if t.requires_grad else made


def _memory(t: Any) -> np.ndarray:
    """A copy of all the memory of a tensor's storage, in its shape if that fits."""
    size = t.untyped_storage().nbytes() // t.itemsize
    flat = t.as_strided((size,), (1,), 0).clone()
    bits = _OWN_BITS.get(str(t.dtype))
    array = flat.view(torch.int16).numpy().view(bits[1]) if bits else flat.numpy()
    return array.reshape(t.shape) if t.is_contiguous() and size == t.numel() else array


def array(t: Any) -> np.ndarray:
    """The values of either library's tensor."""
    t = t.detach()
    t = t if str(t.layout) == "torch.strided" else t.to_dense()
    if isinstance(t, torch.Tensor):
        t = t.resolve_conj().resolve_neg().clone()  # clone: zeros without memory
    if str(t.dtype) in ("torch.bfloat16", "torch.complex32"):
        t = t.float() if str(t.dtype) == "torch.bfloat16" else t.to(torch.complex64)
    return np.asarray(t.numpy())


def module(m: Any) -> Any:
    """A module with the same class, options and parameters, from what PyTorch pickles of it."""
    import io

    file = io.BytesIO()
    torch.save(m, file)
    file.seek(0)
    return torchlike.load(file, weights_only=False)


# --- functions ------------------------------------------------------------------------------------

_WORLDS: dict[str, dict[str, Any]] = {}


def _is_test_function(f: Any) -> bool:
    return (getattr(f, "__module__", None) or "").startswith("torch.testing")


def rebound(f: Any) -> Any:
    """A function of PyTorch's tests that sees torchlike where it says ``torch``."""
    if isinstance(f, functools.partial):
        return functools.partial(rebound(f.func), *translated(f.args), **translated(f.keywords))
    if not isinstance(f, types.FunctionType) or not _is_test_function(f):
        return f
    return _with_globals(f, _world(f.__module__))


def _with_globals(f: Any, world: dict[str, Any]) -> Any:
    cells = tuple(_cell(c) for c in f.__closure__ or ())
    g = types.FunctionType(f.__code__, world, f.__name__, _safely(f.__defaults__), cells or None)
    g.__kwdefaults__ = _safely(f.__kwdefaults__)
    return g


def _cell(cell: Any) -> Any:
    try:
        return types.CellType(_safely(cell.cell_contents))
    except ValueError:  # an empty cell
        return cell


def _safely(x: Any) -> Any:
    try:
        return translated(x)
    except (AttributeError, Untranslatable):
        return x


def _world(name: str) -> dict[str, Any]:
    if name not in _WORLDS:
        world = _WORLDS[name] = dict(vars(sys.modules[name]))
        for key, x in list(world.items()):
            if x is torch:
                world[key] = torchlike
            elif isinstance(x, types.FunctionType) and _is_test_function(x):
                world[key] = _late(x)
        world["freeze_rng_state"] = contextlib.nullcontext
    return _WORLDS[name]


def _late(f: Any) -> Any:
    """``rebound(f)``, made when called: most functions of a module are never used."""

    @functools.wraps(f)
    def call(*args: Any, **kw: Any) -> Any:
        return rebound(f)(*args, **kw)

    call.__module__ = "torchlike.translated"
    return call
