"""What distributions share: broadcasting, probabilities and logits, properties made when asked for.

``probs`` are probabilities, ``logits`` their logarithms up to a constant, or, for binary outcomes,
the logarithm of the odds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import torchlike as torch
from functional.tape.wrappers import Wrapped
from torchlike import Tensor
from torchlike.nn.functional import softmax
from torchlike.overrides import is_tensor_like

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

# Names with an underscore are what other libraries import from PyTorch's module of this name.
euler_constant = 0.57721566490153286060  # Euler's and Mascheroni's γ
Number = (int, float)


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape.

    Numbers take the dtype and device of the first tensor, or the default dtype. Raises ValueError
    for anything else.
    """
    if not all(is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    like = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = torch.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    tensors = [
        v if is_tensor_like(v) else torch.tensor(v, dtype=dtype, device=device) for v in values
    ]
    return tuple(torch.broadcast_tensors(*tensors))


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def standard_normal(shape: Any, like: Tensor) -> Tensor:
    """Standard normal numbers of ``shape``, with the dtype and device of ``like``."""
    return _standard_normal(shape, like.dtype, like.device)


def uniform(shape: Any, like: Tensor) -> Tensor:
    """Uniform numbers in [0, 1) of ``shape``, with the dtype and device of ``like``."""
    return torch.rand(shape, dtype=like.dtype, device=like.device)


def full(shape: Any, value: float, like: Tensor) -> Tensor:
    """``value`` in ``shape``, with the dtype and device of ``like``."""
    return torch.full(shape, value, dtype=like.dtype, device=like.device)


def filled(tensor: Tensor, where: Tensor, value: float) -> Tensor:
    """A copy of ``tensor`` with ``value`` where ``where`` says so (it broadcasts)."""
    tensor = tensor.clone(memory_format=torch.contiguous_format)
    tensor[where.expand_as(tensor)] = value
    return tensor


def all_true(flags: Tensor) -> bool:
    """Whether all are true, inside ``vmap`` for the whole batch."""
    while isinstance(flags, Wrapped):
        flags = flags._data
    return bool(flags.all())


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last ``dim`` dimensions."""
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def log_diagonal(matrix: Tensor) -> Tensor:
    """The sum of the logarithms of the diagonals: log det of triangular matrices (..., n, n)."""
    return matrix.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """softmax of the last dimension, or of log odds (``is_binary``) the sigmoid."""
    return torch.sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """``probs`` kept away from 0 and 1 by the dtype's eps."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The logarithm of the clamped probabilities, or log odds (``is_binary``)."""
    clamped = clamp_probs(probs)
    if is_binary:
        return torch.log(clamped) - torch.log1p(-clamped)
    return torch.log(clamped)


class lazy_property:
    """A property that is computed when first asked for, then kept as an attribute."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class ProbsOrLogits:
    """``probs`` or ``logits``, whichever was given, and the other one when asked for.

    A class says with ``_binary`` which of the two meanings ``logits`` has.
    """

    _binary = True

    def _given(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keep the one that is given, broadcast with ``others``; returns these."""
        name = one_of(probs, logits)
        value, *rest = broadcast_all(probs if name == "probs" else logits, *others)
        self._keep(name, value)
        return tuple(rest)

    def _keep(self, name: str, value: Tensor) -> None:
        setattr(self, name, value)
        self._param = value

    @lazy_property
    def logits(self) -> Tensor:
        """Log odds, or log probabilities of each category."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def param_shape(self) -> torch.Size:
        """The shape of what was given."""
        return self._param.size()

    def _new(self, *args: Any, **options: Any) -> Tensor:
        return self._param.new(*args, **options)


def one_of(probs: Any, logits: Any) -> str:
    """Which of the two is given; ValueError for both or none."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "logits" if probs is None else "probs"


def _below(n: int, diag: int, like: Tensor) -> Tensor:
    """Where an n × n matrix lies on or below the diagonal number ``diag``."""
    numbers = torch.arange(n, device=like.device)
    return numbers < numbers.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """(..., n, n) to the elements on and below a diagonal, row after row: (..., m)."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _below(n, diag, mat)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The inverse of ``tril_matrix_to_vec``; the rest is 0."""
    odd = 1 + 2 * diag
    size = vec.shape[-1]
    n = (-odd + (odd**2 + 8 * size + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {size} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    n = round(n)
    mat = vec.new_zeros(vec.shape[:-1] + torch.Size((n, n)))
    mat[..., _below(n, diag, vec)] = vec
    return mat
