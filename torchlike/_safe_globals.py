"""What a checkpoint may name while ``weights_only`` is on."""

from __future__ import annotations

from collections import Counter, OrderedDict
from pickle import UnpicklingError
from typing import Any

from functional import devices, dtypes
from functional.size import Size
from functional.tensor import Parameter, Tensor

from . import _tensor, _utils, storage
from ._pickler import pytorch_name
from .legacy import TYPES
from .methods import LAYOUTS

_CODECS = frozenset(("latin1", "latin-1", "utf-8", "utf8", "ascii"))
marked: list[Any] = []  # what the program has declared safe


def _get_layout(name: str) -> Any:
    """The layout of that name."""
    found = LAYOUTS.get(name.removeprefix("torch."))
    if found is None:
        raise NotImplementedError(f"a checkpoint with the layout {name}")
    return found


_get_layout.__module__ = "torchlike.serialization"  # as checkpoints say


def _encode(text: str, codec: str = "utf-8") -> bytes:
    """How protocol 2 writes bytes."""
    if codec not in _CODECS:
        raise UnpicklingError(f"bytes in a checkpoint are not written with the codec {codec!r}")
    return text.encode(codec)


def _bytearray(data: Any = b"", codec: str = "latin-1") -> bytearray:
    # never a number, for which Python would allocate that many bytes
    return bytearray(_encode(data, codec) if isinstance(data, str) else memoryview(data))


_FUNCTIONS: dict[str, Any] = {
    "torch.serialization._get_layout": _get_layout,
    "torch._tensor._rebuild_from_type_v2": _tensor._rebuild_from_type_v2,
    "torch.Size": Size,
    "torch.device": devices.device,
    "torch.nn.parameter.Parameter": Parameter,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "_codecs.encode": _encode,
    "builtins.bytearray": _bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
}
for _name in (
    "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter",
    "_rebuild_parameter_with_state", "_rebuild_meta_tensor_no_storage",
    "_rebuild_sparse_tensor",
):  # fmt: skip
    _FUNCTIONS[f"torch._utils.{_name}"] = getattr(_utils, _name)

# Named, but never called: sizes given to these would allocate memory.
_NAMED: dict[str, Any] = {
    "torch.Tensor": Tensor,
    "torch.storage.UntypedStorage": storage.UntypedStorage,
    "torch.storage.TypedStorage": storage.TypedStorage,
}
_NAMED |= {f"torch.{d.name}": d for d in dtypes.ALL}
_NAMED |= {f"torch.{name}": kind for name, kind in (TYPES | storage.BY_NAME).items()}
_CALLABLE = frozenset(map(id, _FUNCTIONS.values()))
_NEW = frozenset(map(id, (Parameter, OrderedDict, Counter, Size, set, complex)))


def _named(item: Any) -> tuple[str, Any]:
    if not isinstance(item, tuple):
        return ".".join(pytorch_name(item)), item
    if len(item) != 2:
        raise ValueError(
            "Expected tuple of length 2 (global, str of callable full path), but got tuple of "
            f"length: {len(item)}"
        )
    if type(item[1]) is not str:
        raise TypeError(
            "Expected second item in tuple to be str of callable full path, but got: "
            f"{type(item[1])}"
        )
    return item[1], item[0]


class Allowed:
    """The list, with what the program has added to it."""

    def __init__(self) -> None:
        self.own = dict(map(_named, marked))
        self._ids = frozenset(map(id, self.own.values()))

    def find(self, path: str) -> Any:
        """What a name stands for; None where it is not on the list."""
        for table in (_FUNCTIONS, _NAMED, self.own):
            if path in table:
                return table[path]
        return None

    def call(self, function: Any, args: Any) -> Any:
        """Call a function that is on the list."""
        inner = args[0] if function is _tensor._rebuild_from_type_v2 else function
        for f in (function, inner):
            if id(f) not in _CALLABLE and id(f) not in self._ids:
                raise UnpicklingError(f"Trying to call reduce for unrecognized function {f}")
        return function(*args)

    def new(self, cls: Any, args: Any) -> Any:
        """An instance of a class that is on the list."""
        if id(cls) not in _NEW and id(cls) not in self._ids:
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via "
                f"`add_safe_globals` but got {cls}"
            )
        return cls(*args) if cls is Parameter else cls.__new__(cls, *args)

    def may_build(self, cls: Any) -> bool:
        """Whether the state of an instance may be set."""
        return id(cls) in self._ids
