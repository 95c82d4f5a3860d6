"""``functorch.experimental``: the newer transforms under their older names, and ``chunk_vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functional.transforms import in_parts
from torchlike.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_

__all__ = [
    "chunk_vmap",
    "functionalize",
    "hessian",
    "jacfwd",
    "jvp",
    "replace_all_batch_norm_modules_",
]


def chunk_vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    chunks: int = 2,
) -> Callable[..., Any]:
    """``vmap`` that computes a batch in ``chunks`` parts, one after the other.

    Raises RuntimeError for a number of parts that is not positive.
    """
    return in_parts(func, in_dims, out_dims, randomness, chunks)
