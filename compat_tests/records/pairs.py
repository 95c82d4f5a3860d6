"""Pointwise operations of two and three operands, rounding and limits, complex parts."""

from __future__ import annotations

from typing import Any

from .base import REAL, A, D, record
from .special import of_two, unary

AWAY: dict[str, Any] = {"away": 0.2}
POSITIVE = {"low": 0.3, "high": 3.0}
WRONG = [(A(3), A(4))]

# --- one operand ----------------------------------------------------------------------------------

unary("exp2", lambda J, x: J.exp2(x))
unary("asinh", lambda J, x: J.arcsinh(x), names="arcsinh")
unary("acosh", lambda J, x: J.arccosh(x), names="arccosh", low=1.2, high=3)
unary("atanh", lambda J, x: J.arctanh(x), names="arctanh", low=-0.9, high=0.9)
unary("frac", lambda J, x: x - J.trunc(x), **AWAY)
unary("deg2rad", lambda J, x: J.deg2rad(x))
unary("rad2deg", lambda J, x: J.rad2deg(x))
for _name in ("signbit", "isposinf", "isneginf"):
    unary(_name, None, in_place=None, differentiable=False)
unary("isreal", None, in_place=None, out=False, differentiable=False)
record("positive", lambda T, x: T.positive(x) * 2, A(3, 4), jax=lambda J, x: 2 * x)
record(
    "frexp",
    lambda T, x: T.frexp(x)[0],
    A(3, 4, away=0.1),
    A(),
    A(3, 4, lay="t", away=0.1),
    jax=lambda J, x: x / 2.0 ** (J.floor(J.log2(J.abs(x))) + 1),
    covers="frexp_of",
)
record(
    "frexp.exponent",
    lambda T, x: T.frexp(x)[1],
    A(3, 4),
    A(3, 4, lay="t"),
    differentiable=False,
)

# --- rounding and limits --------------------------------------------------------------------------

record(
    "round.decimals",
    lambda T, x, decimals: T.round(x, decimals=decimals),
    (A(3, 4), 1),
    (A(), -1),
    (A(3, 4, lay="t"), 3),
    jax=lambda J, x, decimals: J.round(x, decimals),
    covers="round_decimals",
    out=True,
)
record(
    "round.decimals_",
    lambda T, x: x.clone().round_(decimals=1),
    A(3, 4),
    jax=lambda J, x: J.round(x, 1),
)
for _mode in ("trunc", "floor"):
    record(
        f"div.{_mode}",
        lambda T, x, y, mode=_mode: T.div(x, y, rounding_mode=mode),
        *of_two(**AWAY),
        (A(2, 3, **AWAY), 2),
        jax=lambda J, x, y, mode=_mode: getattr(J, mode)(x / y),
        covers="div_mode",
        out=True,
    )
    record(
        f"div_.{_mode}",
        lambda T, x, y, mode=_mode: x.clone().div_(y, rounding_mode=mode),
        (A(3, 4, **AWAY), A(3, 4, **AWAY)),
        (A(2, 3, **AWAY), 2),
        jax=lambda J, x, y, mode=_mode: getattr(J, mode)(x / y),
    )
for _name, _twin in (("clamp_min", "maximum"), ("clamp_max", "minimum")):
    record(
        _name,
        lambda T, x, limit, name=_name: getattr(T, name)(x, limit),
        (A(3, 4), 0.5),
        (A(3, 4), A(4)),
        (A(3, 4, lay="t"), 1),
        (A(), A(3)),
        jax=lambda J, x, limit, twin=_twin: getattr(J, twin)(x, limit),
        covers=f"{_name}_number {_name}_tensor",
        in_place=f"{_name}_",
        out=True,
    )
record(
    "nan_to_num",
    lambda T, x, *numbers: T.nan_to_num(x, *numbers),
    (A(3, 4),),
    (A(), 1.0, 2.0, 3.0),
    (A(3, 4, lay="t"),),
    jax=lambda J, x, *numbers: x,
    covers="nan_to_num_of",
    in_place="nan_to_num_",
    out=True,
    dtypes=REAL,
)
record(
    "nan_to_num.complex",  # PyTorch computes it without a gradient only
    lambda T, x: T.nan_to_num(x / 0),
    D(3, 4),
    differentiable=False,
    dtypes=("complex128",),
)

