"""``torch.testing`` against PyTorch: what passes, and the whole text of what does not."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from compat_tests.scenarios import Cases

CASES = Cases("testing")


def outcome(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as caught:
        return f"{type(caught).__name__}: {caught}"
    return "passes"


def outcomes(torch: Any, pairs: list[Any], **options: Any) -> list[str]:
    close = torch.testing.assert_close
    return [outcome(lambda p=p: close(*p, **options)) for p in pairs]


@CASES.add
def tensors(torch):
    T = torch.tensor
    return outcomes(
        torch,
        [
            (T([1.0, 2.0]), T([1.0, 2.0 + 1e-6])),
            (T([1.0, 2.0]), T([1.0, 2.1])),
            (T([[1.0, 2.0], [3, 4]]), T([[1.0, 2.1], [3, 5]])),
            (T(1.0), T(1.1)),
            (T(7), T(8)),
            (T([1, 2]), T([1, 3])),
            (T([1, 2, 3], dtype=torch.uint8), T([250, 2, 3], dtype=torch.uint8)),
            (T([True, False]), T([False, False])),
            (T([1 + 1j]), T([1 + 2j])),
            (T([0.0, 2.0]), T([0.0, 0.0])),
            (T([float("inf")]), T([float("inf")])),
            (T([float("inf"), 1.0]), T([1.0, 1.0])),
            (T([1.0, 2.0], dtype=torch.float64), T([1.0, 2.0 + 1e-6], dtype=torch.float64)),
            (T([1.0, 2.0]).half(), T([1.0, 2.01]).half()),
            (T([1.0, 2.0]).bfloat16(), T([1.0, 2.03125]).bfloat16()),
            (T([]), T([])),
            (torch.nn.Parameter(T([1.0])), T([1.0])),
        ],
    )


@CASES.add
def numbers(torch):
    nan = float("nan")
    return outcomes(
        torch,
        [
            (1.0, 1.1), (1, 2), (1, 1), (True, False), (True, True), (1, 1.0), (1 + 1j, 1 + 2j),
            (1 + 1j, 1.0), (nan, nan), (0.0, 0.5), (0.5, 0.0), (float("inf"), 1.0), (None, None),
            (None, 1), (1, None), (None, torch.tensor([1.0])), (np.float32(1), np.float32(2)),
        ],
    )  # fmt: skip


@CASES.add
def containers(torch):
    T = torch.tensor
    return outcomes(
        torch,
        [
            ([T([1.0, 2.0]), T(3.0)], [T([1.0, 2.0]), T(4.0)]),
            ({"a": T([1.0, 2.0])}, {"a": T([1.0, 5.0])}),
            ({"a": 1}, {"b": 1}),
            ({"b": 1, 3: 2}, {"a": 5, "b": 3}),
            ({"b": 1, "a": 2}, {"a": 5, "b": 3}),
            (OrderedDict(a=1), {"a": 1}),
            ([1], [1, 2]),
            ((1, 2), [1, 2]),
            ([[1, {"k": T([2])}]], [[1, {"k": T([3])}]]),
            (torch.Size([1, 2]), torch.Size([1, 3])),
            (["a"], ["a"]),
            ([1.0, 2.0], [1.0, "a"]),
            ((1,), {0: 1}),
            (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
        ],
    )


@CASES.add
def attributes(torch):
    T, ones, close = torch.tensor, torch.ones, torch.testing.assert_close
    one, other = T([1.0, 2.5]), T([1, 2])
    return [
        outcome(lambda: close(T([1.0]), T([1.0], dtype=torch.float64))),
        outcome(lambda: close(T([1.0]), T([1.0, 2.0]))),
        outcome(lambda: close(one, other, check_dtype=False)),
        outcome(lambda: close(one.half(), other.float(), check_dtype=False)),
        outcome(lambda: close(T([1.0]), T([1]), check_dtype=False)),
        outcome(lambda: close(1, 1.0, check_dtype=False)),
        outcome(lambda: close(one, ones(2, device="meta"))),
        outcome(lambda: close(ones(2, device="meta"), ones(2), check_device=False)),
        outcome(lambda: close(ones(2, 3), ones(3, 2).t())),
        outcome(lambda: close(ones(2, 3), ones(3, 2).t(), check_stride=True)),
    ]


@CASES.add
def tolerances_and_texts(torch):
    T, close = torch.tensor, torch.testing.assert_close
    one, other, nan = T([1.0, 2]), T([1.0, 2.1]), T([1.0, float("nan")])
    return [
        outcome(lambda: close(one, other, rtol=0.1, atol=0)),
        outcome(lambda: close(one, other, rtol=0, atol=1e-3)),
        outcome(lambda: close(one, other, rtol=0, atol=0)),
        outcome(lambda: close(one, other, rtol=1e-3)),
        outcome(lambda: close(one, other, atol=1e-3)),
        outcome(lambda: close(one, other, msg="something else")),
        outcome(lambda: close([one], [other], msg=lambda text: "before\n" + text)),
        outcome(lambda: close(nan, nan)),
        outcome(lambda: close(nan, nan, equal_nan=True)),
        outcome(lambda: close(float("nan"), float("nan"), equal_nan=True)),
        outcome(lambda: close(T([1.0]).requires_grad_(), T([1.0]))),
    ]


@CASES.add
def the_older_assertion(torch):
    T, allclose = torch.tensor, torch.testing.assert_allclose
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = [
            outcome(lambda: allclose(T([1.0]), [1.0])),
            outcome(lambda: allclose(T([1.0, float("nan")]), [1, float("nan")])),
            outcome(lambda: allclose(T([1.0]), T([1.1]), rtol=1e-3, atol=1e-3)),
            outcome(lambda: allclose(T([1.0]), 2)),
        ]
    return found, [(w.category.__name__, str(w.message)) for w in seen[:1]]


DTYPES = ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]


@CASES.add
def made_tensors(torch):
    make = torch.testing.make_tensor
    found = []
    for name in DTYPES:
        torch.manual_seed(0)
        found.append(make(5, dtype=getattr(torch, name), device="cpu"))
    torch.manual_seed(1)
    found.append(make((2, 2), dtype=torch.float32, device="cpu", low=0, high=1))
    found.append(make(2, 3, dtype=torch.int64, device="cpu", low=0.5, high=3.5))
    apart = make(2, 3, dtype=torch.float32, device="cpu", noncontiguous=True)
    last = make(1, 3, 2, 2, dtype=torch.float32, device="cpu", memory_format=torch.channels_last)
    found += [apart, apart.stride(), last, last.stride()]
    found.append(make(9, dtype=torch.int64, device="cpu", low=0, high=2, exclude_zero=True))
    found.append(make((), dtype=torch.float32, device="cpu"))
    found.append(make(1, dtype=torch.float32, device="cpu", noncontiguous=True).stride())
    found.append(make(2, dtype=torch.float32, device="cpu", requires_grad=True).requires_grad)
    return found


@CASES.add
def tensors_that_cannot_be_made(torch):
    make, nan = torch.testing.make_tensor, float("nan")
    f, i = torch.float32, torch.int64
    options = [
        {"dtype": f, "low": 2, "high": 1},
        {"dtype": i, "low": 1, "high": 1},
        {"dtype": f, "low": nan, "high": 1},
        {"dtype": torch.int8, "low": 1000, "high": 2000},
        {"dtype": i, "requires_grad": True},
        {"dtype": f, "noncontiguous": True, "memory_format": torch.channels_last},
    ]
    return [outcome(lambda o=o: make(2, device="cpu", **o)) for o in options]


@CASES.add
def sparse_tensors(torch):
    close = torch.testing.assert_close

    def coo(indices, values):
        return torch.sparse_coo_tensor(indices, values, (2, 2))

    def compressed(kind, *parts):
        return getattr(torch, f"sparse_{kind}_tensor")(*parts, (2, 2))

    a, x = coo([[0, 1], [1, 0]], [1, 2]), torch.arange(24.0).view(2, 3, 4)
    pairs = [
        (a, a.clone()), (a.coalesce(), a), (a, coo([[0, 1, 1], [1, 0, 0]], [1, 1, 1])),
        (a, coo([[0, 1], [1, 1]], [1, 2])), (a, coo([[0, 1], [1, 0]], [1, 3])),
        (a, coo([[0, 1], [1, 0]], [1.0, 2.0])), (x.to_sparse(), x.to_sparse(2)),
        (x, x.to_sparse()), (x.to_sparse(), (x * 2).to_sparse()),
        (x.to_sparse(), (x + 1e-9).to_sparse()),
    ]  # fmt: skip
    found = [outcome(lambda p=p: close(*p)) for p in pairs]
    for kind in ("csr", "csc"):
        b = compressed(kind, [0, 1, 2], [0, 1], [1, 2])
        for parts in (
            ([0, 1, 2], [0, 1], [1, 2]), ([0, 2, 2], [0, 1], [1, 2]), ([0, 1, 2], [1, 0], [1, 2]),
            ([0, 1, 2], [0, 1], [1, 3]), ([0, 1, 1], [0], [1]),
        ):  # fmt: skip
            found.append(outcome(lambda p=parts, b=b, k=kind: close(b, compressed(k, *p))))
        found.append(outcome(lambda b=b: close(b, a)))
        found.append(outcome(lambda b=b: close(b, a, check_layout=False)))
        found.append(outcome(lambda b=b: close(b.to_dense(), b, check_layout=False)))
    return found


test_scenario = CASES.test()
