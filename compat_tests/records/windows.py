"""Windows of signal processing."""

from __future__ import annotations

from .base import record

ONE = ("float32",)

for _name, _more in {
    "bartlett": {},
    "blackman": {},
    "cosine": {},
    "exponential": {"tau": 2.0},
    "gaussian": {"std": 2.0},
    "general_cosine": {"a": [0.4, 0.5, 0.1]},
    "general_hamming": {"alpha": 0.6},
    "hamming": {},
    "hann": {},
    "kaiser": {"beta": 3.0},
    "nuttall": {},
}.items():
    record(
        f"signal.{_name}",
        lambda T, n, sym, f=_name, kw=_more: getattr(T.signal.windows, f)(
            n, sym=sym, dtype=T.float64, **kw
        ),
        (7, True),
        (6, False),
        (1, True),
        (0, True),
        dtypes=ONE,
        differentiable=False,
        batchable=False,
        bad=[(-1, True)],
    )
for _name in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
    record(
        f"{_name}_window",
        lambda T, n, periodic, f=_name: getattr(T, f"{f}_window")(n, periodic, dtype=T.float64),
        (6, True),
        (5, False),
        (1, True),
        (0, True),
        dtypes=ONE,
        differentiable=False,
        batchable=False,
        bad=[(-1, True)],
    )
