"""A part of PyTorch's databases of operations and modules; all of them run as programs.

``python -m compat_tests.op_db``, ``python -m compat_tests.module_db``.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from . import translate
from .scenarios import needs_torch

# quick ones from every family
OPERATIONS = """
add div.floor_rounding clamp where lerp addcmul erf lgamma special.zeta view_as_complex polar
sum prod std_mean norm cumprod logcumsumexp quantile bucketize
cummax gather scatter_reduce.mean index_add index_put masked_scatter take_along_dim
unfold diag_embed roll rot90 tensor_split meshgrid.list_of_tensors permute_copy
einsum tensordot baddbmm linalg.solve linalg.svd linalg.qr fft.rfft2
nn.functional.layer_norm nn.functional.batch_norm nn.functional.gelu nn.functional.cross_entropy
nn.functional.embedding nn.functional.interpolate.bilinear nn.functional.avg_pool2d
nn.functional.pad.reflect nn.functional.conv_transpose2d nn.functional.grid_sample
""".split()
MODULES = """
nn.BatchNorm2d nn.LSTMCell nn.GRU nn.TransformerDecoderLayer nn.Embedding nn.ConvTranspose2d
nn.AdaptiveAvgPool2d nn.BCELoss nn.GELU nn.LazyConv1d
""".split()


@needs_torch
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    from . import op_db

    entries = [op for op in op_db.entries() if op_db.name_of(op) == name]
    for op in entries:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = op_db.outcome(op)
        assert not found.forward
        assert not (found.backward and found.differentiable)


@needs_torch
@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    from . import module_db

    found = module_db.run(f"^{name}$")
    assert found
    assert not any(any(m.said.values()) for m in found)


@needs_torch
def test_a_tensor_keeps_its_strides() -> None:
    torch: Any = translate.torch
    t = torch.arange(12.0).reshape(3, 4).t()[1:]
    ours = translate.tensor(t)
    assert ours.stride() == t.stride()
    assert ours.tolist() == t.tolist()
