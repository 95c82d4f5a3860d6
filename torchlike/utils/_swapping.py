"""Exchanging what two tensors are, while everything that refers to them stays."""

from __future__ import annotations

import weakref
from typing import Any

from functional.tape.node import AccumulateGrad, make_leaf
from functional.tensor import Tensor

_SLOTS = ("_data", "_edge", "_grad", "_place", "_ver")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange class, attributes, memory, gradient and history of two tensors.

    Views of either keep the memory they had, and graphs that lead to either can no longer run
    backward. RuntimeError if a tensor has weak references, or if
    one's class has slots that the other's has not.
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefcount(t) > (_accumulator(t) is not None):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    own = _own_slots(type(t1))
    if own != _own_slots(type(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in (*_SLOTS, *own):
        first, second = getattr(t1, slot), getattr(t2, slot)
        setattr(t1, slot, second)
        setattr(t2, slot, first)
    for t in (t1, t2):
        if (node := _accumulator(t)) is not None:
            make_leaf(t)
            t._edge[0].extra, node.extra = node.extra, None  # hooks go along, graphs do not
            node.register_prehook(_refuse)


def _refuse(*_: Any) -> None:
    """Called where a graph from before the exchange comes to one of the tensors."""
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen "
        "when you try to run backward on a tensor that was swapped. For a module m with "
        "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the "
        "device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and "
        "backward. To resolve this, please only change the device/dtype before running forward (or "
        "after both forward and backward)."
    )


def _accumulator(t: Tensor) -> Any:
    """The node that holds a leaf weakly."""
    node = t._edge[0]
    return node if type(node) is AccumulateGrad else None


def _own_slots(cls: type) -> set[str]:
    """The slots that a class of tensors adds."""
    more = [c for c in cls.__mro__ if issubclass(c, Tensor) and c is not Tensor]
    return {name for c in more for name in vars(c).get("__slots__", ())}
