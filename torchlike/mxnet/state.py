"""What is switched on in this thread (recording, training), and NumPy semantics in all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from functional.modes import MODE

from .base import MXNetError


class _Flags(threading.local):
    recording = False
    training = False


class _Semantics:
    """Whether Gluon makes NumPy-like arrays (``array``) and reductions may be 0-d (``shape``)."""

    array = False
    shape = False


FLAGS = _Flags()
NUMPY = _Semantics()


def run(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function of core tensors; the core records exactly while we do."""
    before, MODE.grad = MODE.grad, FLAGS.recording
    try:
        return function(*args, **named)
    except (MXNetError, NotImplementedError):
        raise
    except RuntimeError as error:
        raise MXNetError(str(error)) from error
    finally:
        MODE.grad = before


@contextmanager
def flags(recording: bool | None = None, training: bool | None = None) -> Iterator[None]:
    """Set the given flags and restore them; None leaves one as it is."""
    before = FLAGS.recording, FLAGS.training
    if recording is not None:
        FLAGS.recording = recording
    if training is not None:
        FLAGS.training = training
    try:
        yield
    finally:
        FLAGS.recording, FLAGS.training = before
