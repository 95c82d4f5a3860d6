"""Checkpoints: both ways with PyTorch, and PyTorch's stored files without it."""

from __future__ import annotations

import importlib
import io
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import zipfile
from typing import Any

import numpy as np
import pytest

import torchlike as tl
from torchlike._full_unpickler import find_class
from torchlike._pickler import pytorch_name

from . import checkpoints
from .checkpoints import GOLDEN, KINDS, TRUSTED, grid, network, plain, records, saved

EACH = pytest.mark.parametrize("name", KINDS)


def loaded(T: Any, file: Any, name: str = "", **options: Any) -> Any:
    if name in TRUSTED:
        options["weights_only"] = False
    return T.load(file, **options)


# --- both ways ------------------------------------------------------------------------------------


@EACH
def test_round_trip(name: str) -> None:
    value = KINDS[name](tl)
    assert plain(loaded(tl, saved(tl, value), name)) == plain(KINDS[name](tl)) == plain(value)


@EACH
def test_pytorch_reads_ours(name: str, torch: Any) -> None:
    file = saved(tl, KINDS[name](tl))
    assert plain(loaded(torch, file, name)) == plain(KINDS[name](torch))


@EACH
def test_we_read_pytorchs(name: str, torch: Any) -> None:
    file = saved(torch, KINDS[name](torch))
    assert plain(loaded(tl, file, name)) == plain(KINDS[name](tl))


@EACH
def test_stored_files_of_pytorch(name: str) -> None:
    found = loaded(tl, GOLDEN / f"{name}.pt", name)
    assert plain(found) == plain(KINDS[name](tl))


def test_stored_old_format() -> None:
    for weights_only in (True, False):
        found = tl.load(GOLDEN / "old_format.pt", weights_only=weights_only)
        expected = {"x": tl.arange(5), "model": network(tl).state_dict()}
        assert plain(found) == plain(expected)


def test_stored_conjugates_are_resolved() -> None:
    a, b = tl.load(GOLDEN / "conjugate.pt")
    assert a.tolist() == [1 - 2j, 3 + 1j] and b.tolist() == [-2.0]


@EACH
def test_what_needs_trust_is_refused(name: str) -> None:
    file = saved(tl, KINDS[name](tl))
    if name in TRUSTED:
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            tl.load(file)
    else:
        assert tl.serialization.get_unsafe_globals_in_checkpoint(file) == []


# --- the file -------------------------------------------------------------------------------------


@EACH
def test_the_same_records_as_pytorch(name: str, torch: Any) -> None:
    ours, theirs = (records(saved(T, KINDS[name](T))) for T in (tl, torch))
    assert [r[0] for r in ours] == [r[0] for r in theirs]
    assert all(start % 64 == 0 for _, start, _ in ours)
    for (name, _, a), (_, _, b) in zip(ours, theirs, strict=True):
        if not name.endswith(("data.pkl", "serialization_id")) and "data/" not in name:
            assert a == b


@pytest.mark.parametrize("name", ["state_dict", "dtypes", "shared", "meta", "parameters", "nested"])
def test_the_same_pickle_as_pytorch(name: str, torch: Any) -> None:
    ours, theirs = (records(saved(T, KINDS[name](T)))[0][2] for T in (tl, torch))
    assert pickle_words(ours) == pickle_words(theirs)


def pickle_words(data: bytes) -> list[Any]:
    import pickletools

    memo = ("PUT", "MEMO", "GET")
    return [(o.name, a) for o, a, _ in pickletools.genops(data) if not o.name.endswith(memo)]


def test_the_archive_is_named_after_the_file(tmp_path: pathlib.Path) -> None:
    for file, wanted in (("a.pt", "a"), ("a.b.pth", "a.b"), ("plain", "plain"), (".pt", "archive")):
        tl.save(tl.ones(1), tmp_path / file)
        with zipfile.ZipFile(tmp_path / file) as archive:
            assert archive.namelist()[0] == f"{wanted}/data.pkl"


def test_large_archives_have_wide_directories() -> None:
    from torchlike._archive import _directory_entry

    entry = _directory_entry(b"a/data/0", 1, 1 << 33, 1 << 34)
    assert struct.unpack("<2H3Q", entry[-28:]) == (1, 24, 1 << 33, 1 << 33, 1 << 34)


def test_views_share_memory_after_loading() -> None:
    base, row, column, flat, again = tl.load(saved(tl, checkpoints.shared(tl)))
    flat[0] = 50
    row[2] = 70
    assert base[0, 0].item() == 50 and column[1].item() == 70 and again is base
    assert row.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
    assert row.as_strided((2,), (1,), 0).tolist() == [50.0, 1.0]


