"""Operations that only rules call: derivatives of other operations, with derivatives of their own.

PyTorch has no name for them, or hides it; they are checked against finite differences here, and
against PyTorch and JAX through the public operations whose derivatives they are.
"""

from __future__ import annotations

from typing import Any

from .base import FLOATS, A, D, N, Record, record

PLACE = (
    (3, 4),
    (4, 1),
    (2, 2),
    (4, 1),
    1,
)  # base shape and strides, view shape and strides, offset
OVERLAP = ((6,), (1,), (3, 3), (1, 1), 0)


def internal(name: str, call: Any, *samples: Any, **kw: Any) -> Record:
    """A record of an operation in the namespace of rules."""

    def from_core(T: Any, *args: Any) -> Any:
        from functional.tape.op import TENSOR

        return call(TENSOR, *args)

    covers = kw.pop("covers", name)
    return record(f"internal.{name}", from_core, *samples, internal=True, covers=covers, **kw)


internal("threshold_backward", lambda F, g, x: F.threshold_backward(g, x), (A(3, 4), A(3, 4)))
internal("tanh_backward", lambda F, g, y: F.tanh_backward(g, y), (A(3, 4), A(3, 4)))
internal("sigmoid_backward", lambda F, g, y: F.sigmoid_backward(g, y), (A(3, 4), A(3, 4)))
internal("sum_to_size", lambda F, x: F.sum_to_size(x, (3, 1)), A(2, 3, 4), A(3, 4, lay="t"))
internal("select_backward", lambda F, g: F.select_backward(g, (2, 3), 1, 2), A(2))
internal("slice_backward", lambda F, g: F.slice_backward(g, (2, 5), 1, 0, 5, 2), A(2, 3))
internal("diagonal_backward", lambda F, g: F.diagonal_backward(g, (3, 4), 1, 0, 1), A(3))
internal(
    "split_apart",
    lambda F, x: F.split_apart(x, (2, 1, 3), 1),
    A(2, 6),
    A(3, 6, 2),
    A(2, 6, lay="t"),
)
internal("strided_take", lambda F, g: F.strided_take(g, PLACE), A(3, 4))
internal("strided_put", lambda F, g: F.strided_put(g, PLACE), A(2, 2))
internal(
    "strided_put.overlap", lambda F, g: F.strided_put(g, OVERLAP), A(3, 3), covers="strided_put"
)
internal("strided_replace", lambda F, g, x: F.strided_replace(g, x, PLACE), (A(3, 4), A(2, 2)))
internal(
    "gather_backward",
    lambda F, g, i: F.gather_backward(g, i, (3, 4), 1),
    (A(3, 2), N(3, 2, high=4)),
)
internal(
    "index_select_backward",
    lambda F, g, i: F.index_select_backward(g, i, (3, 4), 0),
    (A(5, 4), N(5, high=3)),
)
internal("softmax_backward", lambda F, g, y: F.softmax_backward(g, y, 1), (A(3, 4), A(3, 4)))
internal(
    "log_softmax_backward", lambda F, g, y: F.log_softmax_backward(g, y, 1), (A(3, 4), A(3, 4))
)
internal(
    "mse_loss_backward", lambda F, g, x, y: F.mse_loss_backward(g, x, y, 1), (A(), A(3, 4), A(3, 4))
)
internal(
    "mse_loss_backward.none",
    lambda F, g, x, y: F.mse_loss_backward(g, x, y, 0),
    (A(3, 4), A(3, 4), A(3, 4)),
    covers="mse_loss_backward",
)
internal(
    "convolution_input",
    lambda F, g, w: F.convolution_input(g, w, (2, 3, 7), (2,), (1,), (1,), False, (0,), 1),
    (A(2, 4, 4), A(4, 3, 3)),
)
internal(
    "convolution_weight",
    lambda F, g, x: F.convolution_weight(g, x, (4, 3, 3), (2,), (1,), (1,), False, (0,), 1),
    (A(2, 4, 4), A(2, 3, 7)),
)
internal(
    "max_pool_backward",
    lambda F, g, i: F.max_pool_backward(g, i, (1, 2, 6)),
    (A(1, 2, 3), N(1, 2, 3, high=6)),
)
internal(
    "max_pool_gather", lambda F, x, i: F.max_pool_gather(x, i), (A(1, 2, 6), N(1, 2, 3, high=6))
)
internal(
    "nll_backward",
    lambda F, g, x, y, w: F.nll_backward(g, x, y, w, w.sum(), 2, -100),
    (A(), D(3, 5), N(3, high=5), D(5, low=0.1)),
    dtypes=FLOATS,
)
internal("squeeze_product", lambda F, x: F.squeeze_product(x, (0,)), A(1, 3))
internal("clone_contiguous", lambda F, x: F.clone_contiguous(x), A(3, 4, lay="t"))
internal("add_scaled", lambda F, x, y: F.add_scaled(x, y, 2), (A(3, 4), A(4)))
internal("move", lambda F, x: F.move(x, x.device, x.device), A(3, 4), A(3, 4, lay="t"))
