"""Tables of vectors: Embedding and EmbeddingBag."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.modes import no_grad
from functional.ops.create import empty
from functional.tensor import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


class _Table(Module):
    """What both layers share: the weight, and the row that stays 0."""

    weight: Tensor
    padding_idx: int | None

    def _set_padding(self, padding_idx: int | None, rows: int, name: str) -> None:
        if padding_idx is not None:
            if not -rows <= padding_idx < rows:
                raise AssertionError(f"{name} must be within num_embeddings")
            padding_idx %= rows
        self.padding_idx = padding_idx

    def _set_weight(self, given: Any, shape: tuple[int, int], freeze: bool, where: Any) -> None:
        if given is None:
            self.weight = Parameter(empty(shape, **where), requires_grad=not freeze)
            self.reset_parameters()
        else:
            if list(given.shape) != list(shape):
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw new starting values: standard normal, and 0 for ``padding_idx``."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _shown(self, *names: str) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


def _check_pretrained(embeddings: Tensor) -> Any:
    if embeddings.ndim != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    return embeddings.shape


class Embedding(_Table):
    """A table of ``num_embeddings`` vectors; indices (*) to vectors (*, embedding_dim).

    The row ``padding_idx`` starts as 0 and gets no gradient; rows that are used shrink to
    ``max_norm`` first.
    """

    __constants__: ClassVar = [
        "num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type",
        "scale_grad_by_freq", "sparse",
    ]  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self._set_padding(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        where = {"device": device, "dtype": dtype}
        self._set_weight(_weight, (num_embeddings, embedding_dim), _freeze, where)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """The vectors of these indices."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        names = [n for n in ("padding_idx", "max_norm") if getattr(self, n) is not None]
        names += ["norm_type"] * (self.norm_type != 2)
        names += ["scale_grad_by_freq"] * (self.scale_grad_by_freq is not False)
        names += ["sparse"] * (self.sparse is not False)
        shown = self._shown(*names)
        return f"{self.num_embeddings}, {self.embedding_dim}" + (shown and f", {shown}")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A layer with the given table (V, D), which does not learn if ``freeze``."""
        rows, columns = _check_pretrained(embeddings)
        return cls(
            rows, columns, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx,
            max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )  # fmt: skip


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of vectors, (bags, embedding_dim).

    Takes indices (bags, N), or a line of indices and the ``offsets`` where bags start.
    """

    __constants__: ClassVar = [
        "num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode",
        "sparse", "include_last_offset", "padding_idx",
    ]  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._set_padding(padding_idx, num_embeddings, "padding_idx")
        where = {"device": device, "dtype": dtype}
        self._set_weight(_weight, (num_embeddings, embedding_dim), False, where)
        self.mode, self.sparse = mode, sparse
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """One vector for each bag."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        names = ["max_norm"] * (self.max_norm is not None)
        names += ["norm_type"] * (self.norm_type != 2)
        names += ["scale_grad_by_freq"] * (self.scale_grad_by_freq is not False)
        names += ["mode"]
        names += ["padding_idx"] * (self.padding_idx is not None)
        return f"{self.num_embeddings}, {self.embedding_dim}, {self._shown(*names)}"

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer with the given table (V, D), which does not learn if ``freeze``."""
        rows, columns = _check_pretrained(embeddings)
        made = cls(
            rows, columns, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse,
            include_last_offset=include_last_offset, padding_idx=padding_idx,
        )  # fmt: skip
        made.weight.requires_grad = not freeze
        return made