# --- two operands ---------------------------------------------------------------------------------


def pair(name: str, jax: Any, **kw: Any) -> None:
    """A record of ``torch.NAME(x, y)``."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    record(
        name,
        lambda T, x, y: getattr(T, name)(x, y),
        *of_two(**limits),
        *kw.pop("more", ()),
        jax=(lambda J, x, y: getattr(J, jax)(x, y)) if isinstance(jax, str) else jax,
        covers=kw.pop("covers", name),
        out=kw.pop("out", True),
        bad=kw.pop("bad", WRONG),
        **kw,
    )


pair("hypot", "hypot", in_place="hypot_", bad=[*WRONG, (A(3), 2.0)], **AWAY)
pair("logaddexp", "logaddexp", bad=[*WRONG, (A(3), 2.0)])
pair("logaddexp2", "logaddexp2")
pair("ldexp", lambda J, x, y: x * J.exp2(y), in_place="ldexp_")
pair(
    "copysign",
    "copysign",
    in_place="copysign_",
    covers="copysign copysign_number",
    more=[(A(2, 3, **AWAY), -2.0)],
    **AWAY,
)
pair("nextafter", lambda J, x, y: x + 0 * y, in_place="nextafter_")
pair("fmax", "fmax", bad=[*WRONG, (A(3), 2.0)])
pair("fmin", "fmin")
pair("heaviside", None, in_place="heaviside_", differentiable=False)
for _name in ("gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift"):
    pair(_name, None, in_place=f"{_name}_", differentiable=False, low=0, high=2)
record(
    "shifts",
    lambda T, x, y: [x << y, x >> y, x << 1, x >> 2, 2 << y],
    (D(3, 4, low=0, high=2), D(3, 4, low=0, high=2)),
    differentiable=False,
)
record(
    "float_power",
    lambda T, x, y: T.float_power(x, y),
    (A(3, 4, **POSITIVE), A(4, **POSITIVE)),
    (A(3, **POSITIVE), 2),
    (2.0, A(3, **POSITIVE)),
    jax=lambda J, x, y: x**y,
    out=True,
)
record(
    "float_power_",
    lambda T, x, y: x.clone().float_power_(y),
    (A(3, **POSITIVE), 2),
    (A(3, **POSITIVE), A(3, **POSITIVE)),
    jax=lambda J, x, y: x**y,
)
record(
    "rsub.function",
    lambda T, x, y, alpha: T.rsub(x, y, alpha=alpha),
    (A(3, 4), A(4), 2),
    (A(), A(), 1),
    (A(2, 3), 1.5, 1),
    (A(2, 3, lay="t"), 2, 3),
    jax=lambda J, x, y, alpha: y - alpha * x,
    covers="rsub_tensor rsub_scaled rsub",
)
record(
    "lerp",
    lambda T, x, y, w: T.lerp(x, y, w),
    (A(3, 4), A(3, 4), 0.3),
    (A(3, 4), A(4), A(3, 1)),
    (A(), A(), 0.75),
    (A(3, 4, lay="t"), A(3, 4), A(3, 4)),
    jax=lambda J, x, y, w: x + w * (y - x),
    covers="lerp_number lerp_tensor",
    in_place="lerp_",
    out=True,
    bad=[(A(3), A(4), 0.5)],
)
for _name in ("addcmul", "addcdiv"):
    record(
        _name,
        lambda T, x, y, z, value, name=_name: getattr(T, name)(x, y, z, value=value),
        (A(3, 4), A(3, 4), A(4, **AWAY), 2),
        (A(), A(), A(**AWAY), 1),
        (A(3, 4, lay="t"), A(3, 1), A(3, 4, **AWAY), 3),
        jax=lambda J, x, y, z, value, name=_name: (
            x + value * (y * z if name == "addcmul" else y / z)
        ),
        covers=f"{_name}_of",
        out=True,
        bad=[(A(3), A(4), A(3), 1)],
    )
    record(
        f"{_name}_",
        lambda T, x, y, z, name=_name: getattr(x.clone(), f"{name}_")(y, z, value=2),
        (A(3, 4), A(3, 4), A(4, **AWAY)),
        jax=lambda J, x, y, z, name=_name: x + 2 * (y * z if name == "addcmul" else y / z),
    )

# --- comparison -----------------------------------------------------------------------------------

record(
    "isclose",
    lambda T, x, y: T.isclose(x, y, rtol=0.5, atol=0.1),
    (A(3, 4), A(3, 4)),
    (A(3, 1), A(4)),
    (A(3, 4, lay="t"), A(3, 4)),
    differentiable=False,
)
record(
    "allclose",
    lambda T, x, y: T.tensor([T.allclose(x, y), T.allclose(x, x), T.allclose(x, y, 9.0, 9.0)]),
    (A(3, 4), A(3, 4)),
    differentiable=False,
    batchable=False,
)
record(
    "equal",
    lambda T, x, y: T.tensor([T.equal(x, y), T.equal(x, x.clone()), T.is_same_size(x, y)]),
    (A(3, 4), A(3, 4)),
    (A(3, 4), A(3)),
    names="is_same_size",
    differentiable=False,
    batchable=False,
)
record(
    "is_nonzero",
    lambda T, x: T.tensor([T.is_nonzero(x), T.is_conj(x), T.is_neg(x)]),
    A(1),
    A(),
    names="is_conj is_neg",
    differentiable=False,
    batchable=False,
    bad=[A(2), A(0)],
)

# --- complex numbers ------------------------------------------------------------------------------

COMPLEX = ("complex128", "complex64")
DOUBLE = ("float64", "float32")


def parts(name: str, *samples: Any, **kw: Any) -> None:
    """A record of ``torch.NAME`` without a JAX twin where JAX is for real numbers alone."""
    record(name, lambda T, x: getattr(T, name)(x), *samples, **kw)


parts("real", A(3, 4), A(), A(3, 4, lay="t"), jax=lambda J, x: J.real(x))
parts("imag", A(3, 4), A(), A(3, 4, lay="t"), dtypes=COMPLEX)
parts("angle", A(3, 4, **AWAY), A(**AWAY), A(3, 4, lay="t", **AWAY), jax=lambda J, x: J.angle(x),
      covers="angle", out=True)  # fmt: skip
parts("view_as_real", A(3, 4), A(), A(3, 4, lay="t"), covers="view_real", dtypes=COMPLEX)
parts("resolve_conj", A(3, 4), jax=lambda J, x: x)
parts("resolve_neg", A(3, 4), jax=lambda J, x: x)
parts("conj_physical", A(3, 4), A(), A(3, 4, lay="t"), jax=lambda J, x: J.conj(x),
      covers="conj_elements conj_over", in_place="conj_physical_", out=True)  # fmt: skip
record(
    "view_as_complex",
    lambda T, x: T.view_as_complex(x),
    A(3, 2),
    A(2),
    A(2, 3, 2, lay="c"),
    covers="view_complex",
    dtypes=DOUBLE,
    bad=[A(3), A()],
    differentiable=False,
)
for _name in ("complex", "polar"):
    record(
        _name,
        lambda T, x, y, name=_name: getattr(T, name)(x, y),
        *of_two(**POSITIVE),
        covers=_name,
        out=True,
        differentiable=False,  # the parts are, below
        dtypes=("float64", "float32", "bfloat16", "complex128", "int64", "bool"),
    )
record(
    "complex.parts",
    lambda T, x, y: _parts(T, T.complex(x, y)),
    *of_two(),
    jax=lambda J, x, y: [x, y],
    dtypes=DOUBLE,
)
record(
    "polar.parts",
    lambda T, x, y: _parts(T, T.polar(x, y)),
    *of_two(**POSITIVE),
    jax=lambda J, x, y: [x * J.cos(y), x * J.sin(y)],
    dtypes=DOUBLE,
)
record(
    "view_as_complex.parts",
    lambda T, x: _parts(T, T.view_as_complex(x)),
    A(3, 2),
    A(2, 3, 2),
    jax=lambda J, x: [x[..., 0], x[..., 1]],
    dtypes=DOUBLE,
)


def _parts(T: Any, z: Any) -> list[Any]:
    return [T.real(z), T.imag(z)]


record(
    "real.written",
    lambda T, x: _written(T, x),
    A(3, 4),
    dtypes=COMPLEX,
)


def _written(T: Any, x: Any) -> Any:
    z = x * 2
    z.real.mul_(3)
    z.imag = z.imag + 1
    return z
