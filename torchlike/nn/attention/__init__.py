"""Which implementation of attention to prefer. There is one here; the choice is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...backends.cuda import SDPBackend, sdp

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


_ORDER = [
    SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH, SDPBackend.OVERRIDEABLE,
]  # fmt: skip
_FLAGS = {
    SDPBackend.CUDNN_ATTENTION: "cudnn", SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient", SDPBackend.MATH: "math",
    SDPBackend.OVERRIDEABLE: "overrideable",
}  # fmt: skip
_order = list(_ORDER)


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    order = _order if with_priority else _ORDER
    return [backend for backend in order if sdp[_FLAGS[backend]]]


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Allow these implementations within the block, one or a list.

    Results do not depend on it. Raises AssertionError for anything that is no SDPBackend.
    """
    global _order
    if isinstance(backends, SDPBackend):
        backends = [backends]
    if not isinstance(backends, list):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    wanted = [b for b in dict.fromkeys(backends) if isinstance(b, SDPBackend)]
    before, order = dict(sdp), _order
    if set_priority:
        _order = [*wanted, *(b for b in order if b not in wanted)]
    sdp.update({flag: backend in wanted for backend, flag in _FLAGS.items()})
    try:
        yield {}
    finally:
        sdp.update(before)
        _order = order
