"""Storages, typed and untyped: construction, items, casts, buffers, files, errors."""

from __future__ import annotations

import copy
import os
import pickle
import tempfile
import warnings
from typing import Any

import pytest

import torchlike as tl
from compat_tests.scenarios import Cases, error

CASES = Cases("storages")
KINDS = "Double Float Half Long Int Short Char Byte Bool BFloat16 ComplexDouble ComplexFloat"


def seen(s: Any) -> Any:
    """What can be seen of a storage."""
    dtype = str(s.dtype) if hasattr(s, "dtype") else None
    held = "meta" if s.device.type == "meta" else s.tolist()
    return [type(s).__name__, dtype, held, s.nbytes(), len(s), str(s.device), s.is_cuda]


def first_line(call: Any) -> Any:
    """What a call returns, or how it fails: first and last line."""
    try:
        return call()
    except Exception as caught:
        lines = str(caught).splitlines() or [""]
        text = f"{type(caught).__name__}: {lines[0]} {lines[-1]}"
        return text.replace("torchlike.", "torch.")


@CASES.add
def typed_storages_are_made(torch: Any) -> Any:
    f, made = torch.FloatStorage([1, 2, 3]), []
    for name in KINDS.split():
        kind = getattr(torch, f"{name}Storage")
        s = kind([1, 0, 2])
        made.append([seen(s), isinstance(s, kind), isinstance(s, torch.TypedStorage), s.type()])
    return [
        made, isinstance(f, torch.IntStorage), isinstance(f, torch.Storage),
        isinstance(f.untyped(), torch.Storage), torch.FloatStorage(3).size(), str(f),
        str(f.untyped()),
        seen(torch.FloatStorage()), seen(torch.TypedStorage([1, 2], dtype=torch.int32)),
        seen(torch.TypedStorage([1, 2])), seen(torch.TypedStorage()), repr(torch.FloatStorage),
        seen(torch.TypedStorage(wrap_storage=torch.UntypedStorage([0] * 8), dtype=torch.int32)),
        seen(torch.UntypedStorage([300, -1, 7])), seen(torch.UntypedStorage()),
        len(torch.UntypedStorage(3)), seen(torch.FloatStorage(wrap_storage=f.untyped())),
    ]  # fmt: skip


@CASES.add
def storages_are_refused(torch: Any) -> Any:
    u, made = torch.UntypedStorage(8), []
    for kind in (torch.FloatStorage, torch.BoolStorage, torch.ComplexDoubleStorage):
        made += [
            lambda kind=kind: kind(3, device="cpu"), lambda kind=kind: kind(3, dtype=torch.float32),
            lambda kind=kind: kind("a"), lambda kind=kind: kind(1, 2), lambda kind=kind: kind(1.5),
            lambda kind=kind: kind(torch.ones(2)), lambda kind=kind: kind(1, wrap_storage=u),
            lambda kind=kind: kind(wrap_storage=kind(1)),
        ]  # fmt: skip
    made += [
        lambda: torch.TypedStorage(wrap_storage=u), lambda: torch.UntypedStorage(2, 2),
        lambda: torch.TypedStorage(wrap_storage=3, dtype=torch.int32),
        lambda: torch.TypedStorage(2, wrap_storage=u, dtype=torch.int32),
        lambda: torch.TypedStorage(wrap_storage=u, dtype=torch.int32, device="cpu"),
        lambda: torch.UntypedStorage("a"), lambda: torch.UntypedStorage([1.5]),
        lambda: torch.UntypedStorage(-1), lambda: torch.UntypedStorage(foo=3),
        lambda: torch.storage._LegacyStorage(), lambda: torch.TypedStorage(1, 2),
    ]  # fmt: skip
    return [first_line(call) for call in made]


@CASES.add
def items_of_storages(torch: Any) -> Any:
    a = torch.arange(4.0)

    def put(s: Any, index: Any, value: Any) -> Any:
        s[index] = value
        return s.tolist()

    typed = ((1, 7), (-1, 7), (9, 7), (slice(1, 3), 7), (1, "a"), ("a", 1), (slice(2), a.storage()))
    raw = ((1, 7), (1, 300), (slice(2), 3), (slice(2), [1]), (99, 2), (1, 2.5), (slice(0, 4, 2), 3))
    s, u = a.storage(), a.untyped_storage()
    return [
        [first_line(lambda i=i: s[i]) for i in (1, -1, 9, slice(1, 3), "a", 1.0)],
        [first_line(lambda i=i: u[i]) for i in (1, -1, 99, "a", slice(None, None, 2))],
        u[4:8].tolist(), list(s), list(u), 3.0 in s, bytes(u),
        [first_line(lambda p=p: put(a.clone().storage(), *p)) for p in typed],
        [first_line(lambda p=p: put(a.clone().untyped_storage(), *p)) for p in raw],
        s == s, s == a.storage(), u == a.untyped_storage(), u == a.clone().untyped_storage(),
    ]  # fmt: skip


@CASES.add
def casts_and_copies(torch: Any) -> Any:
    a = torch.tensor([0.0, 1.0, -2.5])
    s, u = a.storage(), a.untyped_storage()
    casts = """double float half bfloat16 long int short char byte bool complex_double
        complex_float clone cpu untyped""".split()
    small = torch.IntStorage([1, 2])
    twice = copy.deepcopy([s, a, u])
    twice[1][0] = 9
    grown = torch.UntypedStorage([1, 2, 3])
    grown.resize_(5)
    names = "is_pinned is_shared resizable element_size size nbytes".split()
    return [
        [seen(getattr(s, name)()) for name in casts], [seen(getattr(u, name)()) for name in casts],
        seen(s.clone().fill_(3)), seen(u.clone().fill_(3)),
        seen(s.clone().copy_(s.clone().fill_(1))),
        first_line(lambda: s.copy_(small)), first_line(lambda: u.copy_(torch.UntypedStorage(3))),
        seen(copy.copy(s)), seen(copy.copy(u)), [seen(twice[0]), twice[1], seen(twice[2])[2:]],
        seen(pickle.loads(pickle.dumps(s))), len(grown), grown.tolist()[:3], u.type(), s.type(),
        [[getattr(x, name)() for name in names] for x in (s, u)], a.storage_type().__name__,
        a.storage().data_ptr() == a.data_ptr(), s.filename, u.filename, s._pickle_storage_type(),
    ]  # fmt: skip


