"""On the meta device every record gives the shape, dtype and strides of the real run."""

from __future__ import annotations

from typing import Any

import pytest

from .compare import differences
from .observe import library, observe_meta, quiet
from .oracle import expected, public
from .records import RECORDS
from .records.base import In

OURS = library("torchlike")
# their shape depends on the numbers, which a meta tensor has not
DATA_DEPENDENT = (
    "getitem.mask",
    "nonzero",
    "where.single",
    "setitem.mask",
    "unique",
    "masked_select",
    "argwhere",
    "combinations",
    "repeat_interleave",
    "bincount",
    "histogram",
    "quantile",
    "nanquantile",
    "pdist",
    "searchsorted",
    "prod.zeros",
    "cumprod.zeros",
    "tensor_split.tensor",
)
# they make tensors of numbers, not of tensors
MAKERS = ("tensor", "as_tensor", "from_numpy", "item")


def has_tensors(sample: Any) -> bool:
    return any(isinstance(a, In) or (isinstance(a, list) and has_tensors(a)) for a in sample)


@pytest.mark.parametrize("name", [n for n in public() if not n.startswith(DATA_DEPENDENT)])
def test_shapes_without_numbers(name: str) -> None:
    record, found = RECORDS[name], []
    dtype = "float32" if "float32" in record.dtypes else record.dtypes[0]
    for index, sample in enumerate(record.samples):
        if not has_tensors(sample):
            continue
        with quiet():
            ours = observe_meta(OURS, record, index, dtype)
        real = expected(record, "run", index, dtype)
        if "error" in real or "Tensor.item()" in str(ours.get("error")):
            continue  # an index tensor without dimensions is read as a number
        wanted = {"outs": [_geometry(t) for t in real["outs"]]}
        ours = ours if "error" in ours else {"outs": [_geometry(t) for t in ours["outs"]]}
        found += [f"{sample} {d}" for d in differences(wanted, ours, dtype)]
    assert not found, "\n".join(found[:20])


def _geometry(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: facts[k] for k in ("dtype", "shape", "strides", "contiguous")}
