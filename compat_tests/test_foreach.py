"""``torch._foreach_*``: operations on lists of tensors."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("foreach")


def pair(torch: Any) -> Any:
    return [torch.tensor([0.5, -1.5]), torch.tensor([[0.25, 1.0, 2.0]])]


@CASES.add
def one_operand(torch: Any) -> Any:
    found = []
    for name in """
        abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2
        neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
    """.split():
        given = [t.abs() / 4 if name in ("acos", "asin") else t.abs() for t in pair(torch)]
        results = getattr(torch, f"_foreach_{name}")(given)
        same = getattr(torch, f"_foreach_{name}_")(given)
        found += [type(results).__name__, *results, type(same).__name__, *given, same is given]
    return found


@CASES.add
def two_operands(torch: Any) -> Any:
    found = []
    for name in "add sub mul div clamp_min clamp_max maximum minimum pow".split():
        for other in (2, [1, 3], [t.abs() + 1 for t in pair(torch)]):
            given = [t.abs() for t in pair(torch)]
            found += getattr(torch, f"_foreach_{name}")(given, other)
            getattr(torch, f"_foreach_{name}_")(given, other)
            found += given
    x = pair(torch)
    for name in "add sub mul div".split():
        found += getattr(torch, f"_foreach_{name}")(x, torch.tensor(2.0))
    found += torch._foreach_add(x, x, alpha=3)
    found += torch._foreach_sub(x, x, alpha=3)
    return [*found, *torch._foreach_pow(2, x)]


@CASES.add
def three_operands(torch: Any) -> Any:
    x, found = pair(torch), []
    for name in ("addcmul", "addcdiv"):
        call, write = getattr(torch, f"_foreach_{name}"), getattr(torch, f"_foreach_{name}_")
        found += [*call(x, x, x), *call(x, x, x, value=2), *call(x, x, x, [1, 3])]
        found += call(x, x, x, torch.tensor([2.0, 5.0]))
        y = pair(torch)
        write(y, x, x, value=0.5)
        found += y
    for weight in (0.3, [0.1, 0.9], x):
        found += torch._foreach_lerp(x, [t + 1 for t in x], weight)
    y = pair(torch)
    torch._foreach_lerp_(y, x, 0.25)
    return found + y


@CASES.add
def others(torch: Any) -> Any:
    x, y = pair(torch), pair(torch)
    found = [*torch._foreach_norm(x), *torch._foreach_norm(x, 1), *torch._foreach_max(x)]
    found += torch._foreach_norm(x, float("inf"), torch.float64)
    found += torch._foreach_clone(x)
    square = [torch.arange(4.0).view(2, 2), torch.eye(2)]
    found += torch._foreach_mm(square, square)
    torch._foreach_copy_(y, [t + 1 for t in x])
    found += y
    torch._foreach_zero_(y)
    found += y
    grown = [t.requires_grad_() for t in pair(torch)]
    sum(t.sum() for t in torch._foreach_mul(torch._foreach_exp(grown), 2)).backward()
    return found + [t.grad for t in grown]


@CASES.add
def refusals(torch: Any) -> Any:
    x = pair(torch)
    return [
        error(lambda: torch._foreach_add(x, x[:1])),
        error(lambda: torch._foreach_add(x, [1])),
        error(lambda: torch._foreach_exp([])),
        error(lambda: torch._foreach_mul(x, torch.tensor([2.0]))),
        error(lambda: torch._foreach_addcdiv(x, x, x, [1.0])),
    ]


test_scenario = CASES.test()
