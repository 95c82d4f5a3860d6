"""Padding: by a constant, by reflection, with the edge's values."""

from __future__ import annotations

from typing import Any

from ..kernels.padding import constant_pad_shape, padded_shape
from ..tape.batching import expanded
from ..tape.declare import general


def _negated(pads: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-p for p in pads)


def with_input(call: Any) -> Any:
    """vmap's rule of a gradient that also takes the input it belongs to."""

    def rule(F: Any, flags: Any, g: Any, input: Any, *statics: Any) -> Any:
        return call(F)(*expanded((g, input), flags), *statics)

    return rule


constant_pad = general(
    "constant_pad",
    lambda F, g, pad: F.constant_pad(g, _negated(pad), 0),
    statics=("pad", "value"),
    node="ConstantPadNdBackward0",
    jvp="transpose",
    vmap="lead",
    shape=constant_pad_shape,
)


def _edge(name: str) -> tuple[Any, ...]:
    """The operations for 1 to 3 dims, and their gradient."""

    def rule(F: Any, g: Any, self: Any, padding: Any) -> Any:
        return getattr(F, f"{name}_grad")(g, self, padding)

    def back(F: Any, g: Any, padding: Any) -> Any:
        return getattr(F, name)(g, padding)

    def declare(public: str, node: str) -> Any:
        return general(
            public,
            rule,
            statics=("padding",),
            kernel=name,
            node=node,
            vmap="lead",
            shape=lambda x, pads: (padded_shape(x.shape, pads), x.dtype),
        )

    title = name.partition("_")[0].capitalize() + "Pad"
    declare(name, f"{title}Backward0")
    general(
        f"{name}_grad",
        back,
        lambda F, g, input: F.zeros_like(input),
        inputs=("self", "input"),
        statics=("padding",),
        vmap=with_input(lambda F: getattr(F, f"{name}_grad")),
        shape=lambda g, x, pads: (x.shape, g.dtype),
    )
    return tuple(declare(f"{name}{n}d", f"{title}{n}DBackward0") for n in (1, 2, 3))


reflection_pads, replication_pads = _edge("reflection_pad"), _edge("replication_pad")
