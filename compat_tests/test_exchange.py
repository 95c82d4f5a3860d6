"""Memory shared with other libraries, and tensors from all kinds of data."""

from __future__ import annotations

import array
import warnings
from typing import Any

import numpy as np
import pytest

import torchlike as tl
from compat_tests.scenarios import Cases, error

CASES = Cases("exchange")


def outcome(call: Any) -> Any:
    """What a call returns, or how it fails."""
    found = error(call)
    return call() if found == "no error" else found.replace("torchlike.", "torch.")


# --- DLPack ---------------------------------------------------------------------------------------


class Speaker:
    """An object of another library that speaks an older DLPack."""

    def __init__(self, t: Any) -> None:
        self.t = t

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.t.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.t.__dlpack_device__()


@CASES.add
def capsules(torch: Any) -> Any:
    import importlib

    dl = importlib.import_module(f"{torch.__name__}.utils.dlpack")
    a = torch.arange(4.0)
    taken = dl.to_dlpack(a)
    found: list[Any] = [dl.from_dlpack(taken), outcome(lambda: dl.from_dlpack(taken))]
    for kind in "bool uint8 bfloat16 float16 complex64 complex128 int64 uint16".split():
        t = torch.ones(2, dtype=getattr(torch, kind))
        found.append([str(x.dtype) for x in (dl.from_dlpack(dl.to_dlpack(t)), dl.from_dlpack(t))])
        back = dl.from_dlpack(dl.to_dlpack(t))
        found.append([back.data_ptr() == t.data_ptr(), back.tolist()])
    part = torch.arange(6).reshape(2, 3).t()[1:]
    back = dl.from_dlpack(dl.to_dlpack(part))
    found += [back, back.stride(), dl.from_dlpack(dl.to_dlpack(torch.tensor(3)))]
    found += [
        dl.from_dlpack(dl.to_dlpack(torch.empty(0, 3))).shape,
        list(map(int, dl.DLDeviceType)),
    ]
    found += [torch.from_dlpack(Speaker(a)).data_ptr() == a.data_ptr()]
    found += [torch.from_dlpack(np.arange(3)), torch.from_dlpack(np.arange(3).__dlpack__())]
    found += [
        np.from_dlpack(a).tolist(),
        str(a.__dlpack_device__()),
        type(torch.to_dlpack(a)).__name__,
    ]
    found += [torch.from_dlpack(a, copy=True).data_ptr() == a.data_ptr()]
    return found


@CASES.add
def what_dlpack_refuses(torch: Any) -> Any:
    a, g = torch.arange(4.0), torch.ones(2, requires_grad=True)
    named = (
        {}, {"stream": None}, {"stream": -1}, {"stream": 1}, {"stream": "x"}, {"foo": 1},
        {"max_version": (1, 0)}, {"max_version": (0, 8)}, {"max_version": (2, 0)}, {"copy": True},
        {"dl_device": (1, 0)}, {"dl_device": (1, 1)}, {"copy": False},
    )  # fmt: skip
    meta = torch.ones(2, device="meta")
    return [
        [outcome(lambda n=n: repr(a.__dlpack__(**n)).split(" at")[0]) for n in named],
        error(lambda: a.__dlpack__(None)), error(g.__dlpack__), error(lambda: torch.from_dlpack(g)),
        error(a.to_sparse().__dlpack__), error(meta.__dlpack__), error(meta.__dlpack_device__),
        [error(lambda x=x: torch.from_dlpack(x)) for x in (3, [1], None)],
        error(lambda: torch.from_dlpack(a.__dlpack__(), copy=True)),
        error(lambda: torch.from_dlpack(a.__dlpack__(), device="cpu")),
        error(lambda: torch.to_dlpack(3)),
    ]  # fmt: skip


# --- buffers, asarray -----------------------------------------------------------------------------


@CASES.add
def buffers(torch: Any) -> Any:
    data, make = bytearray(range(16)), torch.frombuffer
    places = (
        {}, {"count": 2}, {"offset": 4}, {"offset": 3}, {"count": 2, "offset": 3}, {"offset": 16},
        {"offset": -1}, {"offset": 17}, {"count": 0}, {"count": -2}, {"count": 5}, {"offset": 15},
        {"count": 4, "offset": 4}, {"count": 3, "offset": 5},
    )  # fmt: skip
    objects = (
        [1, 2], None, bytearray(), b"", array.array("i", [1, 2, 3, 4]), np.arange(2),
        np.broadcast_to(np.arange(3), (2, 3)), np.arange(6)[::2], memoryview(data), b"abcd",
    )  # fmt: skip
    return [
        [outcome(lambda p=p: make(data, dtype=torch.int32, **p)) for p in places],
        [outcome(lambda p=p: make(data, dtype=torch.uint8, **p)) for p in places],
        [outcome(lambda b=b: make(b, dtype=torch.uint8)) for b in objects],
        make(data, dtype=torch.float32, requires_grad=True).requires_grad,
        error(lambda: make(data, dtype="x")),
        error(lambda: make(data, dtype=torch.int32, requires_grad=True)), make(data, dtype=int),
        make(np.ones(2, np.complex64), dtype=torch.complex64), make(np.ones(2, np.float16),
        dtype=torch.float16),
    ]  # fmt: skip


