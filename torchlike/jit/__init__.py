"""TorchScript's names. Nothing is compiled: functions and modules run as they are.

``script`` returns what it is given, ``trace`` calls it once. What needs a compiled form (its graph
or code, saving, loading, freezing) raises NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ._marks import Attribute, annotate, export, ignore, interface, isinstance, unused
from ._script import (
    CompilationUnit,
    Error,
    RecursiveScriptModule,
    ScriptFunction,
    ScriptModule,
    ScriptWarning,
    is_scripting,
    refused,
    script,
    script_if_tracing,
    script_method,
)
from ._tasks import Future, fork, wait
from ._trace import TracerWarning, is_tracing, trace, trace_module

__all__ = [
    "Attribute", "CompilationUnit", "Error", "Future", "ScriptFunction", "ScriptModule", "annotate",
    "enable_onednn_fusion", "export", "export_opnames", "fork", "freeze", "ignore", "interface",
    "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "save", "script",
    "script_if_tracing", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused",
    "wait",
]  # fmt: skip


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Refused: save a module's ``state_dict`` with ``torch.save``."""
    raise refused("save")


def load(
    f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False
) -> Any:
    """Refused: there is no interpreter of TorchScript."""
    raise refused("load")


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """Refused: there is no graph to freeze."""
    raise refused("freeze")


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """Refused: there is no graph to optimize."""
    raise refused("optimize_for_inference")


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: Any = None
) -> None:
    """Refused: there is no graph to optimize."""
    raise refused("run_frozen_optimizations")


def export_opnames(m: Any) -> list[str]:
    """Refused: there is no graph to look at."""
    raise refused("export_opnames")


# --- settings of a compiler that is not there -----------------------------------------------------

_settings: dict[str, Any] = {"strategy": [("STATIC", 2), ("DYNAMIC", 10)], "onednn": False}


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Set how operations are fused, which changes nothing; the setting before."""
    before: list[tuple[str, int]] = _settings["strategy"]
    _settings["strategy"] = list(strategy)
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Set whether operations are fused, which changes nothing."""
    _settings["onednn"] = enabled


def onednn_fusion_enabled() -> bool:
    """The setting."""
    found: bool = _settings["onednn"]
    return found


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block with optimization on or off; it changes nothing."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block with a kind of fusion; it changes nothing."""
    yield


class strict_fusion:
    """A block whose operations must be fused when scripted; it changes nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        pass
