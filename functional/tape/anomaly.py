"""Backward passes that say which forward call an error, or a NaN, comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ..blame import warn
from ..modes import ANOMALY
from ..tensor import Tensor
from .engine import _Run
from .node import AccumulateGrad, Node


class AnomalyRun(_Run):
    """A backward pass that watches every rule."""

    def _loop(self, heap: Any, counts: Any) -> None:
        try:
            super()._loop(heap, counts)
        except Exception as error:
            node = _running(error)
            if node is not None:
                _tell(node)
            raise

    def _spread(self, node: Node, grads: Any, counts: Any, heap: Any, ready: Any) -> None:
        if ANOMALY.check_nan:
            for nr, g in enumerate(grads):
                if _has_nan(g):
                    raise RuntimeError(
                        f"Function '{node.name()}' returned nan values in its {nr}th output."
                    )
        super()._spread(node, grads, counts, heap, ready)


def _running(error: Exception) -> Node | None:
    """The node whose rule raised: a local of the loop's frame."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is _Run._loop.__code__:
            node = trace.tb_frame.f_locals.get("node")
            return None if isinstance(node, AccumulateGrad) else node
        trace = trace.tb_next
    return None


def _tell(node: Node) -> None:
    forward = None if node.extra is None else node.extra.anomaly
    if forward is None:
        text = (
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information."
        )
    else:
        text = (
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
            f"{forward}"
        )
    warn(text)


def _has_nan(g: Any) -> bool:
    x = g
    while isinstance(x, Tensor):  # in transforms there is one below
        x = x._data
    return isinstance(x, (ndarray, np.generic)) and x.dtype.kind in "fc" and bool(np.isnan(x).any())
