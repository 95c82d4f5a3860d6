"""Storages as elements of one type, which PyTorch is about to give up: each use says so."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
from numpy import ndarray

from functional import blame, devices, dtypes
from functional.ops import cast
from functional.tensor import wrap

from ._untyped_storage import CASTS, UntypedStorage

_OLD = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
    "the only storage class. This should only matter to you if you are using storages "
    "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
    "tensor.storage()"
)
_FORMS = """.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""
_INDEX = "can't index a <class 'torch.storage.TypedStorage'> with {}"
_SET = "cannot set item with value type <class 'torch.storage.TypedStorage'>"


def warn() -> None:
    """Say, once in a process, that typed storages are on their way out."""
    blame.warn_once(_OLD)


def _warns(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def warned(*args: Any, **named: Any) -> Any:
        warn()
        return method(*args, **named)

    return warned


def is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class TypedStorage:
    """Elements of one dtype over an UntypedStorage."""

    __module__ = "torchlike.storage"
    dtype: dtypes.dtype
    _untyped_storage: UntypedStorage
    is_sparse = False

    def __init__(
        self,
        *args: Any,
        wrap_storage: Any = None,
        dtype: Any = None,
        device: Any = None,
        _internal: bool = False,
    ) -> None:
        if not _internal:
            warn()
        if wrap_storage is not None:
            _check_wrapped(args, wrap_storage, dtype, device)
        self.dtype = dtype or dtypes.get_default_dtype()
        if wrap_storage is None:
            if len(args) > 1:
                raise RuntimeError(f"TypedStorage{_FORMS}Too many positional arguments")
            wrap_storage = _new_memory(args, self.dtype, device)
        self._untyped_storage = wrap_storage

    _dtype = property(lambda self: self.dtype)

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, **named: Any) -> TypedStorage:
        """A copy of a buffer's elements, which lie in ``byte_order``."""
        from ._buffers import copied

        dtype = dtype or dtypes.get_default_dtype()
        memory = UntypedStorage.over(copied(dtype, *args, **named))
        return TypedStorage(wrap_storage=memory, dtype=dtype, _internal=True)

    @classmethod
    @_warns
    def from_file(cls, filename: Any, shared: bool, size: int) -> TypedStorage:
        """``size`` elements of a file; what is written goes there if ``shared``."""
        dtype = vars(cls).get("dtype")
        if dtype is None:
            raise RuntimeError("from_file can only be called on derived classes")
        memory = UntypedStorage.from_file(filename, shared, size * dtype.itemsize)
        return TypedStorage(wrap_storage=memory, dtype=dtype, _internal=True)

    # what goes on inside, without the warning
    def _size(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def _nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def _element_size(self) -> int:
        return self.dtype.itemsize

    def _data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def _is_shared(self) -> bool:
        return self._untyped_storage.is_shared()

    def _resize_(self, size: int) -> None:
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def _pickle_storage_type(self) -> str:
        return f"{self.dtype.legacy}Storage"

    def _get_legacy_storage_class(self) -> Any:
        from ._storage_classes import CLASSES

        return CLASSES.get(self.dtype)

    def _elements(self) -> ndarray:
        return self._untyped_storage._held().view(self.dtype.array)

    def _elements_for(self, dtype: Any, name: str = "", got: str = "") -> ndarray:
        """The elements, which must be of ``dtype``; ``name`` and ``got`` go into the error."""
        if dtype is not None and dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {name or dtype.legacy} or an UntypedStorage, but got "
                f"{got.format(self.dtype.legacy) or self.dtype.legacy}"
            )
        return self._elements()

    def _over(self, memory: UntypedStorage, dtype: Any = None) -> TypedStorage:
        return TypedStorage(wrap_storage=memory, dtype=dtype or self.dtype, _internal=True)

    def _cast(self, dtype: dtypes.dtype) -> TypedStorage:
        if self._untyped_storage.device.type == "meta":
            return self._over(UntypedStorage.over(self._size() * dtype.itemsize), dtype)
        if dtype is self.dtype:
            return self
        found = cast.to(wrap(self._elements()), dtype)._data
        return self._over(UntypedStorage.over(found.view(np.uint8)), dtype)

    def _setitem(self, index: Any, value: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(_INDEX.format(type(index)))
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise RuntimeError(_SET)
        if self._untyped_storage.device.type != "meta":
            wrap(self._elements())[index] = value

    def _deepcopy(self, memo: dict[Any, Any]) -> TypedStorage:
        return self._over(copy.deepcopy(self._untyped_storage, memo))

    # what programs use
    @property
    def device(self) -> devices.device:
        """Where the elements are kept."""
        warn()
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Whether they lie on a GPU."""
        warn()
        return self._untyped_storage.is_cuda

    @property
    def is_hpu(self) -> bool:
        """Whether they lie on an HPU; never."""
        warn()
        return False

    @property
    def filename(self) -> str | None:
        """The file whose bytes these are."""
        warn()
        return self._untyped_storage.filename

    _cdata = property(lambda self: self._untyped_storage._cdata)

    @_warns
    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    @_warns
    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return wrap(self._elements()).tolist()  # type: ignore[no-any-return]

    @_warns
    def __getitem__(self, index: Any) -> Any:
        if self._untyped_storage.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not is_int(index):
            raise RuntimeError(_INDEX.format(type(index)))
        n = self._size()
        if not -n <= index < n:
            raise IndexError(f"index {index} out of range for storage of size {n}")
        return wrap(self._elements()[index]).item()

    @_warns
    def __setitem__(self, index: Any, value: Any) -> None:
        self._setitem(index, value)

    @_warns
    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    @_warns
    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._setitem(slice(0, self._size()), value)
        return self

    @_warns
    def copy_(self, source: Any, non_blocking: bool = False) -> TypedStorage:
        """Take over the bytes of another storage of the same size."""
        self._untyped_storage.copy_(source)
        return self

    @_warns
    def clone(self) -> TypedStorage:
        """A copy."""
        return self._over(self._untyped_storage.clone())

    __copy__ = clone

    @_warns
    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return self._deepcopy(memo)

    def __reduce__(self) -> Any:
        return _rebuilt, (self._untyped_storage, self.dtype)

    @_warns
    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._nbytes()

    @_warns
    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The legacy name of the class."""
        if dtype is None:
            return f"torch.{self._pickle_storage_type()}"
        raise NotImplementedError("TypedStorage.type with a type: use its casts")

    @_warns
    def cpu(self) -> TypedStorage:
        """The storage itself, or a copy of one that lies on a GPU."""
        return self.to("cpu")

    @_warns
    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """A copy on a GPU."""
        return self.to("cuda" if device is None else device)

    @_warns
    def to(self, device: Any, non_blocking: bool = False) -> TypedStorage:
        """A storage on a device: itself where it is there already."""
        found = self._untyped_storage.to(device)
        return self if found is self._untyped_storage else self._over(found)

    @_warns
    def __repr__(self) -> str:
        where, held = self._untyped_storage.device, "..."
        if where.type != "meta":
            held = "\n".join(f" {x}" for x in self.tolist())
        kind = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={where}) of size"
        return f"{held}\n{kind} {self._size()}]"


