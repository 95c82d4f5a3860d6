"""Arguments and results of ``torch.autograd.functional``, and errors about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from functional.autograd import grad
from functional.ops.create import like
from functional.tape.op import TENSOR
from functional.tensor import Tensor

Function = Callable[..., Any]
Tensors = tuple[Tensor, ...]
OUTPUTS = "outputs of the user-provided function"
STRICT = " This is not allowed in strict mode."
STRICT_GRAPH = " This is not allowed in strict mode when create_graph=True."
NO_OUTPUT_GRADIENT = (
    "Output {} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode."
)
UNUSED = "The output of the user-provided function is independent of input {}." + STRICT
LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {} is independent of the input. This is not allowed in strict mode. You "
    "should ensure that your function is twice differentiable and that the jacobian depends on the "
    "inputs (this would be violated by a linear function for example)."
)
CONSTANT_JACOBIAN = "The jacobian of the user-provided function is independent of input {}."
CONSTANT_HESSIAN = "The hessian of the user-provided function is independent of input {}."
NO_SECOND_PASS = (
    "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    "This is not allowed in strict mode as it prevents from using the double backward trick to "
    "replace forward mode AD."
)
TRICK = (
    " is independent of entry {} in the grad_outputs when using the double backward trick to "
    "compute forward mode gradients." + STRICT
)
ONE_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor "
    "with a single element."
)
ONE_OUTPUT = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a "
    "single element."
)
FORWARD = (
    'torch.autograd.functional.jacobian: `{0}=True` and `strategy="forward-mode"` are not '
    'supported together (yet). Please either set `{0}=False` or `strategy="reverse-mode"`.'
)
STRICT_VECTORIZED = (
    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
    "together. Please either set `strict=False` or `vectorize=False`."
)
LOOPED_FORWARD = (
    "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
    "`vectorize=True`."
)
STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
HINT = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more '
    'performant. Otherwise, prefer to use "reverse-mode".'
)


def as_tuple(value: Any, what: str, name: str | None) -> Tensors:
    """A tensor or a tuple of tensors as a tuple; TypeError for anything else."""
    for i, t in enumerate(value if isinstance(value, tuple) else (value,)):
        if not isinstance(t, Tensor):
            where = f"value at index {i}" if isinstance(value, tuple) else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"{where} has type {type(t)}."
            )
    return value if isinstance(value, tuple) else (value,)


def restored(values: Sequence[Any], like: Any) -> Any:
    """A tuple if ``like`` is one, else the only value."""
    return tuple(values) if isinstance(like, tuple) else values[0]


def leaf(t: Tensor, create_graph: bool) -> Tensor:
    """An input as the function gets it: a view of the caller's if the graph should reach there."""
    if create_graph and t.requires_grad:
        return TENSOR.view(t, tuple(t.shape))
    return t.detach().requires_grad_()


def direction(
    v: Any, create_graph: bool, name: str, others: Tensors, is_tuple: bool, text: str
) -> Tensors:
    """The vector of a product, whose shapes are those of ``others``; ones for a single number."""
    if v is None:
        if len(others) != 1 or others[0].numel() != 1:
            raise RuntimeError(text)
        return (like(1, others[0]),)
    given = as_tuple(v, "v", name)
    if len(given) != len(others):
        if is_tuple:
            count = f"should be {len(others)} but got {len(given)}"
            raise RuntimeError(f"v is a tuple of invalid length: {count}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (t, other) in enumerate(zip(given, others, strict=True)):
        if t.shape != other.shape:
            which = f"Entry {i} in v" if is_tuple else "v"
            raise RuntimeError(
                f"{which} has invalid size: should be {other.shape} but got {t.shape}."
            )
    return given if create_graph else tuple(t.detach() for t in given)


def evaluated(func: Function, inputs: Tensors, name: str, strict: bool) -> tuple[Any, Tensors]:
    """What the function returns, as it is and as a tuple."""
    found = func(*inputs)
    outputs = as_tuple(found, OUTPUTS, name)
    if strict:
        need_history(outputs, NO_OUTPUT_GRADIENT)
    return found, outputs


def need_history(tensors: Sequence[Tensor], text: str) -> None:
    for i, t in enumerate(tensors):
        if not t.requires_grad:
            raise RuntimeError(text.format(i))


def need_all(tensors: Sequence[Tensor | None], text: str) -> None:
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(text.format(i))


def gradients(
    outputs: Any, inputs: Tensors, starts: Any = None, create_graph: bool = False
) -> tuple[Tensor | None, ...]:
    """Gradients where there is a path; None elsewhere."""
    at = [i for i, o in enumerate(outputs) if o is not None and o.requires_grad]
    if not at:
        return (None,) * len(inputs)
    given = None if starts is None else [starts[i] for i in at]
    if given is None and outputs[at[0]].is_complex():
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{outputs[at[0]].dtype}"
        )
    return grad(
        [outputs[i] for i in at], inputs, given, True, create_graph, allow_unused=True
    )  # fmt: skip


def filled(found: Any, like_: Tensors, strict: bool, create: bool, texts: Any) -> Tensors:
    """Zeros for None; with ``strict`` the first text for None, the second for no history."""
    for i, g in enumerate(found if strict else ()):
        if g is None:
            raise RuntimeError(texts[0].format(i))
        if create and not g.requires_grad:
            raise RuntimeError(texts[1].format(i) + STRICT_GRAPH)
    return tuple(like(0, t) if g is None else g for g, t in zip(found, like_, strict=True))


def finished(values: Tensors, create_graph: bool) -> Tensors:
    return values if create_graph else tuple(t.detach() for t in values)


def single_number(outputs: Tensors, is_tuple: bool, name: str) -> Tensor:
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs[0]
