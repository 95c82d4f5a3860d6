"""Making tensors, copying and converting them, writing over them, drawing random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import A, D, M, N, record

LAYOUTS = [
    A(3, 4),
    A(),
    A(3, 4, lay="t"),
    A(2, 3, 4, lay="p"),
    A(3, 4, lay="s"),
    A(3, 4, lay="e"),
    A(0, 3),
    A(2, 1, 3, lay="t"),
]


def fixed(name: str, call: Any, *samples: Any, **kw: Any) -> None:
    """A record without tensors to differentiate: one dtype is enough."""
    record(name, call, *samples, differentiable=False, batchable=False, dtypes=("float32",), **kw)


fixed(
    "tensor",
    lambda T, x: T.tensor(x),
    *[
        (v,)
        for v in (
            1,
            1.5,
            True,
            2j,
            (1, 2),
            (1, 2.5),
            ((1, 2), (3, 4)),
            (),
            ((), ()),
            (True, 2),
            (1.5, 2j),
            np.float64(2),
            np.ones((2, 2), np.float32),
        )
    ],
    bad=[("a",), (((1, 2), (3,)),), (None,), (object,), (2**70,)],
)
fixed(
    "tensor.dtype",
    lambda T, x, d: T.tensor(x, dtype=getattr(T, d)),
    (1, "float64"),
    (1.7, "int64"),
    (0.3, "float64"),
    ((0.1, (1 << 40) + 0.5), "float64"),
    ((0.1, 0.2j), "complex128"),
    (1e10, "int64"),
    ((0, 1), "bool"),
    (300, "float16"),
    (1, "bfloat16"),
)
fixed("as_tensor", lambda T, x: T.as_tensor(x), (1.5,), ((1, 2),), (np.ones((2, 3)),), A(2, 2))
fixed(
    "from_numpy",
    lambda T, x: T.from_numpy(x),
    (np.ones((2, 3)),),
    (np.arange(6, dtype=np.int16)[::2],),
    (np.ones((2, 3), np.float32).T,),
    bad=[(1,), ([1.0],), (np.array(["a"]),), (np.arange(3)[::-1],), (np.ones(2, ">f4"),)],
)
for _name in ("zeros", "ones"):
    fixed(
        _name,
        lambda T, s, n=_name: getattr(T, n)(s),
        ((2, 3),),
        ((),),
        (0,),
        (4,),
        bad=[(-1,), ("a",), (1.5,), ((2, -3),)],
    )
    fixed(f"{_name}.sizes", lambda T, *s, n=_name: getattr(T, n)(*s), (2, 3), (1, 0, 2))
fixed("empty", lambda T, s: T.empty(s).fill_(1), ((2, 3),), ((),), bad=[(-1,)])
fixed("full", lambda T, s, v: T.full(s, v), ((2, 3), 1.5), ((), 2), ((2,), True), ((1,), 1j))
for _name in ("zeros_like", "ones_like"):
    record(_name, lambda T, x, n=_name: getattr(T, n)(x), *LAYOUTS, differentiable=False)
record("empty_like", lambda T, x: T.empty_like(x).fill_(0), *LAYOUTS, differentiable=False)
record(
    "full_like", lambda T, x, v: T.full_like(x, v), *[(a, 1) for a in LAYOUTS], differentiable=False
)
fixed(
    "arange",
    lambda T, *a: T.arange(*a),
    (5,),
    (1, 5),
    (0, 10, 3),
    (5, 0, -2),
    (0.0, 1.0, 0.3),
    (3.0,),
    (0, 1, 0.1),
    (1, 1),
    bad=[(0, 5, 0), (5, 0, 1), (0, 5, -1)],
)
fixed(
    "linspace",
    lambda T, *a: T.linspace(*a),
    (0, 1, 5),
    (-1.5, 2.5, 1),
    (3, 3, 4),
    (0, 10, 0),
    (1, -1, 7),
    bad=[(0, 1, -1)],
)
fixed("eye", lambda T, *a: T.eye(*a), (3,), (2, 4), (0,), (3, 1), bad=[(-1,)])

# --- copies and conversions -----------------------------------------------------------------------

record("clone", lambda T, x: T.clone(x), *LAYOUTS, jax=lambda J, x: x + 0, covers="clone_dense")
record(
    "contiguous",
    lambda T, x: x.contiguous(),
    *LAYOUTS,
    jax=lambda J, x: x + 0,
    covers="clone_contiguous",
)
_PICTURES = (A(2, 3, 4, 5),), (A(1, 2, 3, 3, lay="t"),)
record(
    "contiguous.channels_last",
    lambda T, x: x.contiguous(memory_format=T.channels_last),
    *_PICTURES,
    jax=lambda J, x: x + 0,
    covers="clone_in_order",
)
record(
    "to.channels_last",
    lambda T, x: x.to(memory_format=T.channels_last) * 1,
    *_PICTURES,
    jax=lambda J, x: x * 1,
    covers="to_order",
)
record("detach", lambda T, x: T.detach(x), *LAYOUTS, differentiable=False)
record(
    "conj", lambda T, x: T.conj(x) * 1, *LAYOUTS, jax=lambda J, x: J.conj(x) * 1, covers="conj_copy"
)
for _name in ("float64", "float32", "float16", "bfloat16", "complex128"):
    record(
        f"to.{_name}",
        lambda T, x, n=_name: x.to(getattr(T, n)),
        *LAYOUTS[:6],
        covers="cast",
        differentiable=_name == "float64",
        jax=lambda J, x: x * 1,
    )
for _name in ("int64", "uint8", "int8", "bool"):
    record(
        f"to.{_name}",
        lambda T, x, n=_name: x.to(getattr(T, n)),
        *[(D(*a.shape, lay=a.layout, low=0),) for a in LAYOUTS[:4]],
        differentiable=False,
    )

# --- writing --------------------------------------------------------------------------------------

record(
    "copy_",
    lambda T, x, y: x.clone().copy_(y),
    (A(3, 4), A(3, 4)),
    (A(), A()),
    (A(3, 4), A(4)),
    (A(3, 4, lay="t"), A(3, 4)),
    jax=lambda J, x, y: y + 0 * x,
    covers="overwrite",
    in_place="copy_",
    bad=[(A(3), A(4)), (A(3), A(2, 3))],
)
record(
    "fill_",
    lambda T, x, v: x.clone().fill_(v),
    (A(3, 4), 1.5),
    (A(), A()),
    (A(3, 4), A()),
    (A(3, 4, lay="t"), 2),
    jax=lambda J, x, v: 0 * x + v,
    covers="fill_scalar fill_tensor",
    in_place="fill_",
    bad=[(A(3), A(3))],
)
record(
    "zero_",
    lambda T, x: x.clone().zero_(),
    A(3, 4),
    A(),
    A(3, 4, lay="t"),
    jax=lambda J, x: 0 * x,
    covers="zero",
    in_place="zero_",
)

# --- random numbers: the same seed gives the same numbers -----------------------------------------


def drawn(name: str, call: Any, *samples: Any, **kw: Any) -> None:
    """A record that seeds the generator first."""

    def seeded(T: Any, *args: Any) -> Any:
        T.manual_seed(3)
        return call(T, *args)

    fixed(name, seeded, *samples, **kw)


drawn("rand", lambda T, *s: T.rand(*s), (2, 3), (40,))
drawn("randn", lambda T, *s: T.randn(*s), (2, 3), (40,))
drawn("rand_like", lambda T, x: T.rand_like(x), A(3, 4), A(3, 4, lay="t"))
drawn("randn_like", lambda T, x: T.randn_like(x), A(3, 4), A(5, 4))
drawn("randint", lambda T, *a: T.randint(*a), (10, (3, 4)), (-5, 5, (7,)))
drawn("randperm", lambda T, n: T.randperm(n), (10,), (0,), (1,))
drawn(
    "normal",
    lambda T, *a: T.normal(*a),
    (0.0, 2.0, (3, 4)),
    (A(3, 4), A(3, 4, low=0.1)),
    (A(3, 4), 2.0),
    (1.0, A(3, 4, low=0.1)),
)
drawn("bernoulli", lambda T, p: T.bernoulli(p), A(3, 4, low=0, high=1))
drawn(
    "multinomial",
    lambda T, p, n, r: T.multinomial(p, n, r),
    (A(3, 4, low=0.1), 2, False),
    (A(5, low=0.1), 8, True),
)
fixed("mask.inputs", lambda T, m, i: (m, i), (M(2, 2), N(2, high=5)))
