"""Values where half types round, where numbers are extreme, and where NaN is among them."""

from __future__ import annotations

import math
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("exact_values")
HALF = ("float16", "bfloat16")


def numbers(torch: Any, dtype: str, scale: float) -> Any:
    """Two vectors of 64 numbers between -scale and scale."""
    x = torch.arange(64, dtype=torch.float64)
    a, b = torch.sin(x * 12.9898) * scale, torch.cos(x * 78.233) * scale
    return a.to(getattr(torch, dtype)), b.to(getattr(torch, dtype))


@CASES.add
def division_in_half_types(torch: Any) -> Any:
    log = []
    for dtype in HALF:
        for scale in (10, 1000, 30000):
            a, b = numbers(torch, dtype, scale)
            for mode in ("trunc", "floor", None):
                log += [torch.div(a, b, rounding_mode=mode), torch.div(a, 0.3, rounding_mode=mode)]
                log += [
                    torch.div(1.7, b, rounding_mode=mode),
                    a.clone().div_(b, rounding_mode=mode),
                ]
            log += [torch.remainder(a, b), torch.fmod(a, 0.3), torch.remainder(a, 7.3)]
            log += [a // b, a // 0.3, a.clone().floor_divide_(0.3)]
    return log


@CASES.add
def numbers_in_half_types(torch: Any) -> Any:
    log = []
    for dtype in HALF:
        x = torch.tensor([1, 0.5, 0.3, 0.6, -0.3, math.nan, math.inf, -math.inf])
        x = x.to(getattr(torch, dtype))
        log += [x.hardshrink(0.3), x.hardshrink(0.5), 0.3 - x, torch.rsub(x, 0.3)]
        log += [x.nan_to_num(), x.nan_to_num(nan=0.3, posinf=0.7), x.clone().nan_to_num_(neginf=0)]
        log += [x[2:3] ** 0.3, torch.fmod(x[:4], 0.3)]
    return log


@CASES.add
def joined_slices_of_half_types(torch: Any) -> Any:
    log = []
    index = torch.tensor([0, 2, 1, 2, 0, 2, 3])
    for dtype in HALF:
        x, s = (numbers(torch, dtype, 3)[i][: 4 * n].view(n, 4) for i, n in ((0, 4), (1, 7)))
        for how in ("mean", "prod"):
            for include in (True, False):
                log.append(x.index_reduce(0, index, s, how, include_self=include))
                at = index[:, None].expand(7, 4)
                log.append(x.scatter_reduce(0, at, s, how, include_self=include))
        log.append(torch.segment_reduce(s, "sum", lengths=torch.tensor([3, 4])))
        log.append(torch.segment_reduce(s, "prod", lengths=torch.tensor([3, 4])))
        log.append(torch.segment_reduce(s, "mean", lengths=torch.tensor([3, 4])))
    return log


@CASES.add
def logarithms_of_complex_sums(torch: Any) -> Any:
    inf, nan = math.inf, math.nan
    rows = (
        [complex(-inf, 0.3), complex(-inf, 1), 1.2 + 2.1j, 1e10 + 0.7j, complex(inf, 0.8)],
        [complex(inf, 1), complex(inf, 2)],
        [complex(-inf, 2), complex(-inf, 3)],
        [complex(inf, 0), complex(-inf, 0)],
        [complex(-inf, nan), 1 + 1j],
        [1 + 1j, complex(-inf, 2)],
        [complex(nan, 1), 2 + 0j],
        [1e3 + 0j, 1e-18 + 1e4j, 1e2 + 1e-8j],
    )
    xs = [torch.tensor(row, dtype=torch.complex128) for row in rows]
    return [[torch.logcumsumexp(x, 0), torch.logaddexp(x[0], x[1])] for x in xs]


@CASES.add
def small_complex_numbers(torch: Any) -> Any:
    z = [1e-19 + 1e-18j, 0.2 + 0.3j, 1e-18 + 0.1j, -1 + 2j, 0j, 1e-8 + 1e-10j, -0.5 - 1e-20j]
    return [(torch.tensor(z, dtype=torch.complex128).log1p() * 1e20).tolist()]


@CASES.add
def slope_of_sinc(torch: Any) -> Any:
    x = torch.tensor([0.0, 2.3e-308, 1.0, 1e-160, 1e-200, 0.3], dtype=torch.float64)
    x.requires_grad_()
    torch.sinc(x).sum().backward()
    return x.grad


@CASES.add
def slices_with_nan(torch: Any) -> Any:
    nan = math.nan
    tables = (
        [[1, 2], [1, 2], [3, nan], [3, nan]],
        [[nan, 0, nan, nan, 1], [nan, 0, nan, nan, 1]],
        [[nan], [1], [nan], [0]],
    )
    return [
        torch.unique(torch.tensor(t), dim=d, return_inverse=True, return_counts=True)
        for t in tables
        for d in (0, 1)
    ]


@CASES.add
def sizes_of_complex_numbers(torch: Any) -> Any:
    log = []
    for z in (torch.tensor([3 + 4j, 1j]), torch.tensor([3 + 4j, 1j], dtype=torch.complex128)):
        for kind in ("float16", "float32", "float64", "complex64", "complex128", "int64"):
            out = torch.zeros(2, dtype=getattr(torch, kind))
            log.append([error(lambda z=z, out=out: torch.abs(z, out=out)), out])
    return log


@CASES.add
def histograms(torch: Any) -> Any:
    x = torch.ones(3)
    calls = (
        lambda: torch.histogram(x, -1),
        lambda: torch.histogram(x, 0),
        lambda: torch.histogram(x, torch.ones(2), range=(0, 1)),
        lambda: torch.histogram(x, 1.5),
        lambda: torch.histogram(torch.ones(0), torch.ones(0)),
    )
    empty = torch.histogramdd(torch.ones(3, 0), [])
    dense = torch.histogramdd(torch.ones(3, 0), [], density=True).hist
    return [error(call)[:60] for call in calls], empty.hist, len(empty.bin_edges), dense


@CASES.add
def random_fills(torch: Any) -> Any:
    torch.manual_seed(3)
    p = torch.full((12,), 0.4)
    log = [torch.zeros(1).cauchy_(math.inf, 0.5), error(lambda: torch.zeros(1).cauchy_(0, 0))]
    for kind in ("bool", "uint8", "int32", "float64", "float16"):
        made = torch.zeros(12, dtype=getattr(torch, kind))
        log += [torch.bernoulli(p, out=made.clone()), made.clone().bernoulli_(p.double())]
    x = torch.zeros(3)
    calls = (
        lambda: x.bernoulli_(torch.ones(2)),
        lambda: x.bernoulli_(torch.ones(2, 3)),
        lambda: torch.normal(torch.zeros(2, 3, 4, 5), torch.ones(120)),
        lambda: torch.normal(torch.zeros(5), torch.ones(2, 3)),
        lambda: torch.normal(1.0, torch.ones(3) + 0j),
    )
    return log, [error(call) for call in calls]


@CASES.add
def complex_numbers_to_the_last_bit(torch: Any) -> Any:
    x = torch.arange(64, dtype=torch.float64)
    z = torch.complex(torch.sin(x * 12.9898), torch.cos(x * 78.233)).to(torch.complex64)
    zero = torch.tensor([complex(-0.0, 0.0), complex(0.0, -0.0)])
    a, b = (torch.tensor(complex(-c, c), dtype=torch.complex128) for c in (2**0.5, 0.5**0.5))
    edges = torch.tensor([complex(math.inf, math.nan), complex(math.nan, 1), 3e38 + 3e38j])
    rows = z.reshape(8, 8)
    return [
        [v.item().hex() for v in z.abs()],
        [[v.real.item().hex(), v.imag.item().hex()] for v in torch.sgn(z)],
        [v.item().hex() for v in torch.linalg.vector_norm(rows, math.inf, 1)],
        [torch.isclose(a, b, 0.5, 0.5), edges.abs(), torch.copysign(z.real[:2], zero.sgn().real)],
    ]


@CASES.add
def sparse_sums_in_place(torch: Any) -> Any:
    eye = torch.eye(3)
    kinds = {"s": eye.to_sparse(), "i": eye.long().to_sparse(), "b": eye.bool().to_sparse()}
    kinds |= {"d": torch.ones(3, 3), "di": torch.ones(3, 3).long()}
    log = []
    for name in ("add_", "sub_", "mul_"):
        for a, x in kinds.items():
            for b, y in kinds.items():
                if "d" not in (a[0], b[0]) or (a[0] == "d") != (b[0] == "d"):
                    text = error(lambda x=x, y=y, n=name: getattr(x.clone(), n)(y))
                    log.append([name, a, b, text])
    return log


test_scenario = CASES.test()
