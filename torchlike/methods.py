"""Tensor's methods: which functions of the core they are, from one table."""

from __future__ import annotations

import warnings
from typing import Any

from functional import devices, dtypes
from functional.kernels.coo import CooArray
from functional.ops import (
    allocate,
    cast,
    create,
    element_calls,
    exchange,
    gather,
    in_place_views,
    index_assign,
    random_fills,
    resizing,
    sparse,
    sparse_compressed,
    sparse_resize,
    stacking,
    views,
)
from functional.ops.arguments import need_tensor
from functional.ops.layouts import LAYOUTS, layout_of
from functional.ops.layouts import layout as layout
from functional.tape import overrides
from functional.tape.op import TENSOR
from functional.tensor import Tensor, device_of
from functional.tensor import is_inference as is_marked

from . import intercept, keywords, names, transposes

_T: Any = Tensor


def _attach_functions() -> None:
    for name in [*names.FUNCTIONS, *names.METHODS]:
        if name not in names.NOT_METHODS:
            setattr(Tensor, name, getattr(TENSOR, name))
            twin = getattr(TENSOR, name + "_", None)
            if twin is not None:
                twin.__name__ = twin.__qualname__ = name + "_"
                setattr(Tensor, name + "_", twin)
    for alias, name in names.ALIASES.items():
        if name not in names.NOT_METHODS:
            setattr(Tensor, alias, getattr(TENSOR, name))
            if hasattr(TENSOR, name + "_"):
                setattr(Tensor, alias + "_", getattr(TENSOR, name + "_"))


_IN_PLACE = "copy_ fill_ zero_ index_put_ scatter_ set_ uniform_ normal_ random_ bernoulli_".split()
_MAKERS = "new_zeros new_ones new_empty new_full new_tensor to cpu type_as".split()


def _is_shared(f: Any) -> bool:
    """Whether a method is a public function of the core, or one of a few others."""
    name = getattr(f, "__name__", "")
    return callable(f) and (getattr(TENSOR, name, None) is f or name in (*_IN_PLACE, *_MAKERS))


def as_function(name: str) -> Any:
    """The method ``name`` as a function of its tensor, ``input``."""
    method = getattr(Tensor, name)

    def function(input: Any, *args: Any, **named: Any) -> Any:
        if not isinstance(input, Tensor) and not hasattr(type(input), "__torch_function__"):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not "
                f"{type(input).__name__}"
            )
        return method(input, *args, **named)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``input.{name}(...)``: writes to ``input`` and returns it."
    return function


def _caster(d: dtypes.dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return cast.to(self, d, memory_format=memory_format)

    convert.__doc__ = f"``self`` as {d!r}."
    return convert


_CASTS = {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16, "int": dtypes.int32, "long": dtypes.int64,
    "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
    "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}  # fmt: skip


def type_method(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The legacy type name, or ``self`` converted to a dtype or legacy type."""
    if dtype is None:
        return views.kind_of(self)
    if isinstance(dtype, str):
        found = {f"torch.{d.legacy}Tensor": d for d in dtypes.ALL}.get(dtype)
        if found is None:
            raise ValueError(f"invalid type: '{dtype}'")
        return cast.to(self, found)
    return cast.to(self, getattr(dtype, "dtype", dtype))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """``self`` in the dtype of ``other``."""
    return cast.to(self, other.dtype)


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """``self`` on the CPU."""
    return cast.to(self, "cpu", memory_format=memory_format)


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """``self`` on a GPU: the one in use if none is named."""
    return cast.to(self, "cuda" if device is None else device)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy on the host; CuPy copies from any memory, so that nothing is pinned."""
    if not devices.count("cuda"):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return TENSOR.clone(self)


def cuda_array_interface(self: Tensor) -> Any:
    """The memory on a GPU, for other libraries; AttributeError for tensors elsewhere."""
    if not self.is_cuda:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} If CUDA "
            "data is required use tensor.cuda() to copy tensor to device memory."
        )
    if self.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients "
            "aren't required, use var.detach() to get Variable that doesn't require grad."
        )
    return self._data.__cuda_array_interface__


