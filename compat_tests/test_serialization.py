"""Checkpoints: both ways with PyTorch, its stored files without it, damaged and hostile files."""

from __future__ import annotations

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

from . import checkpoints
from .checkpoints import GOLDEN, KINDS, TRUSTED, grid, network, plain

EACH = pytest.mark.parametrize("name", KINDS)


def saved(T: Any, value: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    T.save(value, file, **options)
    file.seek(0)
    return file


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


def records(file: Any) -> list[tuple[str, int, bytes]]:
    raw, found = file.getvalue(), []
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        for entry in archive.infolist():
            lengths = struct.unpack_from("<HH", raw, entry.header_offset + 26)
            start = entry.header_offset + 30 + sum(lengths)
            found.append((entry.filename, start, raw[start : start + entry.file_size]))
    return found


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


# --- what is safe ---------------------------------------------------------------------------------


def test_the_text_of_a_refusal(torch: Any) -> None:
    for name in sorted(TRUSTED):
        texts = []
        for T in (tl, torch):
            with pytest.raises(pickle.UnpicklingError) as info:
                T.load(saved(T, KINDS[name](T)))
            texts.append(str(info.value))
        assert texts[0] == texts[1], name


def test_safe_globals() -> None:
    S = tl.serialization
    net, pair = saved(tl, network(tl)), saved(tl, checkpoints.named_tuple(tl))
    own = [tl.nn.Sequential, tl.nn.Linear, tl.nn.ReLU]
    with S.safe_globals(own):
        assert plain(tl.load(net)) == plain(network(tl))
        assert set(S.get_safe_globals()) == set(own)
    assert S.get_safe_globals() == []
    S.add_safe_globals([checkpoints.Pair])
    try:
        assert plain(tl.load(pair)) == plain(checkpoints.named_tuple(tl))
    finally:
        S.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError, match="GLOBAL torch.nn.modules.container.Sequential"):
        net.seek(0)
        tl.load(net)


def test_unsafe_globals_in_checkpoint(torch: Any) -> None:
    for name in sorted(TRUSTED):
        ours, theirs = (
            sorted(T.serialization.get_unsafe_globals_in_checkpoint(saved(T, KINDS[name](T))))
            for T in (tl, torch)
        )
        assert ours == theirs


def archive(data: bytes, *more: tuple[str, bytes], compress: bool = False) -> io.BytesIO:
    """A hand-made checkpoint around a pickle."""
    file = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as made:
        made.writestr("a/data.pkl", data)
        for name, content in more:
            made.writestr(name, content)
        made.writestr("a/version", "3\n")
    file.seek(0)
    return file


