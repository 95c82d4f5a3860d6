"""Which keys tensors take and which they refuse: byte masks, narrow integers, wrong places."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from compat_tests.scenarios import Cases, error

CASES = Cases("index_forms")


def told(call: Any) -> Any:
    """What a call returns or raises, and the starts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = error(call)
        caught.clear()
        found = call() if found == "no error" else found
    return [found, [str(w.message).partition(" (Trigg")[0][:80] for w in caught]]


def put(x: Any, key: Any, value: Any) -> Any:
    """A copy of ``x`` with a value written to it."""
    x = x.clone()
    x[key] = value
    return x


@CASES.add
def byte_masks(torch: Any) -> Any:
    a, u8 = torch.arange(6.0).reshape(2, 3), torch.uint8
    rows, wide = torch.tensor([1, 0], dtype=u8), torch.tensor([1, 0, 1], dtype=u8)
    both = torch.tensor([[1, 0, 1], [0, 0, 1]], dtype=u8)
    keys = (
        rows, both, (rows, torch.tensor([1])), (rows, torch.tensor([1, 0, 0], dtype=u8)),
        (slice(None), wide), torch.tensor(1, dtype=u8), torch.tensor(0, dtype=u8),
        np.array([1, 0], np.uint8),
    )  # fmt: skip
    return [
        [told(lambda k=k: a[k]) for k in keys], error(lambda: a[wide]), error(lambda: put(a, rows,
        5)),
        error(lambda: put(a, (slice(None), wide), 9.0)), put(a, torch.tensor(0, dtype=u8), 3),
        put(a, torch.tensor(1, dtype=u8), 3), torch.where(wide, a, 0),
        a.clone().index_put_((rows,), torch.tensor(7.0), accumulate=True),
    ]  # fmt: skip


@CASES.add
def narrow_integers(torch: Any) -> Any:
    a = torch.arange(6.0).reshape(2, 3)
    kinds = (torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.complex64)
    single = [told(lambda k=k: a[torch.tensor(1).to(k)])[0] for k in kinds]
    several = [told(lambda k=k: a[torch.tensor([1]).to(k)])[0] for k in kinds]
    written = [told(lambda k=k: put(a, torch.tensor(1).to(k), 3))[0] for k in kinds]
    return [single, several, written, a[np.int8(1)], error(lambda: a[1.0])]


@CASES.add
def places_that_are_not_there(torch: Any) -> Any:
    a, zero = torch.arange(6.0).reshape(2, 3), torch.tensor(1.0)
    keys = (
        5, (0, 5), -3, torch.tensor([5]), torch.tensor(5), (slice(None), torch.tensor([5])), [-3],
        (0, 0, 0), (torch.tensor([0]),) * 3, (torch.tensor([0]), torch.tensor([4])),
    )  # fmt: skip
    on_zero = (0, torch.tensor(0), None, ..., (), True, False, slice(0, 1), torch.tensor(True))
    empty = (
        lambda: torch.empty(0, 3)[0], lambda: torch.empty(0)[torch.tensor([0])],
        lambda: torch.empty(1, 0)[:, torch.tensor([0])], lambda: torch.empty(9, 0)[[1, 2]].shape,
        lambda: torch.empty(9, 0)[[1, 2], [0, 0]], lambda: torch.empty(9, 0)[[], []].shape,
        lambda: torch.empty(0).index_put_((torch.tensor([0]),), torch.ones(1)),
    )  # fmt: skip
    return [
        [told(lambda k=k: a[k])[0] for k in keys], [error(lambda k=k: put(a, k, 1)) for k in keys],
        [told(lambda k=k: zero[k])[0] for k in on_zero], [told(call)[0] for call in empty],
    ]  # fmt: skip


def delete(x: Any) -> None:
    del x[0]


@CASES.add
def other_keys(torch: Any) -> Any:
    a, i = torch.arange(6.0).reshape(2, 3), torch.tensor([0])
    whole = a.long()
    return [
        error(lambda: delete(a)), told(lambda: a[[[0, 1], [1, 0]]]), told(lambda: a[[0, None]]),
        told(lambda: a[[0, slice(None)]]), told(lambda: a[[0, 1]]),
        error(lambda: a.clone().index_put_((i,) * 3, torch.tensor(7.0))),
        error(lambda: a.clone().index_put_((None, i), torch.tensor(7.0))),
        error(lambda: a.index_put((None, i), torch.tensor(7.0))),
        error(lambda: torch.ones(()).index_put((i,), torch.tensor(1.0))),
        error(lambda: a.index_put((i,), torch.ones(4, dtype=torch.double))),
        error(lambda: a.index_put((i,), torch.ones(3, dtype=torch.double))),
        error(lambda: put(whole, a > 2, torch.ones(2))), error(lambda: put(whole, a > 2,
        torch.ones(3))),
        a.index_put((i,), torch.ones(3)), put(a, a > 2, torch.arange(3.0)),
    ]  # fmt: skip


test_scenario = CASES.test()
