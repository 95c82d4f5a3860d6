"""Every record on a stand-in for CuPy: the same values as on the CPU, and all of it on the device.

The stand-in refuses what CuPy refuses, so that a kernel which passes here asks CuPy for nothing
that it lacks. What no GPU can do is one table, in docs/gpu.md.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from functional import devices

from . import standin_cupy
from .compare import differences
from .observe import library, observe
from .oracle import cases
from .records import RECORDS

OURS = library("torchlike")
DTYPES = ("float64", "float32", "int64", "bool", "complex64")


class OnDevice(types.ModuleType):
    """The torch namespace, but arrays become tensors on the device."""

    def __getattr__(self, name: str) -> Any:
        return getattr(OURS, name)

    @staticmethod
    def from_numpy(array: Any) -> Any:
        """The array on the device, with its strides."""
        if array.flags.c_contiguous or not array.size:
            return OURS.from_numpy(array).to("cuda")
        last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
        line = np.lib.stride_tricks.as_strided(array, (last // array.itemsize + 1,), (array.itemsize,))
        steps = [s // array.itemsize for s in array.strides]
        return OURS.from_numpy(line).to("cuda").as_strided(array.shape, steps).detach()


@pytest.fixture(scope="module", autouse=True)
def standin() -> Iterator[None]:
    """The stand-in is CuPy, and it has one device."""
    standin_cupy.install()
    before = dict(devices.COUNTS)
    devices.COUNTS["cuda"] = 1
    yield
    devices.COUNTS.clear()
    devices.COUNTS.update(before)


def on_device(record: Any, index: int, dtype: str) -> Any:
    """The facts of one case on the stand-in."""
    with devices.device("cuda"):
        return observe(OnDevice("torch"), record, index, dtype, 1)


@pytest.mark.parametrize("name", list(RECORDS))
def test_record(name: str) -> None:
    record, found = RECORDS[name], []
    for index, dtype in cases(record, "run"):
        if dtype in DTYPES:
            cpu = observe(OURS, record, index, dtype, 1)
            gpu = on_device(record, index, dtype)
            where = f"{record.samples[index]} {dtype} "
            found += [where + d for d in differences(cpu, gpu, f"torch.{dtype}")]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:20])
