"""Kernels' paths for strides, many numbers and simple forms, against plain formulas."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import torchlike as torch
from functional.kernels import conv, lapack, losses, solvers
from functional.kernels.group_norm import group_norm, group_norm_backward
from functional.kernels.linalg import bmm
from functional.kernels.statistics import cdist


def numbers(*shape: int, seed: int = 0, kind: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(kind)


def plain_convolution(x: np.ndarray, w: np.ndarray, stride: Any, padding: Any, groups: int) -> Any:
    """The sum over taps and channels, a tap at a time."""
    pads = [(0, 0), (0, 0), *((p, p) for p in padding)]
    x = np.pad(x, pads)
    out = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], w.shape[2:], stride, strict=True)]
    each, depth = w.shape[0] // groups, w.shape[1]
    z = np.zeros((len(x), w.shape[0], *out))
    for tap in product(*map(range, w.shape[2:])):
        where = tuple(
            slice(t, t + (o - 1) * s + 1, s) for t, o, s in zip(tap, out, stride, strict=True)
        )
        for i in range(groups):
            part = x[(slice(None), slice(i * depth, (i + 1) * depth), *where)]
            matrix = w[(slice(i * each, (i + 1) * each), slice(None), *tap)]
            z[:, i * each : (i + 1) * each] += np.moveaxis(np.tensordot(matrix, part, (1, 1)), 1, 0)
    return z


# x, weight, stride, padding, groups
CONVOLUTIONS = {
    "kernel a multiple": ((3, 4, 8, 10), (6, 4, 4, 4), (2, 2), (1, 1), 1),
    "kernel not a multiple": ((3, 4, 9, 11), (6, 4, 3, 3), (2, 2), (1, 1), 1),
    "strides that differ": ((3, 4, 9, 11), (6, 2, 4, 3), (3, 2), (1, 0), 2),
    "one stride": ((3, 4, 9, 11), (4, 2, 4, 5), (2, 1), (1, 2), 2),
    "gaps": ((3, 4, 9, 11), (6, 2, 1, 2), (3, 3), (0, 0), 2),
    "volumes": ((2, 4, 7, 8, 6), (4, 2, 4, 3, 2), (2, 1, 2), (1, 1, 0), 2),
    "lines": ((3, 4, 12), (6, 4, 4), (2,), (1,), 1),
    "many channels": ((5, 40, 9, 11), (6, 40, 3, 3), (2, 2), (1, 1), 1),
    "many outputs": ((5, 3, 9, 11), (60, 3, 3, 3), (2, 2), (1, 1), 1),
    "several chunks": ((40, 16, 32, 32), (24, 16, 4, 4), (2, 2), (1, 1), 1),
    "one position": ((7, 6, 4, 4), (4, 3, 4, 4), (1, 1), (0, 0), 2),
    "one position, stride": ((7, 6, 4, 4), (4, 3, 4, 4), (2, 2), (0, 0), 2),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution_gradients(name: str) -> None:
    """The three kernels agree: <g, conv(x, w)> = <conv_input(g, w), x> = <conv_weight(g, x), w>."""
    x_shape, w_shape, stride, padding, groups = CONVOLUTIONS[name]
    dims = len(stride)
    x, w, v = numbers(*x_shape), numbers(*w_shape, seed=1), numbers(*w_shape, seed=2)
    y = numbers(*x_shape, seed=3)
    rest = (stride, padding, (1,) * dims, False, (0,) * dims, groups)
    expected = plain_convolution(x, w, stride, padding, groups)
    np.testing.assert_allclose(conv.convolution(x, w, None, *rest), expected, atol=1e-9)
    g = numbers(*expected.shape, seed=4)
    g_x = conv.convolution_input(g, w, x_shape, *rest)
    g_w = conv.convolution_weight(g, x, w_shape, *rest)
    assert g_x.shape == x_shape
    assert g_w.shape == w_shape
    # linear in x and in w, so that random directions tell every element
    of_y = (g * plain_convolution(y, w, stride, padding, groups)).sum()
    of_v = (g * plain_convolution(x, v, stride, padding, groups)).sum()
    np.testing.assert_allclose((g_x * y).sum(), of_y, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose((g_w * v).sum(), of_v, rtol=1e-9, atol=1e-7)
    tr = (stride, padding, (1,) * dims, True, (0,) * dims, groups)
    shape = conv.convolution_shape(g.shape, w_shape, *tr)
    if shape == x_shape:
        np.testing.assert_allclose(conv.convolution(g, w, None, *tr), g_x, atol=1e-9)


@pytest.mark.parametrize("loss", ["smooth_l1", "huber"])
@pytest.mark.parametrize("size", [100, (1 << 18) + 3, 700_001])
@pytest.mark.parametrize("limit", [1.0, 0.25])
def test_quadratic_losses(loss: str, size: int, limit: float) -> None:
    """Few and many numbers; the mean, the sum and the elements."""
    x, t = numbers(size, kind=np.float32), numbers(size, seed=1, kind=np.float32)
    d = np.abs(x.astype(np.float64) - t)
    z = np.where(d < limit, d * d / 2, limit * (d - limit / 2))
    slope = np.clip(x.astype(np.float64) - t, -limit, limit)
    if loss == "smooth_l1":
        z, slope = z / limit, slope / limit
    forward, backward = getattr(losses, f"{loss}_loss"), getattr(losses, f"{loss}_loss_backward")
    g = np.asarray(np.float32(3))
    for reduction, expected in enumerate((z, z.mean(), z.sum())):
        found = forward(x, t, reduction, limit)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
        scale = 3 / size if reduction == 1 else 3
        np.testing.assert_allclose(
            backward(g, x, t, reduction, limit), slope * scale, rtol=1e-4, atol=2e-6 * scale
        )


@pytest.mark.parametrize("shape", [(2, 6, 3, 3), (16, 16, 40, 40), (2, 6, 1)])
@pytest.mark.parametrize("affine", [False, True])
def test_group_norm_gradients(shape: tuple[int, ...], affine: bool) -> None:
    """Gradients against the formula; the mean is large."""
    groups = 2
    x, g = numbers(*shape) + 100, numbers(*shape, seed=1)
    weight = numbers(shape[1], seed=2) if affine else None
    _, mean, rstd = group_norm(x, weight, None, groups, 1e-5)
    found = group_norm_backward(g, x, weight, mean, rstd, groups)
    rows = (shape[0], groups, -1)
    each = (1, -1) + (1,) * (len(shape) - 2)
    hat = ((x.reshape(rows) - mean[..., None]) * rstd[..., None]).reshape(rows)
    gw = (g if weight is None else g * weight.reshape(each)).reshape(rows)
    slope = (gw * hat).mean(2, keepdims=True)
    g_x = rstd[..., None] * (gw - gw.mean(2, keepdims=True) - hat * slope)
    axes = (0, *range(2, len(shape)))
    np.testing.assert_allclose(found[0], g_x.reshape(shape), atol=1e-9)
    np.testing.assert_allclose(found[1], (g * hat.reshape(shape)).sum(axes), atol=1e-8)
    np.testing.assert_allclose(found[2], g.sum(axes), atol=1e-9)


@pytest.mark.parametrize("columns", [1, 2, 8, 9])
def test_columns_times_short_rows(columns: int) -> None:
    """An inner dimension of one."""
    x, y = numbers(3, 50, 1), numbers(3, 1, columns)
    np.testing.assert_allclose(bmm(x, y), x * y)
    np.testing.assert_allclose(bmm(x.swapaxes(1, 2).swapaxes(1, 2), y), np.matmul(x, y))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("shape", [(7, 5, 3), (300, 200, 4), (2, 3, 0)])
def test_cdist(p: float, shape: tuple[int, int, int]) -> None:
    """Rows a few at a time, and all at once."""
    n, m, d = shape
    x, y = numbers(2, n, d), numbers(2, m, d, seed=1)
    rest = x[:, :, None] - y[:, None]
    expected = np.linalg.norm(rest, p, -1) if d else np.zeros((2, n, m))
    np.testing.assert_allclose(cdist(x, y, p), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "equation",
    ["ij,jk->ik", "ij,ij->i", "ij,ij->", "ij,kj->ik", "ji,jk->ik", "bij,bjk->bik", "ij,jk->ki",
     "bhqd,bhkd->bhqk", "bijc,bjic->b", "i,i->", "ij,j->i", "ij,ij->ji", "ij,j", "i,j->ij",
     "ijj,jk->ik", "ij,ik->j"],
)  # fmt: skip
def test_einsum_with_and_without_a_graph(equation: str) -> None:
    """The same values and layout whether the call is recorded or not."""
    sizes = dict(zip("bcdhijkq", (2, 3, 4, 2, 5, 5, 6, 3), strict=True))
    left = equation.split("->")[0].split(",")
    arrays = [numbers(*(sizes[c] for c in part), seed=i) for i, part in enumerate(left)]
    plain = [torch.from_numpy(a) for a in arrays]
    found = torch.einsum(equation, *plain)
    recorded = torch.einsum(equation, *(t.clone().requires_grad_() for t in plain))
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), atol=1e-12)
    np.testing.assert_allclose(recorded.detach().numpy(), found.numpy(), atol=1e-12)
    assert recorded.stride() == found.stride()
    assert recorded.requires_grad
    assert not found.requires_grad


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cosine_with_and_without_a_graph(dim: int) -> None:
    """The same values whether the call is recorded or not; a row of zeros counts as eps."""
    x, y = torch.from_numpy(numbers(6, 5)), torch.from_numpy(numbers(6, 5, seed=1))
    x[2] = 0
    found = torch.nn.functional.cosine_similarity(x, y, dim)
    recorded = torch.nn.functional.cosine_similarity(x.clone().requires_grad_(), y, dim)
    np.testing.assert_allclose(found.numpy(), recorded.detach().numpy(), atol=1e-14)
    with pytest.raises(IndexError):
        torch.nn.functional.cosine_similarity(x, y, 2)


@pytest.mark.parametrize("kind", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(5, 5), (9, 4), (4, 9)])
def test_least_squares(kind: Any, shape: tuple[int, int]) -> None:
    """Both ways find the solution of least norm, and the rank."""
    a, b = numbers(2, *shape).astype(kind), numbers(2, shape[0], 3, seed=1).astype(kind)
    a[0, :, 1] = a[0, :, 0]  # of less than full rank
    for driver in ("gelsy", "gelsd"):
        x, _, rank, _ = solvers.lstsq_of(a, b, 1e-10, driver)
        np.testing.assert_allclose(x, np.linalg.pinv(a) @ b, atol=1e-9)
        np.testing.assert_array_equal(rank, np.linalg.matrix_rank(a))


def test_cofactors() -> None:
    """Of regular and singular matrices, by minors."""
    for x in (numbers(3, 4, 4), np.concatenate([numbers(2, 4, 4), np.ones((1, 4, 4))])):
        expected = np.empty_like(x)
        for i, j in product(range(4), range(4)):
            minor = np.delete(np.delete(x, i, 1), j, 2)
            expected[:, i, j] = (-1) ** (i + j) * np.linalg.det(minor)
        np.testing.assert_allclose(lapack.cofactors(x), expected, atol=1e-12)


def test_an_ignored_sample_among_many_of_a_half_type() -> None:
    """4095 counted samples are 4096 in float16, as many as there are."""
    x = torch.zeros(4096, 3, dtype=torch.float16, requires_grad=True)
    target = torch.zeros(4096, dtype=torch.int64)
    target[7] = -100
    torch.nn.functional.nll_loss(x, target).backward()
    counted = x.grad[:, 0] != 0
    assert counted.sum() == 4095
    assert not counted[7]
