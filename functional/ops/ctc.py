"""The connectionist temporal classification loss."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..tape.declare import general
from ..tape.op import OPS, TENSOR, public
from ..tensor import Tensor
from .create import zeros_like
from .loss_forms import reduce
from .nn import with_names
from .pointwise import no_derivative
from .refusals import both, only_wide


def _first(g: Any) -> Any:
    return g[0] if type(g) is list else g


def _vjp(
    F: Any, g: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
    blank: int, zero_infinity: bool, result0: Any, result1: Any,
) -> Any:  # fmt: skip
    settings = (input_lengths, target_lengths, blank, zero_infinity)
    return F.ctc_loss_backward(_first(g), log_probs, targets, result0, result1, *settings)


def _shape(x: Any, targets: Any, input_lengths: Any, target_lengths: Any, *rest: Any) -> Any:
    longest = max(target_lengths, default=0)
    return [((x.shape[1],), x.dtype), ((x.shape[1], x.shape[0], 2 * longest + 1), x.dtype)]


_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _lengths_within(name: str, lengths: Any, most: int | None) -> None:
    for n in lengths:
        if n < 0:
            raise RuntimeError(
                f"Expected {name} to have value at least 0, but got value {n} {_WHERE}"
            )
        if most is not None and n > most:
            raise RuntimeError(
                f"Expected {name} to have value at most {most}, but got value {n} {_WHERE}"
            )


def _check(
    x: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int, zero: bool
) -> None:
    if x.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {x.ndim}-dimensional tensor for argument #1 "
            f"'log_probs' {_WHERE}"
        )
    if not 0 <= blank < x.shape[2]:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != x.shape[1]:
            raise RuntimeError(f"{name} must be of size batch_size")
    _lengths_within("target_lengths", target_lengths, None)
    dim, wanted = (
        (0, sum(target_lengths)) if targets.ndim == 1 else (1, max(target_lengths, default=0))
    )
    found = targets.shape[dim]
    if found != wanted if dim == 0 else found < wanted:
        kind = "size" if dim == 0 else "size at least"
        raise RuntimeError(
            f"Expected tensor to have {kind} {wanted} at dimension {dim}, but got size {found} for "
            f"argument #2 'targets' {_WHERE}"
        )
    _lengths_within("input_lengths", input_lengths, x.shape[0])


ctc_loss_of = general(
    "ctc_loss_of",
    with_names(
        _vjp, "F", "g", "log_probs", "targets", "input_lengths", "target_lengths", "blank",
        "zero_infinity", "result0", "result1",
    ),
    inputs=("log_probs", "targets"),
    statics=("input_lengths", "target_lengths", "blank", "zero_infinity"),
    kernel="ctc_loss",
    node="CtcLossBackward0",
    differentiable=(True, False),
    shape=_shape,
    check=both(only_wide("ctc_loss_cpu"), _check),
)  # fmt: skip
_unknown = no_derivative("_ctc_loss_backward")
ctc_loss_backward = general(
    "ctc_loss_backward",
    lambda F, g: _unknown(F, g),
    lambda F, g: _unknown(F, g),
    inputs=("self", "log_probs", "targets", "loss", "log_alpha"),
    statics=("input_lengths", "target_lengths", "blank", "zero_infinity"),
    shape=lambda g, x, *rest: (x.shape, x.dtype),
)
OPS["ctc_loss_of"].refused = (
    ((dtypes.BOOL, dtypes.INT, dtypes.COMPLEX), NotImplementedError,
     "\"ctc_loss_cpu\" not implemented for '{}'"),
)  # fmt: skip


def _ints(lengths: Any, name: str) -> tuple[int, ...]:
    if isinstance(lengths, Tensor) and lengths.dtype.category != dtypes.INT:
        raise RuntimeError(f"{name} must be integral")
    values = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    return tuple(int(n) for n in values) if isinstance(values, (list, tuple)) else (int(values),)


@public
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """-log p of labels given log_probs (T, N, C) or (T, C); the mean is over label lengths too."""
    single = log_probs.ndim == 2
    x = TENSOR.unsqueeze(log_probs, 1) if single else log_probs
    labels = TENSOR.unsqueeze(targets, 0) if single and targets.ndim == 1 else targets
    given = _ints(input_lengths, "input_lengths")
    wanted = _ints(target_lengths, "target_lengths")
    z = ctc_loss_of(x, labels, given, wanted, int(blank), bool(zero_infinity))[0]
    if zero_infinity:
        z = TENSOR.where(TENSOR.eq(z, float("inf")), zeros_like(z.detach()), z)
    if reduction == 1:
        lengths = TENSOR.tensor([max(n, 1) for n in wanted], dtype=z.dtype, device=z.device)
        return TENSOR.div(z, lengths).mean()
    z = reduce(z, reduction)
    return TENSOR.squeeze(z, 0) if single and not reduction else z
