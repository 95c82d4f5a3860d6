"""``torch.special``: special functions under SciPy's names."""

from __future__ import annotations

from functional.ops.bessel import WITHOUT_DERIVATIVES as _BESSEL
from functional.ops.polynomials import POLYNOMIALS as _POLYNOMIALS
from functional.tape.op import TENSOR as _FUNCTIONS

from . import intercept as _intercept

_SAME = """
digamma entr erf erfc erfcx erfinv exp2 expm1 i0 i0e i1 i1e log1p log_ndtr log_softmax logit
logsumexp ndtr ndtri polygamma round sinc softmax xlog1py xlogy zeta
""".split()
_RENAMED = {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
}
_NAMES = {n: n for n in (*_SAME, *_BESSEL, *_POLYNOMIALS)} | _RENAMED
__all__ = sorted(_NAMES)

for _name, _core in _NAMES.items():
    globals()[_name] = _intercept.public(getattr(_FUNCTIONS, _core))
