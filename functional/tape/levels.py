"""Transform levels: tensors that wrap tensors (see transforms.py)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..tensor import Tensor


class Wrapped(Tensor):
    """A tensor of one transform level over a tensor of the level below."""

    __slots__ = ()


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    yield


def process(op: Any, args: Any) -> Any:
    raise NotImplementedError


def process_in_place(op: Any, args: Any) -> Any:
    raise NotImplementedError


def process_function(cls: Any, args: Any) -> Any:
    raise NotImplementedError