class Evil:
    """Unpickling it would write a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_that_run_commands(protocol: int, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "here"
    data = pickle.dumps({"x": Evil(str(path))}, protocol)
    for file in (archive(data), io.BytesIO(data)):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            tl.load(file)
    assert not path.exists()


def test_the_text_for_commands(torch: Any) -> None:
    data = pickle.dumps(Evil("x"), 2)
    texts = []
    for T in (tl, torch):
        with pytest.raises(pickle.UnpicklingError) as info:
            T.load(archive(data, ("a/byteorder", b"little")))
        texts.append(str(info.value))
    assert texts[0] == texts[1] and "whose module posix is blocked" in texts[0]


TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n("
STORAGE = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpu%stQ"
HOSTILE = {
    "calls a tensor class": b"\x80\2ctorch\nFloatTensor\n\x8a\6\0\0\0\0\0\x7f\x85R.",
    "calls Tensor": b"\x80\2ctorch\nTensor\n\x8a\6\0\0\0\0\0\x7f\x85R.",
    "makes a storage": b"\x80\2ctorch\nFloatStorage\n\x8a\6\0\0\0\0\0\x7f\x85R.",
    "new Tensor": b"\x80\2ctorch\nTensor\n\x8a\6\0\0\0\0\0\x7f\x85\x81.",
    "a huge bytearray": b"\x80\2c__builtin__\nbytearray\n\x8a\6\0\0\0\0\0\x7f\x85R.",
    "a codec of its own": b"\x80\2c_codecs\nencode\nX\1\0\0\0xX\3\0\0\0hex\x86R.",
    "changes a class": b"\x80\2ctorch\nTensor\n}X\3\0\0\0addK\1sb.",
    "changes a function": b"\x80\2ctorch._utils\n_rebuild_tensor\n}X\3\0\0\0addK\1sb.",
    "changes a module": b"\x80\2ctorch.nn.functional\nrelu\n.",
    "eval": b"\x80\2c__builtin__\neval\nX\3\0\0\x001+1\x85R.",
    "getattr": b"\x80\2c__builtin__\ngetattr\n.",
    "a call through another": b"\x80\2ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nTensor\n"
    b"ctorch\nTensor\n\x8a\6\0\0\0\0\0\x7f\x85}tR.",
    "calls a text": b"\x80\2X\1\0\0\0x)R.",
    "appends to a tensor's class": b"\x80\2ctorch\nTensor\nK\1a.",
    "sets an item of a class": b"\x80\2ctorch\nTensor\nK\1K\2s.",
    "an unknown opcode": b"\x80\2\x95.",
    "instances in the old way": b"\x80\2(cos\nsystem\nX\1\0\0\0xo.",
    "another kind of reference": b"\x80\2(X\6\0\0\0moduletQ.",
    "a text for a reference": b"\x80\2X\1\0\0\0xQ.",
    "cut off": b"\x80\2(K\1",
    "a text beyond the end": b"\x80\2X\xff\xff\xff\x7fabc.",
    "an empty stack": b"\x80\2RRR.",
    "no memo": b"\x80\2h\7.",
    "nothing": b"",
    "noise": bytes(range(256)),
    "unhashable keys": b"\x80\2}]K\1s.",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_pickles(what: str) -> None:
    before = dict(vars(tl.Tensor))
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        tl.load(archive(HOSTILE[what]))
    assert dict(vars(tl.Tensor)) == before


def tensor_pickle(numel: bytes, geometry: bytes) -> bytes:
    hooks = b"\x89ccollections\nOrderedDict\n)R"
    return b"\x80\2" + TENSOR + STORAGE % numel + geometry + hooks + b"tR."


GEOMETRIES = {
    "more elements than bytes": (b"K\x10", b"K\0K\x10\x85K\1\x85"),
    "fewer elements than bytes": (b"K\1", b"K\0K\1\x85K\1\x85"),
    "a huge number of elements": (b"\x8a\6\0\0\0\0\0\x7f", b"K\0K\4\x85K\1\x85"),
    "a negative number of elements": (b"J\xff\xff\xff\xff", b"K\0K\4\x85K\1\x85"),
    "a size beyond": (b"K\4", b"K\0K\5\x85K\1\x85"),
    "a stride beyond": (b"K\4", b"K\0K\4\x85K\2\x85"),
    "an offset beyond": (b"K\4", b"K\1K\4\x85K\1\x85"),
    "a negative size": (b"K\4", b"K\0J\xff\xff\xff\xff\x85K\1\x85"),
    "a negative stride": (b"K\4", b"K\3K\4\x85J\xff\xff\xff\xff\x85"),
    "a negative offset": (b"K\4", b"J\xff\xff\xff\xffK\4\x85K\1\x85"),
    "an overflowing size": (b"K\4", b"K\0\x8a\x08\0\0\0\0\0\0\0\x7f\x85K\0\x85"),
    "a size that is a text": (b"K\4", b"K\0X\1\0\0\0x\x85K\1\x85"),
    "strides of another length": (b"K\4", b"K\0K\4\x85K\1K\1\x86"),
}


@pytest.mark.parametrize("what", GEOMETRIES)
@pytest.mark.parametrize("weights_only", [True, False])
def test_hostile_geometry(what: str, weights_only: bool) -> None:
    file = archive(tensor_pickle(*GEOMETRIES[what]), ("a/data/0", bytes(16)))
    with pytest.raises((RuntimeError, pickle.UnpicklingError, TypeError)):
        tl.load(file, weights_only=weights_only)


def test_honest_geometry() -> None:
    file = archive(tensor_pickle(b"K\4", b"K\1K\3\x85K\1\x85"), ("a/data/0", bytes(16)))
    assert tl.load(file).tolist() == [0.0, 0.0, 0.0]


# --- damaged files --------------------------------------------------------------------------------


def test_every_cut_gives_an_error() -> None:
    raw = saved(tl, checkpoints.training(tl)).getvalue()
    for end in range(0, len(raw), 97):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            tl.load(io.BytesIO(raw[:end]))
    with pytest.raises(RuntimeError, match="failed finding central directory"):
        tl.load(io.BytesIO(raw[:-30]))


def test_every_flipped_byte_is_found_or_harmless() -> None:
    raw = saved(tl, {"x": grid(tl, 3), "y": [1, "a"]}).getvalue()
    for at in range(0, len(raw), 3):
        damaged = bytearray(raw)
        damaged[at] ^= 0x55
        try:
            found = tl.load(io.BytesIO(bytes(damaged)))
        except (RuntimeError, EOFError, ValueError, pickle.UnpicklingError):
            continue
        assert plain(found) == plain({"x": grid(tl, 3), "y": [1, "a"]})


def test_damaged_data_are_noticed() -> None:
    file = saved(tl, grid(tl, 3))
    start = next(start for name, start, _ in records(file) if name.endswith("data/0"))
    raw = bytearray(file.getvalue())
    raw[start] ^= 1
    with pytest.raises(RuntimeError, match="checksum of record 'data/0' is wrong"):
        tl.load(io.BytesIO(bytes(raw)))


def test_zip_bombs() -> None:
    data = tensor_pickle(b"\x8a\3\0\0\x40", b"K\0K\4\x85K\1\x85")
    with pytest.raises(RuntimeError, match="compressed"):
        tl.load(archive(data, ("a/data/0", bytes(1 << 24)), compress=True))
    file = archive(data, ("a/data/0", bytes(16)))
    raw = bytearray(file.getvalue())
    at = raw.index(b"PK\1\2", raw.index(b"PK\1\2") + 4)
    raw[at + 20 : at + 28] = struct.pack("<2L", 1 << 30, 1 << 30)
    with pytest.raises(RuntimeError, match="larger than the file"):
        tl.load(io.BytesIO(bytes(raw)))


def test_path_tricks(tmp_path: pathlib.Path) -> None:
    key = b"X\x0a\0\0\0../../evil"
    data = tensor_pickle(b"K\4", b"K\0K\4\x85K\1\x85").replace(b"X\1\0\0\x000", key)
    file = archive(data, ("a/../../evil", bytes(16)))
    with pytest.raises(RuntimeError, match="file not found"):
        tl.load(file)
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = archive(b"\x80\2K\1.", ("a/data.pkl", b"\x80\2K\2."))
    with pytest.raises(RuntimeError, match="two records have one name"):
        tl.load(twice)


def test_other_files() -> None:
    for data in (b"hello world", b"\x89PNG\r\n\x1a\n" + bytes(100), bytes(1000), b"PK\5\6" + bytes(18)):
        for weights_only in (True, False):
            with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
                tl.load(io.BytesIO(data), weights_only=weights_only)
    tar = bytearray(600)
    tar[257:262] = b"ustar"
    with pytest.raises(RuntimeError, match=r"\.tar"):
        tl.load(io.BytesIO(bytes(tar)))
    with pytest.raises(RuntimeError, match="failed locating file data.pkl"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            made.writestr("a/other", "x")
        file.seek(0)
        tl.load(file)


def test_cut_old_format() -> None:
    raw = (GOLDEN / "old_format.pt").read_bytes()
    for end in range(0, len(raw), 41):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            tl.load(io.BytesIO(raw[:end]))


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
        found = L.load(saved(T, [T.ones(2).untyped_storage(), T.ones(2)]), weights_only=False)
        assert found[0].nbytes() == 8 and found[1].tolist() == [1.0, 1.0]


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
