"""Checkpoints in the format before PyTorch 1.6: written, and read by either library."""

from __future__ import annotations

import importlib
import io
import pickle
import re
import warnings
from typing import Any

import pytest

import torchlike as tl
from compat_tests.scenarios import needs_torch
from torchlike import serialization


def things(torch: Any) -> dict[str, Any]:
    x = torch.arange(6.0).reshape(2, 3)
    return {
        "x": x, "view": x.t()[1:], "half": torch.ones(2, dtype=torch.bfloat16),
        "complex": torch.ones(2, dtype=torch.complex64), "leaf": torch.nn.Parameter(torch.ones(2)),
        "coo": x.to_sparse(), "csr": x.to_sparse_csr(), "plain": [1, "a", None],
        "empty": torch.empty(0),
        "bytes": x.untyped_storage(), "state": torch.nn.Linear(2, 3).state_dict(),
    }  # fmt: skip


def written(torch: Any, value: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    return file


def check(found: dict[str, Any]) -> None:
    x, view = found["x"], found["view"]
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and view.tolist() == [[1, 4], [2, 5]]
    assert (view.stride(), view.storage_offset()) == ((1, 3), 1)
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert found["half"].tolist() == [1, 1] and str(found["half"].dtype) == "torch.bfloat16"
    assert found["complex"].tolist() == [1, 1] and found["leaf"].requires_grad
    assert found["coo"].to_dense().tolist() == found["csr"].to_dense().tolist() == x.tolist()
    assert found["plain"] == [1, "a", None] and found["empty"].shape == (0,)
    assert list(found["state"]) == ["weight", "bias"] and found["state"]["weight"].shape == (3, 2)


@pytest.mark.parametrize("weights_only", [True, False])
def test_written_and_read(weights_only: bool) -> None:
    value = things(tl)
    del value["bytes"]
    check(tl.load(written(tl, value), weights_only=weights_only))


@needs_torch
@pytest.mark.parametrize("names", [("torchlike", "torch"), ("torch", "torchlike")])
def test_the_other_library_reads_it(names: tuple[str, str]) -> None:
    writer, reader = map(importlib.import_module, names)
    value = things(writer)
    del value["bytes"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls CSR a beta
        check(reader.load(written(writer, value), weights_only=True))


def test_a_file_of_the_old_format(tmp_path: Any) -> None:
    path = tmp_path / "old.pt"
    tl.save({"a": tl.ones(3)}, path, _use_new_zipfile_serialization=False)
    start = path.read_bytes()[:2]
    assert start == b"\x80\x02" and tl.load(path)["a"].tolist() == [1, 1, 1]


def test_two_dtypes_over_one_memory_are_refused() -> None:
    x = tl.ones(2)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        written(tl, [x, x.view(tl.int32)])


def test_what_python_2_wrote_is_read() -> None:
    whole = written(tl, tl.ones(1)).getvalue()
    data = re.sub(rb"X(.)\0\0\0", rb"U\1", whole, flags=re.DOTALL)  # its strings are bytes
    assert data != whole
    for encoding in ("utf-8", "bytes"):
        assert tl.load(io.BytesIO(data), encoding=encoding, weights_only=False).tolist() == [1]


class Buffered(io.BytesIO):
    flushed = 0

    def flush(self) -> None:
        self.flushed += 1


@pytest.mark.parametrize("new", [True, False])
def test_a_file_object_is_flushed(new: bool) -> None:
    file = Buffered()
    tl.save(tl.ones(2), file, _use_new_zipfile_serialization=new)
    assert file.flushed >= 1
    assert tl.load(io.BytesIO(file.getvalue())).tolist() == [1, 1]


def test_places_that_programs_register(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlike import _locations

    monkeypatch.setattr(_locations, "PACKAGES", [])
    seen: list[str] = []

    def restore(storage: Any, location: str) -> Any:
        seen.append(location)
        return storage if location == "shelf" else None

    serialization.register_package(5, lambda storage: "shelf", restore)
    monkeypatch.setattr("torchlike._pickler.PACKAGES", _locations.PACKAGES)
    file = io.BytesIO()
    tl.save(tl.ones(2), file)
    file.seek(0)
    assert tl.load(file).tolist() == [1, 1] and seen == ["shelf"]
    assert serialization.location_tag(tl.ones(1).untyped_storage()) == "shelf"


def test_versions_of_modules() -> None:
    at_least = serialization.check_module_version_greater_or_equal
    module = type("M", (), {"__version__": "1.10", "__name__": "m"})
    module.__name__ = "m"
    assert at_least(module, (1, 9)) and not at_least(module, (1, 11))
    with pytest.raises(RuntimeError, match="module version string is malformed"):
        at_least(module, (1, 9, 1))
    with pytest.warns(UserWarning, match="assuming that requirement is met"):
        assert at_least(module, (1, 9, 1), error_if_malformed=False)


def test_a_pickle_of_a_storage() -> None:
    s = pickle.loads(pickle.dumps(tl.UntypedStorage([1, 2])))
    assert s.tolist() == [1, 2]
