"""Tensor: an array and its place on the tape. No maths here; methods are attached higher up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy import ndarray

from . import devices, dtypes
from .kernels.coo import SPARSE
from .kernels.meta import ARRAYS, MetaArray
from .modes import MODE, register_plain
from .size import Size, size_of

NO_EDGE: tuple[None, int] = (None, 0)
new = object.__new__


class Place:
    """What is special about a tensor that may not take the hot path.

    ``base`` and ``version`` belong to views: the tensor whose memory is shared, and the value of
    the version counter for which the view's edge is right. ``made`` says how a view came to be
    (``no_grad``, ``inference``, ``multi``, ``custom`` or None), ``inference`` marks tensors that
    autograd must never see.
    """

    __slots__ = ("base", "inference", "made", "version")

    def __init__(
        self, base: Any = None, version: int = 0, made: str | None = None, inference: bool = False
    ) -> None:
        self.base, self.version, self.made, self.inference = base, version, made, inference


class Shared(Place):
    """The place of a tensor that is no view, but lies inside the memory of another one."""

    __slots__ = ("storage",)

    def __init__(self, storage: Any, inference: bool = False) -> None:
        super().__init__(inference=inference)
        self.storage = storage


ODD = Place()  # not C-contiguous NumPy memory; nothing else is special


class Tensor:
    """A multi-dimensional array that can record the operations applied to it."""

    # _data   the array            _edge  (node, output number) that computed it
    # _ver    shared version counter [int], or None while nothing needs one
    # _place  None for plain C-contiguous NumPy memory that is no view, else a Place
    # _grad   the accumulated gradient, or None
    __slots__ = ("__dict__", "__weakref__", "_data", "_edge", "_grad", "_place", "_ver")
    _data: Any
    _edge: tuple[Any, int]
    _grad: Tensor | None
    _place: Place | None
    _ver: list[int] | None

    # set by higher floors
    legacy_constructor: ClassVar[Any] = None
    subclass_made: ClassVar[list[Any]] = []

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for told in Tensor.subclass_made:
            told(cls)

    if TYPE_CHECKING:  # operators and methods are attached there too

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...
        def __index__(self) -> int: ...

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.legacy_constructor(cls, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    @property
    def shape(self) -> Size:
        """The size of every dimension."""
        return size_of(self._data.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.FROM_ARRAY[self._data.dtype]

    @property
    def device(self) -> devices.device:
        """Where the elements are kept."""
        return devices.cpu if type(self._data) is ndarray else device_of(self._data)


def device_of(data: Any) -> devices.device:
    """The device of an array."""
    if isinstance(data, ndarray) or type(data) in SPARSE:
        return devices.cpu
    if type(data) is MetaArray:
        return devices.meta
    if isinstance(data, Tensor):  # a transform's wrapper
        return data.device
    if type(data) in ARRAYS:  # CuPy's
        return devices.device("cuda", data.device.id)
    raise TypeError(f"no device is known for {type(data).__name__}")


class ParameterMeta(type):
    """Calls tensors of other classes parameters too, where they are marked as such."""

    def __instancecheck__(cls, value: Any) -> bool:
        if issubclass(type(value), cls):
            return True
        return cls is Parameter and isinstance(value, Tensor) and "_is_param" in value.__dict__


class Parameter(Tensor, metaclass=ParameterMeta):
    """A Tensor that a Module registers; its constructor is attached by the nn surface."""

    __slots__ = ()


register_plain(Tensor)
register_plain(Parameter)


def wrap(data: Any) -> Tensor:
    """A Tensor without history over an array; NumPy scalars become 0-d arrays."""
    if type(data) not in ARRAYS:
        data = np.asarray(data)
    t = new(Tensor)
    t._data = data
    t._edge = NO_EDGE
    t._ver = t._grad = None
    plain = type(data) is ndarray and data.flags.c_contiguous
    if MODE.inference:
        t._place = Place(inference=True)
    else:
        t._place = None if plain else ODD
    return t


def replace_data(t: Tensor, data: Any) -> None:
    """Give a tensor another array, keeping its history (``.data = ``, module conversion)."""
    t._data = data
    if is_inference(t):
        t._place = Place(inference=True)
        return
    plain = type(data) is ndarray and data.flags.c_contiguous
    t._place = None if plain else ODD


def counter(t: Tensor) -> list[int]:
    """The version counter, made on first need."""
    ver = t._ver
    if ver is None:
        ver = t._ver = [0]
    return ver


def same_memory(t: Tensor) -> Tensor:
    """A new Tensor without history over the same array and version counter (``detach``)."""
    out = wrap(t._data)
    out._ver = counter(t)
    place = t._place
    if place is not None and place is not ODD:
        storage = storage_array(t)
        if storage is not t._data:
            out._place = Shared(storage, place.inference)
        elif place.inference:
            out._place = Place(inference=True)
    return out


def storage_array(t: Tensor) -> Any:
    """The array that spans all the memory a tensor is part of."""
    place = t._place
    if place is None or place is ODD:
        return t._data
    if type(place) is Shared:
        return place.storage
    return t._data if place.base is None else storage_array(place.base)


def address(data: Any) -> int:
    """Where an array's first element lies; 0 for arrays without memory."""
    found = getattr(data, "__array_interface__", None)
    if found is not None:
        return found["data"][0]
    return 0 if type(data) is MetaArray else data.data.ptr


def base_of(t: Tensor) -> Tensor | None:
    """The tensor whose memory a differentiable view shares, or None."""
    place = t._place
    return None if place is None else place.base


def is_inference(t: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    place = t._place
    return place is not None and place.inference
