"""Instance normalization layers."""

from __future__ import annotations

import warnings
from typing import Any

from functional.normalization import instance_norm
from functional.tape.op import TENSOR
from functional.tensor import Tensor

from .batchnorm import _NormBase, lazy


class _InstanceNorm(_NormBase):
    """Each channel of each sample normalized over its own elements."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = (num_features, eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(*options, bias=bias)

    def _get_no_batch_dim(self) -> int:
        raise NotImplementedError

    def _normalized(self, input: Tensor) -> Tensor:
        by_input = self.training or not self.track_running_stats
        step = 0.0 if self.momentum is None else self.momentum
        return instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_input, step,
            self.eps,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """``input``, with or without a batch dimension, normalized."""
        self._check_input_dim(input)
        unbatched = input.ndim == self._get_no_batch_dim()
        channels = input.shape[0 if unbatched else 1]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={0 if unbatched else 1} to match num_features "
                    f"({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={0 if unbatched else 1} does not match num_features. You can "
                "silence this warning by not passing in num_features, which is not used because "
                "affine=False",
                stacklevel=2,
            )
        if unbatched:
            return TENSOR.squeeze(self._normalized(TENSOR.unsqueeze(input, 0)), 0)
        return self._normalized(input)


def _layer(rank: int) -> type:
    class InstanceNorm(_InstanceNorm):
        def _get_no_batch_dim(self) -> int:
            return rank + 1

        def _check_input_dim(self, input: Tensor) -> None:
            if input.ndim not in (rank + 1, rank + 2):
                raise ValueError(
                    f"expected {rank + 1}D or {rank + 2}D input (got {input.ndim}D input)"
                )

    shape = "C, " + ", ".join("DHW"[3 - rank :] if rank > 1 else "L")
    InstanceNorm.__name__ = InstanceNorm.__qualname__ = f"InstanceNorm{rank}d"
    InstanceNorm.__doc__ = f"Instance normalization of (N, {shape}) or ({shape})."
    return InstanceNorm


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = _layer(1), _layer(2), _layer(3)
LazyInstanceNorm1d = lazy(InstanceNorm1d, "LazyInstanceNorm1d")
LazyInstanceNorm2d = lazy(InstanceNorm2d, "LazyInstanceNorm2d")
LazyInstanceNorm3d = lazy(InstanceNorm3d, "LazyInstanceNorm3d")
