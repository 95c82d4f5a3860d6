"""Activations in place with negative slopes, with ``out=``, on memory that elements share."""

from __future__ import annotations

from functools import partial
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("activations")


@CASES.add
def negative_slopes_in_place(torch: Any) -> Any:
    """A result does not tell the sign of its input: only the forward pass works."""
    F, found = torch.nn.functional, []
    for function in (
        partial(F.elu_, alpha=-2.0), partial(F.elu, alpha=-2.0, inplace=True),
        partial(F.elu, alpha=-2.0), partial(F.elu_, alpha=0.0),
        partial(F.celu_, alpha=-2.0), partial(F.celu, alpha=-2.0),
        partial(F.leaky_relu_, negative_slope=-2.0), partial(F.leaky_relu, negative_slope=-2.0),
        partial(F.rrelu_, lower=-5.0, upper=1.0), partial(F.rrelu, lower=-5.0, upper=1.0),
    ):  # fmt: skip
        x = torch.tensor([-1.0, 1.0], requires_grad=True)
        y = function(x.clone())
        found.append([y, error(lambda y=y: y.sum().backward()), x.grad])
    return found


@CASES.add
def targets(torch: Any) -> Any:
    F, x, found = torch.nn.functional, torch.tensor([[1.0, -2.0], [0.5, 3.0]]), []
    for function in (F.logsigmoid, F.softplus, F.softshrink, F.hardshrink):
        empty, turned = torch.empty(0), torch.empty(2, 2).t()
        same = function(x, out=empty) is empty
        function(x, out=turned)
        repeated = torch.ones(1, 3).expand(2, 3)
        found.append([same, empty, turned, error(partial(function, repeated, out=repeated))])
    return [*found, F.gelu(x, out=torch.empty(0))]


@CASES.add
def shared_memory(torch: Any) -> Any:
    F = torch.nn.functional
    x = torch.tensor([[1.0, -1.0, 0.25]]).expand(2, 3)
    found = [F.threshold(x, 0.5, 0.5, inplace=True), F.threshold_(x, 0.0, 2.0)]
    return [*found, *(error(partial(f, x)) for f in (F.relu_, F.elu_, F.leaky_relu_, F.hardtanh_))]


test_scenario = CASES.test()
