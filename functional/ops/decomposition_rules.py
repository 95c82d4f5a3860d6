"""Derivatives of factorizations, written with adjoints for complex numbers."""

from __future__ import annotations

from typing import Any

from ..modes import MODE
from ..tensor import Tensor
from .linalg_parts import (
    add,
    cut,
    diagonal,
    diagonal_matrix,
    gaps,
    is_complex,
    mH,
    pieces,
    row,
    skew,
)


def cholesky_vjp(F: Any, g: Any, result0: Any, upper: bool) -> Any:
    """Of A = L Lᴴ: L⁻ᴴ Φ(Lᴴ g) L⁻¹, symmetrized (Murray, 2016)."""
    g = pieces(g, 2)[0]
    factor = mH(F, result0) if upper else result0
    g = mH(F, g) if upper else g
    phi = F.tril(F.matmul(mH(F, factor), g), 0)
    phi = (phi + mH(F, F.tril(phi, -1))) / 2  # the diagonal's imaginary part has no say
    phi = (phi + mH(F, phi)) / 2 if is_complex(phi) else phi
    inner = F.triangular_of(mH(F, factor), phi, True, True, False)
    return F.triangular_of(factor, inner, False, False, False)


_PHASE = "multiplication by e^{i phi}. The specified loss function depends on this "
_PHASES = {
    "svd": f"The singular vectors in the complex case are specified up to {_PHASE}phase term, "
    "making it ill-defined.",
    "linalg_eigh": f"The eigenvectors in the complex case are specified up to {_PHASE}quantity, so "
    "it is ill-defined.",
}
_PHASES["linalg_eig"] = _PHASES["linalg_eigh"]
_NEAR = 1e-2  # relative to what there is, and absolute


def _check_phases(name: str, found: Any, wanted: Any = None) -> None:
    """Raise where a loss depends on what vectors leave open, so that ``found`` is not ``wanted``.

    Both are the changes of the loss with the phases: of the vectors, and of others that turn with
    them (none if None). Inside transforms nobody looks.
    """
    if MODE.level or MODE.pulling:
        return
    if isinstance(found, Tensor):
        found, wanted = found._data, None if wanted is None else wanted._data
    a, b = found.imag, 0 if wanted is None else wanted.imag
    if found.dtype.kind == "c" and not bool((abs(a - b) <= _NEAR + _NEAR * abs(b)).all()):
        raise RuntimeError(f"{name}_backward: {_PHASES[name]}")


def svd_vjp(
    F: Any, g: Any, self_shape: Any, full: bool, result0: Any, result1: Any, result2: Any
) -> Any:
    gu, gs, gvh = pieces(g, 3)
    u, s, vh, k = result0, result1, result2, result1.shape[-1]
    if full:
        u, vh = cut(F, u, -1, 0, k), cut(F, vh, -2, 0, k)
        gu = None if gu is None else cut(F, gu, -1, 0, k)
        gvh = None if gvh is None else cut(F, gvh, -2, 0, k)
    if gu is None and gvh is None:
        return F.matmul(u * row(F, gs), vh)
    m, n = self_shape[-2:]
    uhg = None if gu is None else F.matmul(mH(F, u), gu)
    vhg = None if gvh is None else F.matmul(vh, mH(F, gvh))
    changes = [diagonal(F, x) for x in (uhg, vhg) if x is not None]
    _check_phases("svd", changes[0], -changes[1] if len(changes) > 1 else None)
    inner = None if gs is None else diagonal_matrix(F, gs)
    e = gaps(F, s * s)
    if gu is not None:
        turned = skew(F, uhg)
        inner = add(inner, turned / e * row(F, s))
        if is_complex(u):  # e is 1 on the diagonal, where 1/(2 s) belongs and s stands
            half = diagonal(F, turned)
            inner = inner + diagonal_matrix(F, half / (2 * s) - half * s)
    if gvh is not None:
        part = skew(F, vhg) / e
        part = part - diagonal_matrix(F, diagonal(F, part)) if is_complex(u) else part
        inner = add(inner, row_scaled(F, s, part))
    left = F.matmul(u, inner)
    if gu is not None and m > k:
        over = gu / row(F, s)
        left = left + over - F.matmul(u, F.matmul(mH(F, u), over))
    z = F.matmul(left, vh)
    if gvh is not None and n > k:
        over = row_scaled(F, 1 / s, gvh)
        rest = over - F.matmul(F.matmul(over, mH(F, vh)), vh)
        z = z + F.matmul(u, rest)
    return z


def row_scaled(F: Any, s: Any, x: Any) -> Any:
    return F.unsqueeze(s, s.ndim) * x


def eigh_vjp(F: Any, g: Any, result0: Any, result1: Any) -> Any:
    gw, gv = pieces(g, 2)
    w, v = result0, result1
    vh = mH(F, v)
    if gv is None:
        return F.matmul(v * row(F, gw), vh)
    vhg = F.matmul(vh, gv)
    _check_phases("linalg_eigh", diagonal(F, vhg))
    inner = vhg / gaps(F, w)
    inner = inner - diagonal_matrix(F, diagonal(F, inner))
    inner = inner if gw is None else inner + diagonal_matrix(F, gw)
    return F.matmul(v, F.matmul(inner, vh))


def eig_vjp(F: Any, g: Any, result0: Any, result1: Any) -> Any:
    gw, gv = pieces(g, 2)
    w, v = result0, result1
    vh = mH(F, v)
    if gv is None:
        return F.solve_of(vh, column_scaled(F, gw, vh), True)[0]
    vhg = F.matmul(vh, gv)
    d = diagonal(F, vhg)
    _check_phases("linalg_eig", d)
    lengths = F.matmul(vh, v * row(F, (d + F.conj(d)) / 2))
    inner = (vhg - lengths) / F.conj(gaps(F, w))
    inner = inner - diagonal_matrix(F, diagonal(F, inner))
    inner = inner if gw is None else inner + diagonal_matrix(F, gw)
    return F.solve_of(vh, F.matmul(inner, vh), True)[0]


column_scaled = row_scaled


def qr_vjp(F: Any, g: Any, self_shape: Any, mode: str, result0: Any, result1: Any) -> Any:
    m, n = self_shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    gq, gr = pieces(g, 2)
    if m >= n:
        return _qr_tall(F, gq, gr, result0, result1)
    # R = [U V] with Q V the columns on the right
    r, rest = cut(F, result1, -1, 0, m), None
    if gr is not None:
        right, v = cut(F, gr, -1, m, n), cut(F, result1, -1, m, n)
        rest = F.matmul(result0, right)
        gq = add(gq, F.matmul(F.matmul(result0, v), mH(F, right)))
        gr = cut(F, gr, -1, 0, m)
    z = _qr_tall(F, gq, gr, result0, r)
    tail = F.zeros_like(cut(F, result1, -1, m, n)) if rest is None else rest
    return F.cat([z, tail], z.ndim - 1)


def _qr_tall(F: Any, gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """(g_Q + Q copyltu(R g_Rᴴ - g_Qᴴ Q)) R⁻ᴴ (Walter and Lehmann, 2010)."""
    inner = None
    if gr is not None:
        inner = F.matmul(r, mH(F, gr))
    if gq is not None:
        inner = add(inner, -F.matmul(mH(F, gq), q))
    low = F.tril(inner, -1)
    d = diagonal(F, inner)
    d = (d + F.conj(d)) / 2 if is_complex(q) else d
    both = low + mH(F, low) + diagonal_matrix(F, d)
    return F.triangular_of(mH(F, r), add(gq, F.matmul(q, both)), False, False, False)
