"""Matrix products."""

from __future__ import annotations

from .base import A, record

record("mm", lambda T, x, y: T.mm(x, y), (A(3, 4), A(4, 2)), (A(1, 1), A(1, 1)), (A(3, 4, lay="t"), A(4, 2)), (A(3, 4), A(4, 2, lay="t")),
       (A(3, 4, lay="s"), A(4, 2, lay="s")), (A(0, 4), A(4, 2)), (A(3, 0), A(0, 2)), jax=lambda J, x, y: x @ y, covers="mm_primitive", out=True,
       bad=[(A(3, 4), A(3, 4)), (A(3), A(3, 4)), (A(3, 4), A(4))])  # fmt: skip
record("bmm", lambda T, x, y: T.bmm(x, y), (A(2, 3, 4), A(2, 4, 2)), (A(1, 1, 1), A(1, 1, 1)), (A(2, 3, 4, lay="p"), A(2, 4, 2, lay="t")),
       (A(0, 3, 4), A(0, 4, 2)), jax=lambda J, x, y: x @ y, covers="bmm_primitive", out=True,
       bad=[(A(2, 3, 4), A(2, 3, 4)), (A(3, 4), A(2, 4, 3)), (A(2, 3, 4), A(4, 3)), (A(2, 3, 4), A(3, 4, 2))])  # fmt: skip
record("mv", lambda T, x, v: T.mv(x, v), (A(3, 4), A(4)), (A(1, 1), A(1)), (A(3, 4, lay="t"), A(4, lay="s")), (A(3, 0), A(0)),
       jax=lambda J, x, v: x @ v, covers="mv_primitive", out=True, bad=[(A(3, 4), A(3)), (A(3), A(3))])  # fmt: skip
record("dot", lambda T, x, y: T.dot(x, y), (A(4), A(4)), (A(1), A(1)), (A(4, lay="s"), A(4)), (A(0), A(0)), jax=lambda J, x, y: J.dot(x, y),
       covers="dot_primitive", out=True, bad=[(A(3), A(4)), (A(3, 4), A(4)), (A(), A())])  # fmt: skip
record("outer", lambda T, x, y: T.outer(x, y), (A(3), A(4)), (A(0), A(2)), jax=lambda J, x, y: J.outer(x, y), names="ger", out=True,
       bad=[(A(3, 4), A(4)), (A(3), A())])  # fmt: skip
record("addmm", lambda T, b, x, y, beta, alpha: T.addmm(b, x, y, beta=beta, alpha=alpha), (A(3, 2), A(3, 4), A(4, 2), 1, 1), (A(2), A(3, 4), A(4, 2), 1, 1),
       (A(3, 1), A(3, 4), A(4, 2), 2, 3), (A(), A(3, 4, lay="t"), A(4, 2), 1, 1), (A(2), A(3, 4), A(4, 2), 0, 1), (A(2), A(0, 4), A(4, 2), 1, 1),
       jax=lambda J, b, x, y, beta, alpha: beta * b + alpha * (x @ y), covers="addmm_primitive", out=True,
       bad=[(A(3), A(3, 4), A(4, 2), 1, 1), (A(2), A(3, 4), A(3, 2), 1, 1), (A(2), A(3), A(3, 2), 1, 1)])  # fmt: skip
record("addmv", lambda T, b, x, v, beta, alpha: T.addmv(b, x, v, beta=beta, alpha=alpha), (A(3), A(3, 4), A(4), 1, 1), (A(1), A(3, 4), A(4), 2, 3),
       (A(3), A(3, 4, lay="t"), A(4, lay="s"), 1, 1), (A(), A(3, 4), A(4), 0, 1), jax=lambda J, b, x, v, beta, alpha: beta * b + alpha * (x @ v),
       covers="addmv_primitive", out=True, bad=[(A(3), A(3, 4), A(3), 1, 1), (A(2), A(3, 4), A(4), 1, 1), (A(3), A(3), A(3), 1, 1)])  # fmt: skip
record("baddbmm", lambda T, b, x, y, beta, alpha: T.baddbmm(b, x, y, beta=beta, alpha=alpha), (A(2, 3, 2), A(2, 3, 4), A(2, 4, 2), 1, 1),
       (A(2), A(2, 3, 4), A(2, 4, 2), 2, 3), (A(1, 3, 1), A(2, 3, 4, lay="p"), A(2, 4, 2), 1, 1), jax=lambda J, b, x, y, beta, alpha: beta * b + alpha * (x @ y),
       covers="baddbmm_primitive", out=True, bad=[(A(2), A(2, 3, 4), A(2, 3, 2), 1, 1), (A(2), A(3, 4), A(2, 4, 2), 1, 1)])  # fmt: skip
record("matmul", lambda T, x, y: T.matmul(x, y), (A(3, 4), A(4, 2)), (A(4), A(4)), (A(3, 4), A(4)), (A(4), A(4, 2)), (A(2, 3, 4), A(4, 2)),
       (A(2, 3, 4), A(4)), (A(2, 3, 4), A(2, 4, 2)), (A(3, 4), A(2, 4, 2)), (A(4), A(2, 4, 3)), (A(2, 1, 3, 4), A(3, 4, 2)), (A(5, 1, 2, 3), A(3, 2)),
       (A(2, 3, 4, lay="p"), A(4, 2, lay="t")), (A(2, 3, 4, lay="t"), A(4)), (A(2, 0, 4), A(4, 2)), jax=lambda J, x, y: J.matmul(x, y), covers="squeeze_product",
       out=True, bad=[(A(3, 4), A(3, 4)), (A(), A(3)), (A(2, 3, 4), A(3, 4, 2)), (A(3), A(4)), (A(2, 3, 4), A(3)), (A(2, 3, 4), A(2, 3, 4)),
                      (A(3, 4), A(2, 3, 2)), (A(3, 4), 2.0)])  # fmt: skip
record("matmul.operator", lambda T, x, y: x @ y, (A(3, 4), A(4, 2)), (A(4), A(4)), jax=lambda J, x, y: x @ y)
record("linear", lambda T, x, w, b: T.nn.functional.linear(x, w, b), (A(3, 4), A(2, 4), A(2)), (A(4), A(2, 4), A(2)), (A(2, 3, 4), A(2, 4), A(2)), (A(3, 4), A(2, 4), None),
       (A(2, 3, 4), A(2, 4), None), (A(2, 3, 4, lay="p"), A(2, 4, lay="t"), A(2)), (A(0, 4), A(2, 4), A(2)), (A(2, 2, 3, 4), A(2, 4), A(2)),
       jax=lambda J, x, w, b: x @ w.T + (0 if b is None else b), bad=[(A(3, 4), A(2, 3), A(2)), (A(3, 4), A(2, 4), A(3))])  # fmt: skip
