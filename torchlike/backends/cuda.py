"""How GPUs would multiply matrices and attend."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import IntEnum
from typing import Any

from functional import devices

from .._settings import STATE, need_bool
from ._libraries import preferred_blas_library as preferred_blas_library
from ._libraries import preferred_linalg_library as preferred_linalg_library

# kept here for torch.nn.attention too
sdp = dict.fromkeys(("flash", "mem_efficient", "math", "cudnn", "overrideable"), True)
sdp["reduced"] = False


class SDPBackend(IntEnum):
    """PyTorch's implementations of scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


class _Matmul:
    """``torch.backends.cuda.matmul``: settings of matrix products."""

    __slots__ = (
        "_accumulate", "_bf16", "_fp16",
    )  # fmt: skip

    def __init__(self) -> None:
        self._fp16, self._bf16, self._accumulate = True, True, False

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 products may be less precise: the other side of the precision."""
        return STATE.precision != "highest"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        STATE.precision = "high" if need_bool("set_allow_tf32_cublas", value) else "highest"

    allow_fp16_reduced_precision_reduction: Any
    allow_bf16_reduced_precision_reduction: Any
    allow_fp16_accumulation: Any

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"Unknown attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(f"Unknown attribute {name}")
        object.__setattr__(self, name, value)


def _kept(slot: str, function: str) -> property:
    def put(self: Any, value: bool) -> None:
        setattr(self, slot, need_bool(function, value))

    return property(lambda self: getattr(self, slot), put)


for _name, _slot in (
    ("allow_fp16_reduced_precision_reduction", "_fp16"),
    ("allow_bf16_reduced_precision_reduction", "_bf16"),
    ("allow_fp16_accumulation", "_accumulate"),
):
    setattr(_Matmul, _name, _kept(_slot, f"set_{_name}_cublas"))
matmul = _Matmul()


def is_built() -> bool:
    """Whether there is support for GPUs."""
    return devices.count("cuda") > 0


def is_flash_attention_available() -> bool:
    """Whether there is a fused attention kernel for GPUs."""
    return False


def flash_sdp_enabled() -> bool:
    """Whether flash attention may be used."""
    return sdp["flash"]


def mem_efficient_sdp_enabled() -> bool:
    """Whether memory-efficient attention may be used."""
    return sdp["mem_efficient"]


def math_sdp_enabled() -> bool:
    """Whether attention may be composed of products."""
    return sdp["math"]


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's attention may be used."""
    return sdp["cudnn"]


def enable_flash_sdp(enabled: bool) -> None:
    """Allow flash attention."""
    sdp["flash"] = need_bool("set_sdp_use_math", enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow memory-efficient attention."""
    sdp["mem_efficient"] = need_bool("set_sdp_use_math", enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Allow attention composed of products."""
    sdp["math"] = need_bool("set_sdp_use_math", enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow cuDNN's attention."""
    sdp["cudnn"] = need_bool("set_sdp_use_cudnn", enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether attention composed of products may sum in half types."""
    return sdp["reduced"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allow attention composed of products to sum in half types; it makes no difference."""
    sdp["reduced"] = need_bool("set_sdp_use_math", enabled)


def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> AbstractContextManager[dict[Any, Any]]:
    """Deprecated: ``torch.nn.attention.sdpa_kernel``. A block with these settings."""
    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
        "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
        "manager, with updated signature.",
        FutureWarning,
        stacklevel=2,
    )
    return _with_settings(
        {"flash": enable_flash, "math": enable_math, "mem_efficient": enable_mem_efficient,
         "cudnn": enable_cudnn}
    )  # fmt: skip


@contextmanager
def _with_settings(settings: dict[str, bool]) -> Iterator[dict[Any, Any]]:
    before = dict(sdp)
    sdp.update(settings)
    try:
        yield {}
    finally:
        sdp.update(before)
