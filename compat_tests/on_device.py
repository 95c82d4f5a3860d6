"""Records on a GPU, or on what stands in for one: the CPU's facts are what is expected."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from functional import devices

from .compare import differences
from .observe import HALF, library, observe
from .oracle import OBSERVERS, cases
from .records import RECORDS

OURS = library("torchlike")
DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "bool", "complex64")
# their numbers are random, and a GPU's are others
RANDOM = ("alpha_dropout", "bernoulli", "binomial", "cauchy", "dropout", "exponential", "feature",
          "fractional", "geometric", "log_normal", "multinomial", "native_dropout",
          "nn.alpha_dropout", "nn.dropout", "nn.feature", "nn.fractional", "nn.gumbel_softmax",
          "nn.rrelu.training", "normal", "pca_lowrank", "poisson", "rand", "rrelu", "svd_lowrank",
          "uniform")  # fmt: skip
# what CuPy cannot do: these records raise NotImplementedError (docs/gpu.md lists them)
MISSING = {
    "linalg.ldl_factor": "CuPy has no symmetric indefinite factorization",
    "linalg.ldl_factor_ex": "CuPy has no symmetric indefinite factorization",
    "linalg.ldl_solve": "CuPy has no symmetric indefinite factorization",
    "special.airy_ai": "CuPy has no Airy functions",
}


class OnDevice(types.ModuleType):
    """The torch namespace, but arrays become tensors on the device."""

    def __getattr__(self, name: str) -> Any:
        return getattr(OURS, name)

    @staticmethod
    def from_numpy(array: Any) -> Any:
        """The array on the device, with its strides."""
        if array.flags.c_contiguous or not array.size:
            return OURS.from_numpy(array).to("cuda")
        item = array.itemsize
        last = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
        line = np.lib.stride_tricks.as_strided(array, (last // item + 1,), (item,))
        steps = [s // item for s in array.strides]
        return OURS.from_numpy(line).to("cuda").as_strided(array.shape, steps).detach()


def without_numbers(facts: Any) -> Any:
    """Facts without values."""
    if isinstance(facts, dict):
        return {k: without_numbers(v) for k, v in facts.items() if k != "values"}
    return [without_numbers(v) for v in facts] if isinstance(facts, list) else facts


def seen(T: Any, record: Any, kind: str, index: int, dtype: str) -> Any:
    """The facts of one case; of half types without gradients, which round at every step."""
    if kind == "run":
        return observe(T, record, index, dtype, 0 if dtype in HALF else 1)
    return OBSERVERS[kind](T, record, index, dtype)


def compare(
    name: str, kind: str = "run", dtypes: tuple[str, ...] = DTYPES, most: int = 99
) -> list[str]:
    """Where a record's results and gradients differ between the CPU and the device, in words."""
    record, found = RECORDS[name], []
    for index, dtype in cases(record, kind):
        if dtype not in dtypes or index >= most:
            continue
        cpu = seen(OURS, record, kind, index, dtype)
        with devices.device("cuda"):
            gpu = seen(OnDevice("torch"), record, kind, index, dtype)
        if name.startswith(RANDOM):
            cpu, gpu = without_numbers(cpu), without_numbers(gpu)
        where = f"{name} {record.samples[index]} {dtype} "
        found += [where + d for d in differences(cpu, gpu, f"torch.{dtype}")]
    return found


def refusals(name: str) -> list[Any]:
    """What a record raises on the device, case by case; None where it runs."""
    record, found = RECORDS[name], []
    for index, dtype in cases(record, "run"):
        if dtype in DTYPES and "error" not in observe(OURS, record, index, dtype, 0):
            with devices.device("cuda"):
                found.append(observe(OnDevice("torch"), record, index, dtype, 0).get("error"))
    return found