@CASES.add
def storages_from_buffers(torch: Any) -> Any:
    found, data = [], bytearray(range(1, 17))
    for name in "Float Byte Bool ComplexFloat Untyped Typed Half".split():
        kind = getattr(torch, f"{name}Storage")
        for named in (
            {}, {"byte_order": "native"}, {"byte_order": "little"}, {"byte_order": "big"},
            {"byte_order": "x"}, {"byte_order": "big", "count": 1, "offset": 4},
            {"byte_order": "big", "offset": 50}, {"byte_order": "big", "count": 50},
            {"dtype": torch.float32, "byte_order": "big"}, {"dtype": torch.uint8},
        ):  # fmt: skip
            found.append(first_line(lambda k=kind, n=named: k.from_buffer(data, **n).tolist()))
    return [
        found, torch.FloatStorage.from_buffer(bytearray(8), "native").tolist(),
        first_line(lambda: torch.FloatStorage.from_buffer()),
        torch.ByteStorage.from_buffer(b"ab").tolist(),
        torch.BoolStorage.from_buffer(b"\0x", "big").tolist(),
    ]  # fmt: skip


@CASES.add
def storages_from_files(torch: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path, found = os.path.join(folder, "f"), []
        with open(path, "wb") as file:
            file.write(bytes(range(16)))
        for kind in (torch.IntStorage, torch.UntypedStorage, torch.TypedStorage):
            for args in ((False, 2), (True, 2), (False, 6), (True, 10), (False,)):
                call = lambda k=kind, a=args: k.from_file(path, *a)
                text = first_line(lambda c=call: [seen(c())[:4], c().filename == path])
                found.append([str(text).replace(path, "f"), os.path.getsize(path)])
        for named in (
            {}, {"size": 4, "dtype": torch.uint8}, {"size": 2}, {"shared": 1, "size": 2},
            {"shared": False, "size": 400}, {"size": 2, "requires_grad": True},
        ):  # fmt: skip
            t = first_line(lambda n=named: torch.from_file(path, **n))
            found.append(t.replace(path, "f") if isinstance(t, str) else [t, t.requires_grad])
        t = torch.from_file(path, shared=True, size=4, dtype=torch.int32).fill_(7)
        torch.from_file(path, shared=False, size=4, dtype=torch.int32).fill_(3)
        s = t.untyped_storage()
        again = torch.from_file(path, size=4, dtype=torch.int32).clone()
        found += [
            again,
            s.filename == path,
            s.is_shared(),
            t[1:].untyped_storage().filename == path,
        ]
        missing = [
            first_line(lambda s=s: torch.FloatStorage.from_file("/nowhere/a", s, 2))
            for s in (False, True)
        ]
        del t, s
        return [found, missing]


@CASES.add
def storages_without_memory(torch: Any) -> Any:
    m = torch.zeros(3, 2, device="meta").t()
    s, u = m.storage(), m.untyped_storage()
    calls = (
        lambda: s[0], lambda: u[0], s.tolist, u.tolist, s.cpu, u.cpu,
        lambda: s.copy_(torch.FloatStorage(2)), lambda: u.copy_(torch.UntypedStorage(2)),
    )  # fmt: skip
    s[0], u[0] = 1, 1
    return [
        seen(s), seen(u), str(s), str(u), [error(call) for call in calls],
        s.data_ptr(), u.data_ptr(),
        seen(s.clone()), seen(u.clone()), seen(s.double()), seen(u.double()),
        seen(u.clone().resize_(4)),
        seen(torch.TypedStorage(2, device="meta", dtype=torch.int8)),
        seen(torch.TypedStorage([1, 2, 3], device="meta")),
        seen(torch.UntypedStorage([1, 2, 3], device="meta")), seen(s.fill_(2)),
    ]  # fmt: skip


@CASES.add
def tensors_from_storages(torch: Any) -> Any:
    a = torch.arange(4.0)
    s, u = a.storage(), a.untyped_storage()
    shared = torch.Tensor(s)
    shared[0] = 5
    return [
        a, torch.Tensor(u), torch.IntTensor(u), torch.tensor(s), torch.tensor(u), a.new(s),
        a.new(u), error(lambda: torch.IntTensor(s)),
        torch.tensor(u, dtype=torch.int16), torch.as_tensor(s), a._typed_storage().tolist(),
        error(lambda: torch.tensor(s, dtype=torch.int64)), torch.is_storage(s), torch.is_storage(u),
    ]  # fmt: skip


test_scenario = CASES.test()


def test_a_typed_storage_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from functional import blame

    monkeypatch.setattr(blame, "_seen", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        s = tl.FloatStorage(2)
        s.fill_(1)
        tl.ones(2).storage()
    assert [str(w.message).partition(".")[0] for w in caught] == ["TypedStorage is deprecated"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(blame, "_seen", set())
        assert tl.ones(2)._typed_storage()._size() == 2
        assert tl.ones(2).untyped_storage().nbytes() == 8


def test_a_tensors_storage_keeps_its_size() -> None:
    with pytest.raises(NotImplementedError, match="resize the tensor instead"):
        tl.ones(2).untyped_storage().resize_(0)
