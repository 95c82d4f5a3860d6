"""Products of tensors."""

from __future__ import annotations

from .base import REAL, A, record

for _name, _equation, _inputs in (
    ("matmul", "ij,jk->ik", (A(3, 4), A(4, 2))),
    ("implicit", "ij,jk", (A(3, 4), A(4, 2))),
    ("attention", "bqhd,bkhd->bhqk", (A(2, 3, 2, 4), A(2, 5, 2, 4))),
    ("trace", "ii", (A(3, 3),)),
    ("diagonal", "bii->bi", (A(2, 3, 3),)),
    ("transposed", "ij->ji", (A(3, 2),)),
    ("outer", "i,j->ij", (A(3), A(2))),
    ("inner", "i,i", (A(3), A(3))),
    ("ellipsis", "...ij,...jk->...ik", (A(2, 2, 3), A(3, 2))),
    ("ellipsis.sum", "...ij->...", (A(2, 3, 4),)),
    ("product", "ij,ij->ij", (A(2, 3), A(2, 3))),
    ("sum", "ij->", (A(2, 3),)),
    ("broadcast", "ij,ij->i", (A(2, 3), A(1, 3))),
    ("one.summed", "ij,k->i", (A(2, 3), A(2))),
):
    record(f"einsum.{_name}", lambda T, *x, e=_equation: T.einsum(e, *x), _inputs)
# PyTorch's order, and with it graph and strides, depends on whether opt_einsum is there
record(
    "einsum.chain",
    lambda T, *x: T.einsum("bij,bjk,bkl->bil", *x).detach().contiguous(),
    (A(2, 2, 3), A(2, 3, 2), A(2, 2, 3)),
    differentiable=False,
)
record("einsum", lambda T, x, y: T.einsum(x, [0, 1], y, [1, 2], [0, 2]), (A(3, 4), A(4, 2)))
record(
    "einsum.errors",
    lambda T, x, e: T.einsum(e, x),
    (A(2, 3), "ij->j"),
    bad=[
        (A(2, 3), "ijk"),
        (A(2, 3), "i"),
        (A(2, 3), "ij->ii"),
        (A(2, 3), "ij->k"),
        (A(2, 3), "ij,jk"),
        (A(2, 3), "ii"),
    ],
)
record(
    "tensordot",
    lambda T, x, y, dims: T.tensordot(x, y, dims),
    (A(2, 3, 4), A(3, 4, 2), 2),
    (A(2, 3), A(3, 2), 1),
    (A(2, 3), A(2), 0),
    (A(2, 3, 4), A(2, 4, 3), ([1, 2], [2, 1])),
    jax=lambda J, x, y, dims: J.tensordot(x, y, dims),
    bad=[(A(2, 3), A(2, 3), 1), (A(2, 3), A(2, 3), 3)],
)
record(
    "kron",
    lambda T, x, y: T.kron(x, y),
    (A(2, 3), A(3, 2)),
    (A(2), A(2, 2)),
    (A(), A(3)),
    jax=lambda J, x, y: J.kron(x, y),
    out=True,
    bad=[(A(2, 3, lay="t"), A(3, 2))],
)
record(
    "inner",
    lambda T, x, y: T.inner(x, y),
    (A(2, 3), A(4, 3)),
    (A(3), A(3)),
    (A(), A(4, 3)),
    jax=lambda J, x, y: J.inner(x, y),
    out=True,
    bad=[(A(2, 3), A(2, 4))],
)
record(
    "vdot",
    lambda T, x, y: T.vdot(x, y),
    (A(4), A(4)),
    (A(0), A(0)),
    out=True,
    bad=[(A(3), A(4)), (A(3, 4), A(4))],
)
record(
    "addr",
    lambda T, b, x, y, beta, alpha: T.addr(b, x, y, beta=beta, alpha=alpha),
    (A(3, 4), A(3), A(4), 1, 1),
    (A(4), A(3), A(4), 2, 3),
    (A(3, 1), A(3), A(4), 0, 1),
    out=True,
    bad=[(A(3, 4), A(3, 1), A(4), 1, 1), (A(3, 4), A(4), A(4), 1, 1)],
)
record("addr.inplace", lambda T, b, x, y: b.clone().addr_(x, y), (A(3, 4), A(3), A(4)))
record("addmm.inplace", lambda T, b, x, y: b.clone().addmm_(x, y), (A(3, 2), A(3, 4), A(4, 2)))
record("addmv.inplace", lambda T, b, x, y: b.clone().addmv_(x, y), (A(3), A(3, 4), A(4)))
record(
    "baddbmm.inplace",
    lambda T, b, x, y: b.clone().baddbmm_(x, y, beta=2, alpha=3),
    (A(2, 3, 2), A(2, 3, 4), A(2, 4, 2)),
)
record(
    "addbmm",
    lambda T, b, x, y, beta, alpha: T.addbmm(b, x, y, beta=beta, alpha=alpha),
    (A(3, 2), A(2, 3, 4), A(2, 4, 2), 1, 1),
    (A(2), A(2, 3, 4), A(2, 4, 2), 2, 3),
    (A(3, 2), A(0, 3, 4), A(0, 4, 2), 1, 1),
    out=True,
    bad=[(A(3, 2), A(3, 4), A(2, 4, 2), 1, 1), (A(3, 2), A(2, 3, 4), A(3, 4, 2), 1, 1)],
)
record(
    "addbmm.inplace", lambda T, b, x, y: b.clone().addbmm_(x, y), (A(3, 2), A(2, 3, 4), A(2, 4, 2))
)
record(
    "chain_matmul",
    lambda T, *x: T.chain_matmul(*x),
    (A(2, 3), A(3, 4), A(4, 2)),
    (A(2, 3), A(3, 1)),
)
record(
    "linalg.multi_dot",
    lambda T, *x: T.linalg.multi_dot(x),
    (A(3), A(3, 4), A(4, 2), A(2)),
    (A(2, 3), A(3, 4), A(4, 1), A(1, 3)),
    bad=[(A(2, 3), A(2, 3))],
)
record(
    "cross",
    lambda T, x, y: T.cross(x, y),
    (A(2, 3), A(2, 3)),
    (A(3, 2), A(3, 2)),
    bad=[(A(2, 4), A(2, 4))],
)
record(
    "linalg.cross",
    lambda T, x, y: T.linalg.cross(x, y),
    (A(2, 3), A(2, 3)),
    (A(1, 3), A(4, 3)),
    (A(2, 3, lay="t"), A(2, 3)),
    bad=[(A(2, 4), A(2, 4))],
)
record("block_diag", lambda T, *x: T.block_diag(*x), (A(2, 3), A(2)), (A(), A(1, 2), A(2, 0)))
record(
    "nn.bilinear",
    lambda T, x, y, w, b: T.nn.functional.bilinear(x, y, w, b),
    (A(3, 2), A(3, 4), A(2, 2, 4), A(2)),
    (A(2, 3, 2), A(2, 3, 4), A(2, 2, 4), None),
    bad=[(A(3, 2), A(3, 4), A(2, 3, 4), A(2))],
    dtypes=REAL,  # PyTorch has no derivative for complex numbers
)
