"""Sums with products, scaled: addmm, addmv, baddbmm, addr and addbmm."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..errors import not_implemented
from ..tape.declare import general
from ..tape.memory import check_result
from ..tape.op import TENSOR, public
from ..tape.out import out_of
from ..tape.slow import in_place
from ..tensor import Tensor
from . import views
from .factors import ONE, factors
from .matmul import addmm_, addmv_, baddbmm_
from .matmul_checks import same_summands
from .older_forms import with_factors


@public
def addmm(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · mat1 @ mat2."""
    if old:
        return with_factors(addmm, ("mat1", "mat2"), (self, mat1, mat2, *old), out=out)
    if beta is not ONE or alpha is not ONE:
        beta, alpha = factors("addmm", addmm_.op, (self, mat1, mat2), beta, alpha)
    if out is not None:
        return out_of(addmm_, out, self, mat1, mat2, beta, alpha, name="addmm")
    return addmm_(self, mat1, mat2, beta, alpha)


@public
def addmv(
    self: Tensor,
    mat: Tensor,
    vec: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · mat @ vec."""
    if old:
        return with_factors(addmv, ("mat", "vec"), (self, mat, vec, *old), out=out)
    if beta is not ONE or alpha is not ONE:
        beta, alpha = factors("addmv", addmv_.op, (self, mat, vec), beta, alpha)
    if out is not None:
        return out_of(addmv_, out, self, mat, vec, beta, alpha, name="addmv")
    return addmv_(self, mat, vec, beta, alpha)


@public
def baddbmm(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · batch1 @ batch2 for batches of matrices."""
    if old:
        return with_factors(baddbmm, ("batch1", "batch2"), (self, batch1, batch2, *old), out=out)
    if beta is not ONE or alpha is not ONE:
        beta, alpha = factors("baddbmm", baddbmm_.op, (self, batch1, batch2), beta, alpha)
    if out is not None:
        return out_of(baddbmm_, out, self, batch1, batch2, beta, alpha, name="baddbmm")
    return baddbmm_(self, batch1, batch2, beta, alpha)


def _twin(closure: Any, name: str) -> None:
    """``name_``: the sum in place, for tensors of the product's shape."""

    def twin(
        self: Tensor, mat1: Tensor, mat2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1
    ) -> Tensor:
        if old:
            return with_factors(twin, closure.op.inputs[1:], (self, mat1, mat2, *old))
        if beta is not ONE or alpha is not ONE:
            beta, alpha = factors(f"{name}_", closure.op, (self, mat1, mat2), beta, alpha)
        return in_place(closure.op, (self, mat1, mat2, beta, alpha))

    twin.__name__ = twin.__qualname__ = f"{name}_"
    twin.__doc__ = f"``{name}`` in place."
    public(twin)


for _closure, _name in ((addmm_, "addmm"), (addmv_, "addmv"), (baddbmm_, "baddbmm")):
    _twin(_closure, _name)


def _scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


addr_ = general(
    "addr_of",
    lambda F, g, beta: _scaled(g, beta),
    lambda F, g, vec2, alpha: _scaled(F.mv(g, vec2), alpha),
    lambda F, g, vec1, alpha: _scaled(F.mv(F.t(g), vec1), alpha),
    inputs=("self", "vec1", "vec2"),
    statics=("beta", "alpha"),
    node="AddrBackward0",
    shape=lambda b, x, y, beta, alpha: ((x.shape[0], y.shape[0]), b.dtype),
)


def _addr_arguments(
    name: str, self: Tensor, vec1: Tensor, vec2: Tensor, beta: Any, alpha: Any
) -> tuple[Any, ...]:
    for which, v in (("vec1", vec1), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {which}, but got {v.ndim}-D")
    views.expand(self, (vec1.shape[0], vec2.shape[0]))  # PyTorch's error if it does not fit
    kind = dtypes.result_type([(t.dtype, 1) for t in (self, vec1, vec2)])
    x, v, w = (t if t.dtype is kind else TENSOR.to_dtype(t, kind) for t in (self, vec1, vec2))
    numbers = factors(name, addr_.op, (x, v, w), beta, alpha, kind.category < dtypes.FLOAT)
    if kind is not dtypes.bool_:
        for which, number in zip(("beta", "alpha"), numbers, strict=True):
            if isinstance(number, bool):
                raise RuntimeError(f"Boolean {which} only supported for Boolean results.")
    return (x, v, w, *numbers)


@public
def addr(
    self: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · vec1 ⊗ vec2."""
    if old:
        return with_factors(addr, ("vec1", "vec2"), (self, vec1, vec2, *old), out=out)
    args = _addr_arguments("addr", self, vec1, vec2, beta, alpha)
    return addr_(*args) if out is None else out_of(addr_, out, *args, name="addr")


def _addr_twin(
    self: Tensor, vec1: Tensor, vec2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """``addr`` in place."""
    if old:
        return with_factors(_addr_twin, ("vec1", "vec2"), (self, vec1, vec2, *old))
    args = _addr_arguments("addr_", self, vec1, vec2, beta, alpha)
    if args[0] is self:
        return in_place(addr_.op, args)
    result = addr_(*args)
    check_result(result._data, self)
    return self.copy_(result)


_addr_twin.__name__ = "addr_"
TENSOR.addr_ = _addr_twin


def _batch1_vjp(F: Any, g: Any, batch1_shape: Any, batch2: Any, alpha: Any) -> Any:
    wide = F.expand(F.unsqueeze(g, 0), (batch1_shape[0], batch1_shape[1], batch2.shape[2]))
    return _scaled(F.bmm(wide, F.transpose(batch2, 1, 2)), alpha)


def _batch2_vjp(F: Any, g: Any, batch1: Any, batch2_shape: Any, alpha: Any) -> Any:
    wide = F.expand(F.unsqueeze(g, 0), (batch2_shape[0], batch1.shape[1], batch2_shape[2]))
    return _scaled(F.bmm(F.transpose(batch1, 1, 2), wide), alpha)


def _check_addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *rest: Any) -> None:
    if batch1.shape[0]:
        same_summands(self, batch1, batch2)
    if batch1.dtype is dtypes.bool_:
        raise not_implemented("addmm_impl_cpu_", dtypes.bool_)


addbmm_ = general(
    "addbmm_of",
    lambda F, g, beta: _scaled(g, beta),
    _batch1_vjp,
    _batch2_vjp,
    inputs=("self", "batch1", "batch2"),
    statics=("beta", "alpha"),
    node="AddbmmBackward0",
    check=_check_addbmm,
    strict=True,
    shape=lambda b, x, y, beta, alpha: ((x.shape[1], y.shape[2]), x.dtype),
)


def _addbmm_arguments(
    called: str, self: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any
) -> tuple[Any, ...]:
    if batch1.ndim > 1 and batch2.ndim > 2:
        views.expand(self, (batch1.shape[1], batch2.shape[2]))
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if x.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    a, b = batch1.shape, batch2.shape
    if a[0] != b[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {a[0]} and {b[0]}"
        )
    if a[2] != b[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({a[1]}x{a[2]} and {b[1]}x{b[2]})")
    numbers = factors(called, addbmm_.op, (self, batch1, batch2), beta, alpha)
    return (self, batch1, batch2, *numbers)


@public
def addbmm(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *old: Any,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor:
    """beta · self + alpha · Σ batch1[i] @ batch2[i]."""
    if old:
        return with_factors(addbmm, ("batch1", "batch2"), (self, batch1, batch2, *old), out=out)
    args = _addbmm_arguments("addbmm", self, batch1, batch2, beta, alpha)
    if out is None:
        return addbmm_(*args)
    return out_of(addbmm_, out, *args, name="addbmm")


def _addbmm_twin(
    self: Tensor, batch1: Tensor, batch2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """``addbmm`` in place."""
    if old:
        return with_factors(_addbmm_twin, ("batch1", "batch2"), (self, batch1, batch2, *old))
    return in_place(addbmm_.op, _addbmm_arguments("addbmm_", self, batch1, batch2, beta, alpha))


_addbmm_twin.__name__ = "addbmm_"
TENSOR.addbmm_ = _addbmm_twin
