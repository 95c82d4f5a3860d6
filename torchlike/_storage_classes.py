"""Storage classes of one type each: ``torch.FloatStorage`` and kin."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from functional import dtypes

from ._typed_storage import TypedStorage, is_int, warn
from ._untyped_storage import UntypedStorage

_LEGACY_FORMS = """.__new__ received an invalid combination of arguments. Expected one of:
 * no arguments
 * (int size)
 * (Sequence data)
 * (*, UntypedStorage wrap_storage)
"""


class _LegacyStorageMeta(type):
    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        if type(instance) is not TypedStorage:
            return False
        where = instance._untyped_storage.device.type
        return where == "cpu" and instance.dtype is getattr(cls, "dtype", None)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """A storage class of one dtype, whose instances are TypedStorages."""

    __module__ = "torchlike.storage"

    def __new__(
        cls, *args: Any, wrap_storage: Any = None, _internal: bool = False, **named: Any
    ) -> Any:
        if cls is _LegacyStorage:
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        if not _internal:
            warn()
        forms = f"{cls!r}{_LEGACY_FORMS}"
        for name in named:
            if name not in ("device", "dtype"):
                raise TypeError(f"{cls.__name__}() got an unexpected keyword argument '{name}'")
            raise RuntimeError(f"{forms}Keyword argument '{name}' cannot be specified")
        dtype: Any = cls.dtype
        if wrap_storage is not None:
            if args:
                raise RuntimeError(
                    f"{forms}No positional arguments should be given when using 'wrap_storage'"
                )
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(
                    f"{forms}Argument 'wrap_storage' must be UntypedStorage, but got "
                    f"{type(wrap_storage)}"
                )
            return TypedStorage(wrap_storage=wrap_storage, dtype=dtype, _internal=True)
        if len(args) > 1:
            raise RuntimeError(f"{forms}Too many positional arguments")
        if args and isinstance(args[0], str):
            raise TypeError("new(): invalid data type 'str'")
        if args and not is_int(args[0]) and not isinstance(args[0], (list, tuple, range, ndarray)):
            raise TypeError(f"{forms}Argument type not recognized: {type(args[0])}")
        return TypedStorage(*args, dtype=dtype, _internal=True)

    @classmethod
    def from_buffer(cls, *args: Any, **named: Any) -> TypedStorage:  # type: ignore[override]
        """A copy of a buffer's elements, which lie in ``byte_order``."""
        if "dtype" in named:
            raise RuntimeError(
                "from_buffer: 'dtype' can only be specified in UntypedStorage.from_buffer and "
                "TypedStorage.from_buffer"
            )
        return TypedStorage.from_buffer(*args, dtype=cls.dtype, **named)


def _typed_class(dtype: dtypes.dtype) -> Any:
    names = {"dtype": dtype, "_dtype": dtype, "__module__": "torchlike"}
    return _LegacyStorageMeta(f"{dtype.legacy}Storage", (_LegacyStorage,), names)


# PyTorch has no storage classes of the newer unsigned types.
CLASSES: dict[Any, Any] = {
    d: _typed_class(d) for d in dtypes.ALL if not d.legacy.startswith("UInt")
}
