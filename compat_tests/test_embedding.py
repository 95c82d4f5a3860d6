"""Rows of tables: bags that end early, indices outside, empty tables, sparse gradients."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("embedding")


def table(torch: Any, dtype: str) -> Any:
    return torch.arange(20.0).reshape(10, 2).to(getattr(torch, dtype))


@CASES.add
def bags_that_end_early(torch: Any) -> Any:
    """Only PyTorch's quick way stops at the last offset."""
    bag, indices = torch.nn.functional.embedding_bag, torch.tensor([0, 1, 2, 3])
    found = []
    for dtype, padding, mode, offsets in itertools.product(
        ("float32", "float64", "float16", "bfloat16"), (None, 2), ("sum", "mean", "max"),
        ([0, 3, 3], [0, 3, 4]),
    ):  # fmt: skip
        w, at = table(torch, dtype), torch.tensor(offsets)
        options = {"mode": mode, "padding_idx": padding, "include_last_offset": True}
        found.append(bag(indices, w, at, **options))
        if mode == "sum":
            weights = torch.tensor([1.0, 2.0, 3.0, 4.0]).to(w.dtype)
            found.append(bag(indices, w, at, per_sample_weights=weights, **options))
    none = torch.tensor([], dtype=torch.int64)
    return found, error(
        lambda: bag(indices, table(torch, "float32"), none, include_last_offset=True)
    )


@CASES.add
def bags_of_indices_outside(torch: Any) -> Any:
    bag = torch.nn.functional.embedding_bag
    found = []
    for dtype, padding, mode, bad in itertools.product(
        ("float32", "float64", "bfloat16"), (None, 0), ("sum", "mean", "max"),
        ([[-1, 1]], [[8, 10]]),
    ):  # fmt: skip
        args, options = (torch.tensor(bad), table(torch, dtype)), {"mode": mode}
        found.append(error(partial(bag, *args, padding_idx=padding, **options)))
    return found


@CASES.add
def empty_tables(torch: Any) -> Any:
    found = []
    for sparse, (rows, indices) in itertools.product(
        (False, True), ((0, []), (2, [[0, 1], [1, 1]]))
    ):
        layer = torch.nn.Embedding(rows, 0, sparse=sparse)
        layer(torch.tensor(indices, dtype=torch.int64)).sum().backward()
        g = layer.weight.grad
        found.append([g.is_sparse, list(g.shape), g._nnz() if sparse else 0])
    return found


@CASES.add
def sparse_gradients_added(torch: Any) -> Any:
    """One number, repeated, stays side by side with what is added; other rows are merged."""
    w, found = torch.ones(4, 2, requires_grad=True), []
    indices = torch.tensor([1, 2])
    for gradient in (torch.ones(1).expand(2, 2), torch.ones(2, 2)):
        w.grad = None
        for _ in range(3):
            torch.nn.functional.embedding(indices, w, sparse=True).backward(gradient)
            found.append([w.grad._indices(), w.grad._values(), w.grad.is_coalesced()])
    return found


test_scenario = CASES.test()
