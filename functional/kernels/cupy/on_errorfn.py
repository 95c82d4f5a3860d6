"""The error function and GELU: CUDA has the normal distribution, where NumPy needs polynomials."""

from __future__ import annotations

from typing import Any

from .fused import fused
from .twins import twin

__all__ = ["erf", "erfc", "gelu", "gelu_backward"]
_general = twin("errorfn")
_gelu, _gelu_backward = _general.gelu, _general.gelu_backward
_INNER = """
    T t = tanh(T(0.7978845608028654) * x * (T(1) + T(0.044715) * x * x));
"""

erf = fused("erf", "T x", "z = erf(x);", _general.erf)
erfc = fused("erfc", "T x", "z = erfc(x);", _general.erfc)
_FORWARD = {
    "none": fused("gelu", "T x", "z = x * normcdf(x);", lambda x: _gelu(x, "none")),
    "tanh": fused(
        "gelu_tanh",
        "T x",
        _INNER + "z = T(0.5) * x * (T(1) + t);",
        lambda x: _gelu(x, "tanh"),
    ),
}
_BACKWARD = {
    "none": fused(
        "gelu_backward",
        "T g, T x",
        "z = g * (normcdf(x) + x * T(0.3989422804014327) * exp(T(-0.5) * x * x));",
        lambda g, x: _gelu_backward(g, x, "none"),
    ),
    "tanh": fused(
        "gelu_tanh_backward",
        "T g, T x",
        _INNER
        + """
        T slope = T(0.7978845608028654) * (T(1) + T(3 * 0.044715) * x * x);
        z = g * T(0.5) * (T(1) + t + x * (T(1) - t * t) * slope);
        """,
        lambda g, x: _gelu_backward(g, x, "tanh"),
    ),
}


def gelu(x: Any, approximate: str) -> Any:
    """x times the normal distribution function."""
    return _FORWARD[approximate](x)


def gelu_backward(g: Any, x: Any, approximate: str) -> Any:
    """g times the derivative of ``gelu`` at x."""
    return _BACKWARD[approximate](g, x)
