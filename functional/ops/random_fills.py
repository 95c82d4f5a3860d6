"""In-place fills with random numbers."""

from __future__ import annotations

from typing import Any

from ..kernels.meta import MetaArray
from ..modes import MODE
from ..tape.duals import overwritten
from ..tape.memory import check_internal, check_overlap
from ..tape.operands import no_form
from ..tape.sparse import is_sparse
from ..tape.views import bump, check_in_place, requires_grad
from ..tensor import Tensor
from . import drawing
from .random import into
from .views import expand


def _fill(self: Tensor, kernel: str, generator: Any, *args: Any) -> Tensor:
    if MODE.transforms and drawing.concerns(self):
        return drawing.in_place(lambda t: _fill(t, kernel, generator, *args), self)
    check_in_place(self, requires_grad(self))
    if not is_sparse(self):
        check_internal(self)
    if type(self._data) is not MetaArray:
        into(kernel, generator, self, *args)
    overwritten(self)
    bump(self)
    return self


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **kw: Any
) -> Tensor:
    """Fill with uniform numbers in [from, to)."""
    return _fill(self, "uniform_", generator, float(kw.get("from", from_)), float(to))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    return _fill(self, "normal_", generator, float(mean), float(std))


def random_(self: Tensor, *bounds: Any, generator: Any = None, **kw: Any) -> Tensor:
    """Fill with integers: of the whole range of the dtype, below ``to``, or in [from, to).

    ``random_(from, None)`` goes up to the largest number that the dtype counts to.
    """
    fits = all(b is None or (hasattr(b, "__index__") and not isinstance(b, bool)) for b in bounds)
    if len(bounds) > 2 or not kw.keys() <= {"from", "to"} or not fits:
        raise no_form("random_", bounds, kw)
    if len(bounds) == 1 and not kw:
        return _fill(self, "randint_", generator, 0, int(bounds[0]))
    low = bounds[0] if bounds else kw.get("from")
    high = bounds[1] if len(bounds) > 1 else kw.get("to")
    if low is None and high is None:
        return _fill(self, "random_", generator)
    if high is None:
        return _fill(self, "random_from_", generator, int(low or 0))
    return _fill(self, "randint_", generator, int(low or 0), int(high))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones with probability ``p``, a number or a tensor."""
    if isinstance(p, Tensor):
        if MODE.transforms and drawing.concerns(self, p):
            draw = lambda t, probability: bernoulli_(t, probability, generator=generator)
            return drawing.in_place(draw, self, p, name="bernoulli")
        p = expand(p, tuple(self.shape))
        check_overlap(self, (p,))
        return _fill(self, "bernoulli_tensor_", generator, p._data)
    return _fill(self, "bernoulli_", generator, float(p))


def _one_parameter(name: str, first: Any, second: Any, doc: str) -> Any:
    def fill(self: Tensor, a: Any = first, b: Any = second, *, generator: Any = None) -> Tensor:
        args = [float(v) for v in (a, b) if v is not None]
        return _fill(self, name, generator, *args)

    fill.__name__ = fill.__qualname__ = name
    fill.__doc__ = doc
    return fill


exponential_ = _one_parameter("exponential_", 1.0, None, "Fill with exponential numbers.")
geometric_ = _one_parameter("geometric_", None, None, "Fill with geometric numbers.")
cauchy_ = _one_parameter("cauchy_", 0.0, 1.0, "Fill with Cauchy numbers.")
log_normal_ = _one_parameter("log_normal_", 1.0, 2.0, "Fill with log-normal numbers.")
