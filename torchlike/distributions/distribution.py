"""Distribution: what every probability distribution offers."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .utils import all_true, broadcast_all, lazy_property

__all__ = ["Distribution"]

Size = torch.Size
SCALAR = torch.Size()


class Distribution:
    """A probability distribution over tensors, or a batch of them.

    A sample has the shape ``sample_shape + batch_shape + event_shape``: so many draws, of so many
    independent distributions with parameters of their own, of a variable of that shape.

    A subclass lists in ``_fields`` the attributes that have the batch's shape, with the number of
    their further dimensions, and in ``_kept`` those that `expand` takes over as they are.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _fields: ClassVar[dict[str, int]]
    _kept: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check arguments and values if they are not told."""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = SCALAR,
        event_shape: Any = SCALAR,
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _with_parameters(self, validate_args: bool | None, **values: Any) -> None:
        """Keep parameters, broadcast together, and take their shape as the batch's."""
        tensors = broadcast_all(*values.values())
        for name, tensor in zip(values, tensors, strict=True):
            setattr(self, name, tensor)
        Distribution.__init__(self, tensors[0].size(), validate_args=validate_args)

    def _validate_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. "
                "Please set `arg_constraints = {}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in wanted.items():
            lazy = name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            )
            if not constraints.is_dependent(constraint) and not lazy:
                self._validate_parameter(name, constraint)

    def _validate_parameter(self, name: str, constraint: Any) -> None:
        value = getattr(self, name)
        if not all_true(constraint.check(value)):
            raise ValueError(
                f"Expected parameter {name} "
                f"({type(value).__name__} of shape {tuple(value.shape)}) "
                f"of distribution {self!r} "
                f"to satisfy the constraint {constraint!r}, "
                f"but found invalid values:\n{value}"
            )

    # --- batches ----------------------------------------------------------------------------------

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for a larger ``batch_shape``, with its parameters as views.

        ``_instance`` is the object to fill, where a subclass has made it.
        """
        owner = next((c for c in type(self).__mro__ if "_fields" in vars(c)), None)
        if owner is None:
            raise NotImplementedError
        new = self._get_checked_instance(owner, _instance)
        self._expand_into(new, Size(batch_shape))
        Distribution.__init__(new, Size(batch_shape), self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_into(self, new: Any, batch_shape: Any) -> None:
        for name, further in self._fields.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                shape = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(batch_shape + shape[len(shape) - further :]))
        for name in self._kept:
            setattr(new, name, self.__dict__[name])

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self))

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> torch.Size:
        """The shape of one draw of one of them."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = SCALAR) -> torch.Size:
        """The shape of a sample."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    # --- what it is -------------------------------------------------------------------------------

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """For each parameter's name, which values it may have."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Which values the variable may have: a constraint."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The expected squared distance from the mean."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    # --- samples and densities --------------------------------------------------------------------

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """``sample_shape`` draws, through which no gradient flows."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """``sample_shape`` draws as functions of the parameters, with gradients."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """``n`` draws (deprecated: ``sample((n,))``)."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            category=FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at ``value``."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`: the quantile of a probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete variable along a new first dimension.

        The result is (cardinality, *batch_shape, *event_shape), or with ``expand`` False
        (cardinality, 1, …, 1, *event_shape).
        """
        raise NotImplementedError

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """``values``, (cardinality,), in the shape that `enumerate_support` gives."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    def entropy(self) -> Tensor:
        """The expected value of minus the log density, in nats; of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp of the entropy; of shape batch_shape."""
        return torch.exp(self.entropy())

    def _checked(self, value: Tensor) -> None:
        """Validate a value, if this distribution validates."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError unless ``value`` has a fitting shape and lies in the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._validate_shape(value.size())
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable "
                "sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not all_true(support.check(value)):
            raise ValueError(
                "Expected value argument "
                f"({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) "
                f"of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def _validate_shape(self, shape: Any) -> None:
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j not in (1, i):
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{shape} vs {expected}."
                )

    def __repr__(self) -> str:
        own = self.__dict__
        shown = [(name, own[name]) for name in self.arg_constraints if name in own]
        parts = [f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in shown]
        return self.__class__.__name__ + "(" + ", ".join(parts) + ")"
