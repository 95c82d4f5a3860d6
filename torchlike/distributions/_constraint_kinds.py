"""Constraint, and the constraints that are made of others or depend on others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor


class Constraint:
    """A set of allowed values.

    Attributes:
        is_discrete: whether the values are countable.
        event_dim: how many of the last dimensions make up one value.
    """

    is_discrete = False
    event_dim = 0
    _shown: ClassVar[tuple[str, ...]] = ()

    def check(self, value: Tensor) -> Tensor:
        """Which events lie in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{self.__class__.__name__[1:]}({bounds})"


# --- of parameters that depend on others ----------------------------------------------------------


class _Dependent(Constraint):
    """A set that is known only once the other parameters are."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        """The same with what is known about it."""
        if is_discrete is NotImplemented:
            is_discrete = self._is_discrete
        if event_dim is NotImplemented:
            event_dim = self._event_dim
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is known only once other parameters are."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that answers with a constraint and, asked on the class, is a dependent one."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:
        """Decorate ``fn``."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# --- made of other constraints --------------------------------------------------------------------


def _require(constraint: Any) -> None:
    if not isinstance(constraint, Constraint):
        raise AssertionError(
            f"base_constraint must be a Constraint, got {type(constraint).__name__}"
        )


def _all_beyond(result: Tensor, dims: int) -> Tensor:
    """Whether all of the dimensions after the first ``dims`` are true."""
    return result.reshape(result.shape[:dims] + (-1,)).all(-1)


class _IndependentConstraint(Constraint):
    """A constraint on each element of the last ``reinterpreted_batch_ndims`` dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        _require(base_constraint)
        n = reinterpreted_batch_ndims
        if not isinstance(n, int):
            raise AssertionError(
                f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}"
            )
        if n < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, n

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        dims = result.dim() - self.reinterpreted_batch_ndims
        if dims < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_beyond(result, dims)

    def __repr__(self) -> str:
        inner = f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"
        return f"{self.__class__.__name__[1:]}({inner})"


class MixtureSameFamilyConstraint(Constraint):
    """The values that every component of a mixture allows."""

    def __init__(self, base_constraint: Constraint) -> None:
        _require(base_constraint)
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """Check ``value`` against each component, whose dimension is the last of the batch."""
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        dims = value.dim() - self.event_dim
        if dims < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_beyond(result, dims)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


class _Joined(Constraint):
    """Several constraints, each on a part of one dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    def _require_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for value with {value.dim()} dimensions"
            )


class _Cat(_Joined):
    """Constraints on consecutive slices of ``dim``, of the given ``lengths`` (1 each)."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return torch.cat(checks, self.dim)


class _Stack(_Joined):
    """One constraint for each index of ``dim``."""

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._require_dim(value)
        parts = value.unbind(self.dim)
        return torch.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=False)], self.dim)
