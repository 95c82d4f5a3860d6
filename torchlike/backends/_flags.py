"""Modules whose attributes are settings."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .._settings import need_bool


def _flag(name: str, function: str) -> property:
    def get(self: Any) -> Any:
        return vars(self)["_values"][name]

    def put(self: Any, value: bool) -> None:
        vars(self)["_values"][name] = need_bool(function, value)

    return property(get, put)


def become_settings(name: str, defaults: dict[str, bool], library: str) -> dict[str, Any]:
    """Make the module ``name`` one whose attributes are these flags, bools; returns the values."""
    module = sys.modules[name]
    values = vars(module)["_values"] = dict(defaults)
    members = {flag: _flag(flag, f"set_{flag}_{library}") for flag in defaults}
    module.__class__ = type(f"{library.capitalize()}Module", (ModuleType,), members)
    return values


@contextlib.contextmanager
def flags_set(values: dict[str, Any], wanted: dict[str, Any]) -> Iterator[None]:
    """Other values of settings for the length of a block; None leaves one as it is."""
    before = dict(values)
    values.update({k: v for k, v in wanted.items() if v is not None})
    try:
        yield
    finally:
        values.update(before)
