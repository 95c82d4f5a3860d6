"""Pooling of nothing and to nothing, wrong sizes, random samples, strides of single pixels."""

from __future__ import annotations

from functools import partial
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("pooling_edges")


def described(t: Any) -> Any:
    return [list(t.shape), list(t.stride())]


@CASES.add
def adaptive_to_nothing(torch: Any) -> Any:
    """The way forward works, the way back does not."""
    F, found = torch.nn.functional, []
    for kind in ("avg", "max"):
        for n in (1, 2, 3):
            pool = getattr(F, f"adaptive_{kind}_pool{n}d")
            for lead in ((0, 3), (2, 0), (3,)):
                x = torch.ones(*lead, *(4,) * n, requires_grad=True)
                for size in (0, 1, 2):
                    try:
                        y = pool(x, size)
                    except RuntimeError as caught:
                        found.append(str(caught))
                        continue
                    found.append([described(y), error(lambda y=y: y.sum().backward())])
    return found


@CASES.add
def single_pixels(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for shape in ((4, 5, 6, 6), (1, 4, 5, 5), (4, 1, 3, 3)):
        x = torch.ones(shape).to(memory_format=torch.channels_last)
        for y in (F.adaptive_avg_pool2d(x, 1), F.adaptive_max_pool2d(x, (1, 2)),
                  F.avg_pool2d(x, 3), F.adaptive_avg_pool2d(x, 2)):  # fmt: skip
            found.append(described(y))
    empty = torch.ones(0, 3, 1, 4)
    return [*found, described(empty.squeeze(-2).sum(-1, True)), described(empty[:, :, 0] + 1)]


@CASES.add
def too_many_elements(torch: Any) -> Any:
    F, n = torch.nn.functional, 0x3FFFFFFFFFFFFFFF
    x = torch.ones(2, 2, 2)
    return [
        error(lambda: F.adaptive_avg_pool1d(x, n)),
        error(lambda: F.adaptive_avg_pool2d(x, n)),
        type_of(lambda: F.adaptive_max_pool1d(x, n)),
    ]


def type_of(call: Any) -> str:
    return error(call).partition(":")[0]


@CASES.add
def averages(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for n, pool in ((1, F.avg_pool1d), (2, F.avg_pool2d), (3, F.avg_pool3d)):
        x = torch.ones(1, 2, *(4,) * n)
        found += [error(partial(pool, x, *rest)) for rest in ((2, -1), (2.5,), ("2",), (None,))]
    shapes = ((2, 3, 0, 0, 0), (2, 0, 4, 4, 4))
    found += [error(lambda s=s: F.avg_pool3d(torch.ones(s), 2)) for s in shapes]
    return [*found, error(lambda: F.avg_pool2d(torch.ones(2, 2, 2, 2, 2), 2))]


@CASES.add
def fractional(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for n, pool in ((2, F.fractional_max_pool2d), (3, F.fractional_max_pool3d)):
        for lead in ((0, 3), (2, 0), (2, 3), (3,), (0,)):
            x = torch.ones(*lead, *(6,) * n)
            for size in (0, 2, [0] + [1] * (n - 1), [6] * n, [2] * (n + 1), []):
                try:
                    found.append(described(pool(x, 2, output_size=size)))
                except RuntimeError as caught:
                    found.append(str(caught))
        x = torch.ones(2, 3, *(6,) * n)
        for shape in ((1, 3, n), (2, 2, n), (2, 3, n + 1), (3, n)):
            draws = torch.full(shape, 0.3)
            found.append(error(partial(pool, x, 2, 2, _random_samples=draws)))
        draws = torch.full((2, 3, n), 0.3)
        found.append(described(pool(x, 2, 2, _random_samples=draws)))
        found.append(error(partial(pool, x, 2, 2, _random_samples=draws.double())))
        found += [error(partial(pool, x, kernel, 2)) for kernel in ((), (1,), (2,) * (n + 1))]
    return [*found, described(F.fractional_max_pool3d(x, 2, output_ratio=0.5))]


@CASES.add
def unpooling(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for n, pool in ((1, F.max_unpool1d), (2, F.max_unpool2d), (3, F.max_unpool3d)):
        x = torch.ones(1, 3, *(2,) * n)
        at = torch.zeros(x.shape, dtype=torch.int64)
        for size in ([2] * (n - 1), [2] * (n + 1), []):
            found.append(error(partial(pool, x, at, size)))
        found.append(error(partial(pool, x[:, :0], at[:, :0], 2)))
        found.append(described(pool(x[:0], at[:0], 2)))
    return found


test_scenario = CASES.test()
