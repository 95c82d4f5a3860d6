"""Names that PyTorch has and we do not: AttributeErrors that say so."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# Parts of PyTorch that are there without being imported; ours load on first use.
ON_DEMAND = {
    "torchlike": frozenset(
        """
        _C accelerator amp autograd backends cpu cuda distributions fft func functional hub jit
        linalg library multiprocessing nn optim overrides random return_types serialization
        sparse special storage testing types utils version
        """.split()
    ),
    "torchlike.nn": frozenset("attention functional init modules parallel parameter utils".split()),
    "torchlike.optim": frozenset("lr_scheduler swa_utils".split()),
    "torchlike.autograd": frozenset(
        "forward_ad function functional grad_mode graph profiler".split()
    ),
    "torchlike.utils": frozenset("checkpoint data hooks".split()),
}
_TABLE = "docs/coverage.md"


def _missing(module: ModuleType, name: str) -> AttributeError:
    where = module.__name__
    text = f"module '{where}' has no attribute '{name}'"
    if not name.startswith("__"):
        text += f" (torchlike does not provide {where}.{name}: see {_TABLE} for what it does)"
    return AttributeError(text, name=name, obj=module)


def present(own: str) -> list[str]:
    """The parts of one of our packages that load on demand."""
    return [name for name in ON_DEMAND.get(own, ()) if find_spec(f"{own}.{name}") is not None]


def lookup(module: ModuleType) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module: parts that load on demand, or an AttributeError."""
    spec = module.__spec__
    own = module.__name__ if spec is None else spec.name
    parts = ON_DEMAND.get(own, frozenset())

    def __getattr__(name: str) -> Any:
        if name in parts and find_spec(f"{own}.{name}") is not None:
            return importlib.import_module(f"{own}.{name}")
        raise _missing(module, name)

    return __getattr__


def attach(module: ModuleType) -> None:
    """Give a module that has no ``__getattr__`` of its own ours."""
    spec = module.__spec__
    if spec is not None and spec.name.partition(".")[0] == "torchlike":
        vars(module).setdefault("__getattr__", lookup(module))
