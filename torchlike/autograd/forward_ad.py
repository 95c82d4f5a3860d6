"""Forward mode: tensors that carry a tangent, and operations that compute those of their results.

::

    with dual_level():
        x = make_dual(primal, tangent)
        derivative = unpack_dual(f(x)).tangent  # along ``tangent``
"""

from __future__ import annotations

from typing import Any, NamedTuple

from functional.modes import ModeSwitch
from functional.tape import duals
from functional.tape.duals import FORWARD, PlainDual
from functional.tape.op import TENSOR
from functional.tape.wrappers import Dual, Wrapped, make
from functional.tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_NO_LEVEL = (
    "Trying to access a forward AD level with an invalid index. This index was either not created "
    "or is already deleted."
)


class UnpackedDualTensor(NamedTuple):
    """The primal and the tangent of a dual tensor; the tangent is None where there is none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open a level, in which tensors may carry tangents, and return its number.

    Raises RuntimeError inside another one: they do not nest.
    """
    duals.open_level()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; all tangents are gone then.

    Raises RuntimeError where no level is open, or ``level`` is not the open one.
    """
    if not FORWARD.level and not level:
        raise RuntimeError("Dual level must be a positive number.")
    if level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    duals.close_level()


class dual_level(ModeSwitch):
    """The block in which dual tensors exist: a context manager and a decorator.

    Levels do not nest: a second one raises RuntimeError.
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that carries ``tangent``, a tensor of the same shape.

    The tangent itself is used, not a copy, if its strides are those of ``tensor``. In inference
    mode the result carries none.

    Raises RuntimeError outside a level, for another shape, and where either carries a tangent
    already; ValueError where either is neither floating point nor complex.
    """
    if not FORWARD.level and level is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    if level:
        raise RuntimeError("Invalid level given to _make_dual")
    if not FORWARD.level:
        raise RuntimeError(_NO_LEVEL)
    if isinstance(tensor, Wrapped):
        return _wrapped_dual(tensor, tangent)
    view = TENSOR.view(duals.primal(tensor), tuple(tensor.shape))
    if not duals.enabled():
        return view
    _check(tensor, tangent)
    duals.give(view, duals.laid_out(tangent, view))
    return view


def _check(tensor: Tensor, tangent: Tensor) -> None:
    if type(tensor) is PlainDual:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    duals.check_size(tensor, tangent)
    if type(tangent) is PlainDual:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported."
        )
    if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def _wrapped_dual(tensor: Any, tangent: Tensor) -> Tensor:
    """A dual of a tensor inside a transform lies above the transform."""
    duals.check_size(tensor, tangent)
    dual = make(Dual, max(FORWARD.level, tensor._level + 0.5), tensor)
    dual.tangent = tangent
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal of a dual tensor, which is a view of its memory, and its tangent.

    The tangent is None for other tensors, and after the level has been closed.
    """
    if not FORWARD.level or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        kind = type(tensor).__name__
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {kind}")
    if type(tensor) is Dual and tensor._level % 1:
        return UnpackedDualTensor(tensor._data, tensor.tangent)
    _refuse_hidden(tensor)
    return UnpackedDualTensor(TENSOR.alias(duals.primal(tensor)), duals.tangent_of(tensor))


def _refuse_hidden(tensor: Any) -> None:
    """A dual tensor below a transform's wrapper cannot be unpacked."""
    while isinstance(tensor, Wrapped):
        tensor = tensor._data
        if type(tensor) is PlainDual or (type(tensor) is Dual and tensor._level % 1):
            raise NotImplementedError(
                "torch.autograd.forward_ad.unpack_dual inside a transform of a dual tensor that "
                "was made outside of it"
            )
