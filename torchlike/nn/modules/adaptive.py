"""An adaptive softmax for many classes."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    ordered = cutoffs == sorted(set(cutoffs)) and cutoffs[0] > 0
    if not ordered or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of many classes, sorted by frequency (E. Grave et al., 2017).

    Frequent classes are scored by the head; the others by clusters between the ``cutoffs``, each
    over a projection that is ``div_value`` times smaller than the one before.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_cutoffs(list(cutoffs), n_classes)
        where = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inner = int(in_features // div_value ** (i + 1))
            outer = self.cutoffs[i + 1] - self.cutoffs[i]
            first = Linear(in_features, inner, bias=False, **where)
            self.tail.append(Sequential(first, Linear(inner, outer, bias=False, **where)))

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def _check(self, input: Tensor, target: Any) -> None:
        n = target.ndim
        if n == 1 and (input.ndim < 2 or input.shape[0] != target.shape[0]):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if n == 1 and input.ndim != 2:
            raise RuntimeError(
                f"1D target tensor expects 2D input tensors, but found inputs with size "
                f"{input.shape}"
            )
        if n == 0 and input.ndim != 1:
            raise RuntimeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size "
                f"{input.shape}"
            )
        if n > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """(output, loss): the log probability of each target, and minus their mean."""
        self._check(input_, target_)
        batched = target_.ndim > 0
        input: Any = input_ if batched else TENSOR.unsqueeze(input_, 0)
        target: Any = target_ if batched else TENSOR.unsqueeze(target_, 0)
        output, gathered = self._of_clusters(input, target)
        scores = TENSOR.log_softmax(self.head(input), 1)
        picked = TENSOR.gather(scores, 1, TENSOR.unsqueeze(gathered, 1))
        output = TENSOR.add(output, TENSOR.squeeze(picked))
        loss = (-output).mean()
        return _ASMoutput(output if batched else TENSOR.squeeze(output, 0), loss)

    def _of_clusters(self, input: Any, target: Any) -> tuple[Any, Any]:
        """The log probability of each target within its cluster, and its place in the head."""
        output = TENSOR.zeros(target.shape[0], dtype=input.dtype, device=input.device)
        place = TENSOR.zeros(target.shape[0], dtype=target.dtype, device=target.device)
        used = 0
        bounds = [0, *self.cutoffs]
        for i in range(len(bounds) - 1):
            mask = (target >= bounds[i]) & (target < bounds[i + 1])
            rows = TENSOR.squeeze(TENSOR.nonzero(mask))
            if not rows.numel():
                continue
            if i == 0:
                place = TENSOR.index_copy(place, 0, rows.reshape(-1), target[mask])
            else:
                logs = self._cluster(i - 1, TENSOR.index_select(input, 0, rows.reshape(-1)))
                local = TENSOR.unsqueeze(target[mask] - bounds[i], 1)
                value = TENSOR.squeeze(TENSOR.gather(logs, 1, local), 1)
                output = TENSOR.index_copy(output, 0, rows.reshape(-1), value)
                place = TENSOR.index_fill(place, 0, rows.reshape(-1), bounds[1] + i - 1)
            used += rows.numel()
        if used != target.numel():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        return output, place

    def _cluster(self, i: int, input: Any) -> Any:
        return F.log_softmax(self.tail[i](input), 1)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        """All classes' log probabilities (N, n_classes), given the head's scores."""
        head = TENSOR.log_softmax(head_output, 1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            own = TENSOR.unsqueeze(head[:, self.shortlist_size + i], 1)
            parts.append(self._cluster(i, input) + own)
        return TENSOR.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Any:
        """The log probability of every class, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Any:
        """The most probable class of each row; clusters are only computed where they may win."""
        scores = self.head(input)
        best = TENSOR.argmax(scores, 1)
        outside = best >= self.shortlist_size
        if not bool(outside.any()):
            return best
        if bool(outside.all()):
            return TENSOR.argmax(self._get_full_log_prob(input, scores), 1)
        full = self._get_full_log_prob(input[outside], scores[outside])
        best[outside] = TENSOR.argmax(full, 1)
        return best
