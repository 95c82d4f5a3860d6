"""``out=``: its shape, its memory, its dtype, and what is no tensor."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from compat_tests.scenarios import Cases, error
from compat_tests.test_memory_overlap import noted

CASES = Cases("out")


def calls(torch: Any) -> dict[str, tuple[Any, ...]]:
    """Functions with one result: (function, arguments)."""
    line, square = torch.arange(1.0, 7.0) / 8, torch.arange(9.0).reshape(3, 3) + torch.eye(3)
    order, at = torch.tensor([0, 1, 2, 3, 4, 5]), torch.tensor([1, 0])
    return {
        "exp": (line,),
        "add": (line, line + 1),
        "pow": (line, 2.0),
        "pow of a number": (2.0, line),
        "clamp": (line, 0.0, 1.0),
        "clamp_min": (line, 0.5),
        "addcmul": (line, line + 1, line + 2),
        "lerp": (line, line + 1, 0.5),
        "lerp of tensors": (line, line + 1, line),
        "logit": (line,),
        "nan_to_num": (line,),
        "square": (line,),
        "heaviside": (line, line + 1),
        "ldexp": (line, order),
        "float_power": (line, 2),
        "where": (line > 0.5, line, line + 1),
        "sum": (square, 0),
        "mean": (square, 0),
        "logsumexp": (square, 0),
        "cumsum": (square, 0),
        "quantile": (square, 0.5, 0),
        "softmax": (square, 0),
        "cat": ([line, line],),
        "gather": (square, 0, at[:, None]),
        "nonzero": (line,),
        "index_add": (line, 0, at, line[:2].clone()),
        "scatter": (line, 0, at, line[:2].clone()),
        "mm": (square, square),
        "addmm": (square, square, square),
        "cross": (square, square, 1),
        "tril": (square,),
        "diag": (line,),
        "bernoulli": (line,),
        "searchsorted": (line, line + 1),
        "histc": (line, 4),
        "arange": (6,),
        "linspace": (0.0, 1.0, 6),
        "full": ((6,), 1.0),
        "zeros": (6,),
        "randint": (5, (6,)),
        "randperm": (6,),
        "linalg.inv": (square,),
        "linalg.matrix_power": (square, 2),
        "fft.rfft": (line,),
        "fft.irfft": (line + 0j,),
    }


def several(torch: Any) -> dict[str, tuple[Any, ...]]:
    """The same for functions with several results."""
    square = torch.arange(9.0).reshape(3, 3) + torch.eye(3)
    return {
        "max": (square, 0),
        "median": (square, 0),
        "mode": (square, 0),
        "kthvalue": (square, 1, 0),
        "sort": (square, 0),
        "topk": (square, 2),
        "cummax": (square, 0),
        "frexp": (square[0],),
        "aminmax": (square,),
        "histogram": (square, 4),
        "linalg.qr": (square,),
        "linalg.eig": (square,),
        "geqrf": (square,),
    }


def function(torch: Any, name: str) -> Any:
    found = torch
    for part in name.partition(" ")[0].split("."):
        found = getattr(found, part)
    return found


def tried(torch: Any, make: Any, without: tuple[str, ...] = (), first: bool = False) -> Any:
    """What happens to each function's ``out=``, made by ``make`` from its results.

    ``first``: of the first result only, the others being as they should.
    """
    log = {}
    for name, args in {**calls(torch), **several(torch)}.items():
        if name in without:
            continue
        call = function(torch, name)
        results = call(*args)
        single = not isinstance(results, (tuple, list))
        outs = [make(z) for z in ([results] if single else results)]
        if first and not single:
            outs[1:] = map(torch.empty_like, results[1:])
        found = noted(partial(call, *args, out=outs[0] if single else tuple(outs)))
        log[name] = [found, [list(z.shape) for z in outs] if found[0] == "no error" else None]
    return log


# PyTorch resizes these with one dimension more, or in another order.
PECULIAR = ("median", "mode", "kthvalue", "histogram")


@CASES.add
def other_shapes(torch: Any) -> Any:
    return tried(torch, lambda z: torch.empty(z.numel() + 1, dtype=z.dtype), PECULIAR)


@CASES.add
def empty_outputs(torch: Any) -> Any:
    return tried(torch, lambda z: torch.empty(0, dtype=z.dtype))


@CASES.add
def other_dtypes(torch: Any) -> Any:
    kinds = (torch.int64, torch.float64, torch.complex64, torch.bool)
    without = ("ldexp", "bernoulli", "arange", "linspace")
    return [
        tried(torch, lambda z, d=d: torch.empty(z.shape, dtype=d), without, first=True)
        for d in kinds
    ]


@CASES.add
def expanded_outputs(torch: Any) -> Any:
    one = lambda z: torch.zeros((), dtype=z.dtype).expand(z.shape)
    return tried(torch, one, ("histogram",), first=True)


@CASES.add
def outputs_that_share_memory_with_inputs(torch: Any) -> Any:
    log = {}
    for name, (first, *rest) in calls(torch).items():
        if not isinstance(first, torch.Tensor) or first.dtype is not torch.float32:
            continue
        call, n = function(torch, name), first.numel()
        result = call(first, *rest)
        if result.shape == first.shape and result.dtype is first.dtype:
            memory = torch.cat([first.reshape(-1), first.reshape(-1)[:1]])
            x, out = (memory[i : i + n].view(first.shape) for i in (0, 1))
            log[name] = [error(partial(call, x, *rest, out=z)) for z in (out, x)]
    return log


@CASES.add
def parts_of_a_larger_memory(torch: Any) -> Any:
    x, y = torch.zeros(6), torch.zeros(6)
    head, middle = x[:0], y[1:3]
    torch.add(torch.ones(3), 1, out=head)
    torch.cat([torch.ones(2), torch.ones(2)], out=middle)
    return x, y, head, middle, middle.storage_offset(), head._is_view()


@CASES.add
def ranges_fill_the_shape_they_get(torch: Any) -> Any:
    log = []
    for call in (
        lambda out: torch.arange(6, out=out),
        lambda out: torch.linspace(0, 1, 6, out=out),
        lambda out: torch.logspace(0, 1, 6, out=out),
    ):
        out = torch.zeros(2, 3)
        call(out)
        log.append(out)
    return log


@CASES.add
def random_numbers_go_where_they_should(torch: Any) -> Any:
    torch.manual_seed(1)
    outs = [torch.zeros(5, dtype=torch.int64) for _ in range(2)]
    torch.randint(2, 9, (5,), out=outs[0])
    torch.randperm(5, out=outs[1])
    wide = torch.zeros(4, dtype=torch.float64)
    torch.rand(4, out=wide)
    return outs, wide


@CASES.add
def what_is_no_tensor(torch: Any) -> Any:
    x = torch.ones(3)
    return [
        error(lambda: torch.exp(x, out=5)),
        error(lambda: torch.isneginf(x, out=(x,))),
        error(lambda: torch.sum(x, 0, out=5)),
        error(lambda: torch.cat([x], out="x")),
        error(lambda: torch.zeros(3, out=5)),
        error(lambda: torch.topk(x, 1, out=x)),
        error(lambda: torch.mode(x, out=5)),
        error(lambda: torch.nonzero(x, as_tuple=True, out=x)),
    ]


@CASES.add
def leaves_that_need_gradients(torch: Any) -> Any:
    x = torch.ones(3)
    return [
        error(lambda: torch.exp(x, out=torch.ones(3, requires_grad=True))),
        error(lambda: torch.quantile(x, 0.5, out=torch.tensor(1.0, requires_grad=True))),
        error(lambda: torch.inner(x, x, out=torch.tensor(1.0, requires_grad=True))),
        error(lambda: torch.frexp(x, out=(torch.ones(3, requires_grad=True), torch.ones(3).int()))),
    ]


def test_the_warning_points_at_the_program() -> None:
    import torchlike

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torchlike.add(torchlike.ones(2), 1, out=torchlike.ones(3))
    assert [w.filename for w in caught] == [__file__]
    assert str(caught[0].message).startswith(
        "An output with one or more elements was resized since it had shape [3], which does not "
        "match the required output shape [2]. This behavior is deprecated"
    )


@CASES.add
def expanded_outputs_of_another_shape(torch: Any) -> Any:
    def out(*shape: int) -> Any:
        return torch.zeros(1).expand(*shape)

    x, at, pair = torch.ones(3, 2), torch.tensor([0, 1]), torch.ones(2)
    cross = torch.ones(2, 3)
    return [
        error(lambda: torch.index_select(x, 0, at, out=out(4, 2))),
        error(lambda: torch.take(x, at, out=out(3))),
        error(lambda: torch.masked_select(pair, pair > 0, out=out(3))),
        torch.cat([pair, pair], out=out(3)),
        torch.gather(x, 0, at[None], out=out(4, 2)),
        torch.cross(cross, cross, dim=1, out=out(4, 3)),
    ]


test_scenario = CASES.test()