@CASES.add
def as_arrays(torch: Any) -> Any:
    def aliased(o: Any, **named: Any) -> Any:
        r = torch.asarray(o, **named)
        where = o.ctypes.data if isinstance(o, np.ndarray) else o.data_ptr()
        node = None if r.grad_fn is None else type(r.grad_fn).__name__
        return [
            r if r.device.type == "cpu" else r.shape,
            where == r.data_ptr(),
            r.requires_grad,
            node,
        ]

    options = (
        {}, {"copy": True}, {"copy": False}, {"requires_grad": True}, {"requires_grad": False},
        {"dtype": torch.float32}, {"dtype": torch.float64}, {"dtype": torch.float64, "copy": False},
        {"dtype": torch.int32, "copy": False}, {"device": "cpu"}, {"device": "meta", "copy": False},
        {"dtype": torch.int32}, {"dtype": torch.int32, "requires_grad": True},
    )  # fmt: skip
    made = (
        lambda: np.arange(4.0), lambda: torch.arange(4.0), lambda: torch.ones(2,
        requires_grad=True),
        lambda: torch.ones(2, requires_grad=True) * 2,
    )  # fmt: skip
    shared = [[outcome(lambda m=m, n=n: aliased(m(), **n)) for n in options] for m in made]
    raw = bytearray(b"abcdabcd")
    rest = (
        (3, {}), (3.5, {"dtype": torch.int32}), (3, {"copy": False}), ([1, 2], {"copy": False}),
        (np.float32(3), {}), (np.float32(3), {"copy": False}), (np.int64(3), {}), (np.array(3), {}),
        ([np.float32(1), np.float32(2)], {}), (b"abc", {}), (b"abc", {"dtype": torch.uint8}),
        (raw, {}), (raw, {"dtype": torch.int32}), (raw, {"dtype": torch.int32, "copy": False}),
        (array.array("i", [1, 2]), {}), (memoryview(np.ones(3, np.complex64)),
        {"dtype": torch.complex64}),
        (memoryview(np.arange(4.0).reshape(2, 2)), {"dtype": torch.float64}), ("abc", {}), (None,
        {}),
        (range(3), {}), ([[1, 2], [3, 4]], {"dtype": torch.float16}), ({}, {}), ([], {}),
    )  # fmt: skip
    return [shared, [outcome(lambda o=o, n=n: torch.asarray(o, **n)) for o, n in rest]]


# --- tensors from data ----------------------------------------------------------------------------


@CASES.add
def sequences_and_numbers(torch: Any) -> Any:
    T = torch.tensor
    values = (
        [np.arange(2), np.arange(2)], [np.float32(1), 2], [np.int32(1)], [True, 1.0], [1, 1j],
        [None],
        [[]], [[1], [2, 3]], [1, [2]], [[1], 2], "1", ["1"], 2**63, 2**64, [2**63], [float("inf")],
        np.array([1, 2], ">i4"), np.array(["a"]), np.arange(3)[::-1], range(3), {1, 2}, {1: 2},
        None,
        [T(1), 2], [T([1]), 2], [T([1, 2])], [torch.ones(2)], [T(1.5, requires_grad=True)], b"ab",
        [b"ab"], np.array(3.0), [np.array(3.0)], [np.array([3.0])], [[np.array(1)], [2]],
    )  # fmt: skip
    typed = (
        (3.5, "int32"), ([3.5, 2], "int64"), (300, "uint8"), (-1, "uint8"), (-300, "uint8"),
        (128, "int8"), (1e40, "float32"), (70000, "float16"), ([1e40], "float16"), (1 + 2j,
        "float32"),
        ([1 + 0j], "int32"), (2**63, "uint64"), (2**64, "float32"), (2**70, "float64"),
        ([2**63], "float64"), (2**63, "int64"), (True, "complex64"), (float("nan"), "int32"),
        (float("inf"), "int32"), (1e10, "int32"), (1e30, "int64"), (-1e30, "int64"), (2**31,
        "int32"),
        (0.5, "bool"), (1j, "bool"), (T(1.5), "int32"), ([T(1.5)], "int32"), ([T(1 + 1j)],
        "float32"),
        (255.5, "uint8"), (-0.5, "uint8"), (np.array([300]), "uint8"),
    )  # fmt: skip
    return [
        [outcome(lambda v=v: T(v)) for v in values],
        [outcome(lambda v=v, d=d: T(v, dtype=getattr(torch, d))) for v, d in typed],
        outcome(lambda: torch.from_dlpack(np.arange(6)[::2])),
    ]  # fmt: skip


test_scenario = CASES.test()


def test_lists_of_arrays_warn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from functional import blame

    monkeypatch.setattr(blame, "_seen", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert tl.tensor([np.ones(2), np.ones(2)]).shape == (2, 2)
        assert tl.tensor([np.ones(2)]).shape == (1, 2)
        assert tl.tensor([tl.tensor(1.5, requires_grad=True)]).tolist() == [1.5]
        assert tl.frombuffer(b"ab", dtype=tl.uint8).tolist() == [97, 98]
        assert tl.asarray(tl.ones(2, requires_grad=True)).requires_grad
    assert [str(w.message)[:43] for w in caught] == [
        "Creating a tensor from a list of numpy.ndar",
        "Converting a tensor with requires_grad=True",
        "The given buffer is not writable, and PyTor",
        "torch.asarray: unspecified requires_grad no",
    ]
