"""The properties that transpose: ``T``, ``mT``, ``H`` and ``mH`` of tensors."""

from __future__ import annotations

from functional.blame import warn_once
from functional.ops.view_ops import permute_dims
from functional.tape.op import TENSOR
from functional.tensor import Tensor


def matrix_transpose(self: Tensor) -> Tensor:
    """``Tensor.mT``."""
    if self.ndim == 0:
        warn_once(
            "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases."
        )
        return self
    if self.ndim == 1:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices. Got "
            f"{self.ndim}-D tensor."
        )
    return TENSOR.transpose(self, -2, -1)


def reversed_dims(self: Tensor) -> Tensor:
    """``Tensor.T``."""
    if self.ndim == 2:
        return permute_dims(self, (1, 0))
    if self.ndim == 0:
        warn_once(
            "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."
        )
    else:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
    return TENSOR.permute(self, tuple(range(self.ndim))[::-1])


def adjoint(self: Tensor) -> Tensor:
    """``Tensor.mH``."""
    if self.ndim == 0:
        warn_once("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().")
        return TENSOR.conj(self)
    if self.ndim == 1:
        raise RuntimeError(
            "tensor.mH is only supported on matrices or batches of matrices. Got "
            f"{self.ndim}-D tensor."
        )
    return TENSOR.conj(TENSOR.transpose(self, -2, -1))


def conjugate_transpose(self: Tensor) -> Tensor:
    """``Tensor.H``."""
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
            + " For batches of matrices, consider using tensor.mH" * (self.ndim > 2)
        )
    if not self.ndim:
        warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
    return TENSOR.conj(TENSOR.transpose(self, 0, 1) if self.ndim else self)
