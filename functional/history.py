"""A tensor's place in the graph: whether it is recorded, its gradient, its data, its hooks."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from . import dtypes, errors
from .modes import MODE
from .tape.node import AccumulateGrad, RemovableHandle, add_hook, is_leaf_edge, make_leaf
from .tape.overrides import keeping_class
from .tape.saved import Detached
from .tape.views import edge_of
from .tape.views import requires_grad as view_requires_grad
from .tape.wrappers import Wrapped, is_batched
from .tensor import (
    NO_EDGE,
    Tensor,
    base_of,
    counter,
    is_inference,
    replace_data,
    same_memory,
)


def requires_grad(self: Tensor) -> bool:
    """Whether operations on this tensor are recorded."""
    return view_requires_grad(self)


def set_requires_grad(self: Tensor, value: bool) -> None:
    """Start or stop recording; only for leaves."""
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    edge = edge_of(self)
    if value:
        if self.dtype.category < dtypes.FLOAT:
            raise RuntimeError(errors.FLOATS_ONLY)
        if is_inference(self) and not MODE.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        if edge is NO_EDGE:
            make_leaf(self)
    elif edge is not NO_EDGE:
        if type(edge[0]) is not AccumulateGrad:
            raise RuntimeError(errors.CHANGE_FLAG)
        self._edge = NO_EDGE


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set ``requires_grad`` in place and return the tensor."""
    if not isinstance(requires_grad, bool):
        raise TypeError(
            "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
            f"{type(requires_grad).__name__}"
        )
    if MODE.transforms:
        api = "(or perhaps using torch.autograd.functional.* APIs) "
        raise RuntimeError(errors.IN_TRANSFORM.format("requires_grad_", api))
    set_requires_grad(self, requires_grad)
    return self


def grad_fn(self: Tensor) -> Any:
    """The node that computed this tensor; None for leaves."""
    node = edge_of(self)[0]
    return None if type(node) is AccumulateGrad else node


def is_leaf(self: Tensor) -> bool:
    """Whether the tensor was made by the user rather than by a recorded operation."""
    return grad_fn(self) is None


def output_nr(self: Tensor) -> int:
    """Which output of its node the tensor is."""
    return edge_of(self)[1]


def get_grad(self: Tensor) -> Tensor | None:
    """The accumulated gradient."""
    if self._grad is None and grad_fn(self) is not None and not self.retains_grad:
        warnings.warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
            ".grad attribute won't be populated during autograd.backward(). If you indeed want "
            "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
            "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
            "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more "
            "informations.",
            UserWarning,
            stacklevel=2,
        )
    return self._grad


def set_grad(self: Tensor, value: Any) -> None:
    """Replace the accumulated gradient: a tensor of the same shape, dtype and device, or None."""
    if value is not None:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.dtype is not self.dtype:
            raise RuntimeError(
                "attempting to assign a gradient with dtype "
                f"'{dtypes.c_name(value.dtype)}' to a tensor with grad_dtype "
                f"'{self.dtype.legacy}'. The gradient must match the tensor's grad_dtype (defaults "
                "to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
                "specific dtype, or None to allow any dtype. Set grad_dtype with caution. "
                "Diverging the dtypes of a tensor and its gradient may break downstream systems "
                "that assume they match."
            )
        if value.shape != self.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of "
                f"size '{list(self.shape)}'. Please ensure that the gradient and the tensor are "
                "the same size"
            )
    self._grad = value


def del_grad(self: Tensor) -> None:
    """``del x.grad`` forgets the gradient."""
    self._grad = None


def get_data(self: Tensor) -> Tensor:
    """The same memory, without history and with its own version counter."""
    if isinstance(self, Wrapped):
        if is_batched(self):
            raise RuntimeError("accessing `data` under vmap transform is not allowed")
        return self.detach()
    t = same_memory(self)
    t._ver = None
    return keeping_class(self, t)


def set_data(self: Tensor, value: Tensor) -> None:
    """Give the tensor other data; history and identity stay."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if isinstance(self, Wrapped):
        where = "under vmap transform" if is_batched(self) else "inside functorch transform"
        raise RuntimeError(f"mutating directly with `.data` {where} is not allowed.")
    if value.dtype.category < dtypes.FLOAT and requires_grad(self):
        raise RuntimeError(
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        )
    replace_data(self, value._data)


def detach_(self: Tensor) -> Tensor:
    """Forget the history, in place."""
    if base_of(self) is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
            "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
            "function in torch/optim/optimizer.py as the solution."
        )
    if not is_leaf_edge(self._edge):
        self._ver = Detached([counter(self)[0] + 1])  # what saved it as an input cannot use it
    self._edge = NO_EDGE
    return self


# --- hooks ----------------------------------------------------------------------------------------


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is computed; a result replaces it."""
    node, nr = edge_of(self)
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return add_hook(node.more().tensor_hooks.setdefault(nr, OrderedDict()), hook)


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Call ``hook(leaf)`` after a gradient has been added to this leaf's ``grad``."""
    node = edge_of(self)[0]
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if type(node) is not AccumulateGrad:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return add_hook(node.more().post_accumulate, hook)


def retain_grad(self: Tensor) -> None:
    """Keep ``grad`` for this tensor, although it is no leaf."""
    if MODE.transforms:
        raise RuntimeError(errors.IN_TRANSFORM.format("retain_grad", ""))
    node, nr = edge_of(self)
    if node is None:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if type(node) is not AccumulateGrad:
        node.more().retain[nr] = weakref.ref(self)


def retains_grad(self: Tensor) -> bool:
    """Whether a non-leaf keeps its gradient."""
    node, nr = edge_of(self)
    if node is None or type(node) is AccumulateGrad or node.extra is None:
        return False
    return nr in node.extra.retain


def version(self: Tensor) -> int:
    """How often the memory has been written to in place."""
    if is_inference(self):
        raise RuntimeError("Inference tensors do not track version counter.")
    ver = self._ver
    return 0 if ver is None else ver[0] - (type(ver) is Detached)
