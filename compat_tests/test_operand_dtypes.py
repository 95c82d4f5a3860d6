"""Operands that PyTorch refuses or treats apart because of their dtype or class."""

from __future__ import annotations

import math
from typing import Any

from .scenarios import Cases, error

CASES = Cases("operand_dtypes")
WRITES = (
    "add_ sub_ mul_ div_ true_divide_ floor_divide_ remainder_ fmod_ pow_ atan2_ hypot_ nextafter_ "
    "copysign_ xlogy_ igamma_ igammac_ gcd_ lcm_ bitwise_and_ bitwise_or_ bitwise_xor_ "
    "bitwise_left_shift_ bitwise_right_shift_ logical_and_ lt_ eq_ ge_"
).split()
ALONE = (
    "sqrt_ rsqrt_ reciprocal_ exp_ log_ sin_ tanh_ sigmoid_ erf_ erfinv_ lgamma_ digamma_ floor_ "
    "frac_ neg_ abs_ sign_ square_ logit_ sinc_ i0_ bitwise_not_ logical_not_ relu_ deg2rad_"
).split()


def whole(torch: Any, name: str) -> Any:
    return torch.tensor([0, 1, 1, 1]).to(getattr(torch, name))


@CASES.add
def written_over_whole_numbers(torch: Any) -> Any:
    """A result that the dtype cannot hold is refused before a kernel that is missing."""
    found: list[Any] = []
    for name in ("int64", "int32", "uint8", "bool"):
        floats = torch.tensor([0.5, 1.5, 1.0, 2.0])
        others = [floats, floats.double(), torch.tensor(1.5), floats.to(torch.complex64), 1j]
        for method in WRITES:
            given = (
                others
                if method not in ("gcd_", "lcm_", "hypot_", "atan2_", "logical_and_")
                else others[:4]
            )
            if method.startswith(("igamma", "nextafter")):
                given = others[:4]
            found += [error(lambda: getattr(whole(torch, name), method)(y)) for y in given]  # noqa: B023
        found += [error(lambda: getattr(whole(torch, name), m)()) for m in ALONE]  # noqa: B023
    return found


@CASES.add
def written_over_half_types(torch: Any) -> Any:
    x, names = torch.ones(2, dtype=torch.float16), ("mul_", "pow_", "copysign_", "bitwise_or_")
    return [error(lambda: getattr(x, name)(1j)) for name in names]  # noqa: B023


@CASES.add
def neighbours(torch: Any) -> Any:
    """``nextafter`` goes to the next number of the dtype itself."""
    found = []
    for name in ("float16", "bfloat16", "float32", "float64"):
        kind = getattr(torch, name)
        x = torch.tensor([0.0, -0.0, 1.0, -1.0, math.inf, math.nan, 65504.0, 2.0**-24], dtype=kind)
        to = torch.tensor([[0.0], [5.0], [-math.inf], [math.nan], [1.0]], dtype=kind)
        z = torch.nextafter(x, to)
        found += [
            z.nan_to_num(7.0),
            z.isnan(),
            torch.signbit(z),
            torch.nextafter(x, torch.tensor(2.0)),
        ]
        found.append(x.clone().nextafter_(to[1]))
    return [t.double() if t.dtype is not torch.bool else t for t in found]


@CASES.add
def powers_of_truth(torch: Any) -> Any:
    found: list[Any] = []
    for x in (torch.tensor(True), torch.tensor([True, False])):
        for exponent in (True, False, 0, 2, 0.5):
            found += [x.pow(exponent), x**exponent]
        found += [x.clone().pow_(True), x.clone().pow_(False)]
        found += [error(lambda: x.pow(x)), error(lambda: True**x), error(lambda: x**-1)]  # noqa: B023
    return found


@CASES.add
def powers_of_complex_numbers(torch: Any) -> Any:
    x = torch.tensor([0.0, 1.0, 2.0])
    return [torch.view_as_real((2 + 0j) ** y) for y in (x, x.double(), x.long())]


@CASES.add
def numbers_copied(torch: Any) -> Any:
    found = []
    for name in ("float32", "float16", "int64", "uint8", "bool"):
        for value in (2, 1.7, -1, True, 1j, 2**40):
            found.append(torch.zeros(2, dtype=getattr(torch, name)).copy_(value))
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y.copy_(3.0)
    y.sum().backward()
    z = torch.arange(6.0).reshape(2, 3)
    z[:, 1].copy_(7)
    refused = [error(lambda: x.copy_(2)), error(lambda: z.copy_("2")), error(lambda: z.copy_(None))]
    return [found, y, y.grad_fn.name(), x.grad, z, z._version, torch.zeros(0).copy_(1), refused]


@CASES.add
def operators_by_name(torch: Any) -> Any:
    """What methods of tensors do when they are called, by name, with a number first."""
    t, found = torch.tensor([1.0, 2.0]), []
    names = "add radd sub rsub mul rmul truediv rtruediv rfloordiv mod rmod pow rpow ipow"
    names += " rmatmul and rand ror rxor lshift rlshift rrshift eq ne lt"
    for name in names.split():
        for value in (1, 2.5, "a", None):
            method = getattr(torch.Tensor, f"__{name}__")
            try:
                found.append(method(value, t))
            except (TypeError, AttributeError, NotImplementedError) as caught:
                found.append(f"{type(caught).__name__}: {caught}")
    refused = [error(lambda: t // None), error(lambda: t.long() % None), error(lambda: True - t)]
    return [found, refused, 2 - t]


test_scenario = CASES.test()
