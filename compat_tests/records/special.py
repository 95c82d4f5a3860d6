"""Special functions: of ``torch`` and of ``torch.special``."""

from __future__ import annotations

from typing import Any

from .base import DTYPES, A, D, Sample, record

BESSEL = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 "
    "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
    "spherical_bessel_j0"
).split()
POLYNOMIALS = [
    *(f"{shift}chebyshev_polynomial_{k}" for shift in ("", "shifted_") for k in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
]


def of_one(**kw: Any) -> list[Sample]:
    """A few inputs of an elementwise function."""
    return [(A(3, 4, **kw),), (A(**kw),), (A(3, 4, lay="t", **kw),), (A(2, 3, lay="s", **kw),)]


def of_two(**kw: Any) -> list[Sample]:
    """A few pairs of tensors that broadcast."""
    shapes = [((3, 4), (3, 4), "c"), ((), (), "c"), ((3, 1), (4,), "c"), ((3, 4), (3, 4), "t")]
    return [(A(*a, lay=lay, **kw), A(*b, **kw)) for a, b, lay in shapes]


def jax_special(name: str) -> Any:
    """The function of jax.scipy.special, as a record's twin."""

    def twin(J: Any, *args: Any) -> Any:
        from jax.scipy import special

        return getattr(special, name)(*args)

    return twin


def unary(name: str, jax: Any, **kw: Any) -> None:
    """A record of ``torch.NAME(x)``."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    record(
        name,
        lambda T, x: getattr(T, name)(x),
        *of_one(**limits),
        jax=jax_special(jax) if isinstance(jax, str) else jax,
        covers=kw.pop("covers", name),
        in_place=kw.pop("in_place", f"{name}_"),
        out=kw.pop("out", True),
        **kw,
    )


def special(name: str, jax: Any, **kw: Any) -> None:
    """A record of ``torch.special.NAME(x)``."""
    limits = {k: kw.pop(k) for k in ("low", "high", "away") if k in kw}
    record(
        f"special.{name}",
        lambda T, x: getattr(T.special, name)(x),
        *of_one(**limits),
        jax=jax_special(jax) if isinstance(jax, str) else jax,
        covers=kw.pop("covers", name),
        **kw,
    )


POSITIVE = {"low": 0.3, "high": 3.0}
INSIDE = {"low": 0.05, "high": 0.95}

unary("erf", "erf")
unary("erfc", "erfc")
unary("erfinv", lambda J, x: J.lax.erf_inv(x), low=-0.9, high=0.9)
unary("lgamma", "gammaln", **POSITIVE)
unary("digamma", "digamma", covers="digamma polygamma_of", **POSITIVE)
unary("i0", "i0")
unary("sinc", lambda J, x: J.sinc(x), away=0.1)
special("erfcx", lambda J, x: J.exp(x * x) * jax_special("erfc")(J, x))
special("entr", "entr", **POSITIVE)
special("ndtri", "ndtri", **INSIDE)
special("log_ndtr", "log_ndtr")
special("ndtr", "ndtr", covers=())
# half types: PyTorch is off by one unit in the last place
special("i0e", "i0e", away=0.1, dtypes=tuple(d for d in DTYPES if "float16" not in d))
special("i1", "i1", away=0.1)
special("i1e", "i1e", away=0.1)
special("expit", lambda J, x: J.nn.sigmoid(x), covers=())
for _name in BESSEL:
    special(_name, None, differentiable=False, low=0.3, high=2.5)

record(
    "logit",
    lambda T, x, eps: T.logit(x, eps),
    (A(3, 4, **INSIDE), None),
    (A(3, 4, low=-0.5, high=1.5), 0.2),
    (A(3, 4, lay="t", **INSIDE), 1e-6),
    jax=lambda J, x, eps: jax_special("logit")(J, x if eps is None else J.clip(x, eps, 1 - eps)),
    covers="logit_of",
    in_place="logit_",
    out=True,
)
record(
    "polygamma",
    lambda T, x, n: T.polygamma(n, x),
    (A(3, 4, **POSITIVE), 1),
    (A(3, **POSITIVE), 0),
    (A(3, 4, lay="t", **POSITIVE), 2),
    jax=lambda J, x, n: jax_special("polygamma")(J, J.array(n), x),
    covers="polygamma_of polygamma_over",
    in_place="polygamma_",
    out=True,
    bad=[(A(3), -1)],
)
record(
    "mvlgamma",
    lambda T, x, p: T.mvlgamma(x, p),
    (A(3, 4, low=2.2, high=4), 3),
    (A(low=2.2, high=4), 1),
    (A(3, 4, lay="t", low=2.2, high=4), 2),
    jax=lambda J, x, p: jax_special("multigammaln")(J, x, p),
    covers="mvlgamma_of",
    in_place="mvlgamma_",
    out=True,
    bad=[(A(3), 0)],
)
for _name, _twin in (("igamma", "gammainc"), ("igammac", "gammaincc")):
    record(
        _name,
        lambda T, a, x, name=_name: getattr(T, name)(a, x),
        (D(3, 4, **POSITIVE), A(3, 4, **POSITIVE)),
        (D(3, 1, **POSITIVE), A(4, **POSITIVE)),
        (D(3, 4, lay="t", **POSITIVE), A(3, 4, **POSITIVE)),
        jax=jax_special(_twin),
        covers=_name,
        in_place=f"{_name}_",
        out=True,
        bad=[(A(3), 2.0)],
    )

_forms: list[Sample] = [*of_two(**POSITIVE), (A(2, 3, **POSITIVE), 1.5), (2, A(2, 3, **POSITIVE))]
record(
    "xlogy",
    lambda T, x, y: T.xlogy(x, y),
    *_forms,
    jax=jax_special("xlogy"),
    covers="xlogy_pair xlogy_before_number xlogy_after_number",
    out=True,
)
record(
    "xlogy.tensor",
    lambda T, x, y: T.xlogy(x, y),
    *_forms[:5],
    jax=jax_special("xlogy"),
    in_place="xlogy_",
)
record(
    "special.xlog1py",
    lambda T, x, y: T.special.xlog1py(x, y),
    *_forms,
    jax=jax_special("xlog1py"),
    covers="xlog1py_pair xlog1py_before_number xlog1py_after_number",
)
record(
    "special.zeta",
    lambda T, x, y: T.special.zeta(x, y),
    (D(3, 4, low=1.5, high=4), A(3, 4, **POSITIVE)),
    (D(3, 1, low=1.5, high=4), A(4, **POSITIVE)),
    (D(3, 4, low=1.5, high=4), 2),
    (3, A(2, 3, **POSITIVE)),
    jax=lambda J, x, y: _zeta(J, x, y),
    covers="zeta_pair zeta_before_number zeta_after_number",
)


def _zeta(J: Any, x: Any, y: Any) -> Any:
    """Hurwitz's zeta function by Euler and Maclaurin's formula."""
    terms = 30
    k = J.arange(terms).reshape((terms,) + (1,) * J.ndim(x * y))
    far = y + terms
    tail = far ** (1 - x) / (x - 1) + far**-x / 2 + x * far ** (-x - 1) / 12
    return ((y + k) ** -x).sum(0) + tail - x * (x + 1) * (x + 2) * far ** (-x - 3) / 720


for _name in POLYNOMIALS:
    record(
        f"special.{_name}",
        lambda T, x, n, name=_name: getattr(T.special, name)(x, n),
        (A(3, 4), D(3, 4, low=0, high=12)),
        (A(3, 1), D(4, low=-1, high=4)),
        (A(3, 4, lay="t"), 3),
        (0.7, D(3, low=0, high=12)),
        covers=_name,
        differentiable=False,
    )

# --- GELU -----------------------------------------------------------------------------------------

record(
    "nn.gelu",
    lambda T, x, approximate: T.nn.functional.gelu(x, approximate=approximate),
    (A(3, 4), "none"),
    (A(), "tanh"),
    (A(3, 4, lay="t"), "none"),
    (A(3, 4, lay="s"), "tanh"),
    jax=lambda J, x, approximate: J.nn.gelu(x, approximate == "tanh"),
    covers="gelu_of gelu_backward",
    bad=[(A(3), "x")],
)