def get_device(self: Tensor) -> int:
    """The index of the tensor's GPU; -1 on the CPU."""
    return -1 if self.device.index is None else self.device.index


def untyped_storage(self: Tensor) -> Any:
    """The memory the tensor is part of, as bytes."""
    from .storage import untyped_storage

    return untyped_storage(self)


def storage(self: Tensor) -> Any:
    """The memory the tensor is part of, as elements of its dtype."""
    from .storage import typed_storage

    return typed_storage(self)


def typed_storage(self: Tensor) -> Any:
    """``storage`` without its warning."""
    from .storage import internal_storage

    return internal_storage(self)


def storage_type(self: Tensor) -> Any:
    """The class of the tensor's typed storage."""
    from .storage import CLASSES

    return CLASSES[self.dtype]


def set_(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """Give the tensor the memory of another tensor or of a storage; without arguments none."""
    from .storage import set_

    return set_(self, *args, **named)


def has_names(self: Tensor) -> bool:
    """Whether dimensions are named; they never are."""
    return False


def new_legacy(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """A tensor of the same dtype: of given sizes, or with given data."""
    from .legacy import construct

    return construct(self.dtype, args, named)


def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``self`` where ``condition`` holds, else ``other``."""
    found: Tensor = TENSOR.where(condition, self, other)
    return found


def make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Any:
    """The memory of ``data`` as a leaf of the class ``cls``."""
    t = overrides.as_subclass(TENSOR.detach(data), cls)
    t.requires_grad = require_grad
    return t


def as_subclass(self: Tensor, cls: type) -> Any:
    """The same memory and history as an instance of ``cls``."""
    return overrides.as_subclass(views.alias(self), cls)


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Deprecated: the same elements in another shape, as ``view`` gives."""
    from .autograd._functions import Resize

    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    found: Tensor = Resize.apply(self, sizes)
    return found


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Deprecated: the same elements in the shape of ``tensor``."""
    from .autograd._functions import Resize

    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    found: Tensor = Resize.apply(self, tuple(tensor.size()))
    return found


def _removed_method(name: str) -> Any:
    """A method that says what took its place."""

    def method(self: Tensor, *args: Any) -> Any:
        from . import _removed

        return getattr(_removed, name)(self, *args)

    method.__name__ = name
    return method


def _attach_rest() -> None:
    for name, d in _CASTS.items():
        setattr(Tensor, name, _caster(d))
    for name in ("type_as", "cpu", "cuda", "pin_memory", "get_device", "untyped_storage",
                 "storage", "storage_type", "set_"):  # fmt: skip
        setattr(Tensor, name, globals()[name])
    _T.resize, _T.resize_as = resize, resize_as
    _T.type, _T.has_names, _T.new = type_method, has_names, new_legacy
    for name, value in (("new_zeros", 0), ("new_ones", 1), ("new_empty", None)):
        setattr(Tensor, name, create.new_method(name, value))
    _T.new_empty_strided, _T.resize_, _T.resize_as_ = (
        allocate.new_empty_strided,
        resizing.resize_,
        resizing.resize_as_,
    )
    _T.is_set_to, _T._typed_storage = resizing.is_set_to, typed_storage
    _T.as_strided_ = in_place_views.as_strided_
    _T.fill_diagonal_ = in_place_views.fill_diagonal_
    _T.t_ = in_place_views.t_
    _T.transpose_ = _T.swapaxes_ = _T.swapdims_ = in_place_views.transpose_
    _T.sum_to_size = stacking.sum_to_size
    _T.__dlpack__, _T.__dlpack_device__ = exchange.dlpack_method, exchange.dlpack_device
    _T.new_full, _T.new_tensor = create.new_full, create.new_tensor
    _T.index_put_, _T.scatter_ = index_assign.index_put_, gather.scatter_
    for name in ("uniform_", "normal_", "random_", "bernoulli_", "exponential_", "geometric_",
                 "cauchy_", "log_normal_"):  # fmt: skip
        setattr(Tensor, name, getattr(random_fills, name))
    _T.apply_, _T.map_, _T.map2_ = element_calls.apply_, element_calls.map_, element_calls.map2_
    _T.where = where
    for name in ("solve", "eig", "symeig", "lstsq"):
        setattr(Tensor, name, _removed_method(name))
    _T.as_subclass, _T.ndimension = as_subclass, _T.dim
    _T._make_subclass = staticmethod(make_subclass)
    _T.__torch_function__ = classmethod(overrides.default_torch_function)


def _set_real(self: Tensor, value: Any) -> None:
    cast.copy_(TENSOR.real(self), value)


def _set_imag(self: Tensor, value: Any) -> None:
    cast.copy_(TENSOR.imag(self), value)


def _attach_properties() -> None:
    _T.T = property(transposes.reversed_dims)
    _T.mT, _T.H = property(transposes.matrix_transpose), property(transposes.conjugate_transpose)
    _T.mH = property(transposes.adjoint)
    _T.real, _T.imag = property(TENSOR.real, _set_real), property(TENSOR.imag, _set_imag)
    _T.__cuda_array_interface__ = property(cuda_array_interface)
    _T.is_cuda = property(lambda self: device_of(self._data).type == "cuda")
    _T.is_cpu = property(lambda self: device_of(self._data).type == "cpu")
    _T.is_meta = property(lambda self: device_of(self._data).type == "meta")
    for name in "quantized mkldnn mps xpu nested xla ipu maia mtia vulkan".split():
        setattr(Tensor, f"is_{name}", False)
    _T.is_sparse = property(lambda self: type(self._data) is CooArray)
    _T.layout = property(layout_of)
    _T.is_sparse_csr = property(lambda self: layout_of(self) is LAYOUTS["sparse_csr"])
    _T.itemsize = property(lambda self: self.dtype.itemsize)
    _T.nbytes = property(nbytes)
    _T.names = property(lambda self: (None,) * self.ndim)
    _T.is_floating_point = lambda self: self.dtype.is_floating_point
    _T.is_complex = lambda self: self.dtype.is_complex
    _T.is_signed = lambda self: self.dtype.is_signed
    _T.is_inference = is_inference
    _T.is_pinned = lambda self: False
    _T.is_shared = lambda self: False


def nbytes(self: Tensor) -> int:
    """Bytes of all elements."""
    if type(self._data) is CooArray:
        raise RuntimeError(
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
            "tensors, add the nbytes of the indices and values.  If you want the size of the  "
            "equivalent dense tensor, multiply numel() by element_size()"
        )
    return self.numel() * self.dtype.itemsize


_SPARSE = """
    to_sparse_coo is_coalesced indices values sparse_dim dense_dim
""".split()


def _attach_sparse() -> None:
    for name in _SPARSE:
        setattr(Tensor, name, getattr(sparse, name))
    _T._indices, _T._values, _T._nnz = sparse.raw_indices, sparse.raw_values, sparse.nnz
    for name in ("crow_indices", "col_indices", "ccol_indices", "row_indices"):
        setattr(Tensor, name, getattr(sparse_compressed, name))
    _T._coalesced_ = sparse_resize.mark_coalesced
    _T.sparse_resize_ = sparse_resize.sparse_resize_
    _T.sparse_resize_and_clear_ = sparse_resize.sparse_resize_and_clear_


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    need_tensor(input, "is_inference.input.1")
    return is_marked(input)


class memory_format:
    """The order of dimensions in memory that a copy may be asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format, preserve_format = (
    memory_format("contiguous_format"),
    memory_format("preserve_format"),
)
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

_attach_functions()
_attach_rest()
_attach_properties()
_attach_sparse()
_shared = {name: f for name, f in vars(Tensor).items() if _is_shared(f)}
for _name in {*_shared, *keywords.FIRST} & vars(Tensor).keys():
    setattr(Tensor, _name, keywords.with_names(vars(Tensor)[_name]))
intercept.watch(_shared)
