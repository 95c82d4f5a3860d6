"""Interpolation: one operation for each of PyTorch's nodes, and its transpose."""

from __future__ import annotations

from typing import Any

from ..tape.declare import general

_STATICS = ("mode", "size", "align_corners", "scales", "antialias")


def _vjp(F: Any, g: Any, self_shape: Any, mode: Any, size: Any, *rest: Any) -> Any:
    return F.resample_grad(g, mode, tuple(self_shape[-len(size) :]), *rest)


def _grad_vjp(F: Any, g: Any, self_shape: Any, mode: Any, size: Any, *rest: Any) -> Any:
    return F.resample(g, mode, tuple(self_shape[-len(size) :]), *rest)


for _rule in (_vjp, _grad_vjp):
    _rule.names = ("F", "g", "self_shape", *_STATICS)  # type: ignore[attr-defined]


def _declare(name: str, rule: Any, node: str | None = None) -> Any:
    return general(
        name,
        rule,
        statics=_STATICS,
        kernel="resample_grad" if name == "resample_grad" else "resample",
        node=node,
        vmap="lead",
        shape=lambda x, mode, size, *rest: ((*x.shape[: x.ndim - len(size)], *size), x.dtype),
    )


resample_grad = _declare("resample_grad", _grad_vjp)
_declare("resample", _vjp)

NODES = [
    f"{mode}{n}d" for mode in ("nearest", "nearest_exact") for n in (1, 2, 3)
] + ["linear1d", "bilinear2d", "bicubic2d", "trilinear3d"]  # fmt: skip
NODES += ["bilinear2d_aa", "bicubic2d_aa", "lanczos2d_aa"]


def _titled(name: str) -> str:
    """``bilinear2d_aa`` -> ``UpsampleBilinear2DAaBackward0``."""
    words = [part[:1].upper() + part[1:] for part in name.split("_")]
    text = "".join(words)
    for n in "123":
        text = text.replace(f"{n}d", f"{n}D")
    return f"Upsample{text}Backward0"


upsample = {name: _declare(f"upsample_{name}", _vjp, _titled(name)) for name in NODES}
