"""The categorical distribution, over indices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution, Size
from .utils import ProbsOrLogits, full, one_of

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits, Distribution):
    """Indices 0 … K - 1 with the probabilities of ``probs`` or ``logits``, (*batch_shape, K).

    ``probs`` are normalized to the sum 1, ``logits`` are log probabilities up to a constant.
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _binary = False
    _fields: ClassVar = {"probs": 1, "logits": 1, "_param": 1}
    _kept: ClassVar = ("_num_events",)

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name = one_of(probs, logits)
        value = probs if logits is None else logits
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self._keep(name, value / value.sum(-1, keepdim=True))
        else:
            self._keep(name, value - value.logsumexp(dim=-1, keepdim=True))
        self._num_events = value.size()[-1]
        super().__init__(value.size()[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 … K - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: indices are names."""
        return full(self._extended_shape(), math.nan, self.probs)

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The index of the largest probability."""
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Indices, int64, of shape sample_shape + batch_shape."""
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        drawn = torch.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of each index."""
        self._checked(value)
        index, table = torch.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return table.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        """-Σ p log p."""
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 … K - 1, (K, *batch_shape)."""
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device)
        return self._enumerated(values, expand)


class OverCategorical(Distribution):
    """What distributions over vectors of K elements, made of a `Categorical`, share."""

    def _keep_categorical(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        self._categorical = Categorical(probs, logits)
        Distribution.__init__(
            self,
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    def _new(self, *args: Any, **options: Any) -> Tensor:
        return self._categorical._new(*args, **options)

    param_shape = property(lambda self: self._categorical.param_shape)
    logits = property(lambda self: self._categorical.logits)
    probs = property(lambda self: self._categorical.probs)
