"""Checkpoints that are damaged, or that try to run something."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import struct
import warnings
import zipfile
from typing import Any

import pytest

import torchlike as tl

from . import checkpoints
from .checkpoints import GOLDEN, KINDS, TRUSTED, grid, network, plain, records, saved

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
    with pytest.raises(
        pickle.UnpicklingError, match=r"GLOBAL torch\.nn\.modules\.container\.Sequential"
    ):
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of other protocols
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
    for data in (
        b"hello world",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        bytes(1000),
        b"PK\5\6" + bytes(18),
    ):
        for weights_only in (True, False):
            with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
                tl.load(io.BytesIO(data), weights_only=weights_only)
    tar = bytearray(600)
    tar[257:262] = b"ustar"
    with pytest.raises(RuntimeError, match=r"\.tar"):
        tl.load(io.BytesIO(bytes(tar)))
    with pytest.raises(RuntimeError, match=r"failed locating file data\.pkl"):
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
