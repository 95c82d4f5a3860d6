"""One argument of another dtype: masked reductions, histograms, searches, indices, and writing."""

from __future__ import annotations

import importlib

from .scenarios import Cases, error

CASES = Cases("mixed_dtypes_others")
DTYPES = ("float64", "float16", "int64", "uint8", "bool", "complex64")


def _all(torch, x):
    return [x.to(getattr(torch, name)) for name in DTYPES]


def _masked(torch):
    return importlib.import_module(torch.__name__ + ".masked")


def _x(torch):
    return torch.tensor([[1.0, -2.0, 3.0, 0.0], [0.0, 5.0, -1.0, 2.0]])


def _outcome(call):
    """A result, or the error in its place."""
    results = []
    said = error(lambda: results.append(call()))
    return results[0] if results else said


@CASES.add
def masks_of_any_dtype(torch):
    masked, x = _masked(torch), _x(torch).requires_grad_()
    found = []
    for mask in _all(torch, torch.tensor([1.0, 0.0, 2.0, 3.0])):
        mean = masked.mean(x, 1, mask=mask)
        mean.sum().backward()
        found += [mean, masked.softmax(x, 1, mask=mask), masked.cumsum(x, 1, mask=mask)]
    cube = torch.ones(1, 2, 4) > 0
    return [*found, x.grad, error(lambda: masked.sum(x, 1, mask=cube)),
            error(lambda: masked.amax(x, 1, mask=cube[0, :, :3]))]  # fmt: skip


@CASES.add
def what_masked_reductions_leave_out(torch):
    masked, mask = _masked(torch), torch.tensor([True, False, True, True])
    found = []
    for x in _all(torch, _x(torch).abs()):
        for name in ("sum", "prod", "amax", "argmin", "mean", "median", "var", "logsumexp"):
            found.append(_outcome(lambda: getattr(masked, name)(x, 1, mask=mask)))  # noqa: B023
        for name in ("cumprod", "softmin"):
            found.append(_outcome(lambda: getattr(masked, name)(x, 1, mask=mask)))  # noqa: B023
        found.append(_outcome(lambda: masked.logaddexp(x, x, input_mask=mask)))  # noqa: B023
    empty = torch.tensor([False] * 4)
    return [*found, error(lambda: masked.median(_x(torch).long(), 1, mask=empty))]


@CASES.add
def dtypes_asked_of_masked_reductions(torch):
    masked, mask, x = _masked(torch), torch.tensor([True, False, True, True]), _x(torch)
    found = []
    for name in ("sum", "prod", "amax", "argmax", "var", "std", "logsumexp", "median"):
        for dtype in (torch.int32, torch.float64, torch.bool):
            found.append(getattr(masked, name)(x, 1, dtype=dtype, mask=mask))
    return [*found, masked.sum(x.int(), 1), masked.cumsum(x.int(), 1),
            error(lambda: masked.mean(x, 1, dtype=torch.int64))]  # fmt: skip


@CASES.add
def histograms(torch):
    x, edges = torch.tensor([1.0, 2.0, 3.0, 2.5]), torch.tensor([0.0, 1.5, 4.0])
    found = [torch.histogram(x, 3), torch.histogram(x.half(), edges.half())]
    for y, other in zip(_all(torch, x), _all(torch, edges), strict=True):
        found += [
            _outcome(call)
            for call in (
                lambda: torch.histogram(y, edges),  # noqa: B023
                lambda: torch.histogram(x, other),  # noqa: B023
                lambda: torch.histogram(x, 3, weight=y),  # noqa: B023
                lambda: torch.histogramdd(x.reshape(2, 2), [edges, other]),  # noqa: B023
                lambda: torch.histogram(y, 3)[0],  # noqa: B023
                lambda: torch.histc(y, 3),  # noqa: B023
            )
        ]
    points = x.reshape(2, 2)
    wrong = (
        lambda: torch.histogramdd(points, [edges]),
        lambda: torch.histogramdd(points, [2]),
        lambda: torch.histogramdd(points, [edges, points]),
        lambda: torch.histogramdd(points, [2, 2], range=[0.0, 1.0]),
        lambda: torch.histogramdd(x, [2]),
        lambda: torch.histogram(x, 3, weight=x[:2]),
        lambda: torch.histogram(x, 3, range=(2.0, 1.0)),
        lambda: torch.histogram(x, 0),
        lambda: torch.histogram(x / 0, 3),
        lambda: torch.histogram(x, edges[:0]),
    )
    return [*found, *map(error, wrong)]


