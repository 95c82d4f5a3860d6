"""Batch normalization layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional.dtypes import int64
from functional.normalization import batch_norm
from functional.ops.create import empty, filled, ones, zeros
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter, is_lazy
from .lazy import LazyModuleMixin
from .module import Module


class _NormBase(Module):
    """What batch and instance normalization share: parameters, running statistics, loading."""

    _version = 2
    __constants__: ClassVar = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        where = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            if wanted:
                setattr(self, name, Parameter(empty(num_features, **where)))
            else:
                self.register_parameter(name, None)
        if track_running_stats:
            self.register_buffer("running_mean", zeros(num_features, **where))
            self.register_buffer("running_var", ones(num_features, **where))
            self.register_buffer("num_batches_tracked", filled(0, (), int64, device, False))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and fresh running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """The number of features and all options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        """States of version 1 had no count of batches: they get one."""
        key = f"{prefix}num_batches_tracked"
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            own = self.num_batches_tracked
            state_dict[key] = own if own is not None else filled(0, (), int64, None, False)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Normalization over the batch, by its own statistics or running ones."""

    def _step(self) -> float:
        """How far the running statistics move this time, which is counted."""
        if not (self.training and self.track_running_stats):
            return 0.0 if self.momentum is None else self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with every channel normalized."""
        self._check_input_dim(input)
        step = self._step()
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if kept else (None, None)
        return batch_norm(input, mean, var, self.weight, self.bias, by_batch, step, self.eps)


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias for (N, C) or (N, C, L), channel by channel."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.ndim}D input)")


class BatchNorm2d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias for (N, C, H, W), channel by channel."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 4:
            raise ValueError(f"expected 4D input (got {input.ndim}D input)")


class BatchNorm3d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias for (N, C, D, H, W), channel by channel."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise ValueError(f"expected 5D input (got {input.ndim}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalization of several processes; in one process it is BatchNorm."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = (num_features, eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(*options, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with its batch normalization layers made SyncBatchNorm."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group, bias=module.bias is not None,
            )  # fmt: skip
            made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _LazyNormBase(LazyModuleMixin):
    """Takes ``num_features`` from dimension 1 of the first input."""

    num_features: int

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        # without parameters and buffers at first
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        where = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            if wanted:
                setattr(self, name, UninitializedParameter(**where))
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**where)
            self.running_var = UninitializedBuffer(**where)
            self.num_batches_tracked = filled(0, (), int64, device, False)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and fresh running statistics, once there are any."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:  # type: ignore[override]
        """Parameters and statistics for the channels of ``input``."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for t in (*self._parameters.values(), *self._buffers.values()):
            if t is not None and is_lazy(t):
                t.materialize((self.num_features,))
        self.reset_parameters()


def lazy(kind: type, name: str) -> type:
    """The lazy form of a normalization layer."""
    members = {"cls_to_become": kind, "__module__": kind.__module__}
    members["__doc__"] = f"`{kind.__name__}` that takes ``num_features`` from its first input."
    return type(name, (_LazyNormBase, kind), members)


LazyBatchNorm1d = lazy(BatchNorm1d, "LazyBatchNorm1d")
LazyBatchNorm2d = lazy(BatchNorm2d, "LazyBatchNorm2d")
LazyBatchNorm3d = lazy(BatchNorm3d, "LazyBatchNorm3d")
