"""Views: memory as another dtype, expanded dimensions and their strides."""

from __future__ import annotations

from typing import Any

import numpy as np

import torchlike as tl
from compat_tests.scenarios import Cases, error

CASES = Cases("view_forms")
DTYPES = "float32 float64 int8 int16 int64 uint8 bool complex64 complex128 float16 bfloat16".split()


@CASES.add
def other_dtypes(torch: Any) -> Any:
    made = (
        lambda d: torch.ones(4, 4, dtype=d), lambda d: torch.ones(4, 4, dtype=d).t(),
        lambda d: torch.ones(6, 16, dtype=d)[1:5, ::2], lambda d: torch.ones((), dtype=d),
        lambda d: torch.ones(5, dtype=d), lambda d: torch.ones(9, dtype=d)[1:],
        lambda d: torch.ones(4, 8, dtype=d)[:, 4:], lambda d: torch.ones(4, 3, dtype=d)[:, :2],
    )  # fmt: skip

    def seen(x: Any, kind: Any) -> Any:
        y = x.view(kind)
        same = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        return [list(y.shape), y.stride(), y.storage_offset(), str(y.dtype), same, y.requires_grad]

    found: list[Any] = []
    for make in made:
        for old in DTYPES:
            x = make(getattr(torch, old))
            for new in ("float32", "float64", "int8", "complex64", "bool"):
                call = lambda x=x, new=new: seen(x, getattr(torch, new))
                text = error(call)
                found.append(call() if text == "no error" else text)
    return found


@CASES.add
def values_and_versions(torch: Any) -> Any:
    t, leaf = torch.ones(4), torch.ones(4, requires_grad=True)
    v = t.view(torch.int64)
    first = v.clone()
    v.fill_(0)
    others = [
        leaf.view(torch.complex64),
        (leaf * 2).view(torch.int32),
        (leaf * 2).view(torch.float32),
    ]
    return [
        first, t, t._version, v._version, [[o, o.requires_grad, o.grad_fn] for o in others],
        leaf.view(dtype=torch.int32), leaf.view(float), torch.ones(4,
        device="meta").view(torch.float64).shape,
        torch.arange(6.0).reshape(2, 3).t()[1:].view(torch.int32), error(lambda: leaf.view("a")),
        torch.tensor([1.5, 2.0], dtype=torch.bfloat16).view(torch.int16).view(torch.bfloat16),
    ]  # fmt: skip


@CASES.add
def expanded_strides(torch: Any) -> Any:
    e = torch.ones(3)
    shapes = ((5, 3), (2, -1), (3,), (1, 3), (1, 1, 3), (1, 2, 1, 3), (2, 1, 3))
    found = [e.expand(*s).stride() for s in shapes]
    return [
        *found, torch.ones(1, 3, 1).expand(4, 3, 1).stride(), torch.ones(()).expand(2, 2).stride(),
        torch.ones(()).expand(1, 1).stride(), torch.ones(5)[:, None].expand(5, 5).stride(),
        e.expand(1, 3).sum(0), (e.expand(1, 2, 3) * 2).stride(), error(lambda: e.expand(-1, 3)),
    ]  # fmt: skip


test_scenario = CASES.test()


def test_a_capsule_of_an_older_library_can_be_written_to() -> None:
    x = np.arange(3.0)
    t = tl.from_dlpack(x.__dlpack__())
    t[0] = 7
    assert x.tolist() == [7, 1, 2]
    h = tl.tensor([1.5], dtype=tl.bfloat16)
    back = tl.from_dlpack(tl.to_dlpack(h))
    back[0] = 2.5
    assert h.tolist() == [2.5] and back.dtype is tl.bfloat16
