"""The messages of errors that come from more than one place, as named constants."""

from __future__ import annotations

from typing import Any


def type_name(value: Any) -> str:
    """An object's class as messages name it: with its module, unless it is one of Python's own."""
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


NO_CAST = "result type {} can't be cast to the desired output type {}"


def not_implemented(kernel: str, dtype: Any) -> NotImplementedError:
    """PyTorch's error where a kernel lacks a dtype of ours."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.legacy}'")


def not_true(what: str) -> RuntimeError:
    """PyTorch's error for a condition that has no words of its own."""
    return RuntimeError(
        f"Expected {what} to be true, but got false.  (Could this error message be improved?  If "
        "so, please report an enhancement request to PyTorch.)"
    )


LEAF_IN_PLACE = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF_IN_PLACE = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
    "through the graph a second time or if you need to access saved tensors after calling "
    "backward."
)
DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is "
    "not supported, please use out-of-place `.detach()` instead"
)
HOOKS_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values "
    "of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to "
    "access saved variables after calling backward."
)
HOOKS_NONE = "Calling register_hooks on a saved tensor with value None is forbidden"
HOOKS_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
    "pair of hooks is allowed at a time."
)
CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [{kind} {sizes}]{origin} is at version {now}; expected version {saved} instead. "
    "Hint: {hint}"
)
CHANGED_HINT = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
ANOMALY_HINT = (
    "the backtrace further above shows the operation that failed to compute its gradient. The "
    "variable in question was changed in there or anywhere later. Good luck!"
)
PACK_IN_PLACE = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
    "hook cannot be modified by in-place operations as this can lead to unexpected side-effects. "
    "Please open an issue if you need to perform in-place operations on the input to a pack hook."
)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a "
    "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)
INFERENCE_IN_PLACE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed."
    "You can make a clone to get a normal tensor before doing inplace update."
    "See https://github.com/pytorch/rfcs/pull/17 for more details."
)
VIEW_IN_MODE = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
    "your code by moving both the view and the inplace either both inside the {block} block (if "
    "you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
    "tracked)."
)
MULTI_OUTPUT = (
    " This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by "
    "an out-of-place one."
)
CUSTOM_VIEW = (
    " This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
NO_GRAD_NEEDED = "element 0 of tensors does not require grad and does not have a grad_fn"
GRAD_OUTPUTS = "grad can be implicitly created only for scalar outputs"
UNUSED = (
    "The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior."
)
CHANGE_FLAG = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed "
    "variable in a subgraph that doesn't require differentiation use "
    "var_no_grad = var.detach()."
)
FLOATS_ONLY = "only Tensors of floating point dtype can require gradients"
DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
    "the moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)
NUMPY_GRAD = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
INTERNAL_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)
PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
    "a single memory location. Please clone() the tensor before performing the operation."
)
META_COPY = "Cannot copy out of meta tensor; no data!"
VMAP_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)


VMAP_BOOL = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
VMAP_SHAPE = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
    "over aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
    "this feature."
)
VMAP_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to "
    "batch over indexing with a boolean mask."
)
VMAP_INPLACE = (
    "vmap: inplace {0}(self, *extra_args) is not possible because there exists a Tensor "
    "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
    "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
    "operators instead of inplace {0}. If said operator is being called inside the PyTorch "
    "framework, please file a bug report instead."
)
CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
    "in-place operation (aten::{}) that would mutate a captured Tensor. This is not supported; "
    "please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as "
    "inputs."
)
NO_OUT_RULE = (
    "Batching rule not implemented for aten::{}.out; the fallback path doesn't work on out= or "
    "view ops."
)
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
IN_TRANSFORM = (
    "You are attempting to call Tensor.{0}() {1}inside of a function being transformed by a "
    "functorch transform. This is unsupported, please attempt to use the functorch transforms "
    "(e.g. grad, vjp, jacrev, jacfwd, hessian) or call {0}() outside of a function being "
    "transformed instead."
)
NO_BACKWARD = (
    "backward() called inside a functorch transform. This is not supported, please use "
    "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
)


NO_SAVED_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an "
    "issue with your use case."
)


class _LinAlgError(RuntimeError):
    """A matrix that an algorithm of linear algebra cannot work with."""

    __module__ = "torch._C"


LinAlgError = _LinAlgError
TWO_DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, {} and {}!"
)
OTHER_DEVICE = (
    "Expected all tensors to be on the same device, but got {} is on {}, different from other "
    "tensors on {} (when checking argument in method wrapper_CUDA_{})"
)
TWO_TYPES = "Input type ({}) and weight type ({}) should be the same"
NO_SUCH_GPU = (
    "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?"
)
NUMPY_OF_GPU = (
    "can't convert {} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
    "memory first."
)