def test_a_view_is_saved_with_its_whole_storage() -> None:
    x = tl.arange(1000.0)
    assert len(saved(tl, x[:2]).getvalue()) > 4000
    assert len(saved(tl, x[:2].clone()).getvalue()) < 2000
    assert tl.load(saved(tl, x[3:5])).untyped_storage().nbytes() == 4000
    array = np.arange(1000.0, dtype=np.float32)
    assert len(saved(tl, tl.from_numpy(array[10:12])).getvalue()) < 2000


def test_two_dtypes_of_one_memory_are_refused() -> None:
    x = tl.zeros(4)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        tl.save([x, x.view(tl.int32)], io.BytesIO())


def test_loaded_tensors_train() -> None:
    net = network(tl)
    copy = network(tl)
    copy.load_state_dict(tl.load(saved(tl, net.state_dict())))
    again = tl.load(saved(tl, net), weights_only=False)
    for m in (net, copy, again):
        m(grid(tl, 4, 2)).sum().backward()
    grads = [[p.grad.tolist() for p in m.parameters()] for m in (net, copy, again)]
    assert grads[0] == grads[1] == grads[2]


# --- where to, where from -------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["str", "path", "file", "bytesio", "mmap"])
def test_places(place: str, tmp_path: pathlib.Path) -> None:
    value, path = {"x": grid(tl, 3, 3), "y": tl.ones(2, dtype=tl.float64)}, tmp_path / "a.pt"
    if place == "file":
        with open(path, "wb") as file:
            tl.save(value, file)
        with open(path, "rb") as file:
            found = tl.load(file)
    elif place == "bytesio":
        found = tl.load(saved(tl, value))
    else:
        tl.save(value, str(path) if place == "str" else path)
        found = tl.load(str(path) if place == "str" else path, mmap=place == "mmap")
    assert plain(found) == plain(value)
    found["x"] += 1
    assert found["x"][0, 0].item() == 1


def test_mmap_does_not_write_into_the_file(tmp_path: pathlib.Path) -> None:
    tl.save(grid(tl, 4), tmp_path / "a.pt")
    tl.load(tmp_path / "a.pt", mmap=True).fill_(9)
    assert tl.load(tmp_path / "a.pt").tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="f must be a file path"):
        tl.load(saved(tl, 1), mmap=True)
    with pytest.raises(RuntimeError, match="mmap can only be used"):
        tl.load(GOLDEN / "old_format.pt", mmap=True)


def test_map_location(torch: Any) -> None:
    places: list[Any] = [
        None, "cpu", "meta", "cuda", "cuda:1", "xpu", "mps", "nowhere", 3, {"cpu": "cuda:0"},
        {"cuda:0": "cpu"}, {"cpu": "meta"}, lambda storage, location: storage,
        lambda storage, location: None, lambda storage, location: 1 / 0,
    ]  # fmt: skip
    for place in places:
        answers = []
        for T in (tl, torch):
            try:
                found = T.load(saved(T, grid(T, 2)), map_location=place)
                answers.append((str(found.device), tuple(found.shape)))
            except Exception as error:
                answers.append((type(error), str(error).replace("torchlike", "torch")))
        assert answers[0] == answers[1], place
    assert tl.load(saved(tl, grid(tl, 2)), map_location=tl.device("meta")).is_meta


def test_a_failed_save_leaves_the_old_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.pt"
    tl.save(tl.ones(2), path)
    before = path.read_bytes()
    with pytest.raises((pickle.PicklingError, AttributeError)):
        tl.save([tl.ones(2), lambda: 1], path)

    class Full:
        def write(self, data: Any) -> int:
            raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space left"):
        tl.save(tl.ones(2), Full())
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.pt"]


