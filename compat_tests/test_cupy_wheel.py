"""The stand-in against the real CuPy, which imports without a GPU.

The wheel is installed into pytest's cache and asked for its names, parameters and ufunc types.
Where no wheel can be fetched, what was recorded of it stands in, as it does for PyTorch.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from . import record_cupy
from .standin_cupy import build, device
from .standin_cupy.arrays import TABLE, ndarray

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> Any:
    """The table that the wheel of the recorded version gives."""
    place = request.config.cache.mkdir(f"cupy-{TABLE['version']}") / "installed"
    if not place.exists() and not fetched(place):
        return TABLE
    command = [sys.executable, "-I", "-W", "ignore", str(HERE / "record_cupy.py"), str(place)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fetched(place: Path) -> bool:
    """Install the wheel into a folder; False where pip cannot get it."""
    part = place.with_name(f"part-{os.getpid()}")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(part)]
    wheels = [f"cupy-cuda12x=={TABLE['version']}", "cuda-pathfinder"]
    if subprocess.run([*pip, *wheels], capture_output=True).returncode:
        return False
    with contextlib.suppress(OSError):  # another process was quicker
        part.rename(place)
    return True


def test_the_recorded_names_are_the_real_ones(real: Any) -> None:
    assert real == TABLE


def test_the_standin_offers_nothing_else(real: Any) -> None:
    """No module of the stand-in has a name, and no class a method, that the real one lacks."""
    extra = {}
    for name, module in build.modules().items():
        if name in real:
            known = {*real[name], "__version__"}
            found = {n for n, v in vars(module).items() if n[:1] != "_" and not inspect.ismodule(v)}
            extra[name] = found - known
    kinds = {"cupy.cuda.Device": device.Device, "cupy.cuda.Stream": device.Stream,
             "cupy.cuda.Event": device.Event, "cupy.cuda.MemoryPool": device.MemoryPool,
             "ndarray": ndarray}  # fmt: skip
    for name, kind in kinds.items():
        extra[name] = {n for n in vars(kind) if n[:1] != "_"} - set(real[name])
    extra["cupy.cuda.Stream"].discard("ptr")  # an attribute of its instances
    assert not {name: found for name, found in extra.items() if found}


@pytest.mark.parametrize("kind", ["Device", "Stream", "Event", "MemoryPool"])
def test_parameters_are_the_real_ones(real: Any, kind: str) -> None:
    mine = record_cupy.describe(getattr(device, kind))
    for name, found in mine.items():
        theirs = real[f"cupy.cuda.{kind}"].get(name)
        if isinstance(found, list) and isinstance(theirs, list):
            assert set(found) - {"self"} <= {*theirs}, name


def test_the_table_knows_what_kernels_need(real: Any) -> None:
    """A few facts that the kernels rest on."""
    assert not {"reduce", "at"} & set(real["cupy"]) and "errstate" not in real["cupy"]
    assert "??->?" in real["cupy"]["add"]["types"] and "FF->F" in real["cupy"]["add"]["types"]
    assert "slices" in real["ndarray"]["scatter_add"] and "out" in real["cupy"]["take"]
    assert real["cupy"]["where"] == ["condition", "x", "y"]
