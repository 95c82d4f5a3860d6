"""Sums with products whose factors are 0: which of the summands are looked at, NaN or not."""

from __future__ import annotations

import math

import pytest

import torchlike as torch

# what PyTorch 2.13 gives for NaN in the second factor, times 0, beside a one times three
LEFT_OUT = [
    ("addmm", torch.float32, 2), ("addmm", torch.float64, 2), ("addmm", torch.complex64, 2),
    ("addmv", torch.float32, 2), ("addbmm", torch.float32, 2), ("baddbmm", torch.float32, 20),
]  # fmt: skip
READ = [
    ("addmm", torch.bfloat16, 2), ("addmm", torch.float16, 2), ("addmv", torch.bfloat16, 2),
    ("addmv", torch.complex64, 2), ("addbmm", torch.bfloat16, 2), ("baddbmm", torch.float32, 2),
    ("addr", torch.float32, 2),
]  # fmt: skip


def _call(name: str, dtype: torch.dtype, n: int) -> torch.Tensor:
    ones, shape = lambda *shape: torch.ones(shape, dtype=dtype), (n,) * 2
    if name in ("addr", "addmv"):
        first = ones(n) if name == "addr" else ones(*shape)
        other, bias = ones(n), ones(*shape) if name == "addr" else ones(n)
    elif name == "addmm":
        first, other, bias = ones(*shape), ones(*shape), ones(*shape)
    else:
        first, other = ones(3, *shape), ones(3, *shape)
        bias = ones(*shape) if name == "addbmm" else ones(3, *shape)
    return getattr(torch, name)(bias, first, other * math.nan, beta=3, alpha=0)


@pytest.mark.parametrize(("name", "dtype", "n"), LEFT_OUT)
def test_a_blas_leaves_factors_out(name: str, dtype: torch.dtype, n: int) -> None:
    assert (_call(name, dtype, n) == 3).all()


@pytest.mark.parametrize(("name", "dtype", "n"), READ)
def test_other_kernels_read_them(name: str, dtype: torch.dtype, n: int) -> None:
    assert _call(name, dtype, n).isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_addbmm_of_no_matrices(dtype: torch.dtype) -> None:
    batch, nan = torch.ones(0, 2, 2, dtype=dtype), torch.full((2,), math.nan, dtype=dtype)
    assert torch.addbmm(nan, batch, batch, beta=0).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    ones = torch.ones(2, dtype=dtype)
    assert torch.addbmm(ones, batch, batch, beta=3).tolist() == [[3.0, 3.0], [3.0, 3.0]]