@CASES.add
def searches_and_sets(torch):
    x, edges, found = torch.tensor([1.0, 2.0, 0.0]), torch.tensor([0.0, 1.0, 2.0]), []
    for y, sorter in zip(_all(torch, x), _all(torch, torch.tensor([0, 1, 2])), strict=True):
        calls = (
            lambda: torch.searchsorted(edges, y),  # noqa: B023
            lambda: torch.bucketize(y, edges, right=True),  # noqa: B023
            lambda: torch.searchsorted(edges, x, sorter=sorter),  # noqa: B023
            lambda: torch.searchsorted(edges, y[:0]),  # noqa: B023
            lambda: torch.isin(x, y),  # noqa: B023
            lambda: torch.cartesian_prod(x, y),  # noqa: B023
            lambda: torch.searchsorted(sorter, 1e30),  # noqa: B023
            lambda: torch.repeat_interleave(x, sorter),  # noqa: B023
            lambda: torch.take_along_dim(x, sorter),  # noqa: B023
            lambda: torch.take_along_dim(x, sorter, 0),  # noqa: B023
            lambda: x.narrow(0, sorter[1], 1),  # noqa: B023
        )
        found += map(_outcome, calls)
    past_the_end = torch.tensor([0, 1, 7])
    return [*found, error(lambda: torch.searchsorted(edges, x, sorter=past_the_end)),
            error(lambda: x.narrow(0, torch.tensor([1]), 1))]  # fmt: skip


@CASES.add
def values_written_at_indices(torch):
    x, at, found = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 2]), []
    mask = x != 2
    for y, index in zip(_all(torch, x), _all(torch, at), strict=True):
        calls = (
            lambda: x.index_copy(0, index, x[:2]),  # noqa: B023
            lambda: x.index_fill(0, at, y[1]),  # noqa: B023
            lambda: x.masked_fill(mask, y[1]),  # noqa: B023
            lambda: y.masked_fill(mask, 1e6),  # noqa: B023
            lambda: y.clone().masked_fill_(mask, -1e9),  # noqa: B023
            lambda: y.scatter(0, at, 300),  # noqa: B023
            lambda: y.index_fill(0, at, float("nan")),  # noqa: B023
        )
        found += map(_outcome, calls)
    imaginary = torch.tensor(2j)
    return [*found, error(lambda: x.masked_fill(mask, imaginary)),
            error(lambda: x.masked_fill(mask, 2j)), error(lambda: x.scatter(0, at, 2j)),
            error(lambda: x.index_fill(0, at, imaginary))]  # fmt: skip


@CASES.add
def limits(torch):
    x, found = torch.tensor([1.0, 2.0, 3.0]), []
    for y in _all(torch, torch.tensor([2.0, 2.0, 1.0])):
        calls = (
            lambda: x.clamp(min=y),  # noqa: B023
            lambda: x.clamp(y, y),  # noqa: B023
            lambda: x.int().clamp_(max=y),  # noqa: B023
            lambda: x.bool().clamp_(y, y),  # noqa: B023
            lambda: y.clamp(min=True),  # noqa: B023
            lambda: torch.clamp_max(y, True),  # noqa: B023
            lambda: y.clone().clamp_min_(1.5),  # noqa: B023
            lambda: torch.heaviside(x, y),  # noqa: B023
            lambda: torch.ldexp(x, y),  # noqa: B023
            lambda: torch.lerp(x, x * 2, y[0]),  # noqa: B023
            lambda: torch.lerp(x, x * 2, y),  # noqa: B023
            lambda: torch.round(y, decimals=0),  # noqa: B023
            lambda: torch.aminmax(y[0], dim=0),  # noqa: B023
        )
        found += map(_outcome, calls)
    return [*found, error(lambda: x.clamp(min=2j)), error(lambda: x.clamp_max_(2j)),
            error(lambda: x.copysign(2j)), error(lambda: x.lt_(2j))]  # fmt: skip


@CASES.add
def scans_and_single_numbers(torch):
    found = []
    for y in _all(torch, torch.tensor([1.0, 2.0, 3.0])):
        calls = (
            lambda: y.clone().cumsum_(0),  # noqa: B023
            lambda: y.clone().cumsum_(0, dtype=torch.float64),  # noqa: B023
            lambda: y.clone().cumprod_(0, dtype=torch.int64),  # noqa: B023
            lambda: y.cumsum(0, dtype=torch.bool),  # noqa: B023
            lambda: y.cumprod(0, dtype=torch.float64),  # noqa: B023
            lambda: y[0].cumsum(0, dtype=torch.bool),  # noqa: B023
            lambda: y[1].mode(),  # noqa: B023
            lambda: y[1].kthvalue(1),  # noqa: B023
            lambda: y[1].cummax(0),  # noqa: B023
            lambda: y.cummin(0),  # noqa: B023
        )
        found += map(_outcome, calls)
    return found


test_scenario = CASES.test()