def _asking(name: str) -> Any:
    """A method that asks the bytes, or the method of the same name with ``_`` in front."""
    own = f"_{name.strip('_')}{'_' * name.endswith('_')}"

    @_warns
    def method(self: TypedStorage, *args: Any) -> Any:
        inside = getattr(self, own, None)
        return (inside or getattr(self._untyped_storage, name))(*args)

    method.__name__ = name
    method.__doc__ = f"``{name}`` of the memory."
    return method


for _name in ("nbytes", "size", "element_size", "data_ptr", "is_shared", "resize_", "resizable",
              "is_pinned", "get_device", "pickle_storage_type"):  # fmt: skip
    setattr(TypedStorage, _name, _asking(_name))
TypedStorage.__len__ = _asking("size")  # type: ignore[attr-defined]


def _caster(dtype: dtypes.dtype) -> Any:
    @_warns
    def cast(self: TypedStorage) -> TypedStorage:
        return self._cast(dtype)

    cast.__doc__ = f"The elements as {dtype!r}."
    return cast


for _name, _dtype in CASTS.items():
    setattr(TypedStorage, _name, _caster(dtypes.by_name(_dtype)))


def _rebuilt(memory: UntypedStorage, dtype: dtypes.dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=memory, dtype=dtype, _internal=True)


def _new_memory(args: tuple[Any, ...], dtype: dtypes.dtype, device: Any) -> UntypedStorage:
    """Memory for so many elements, or with these."""
    kind = dtype.array
    if not args or is_int(args[0]):
        count = int(args[0]) if args else 0
        return UntypedStorage(count * kind.itemsize, device=device)
    from functional.ops.from_data import tensor

    found = tensor(args[0], dtype=dtype)._data.reshape(-1).view(np.uint8)
    return UntypedStorage.over(found).to("cpu" if device is None else device)


def _check_wrapped(args: Any, memory: Any, dtype: Any, device: Any) -> None:
    forms = f"TypedStorage{_FORMS}"
    if args:
        raise RuntimeError(
            f"{forms}No positional arguments should be given when using 'wrap_storage'"
        )
    if dtype is None:
        raise RuntimeError(f"{forms}Argument 'dtype' must be specified")
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"{forms}Argument 'dtype' must be torch.dtype, not {type(dtype)}")
    if device is not None:
        raise RuntimeError(
            f"{forms}Argument 'device' should not be specified when 'wrap_storage' is given"
        )
    if not isinstance(memory, UntypedStorage):
        raise TypeError(
            f"{forms}Argument 'wrap_storage' must be UntypedStorage, but got {type(memory)}"
        )
