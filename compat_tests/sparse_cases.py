"""What the tests of sparse tensors share: examples, and how results are compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import error

_REST = re.compile(r" (This could be because|There is no kernel).*")


def parts(t: Any) -> Any:
    """A tensor as plain values: of a sparse one its places, elements, size and state."""
    if not hasattr(t, "layout") or not t.is_sparse:
        return t
    found = t.detach()
    return [
        "sparse", found._indices().tolist(), found._values().tolist(), list(found.shape),
        str(found.dtype), found.is_coalesced(), None if t.grad_fn is None else t.grad_fn.name(),
    ]  # fmt: skip


def outcome(call: Callable[[], Any]) -> Any:
    """The parts of a result, or the error, without PyTorch's list of backends."""
    found: list[Any] = []
    raised = error(lambda: found.append(call()))
    if not found:
        return _REST.sub("", raised)
    result = found[0]
    if isinstance(result, (list, tuple)):
        return [parts(t) for t in result]
    return parts(result)


def ordered(torch: Any) -> Any:
    """Elements in order, not known to be coalesced."""
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))


def repeated(torch: Any) -> Any:
    """Elements out of order, two of them in one place."""
    return torch.sparse_coo_tensor([[1, 0, 1], [0, 1, 0]], [1.0, 2.0, 3.0], (2, 3))


def hybrid(torch: Any) -> Any:
    """One sparse and one dense dimension."""
    return torch.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]], (4, 2))


def dense(torch: Any) -> Any:
    return torch.arange(6.0).reshape(2, 3)