def test_a_save_cut_off_leaves_the_old_file(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    from torchlike import _archive

    path = tmp_path / "a.pt"
    tl.save(tl.ones(2), path)
    monkeypatch.setattr(_archive.Writer, "close", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tl.save(tl.zeros(3), path)
    assert tl.load(path).tolist() == [1.0, 1.0] and os.listdir(tmp_path) == ["a.pt"]


@pytest.mark.skipif(os.name == "nt", reason="permissions and links are others on Windows")
def test_saving_keeps_permissions_and_links(tmp_path: pathlib.Path) -> None:
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    tl.save(1, path)
    assert path.stat().st_mode & 0o600 == 0o600
    path.chmod(0o640)
    link.symlink_to(path)
    tl.save(2, link)
    assert link.is_symlink() and tl.load(path) == 2 and path.stat().st_mode & 0o777 == 0o640


def test_errors_of_places(torch: Any) -> None:
    calls: list[Any] = [
        lambda T: T.save(1, 3),
        lambda T: T.save(1, "/nowhere/at/all.pt"),
        lambda T: T.load(3),
        lambda T: T.load("/nowhere.pt"),
        lambda T: T.load(io.BytesIO(b"")),
        lambda T: T.load(saved(T, 1), weights_only=True, pickle_module=pickle),
    ]
    for call in calls:
        answers = []
        for T in (tl, torch):
            with pytest.raises(Exception) as info:
                call(T)
            answers.append((info.type, str(info.value)))
        assert answers[0][0] is answers[1][0]
        assert answers[0][1] == answers[1][1] or not answers[1][1]


# --- storages, and the module alone ---------------------------------------------------------------


def test_storages(torch: Any) -> None:
    for T in (tl, torch):
        x = T.arange(6.0).reshape(2, 3)
        s = x[1].untyped_storage()
        assert (s.nbytes(), len(s), s.data_ptr()) == (24, 24, x.data_ptr())
        assert s.tolist()[4:8] == [0, 0, 128, 63] and s[7] == 63 and s.element_size() == 1
        assert str(s.device) == "cpu" and T.is_storage(s) and not T.is_storage(x)
        assert T.UntypedStorage(3).nbytes() == 3 and repr(s[:1]).endswith("of size 1]")
        s[7] = 64
        assert x[0, 1].item() == 4.0


def test_saved_storages(torch: Any) -> None:
    for T, L in ((tl, torch), (torch, tl), (tl, tl)):
        found = L.load(saved(T, [T.ones(2).untyped_storage(), T.ones(2)]))
        assert found[1].untyped_storage().data_ptr() == found[1].data_ptr()
        assert type(found[0]).__name__ == "TypedStorage" and found[1].tolist() == [1.0, 1.0]


def test_the_module_loads_alone() -> None:
    code = (
        "import sys, io, torchlike.serialization as s\n"
        "f = io.BytesIO(); s.save({'a': [1, 2]}, f); f.seek(0)\n"
        "assert s.load(f) == {'a': [1, 2]}\n"
        "assert not any(m.startswith('torchlike.nn') for m in sys.modules)\n"
        "import torchlike as t\n"
        "f = io.BytesIO(); s.save(t.ones(2), f); f.seek(0)\n"
        "assert s.load(f).tolist() == [1.0, 1.0] and t.save is s.save\n"
        "assert not any(m.startswith('torchlike.nn') for m in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_functions_and_named_results_go_by_name(torch: Any) -> None:
    def several(T: Any) -> list[Any]:
        F = T.nn.functional
        functions = [F.relu, F.cross_entropy, T.add, T.ones, T.nn.init.zeros_]
        kinds = [T.Tensor, T.FloatTensor, T.Size, T.nn.Parameter, T.Generator, T.optim.SGD, T.dtype]
        return [*functions, *kinds, T.linalg.norm, T.ones(2, 3).max(0), T.ones(3).sort()]

    for T, L in ((tl, tl), (tl, torch), (torch, tl)):
        found, wanted = L.load(saved(T, several(T)), weights_only=False), several(L)
        for a, b in zip(found[:-3], wanted[:-3], strict=False):
            assert a is b
        assert found[-3].__name__ == wanted[-3].__name__
        assert [type(r).__name__ for r in found[-2:]] == [type(r).__name__ for r in wanted[-2:]]
        assert found[-2].values.tolist() == [1.0] * 3 and found[-1].indices.tolist() == [0, 1, 2]


@pytest.mark.parametrize("where", ["nn", "optim", "optim.lr_scheduler", "utils.data"])
def test_classes_are_where_checkpoints_look_for_them(where: str, torch: Any) -> None:
    ours, theirs = (importlib.import_module(f"{T.__name__}.{where}") for T in (tl, torch))
    for name, cls in vars(ours).items():
        known = vars(theirs).get(name)
        if isinstance(cls, type) and isinstance(known, type) and not name.startswith("_"):
            module, found = pytorch_name(cls)
            assert f"{module}.{found}" == f"{known.__module__}.{known.__qualname__}"
            assert find_class(module, found) is cls


def test_names_under_the_alias() -> None:
    code = (
        "import io, torchlike; torchlike.install('force')\n"
        "import torch, torch.nn as nn\n"
        "f = io.BytesIO(); torch.save(nn.Linear(2, 3), f); f.seek(0)\n"
        "print(torch.load(f, weights_only=False))\n"
        "f = io.BytesIO(); torch.save(nn.Linear(2, 3).state_dict(), f); f.seek(0)\n"
        "assert list(torch.load(f)) == ['weight', 'bias']\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
