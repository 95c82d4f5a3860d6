"""The categorical distribution, over one-hot vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import one_hot

from . import constraints
from .categorical import OverCategorical
from .distribution import SCALAR, Size

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OverCategorical):
    """Vectors of K elements, one of them 1, with the probabilities of a `Categorical`.

    ``probs`` or ``logits`` are (*batch_shape, K).
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _fields: ClassVar = {"_categorical": 0}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._keep_categorical(probs, logits, validate_args)

    _param = property(lambda self: self._categorical._param)
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self) -> Tensor:
        """1 at the largest probability."""
        return one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Vectors, in the parameters' dtype."""
        index = self._categorical.sample(Size(sample_shape))
        return one_hot(index, self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability where ``value`` has its 1."""
        self._checked(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        """-Σ p log p."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """The K vectors, (K, *batch_shape, K)."""
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose draws pass gradients straight on to the probabilities (Bengio,
    Léonard and Courville, "Estimating or propagating gradients through stochastic neurons for
    conditional computation", 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """A draw, plus the probabilities less themselves without gradients."""
        samples, probs = self.sample(sample_shape), self.probs
        return samples + (probs - probs.detach())
