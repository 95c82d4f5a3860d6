"""The class Tensor: values, and what the tape is to know about them."""

from __future__ import annotations

import itertools
import operator
import re
from typing import Any, ClassVar

import numpy as np

import torchlike as torch

from .arithmetic import IN_PLACE, install, number
from .deprecation import deprecated
from .device import Device, get_default_device
from .singa_wrap import Tensor as CTensor
from .singa_wrap import code_of, dtype_of

float32, float16, int32 = range(3)
_TAKEN = (np.float32, np.float16, np.int32)
_WORDS = {"int": int32, "float": float32}


def code(dtype: Any) -> int:
    """A data type's code from the code itself, or ``'int'`` or ``'float'``."""
    return _WORDS.get(dtype, dtype) if isinstance(dtype, str) else dtype


class Tensor:
    """An array of float32 (0), float16 (1) or int32 (2) numbers on a device.

    Only functions of ``singa.autograd`` are recorded; operators and the functions of
    ``singa.tensor`` give tensors without a history. ``requires_grad``: are gradients to pass
    through it? ``stores_grad``: is its own gradient to be delivered? ``data`` is the raw tensor, in
    the same memory; ``creator`` the operator that made it.
    """

    tensor_count: ClassVar[Any] = itertools.count()
    dtype_name: ClassVar[dict[int, str]] = {float32: "float32", float16: "float16", int32: "int32"}
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # == compares the elements
    __array_ufunc__ = None  # NumPy's numbers leave their operators to this class

    def __init__(
        self,
        shape: Any = (),
        device: Device | None = None,
        dtype: int = float32,
        data: Any = None,
        requires_grad: bool = True,
        stores_grad: bool = False,
        creator: Any = None,
        name: str | None = None,
    ) -> None:
        self.device = get_default_device() if device is None else device
        self.requires_grad, self.stores_grad, self._creator = requires_grad, stores_grad, creator
        self._used = False  # by an operator, since it got its memory
        self.name = f"Dummy#{next(Tensor.tensor_count)}" if name is None else name
        self.core = self._first_values(shape, dtype, data)

    def _first_values(self, shape: Any, dtype: Any, data: Any) -> Any:
        if data is None:
            size = tuple(int(n) for n in shape) or (0,)
            return torch.zeros(size, dtype=dtype_of(code(dtype)), device=self.device.place)
        if isinstance(data, CTensor):
            self.device = data.device()
            return data.core.detach()  # the flag requires_grad of ours is not for both
        if not isinstance(data, np.ndarray):
            kind = type(data).__name__
            raise TypeError(f"data must be an ndarray or a raw tensor, not {kind}")
        return torch.from_numpy(np.array(checked(data), order="C")).to(self.device.place)

    # --- what it is ---

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions; () of a tensor without values."""
        return () if self.is_empty() else tuple(self.core.shape)

    @property
    def dtype(self) -> int:
        """The data type's code."""
        return code_of(self.core.dtype)

    @property
    def data(self) -> CTensor:
        """The raw tensor, in the same memory; assigned, it replaces the values and the device."""
        return CTensor.of(self.core, self.device)

    @data.setter
    def data(self, raw: CTensor) -> None:
        core = raw.core
        if core.data_ptr() != self.core.data_ptr() or core.shape != self.core.shape:
            self.core, self._used = core.detach(), False  # ``t.data += x`` gives back the same
        self.device = raw.device()

    @property
    def creator(self) -> Any:
        """The operator that made it; a ``Dummy`` if none did."""
        if self._creator is None:
            from .operator import Dummy

            self._creator = Dummy(self, self.name)
        return self._creator

    @creator.setter
    def creator(self, op: Any) -> None:
        self._creator = op

    def operand(self) -> Any:
        """What an operator takes of it: our tensor, its place on the tape as the flags say."""
        wanted = self.requires_grad or self.stores_grad
        core, self._used = self.core, True
        if core.grad_fn is not None:
            return core if wanted else core.detach()
        wanted = wanted and core.is_floating_point()
        if core.requires_grad != wanted:
            core.requires_grad_(wanted)
        return core

    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def size(self) -> int:
        """The number of elements."""
        return int(self.core.numel())

    def is_empty(self) -> bool:
        """Whether it has no dimensions, hence no values."""
        return tuple(self.core.shape) == (0,)

    def memsize(self) -> int:
        """The number of bytes."""
        return self.size() * self.core.element_size()

    def is_transpose(self) -> bool:
        """Whether the dimensions lie in memory in another order."""
        return not self.core.is_contiguous()

    def is_dummy(self) -> bool:
        """Whether nobody has named it."""
        return re.fullmatch(r"Dummy#\d+", self.name) is not None

    # --- writing ---

    @property
    def values(self) -> Any:
        """Our tensor without a history, in the same memory: to read and to write to."""
        return self.core.detach()

    def writable(self) -> Any:
        """What to write new values to: the values.

        They move to new memory first if an operator has had this tensor and gradients only pass
        it, because the tape may still need the old ones (a recurrent state kept between steps).
        """
        if self._used and not self.stores_grad and self.core.grad_fn is None:
            self.core, self._used = self.core.detach().clone(), False
        return self.core.detach()

    def set_value(self, x: float, inplace: bool = True) -> Tensor:
        """Set all elements to a number."""
        self._only_in_place(inplace).fill_(x)
        return self

    def gaussian(self, mean: float, std: float, inplace: bool = True) -> Tensor:
        """Fill with normal numbers."""
        self._only_in_place(inplace).normal_(mean, std)
        return self

    def uniform(self, low: float, high: float, inplace: bool = True) -> Tensor:
        """Fill with uniform numbers from [low, high)."""
        self._only_in_place(inplace).uniform_(low, high)
        return self

    def bernoulli(self, p: float, inplace: bool = True) -> Tensor:
        """Fill with ones, each with probability ``p``, and zeros."""
        self._only_in_place(inplace).bernoulli_(p)
        return self

    def _only_in_place(self, inplace: bool) -> Any:
        if not inplace:
            raise NotImplementedError("only inplace=True is there: use clone() first")
        return self.writable()

    def copy_from_numpy(self, np_array: np.ndarray, offset: int = 0) -> None:
        """Set the elements from ``offset`` on, in order, from an array of as many numbers.

        They are converted to this tensor's data type. ValueError for another number of elements.
        """
        if not isinstance(np_array, np.ndarray) or np_array.dtype.kind not in "fiub":
            kind = getattr(np_array, "dtype", type(np_array).__name__)
            raise NotImplementedError(f"copy_from_numpy takes an ndarray of numbers, not {kind}")
        array = np.array(np_array, order="C").reshape(-1)
        self._write(torch.from_numpy(array).to(self.device.place), offset)

    def copy_data(self, t: Tensor) -> None:
        """Set the elements, in order, from a Tensor of as many."""
        if not isinstance(t, Tensor):
            raise AssertionError(f"copy_data takes a Tensor, not {type(t).__name__}")
        self._write(t.values.to(self.device.place).reshape(-1))

    def copy_from(self, t: Any, offset: int = 0) -> None:
        """As ``copy_data``, from a Tensor, or ``copy_from_numpy``, from an array."""
        if isinstance(t, np.ndarray):
            self.copy_from_numpy(t, offset)
        elif isinstance(t, Tensor):
            self._write(t.values.to(self.device.place).reshape(-1), offset)
        else:
            raise ValueError(f"copy_from takes a Tensor or an ndarray, not {type(t).__name__}")

    def _write(self, flat: Any, offset: int = 0) -> None:
        room = self.size() - offset
        if offset < 0 or flat.numel() != room:
            raise ValueError(
                f"{flat.numel()} values from element {offset} on do not fill a tensor of shape "
                f"{self.shape}, which has {self.size()}"
            )
        if offset:
            flat = torch.cat([self.values.reshape(-1)[:offset], flat.to(self.core.dtype)])
        self.writable().copy_(flat.reshape(self.core.shape))

    # --- others like it: without a history ---

    def _like(self, core: Any) -> Tensor:
        return Tensor(data=CTensor.of(core, self.device))

    def copy(self) -> Tensor:
        """Another Tensor of the same memory."""
        return self._like(self.core)

    def clone(self) -> Tensor:
        """A copy in memory of its own."""
        return self._like(self.core.detach().clone())

    deepcopy = clone

    def reshape(self, shape: Any) -> Tensor:
        """The values in another shape; in the same memory unless they are transposed."""
        return self._like(self.core.detach().reshape(tuple(shape)))

    def transpose(self, axes: Any = None) -> Tensor:
        """The dimensions in another order, reversed by default; in the same memory."""
        order = tuple(range(self.ndim())[::-1] if axes is None else axes)
        return self._like(self.core.detach().permute(order))

    def T(self) -> Tensor:
        """The transpose of a matrix, in the same memory; ValueError for another number of axes."""
        if self.ndim() != 2:
            raise ValueError(f"T is of a matrix, not of a tensor of shape {self.shape}")
        return self.transpose()

    def contiguous(self) -> Tensor:
        """The values in the order of the dimensions; in the same memory if they are already."""
        return self._like(self.core.detach().contiguous())

    def repeat(self, repeats: Any, axis: int | None) -> Tensor:
        """Each element ``repeats`` times along ``axis``, as in NumPy; None: of all, flattened."""
        if not isinstance(repeats, int):
            repeats = torch.tensor(list(repeats), device=self.device.place)
        return self._like(torch.repeat_interleave(self.values, repeats, axis))

    def as_type(self, dtype: Any) -> Tensor:
        """The values as float32 (0, 'float'), float16 (1) or int32 (2, 'int'), copied."""
        return self._like(self.core.detach().to(_taken(dtype), copy=True))

    def __getitem__(self, keys: Any) -> Tensor:
        """A copy of a part: whole numbers, which keep their axis, and slices."""
        keys = keys if isinstance(keys, tuple) else (keys,)
        if len(keys) > self.ndim():
            raise IndexError(f"{len(keys)} indices for a tensor of {self.ndim()} dimensions")
        parts = tuple(_part(k, n) for k, n in zip(keys, self.shape, strict=False))
        return self._like(self.core.detach()[parts].clone())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"core": self.core.detach(), "_creator": None}

    # --- changes of itself ---

    def reset_like(self, t: Tensor) -> None:
        """Take the shape, data type and device of ``t``; the values become zeros."""
        self.core, self.device = torch.zeros_like(t.values), t.device
        self._used, self._creator = False, None

    def to_type(self, dtype: Any) -> None:
        """Change the data type."""
        if self.core.dtype != _taken(dtype):
            self.core = self._kept().to(_taken(dtype))

    def to_device(self, device: Device) -> None:
        """Move the values to a device."""
        if device.place != self.device.place:
            self.core = self._kept().to(device.place)
        self.device = device

    def to_host(self) -> None:
        """Move the values to the CPU."""
        self.to_device(get_default_device())

    def _kept(self) -> Any:
        # a result keeps its history when it is converted
        return self.core if self.core.grad_fn is not None else self.core.detach()

    # --- numbers of it ---

    def l1(self) -> float:
        """The mean of the absolute values."""
        return float(self.values.float().abs().mean())

    def l2(self) -> float:
        """The Euclidean norm divided by the number of elements."""
        return float(self.values.float().square().sum().sqrt() / self.size())

    def __repr__(self) -> str:
        return repr(self.data)


def _taken(dtype: Any) -> Any:
    if code(dtype) not in Tensor.dtype_name:
        raise ValueError(f"no data type {dtype!r}: 0 or 'float', 1 (float16), 2 or 'int'")
    return dtype_of(code(dtype))


def _part(key: Any, size: int) -> slice:
    if isinstance(key, slice):
        return key
    if not hasattr(key, "__index__"):
        raise TypeError(f"indices are whole numbers and slices, not {type(key).__name__}")
    i = operator.index(key)
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of bounds for a dimension of {size}")
    return slice(i % size, i % size + 1)


def _operand(x: Any) -> Any:
    return x.values if isinstance(x, Tensor) else number(x)


install(Tensor, _operand)


def along(v: Any, where: str, matrix: Tensor) -> Any:
    """A vector's values so that they go along each row, or each column, of a matrix."""
    length = matrix.shape[where == "row"] if matrix.ndim() == 2 else None
    if v.size() != length:
        raise ValueError(f"a vector of shape {v.shape} is no {where} of shape {matrix.shape}")
    return v.values.reshape((1, -1) if where == "row" else (-1, 1))


def _for_each(verb: str, write: Any, where: str) -> Any:
    def method(self: Tensor, v: Tensor) -> None:
        write(self.writable(), along(v, where, self))

    method.__name__ = f"{verb}_{where}"
    method.__doc__ = f"{verb.capitalize()} each {where}, in place, with a vector: use operators."
    return deprecated("broadcasting with +, * or /")(method)


for _verb, _operation in (("add", "add"), ("div", "truediv"), ("mult", "mul")):
    for _where in ("column", "row"):
        setattr(Tensor, f"{_verb}_{_where}", _for_each(_verb, IN_PLACE[_operation], _where))


PlaceHolder = Tensor


def checked(array: np.ndarray) -> np.ndarray:
    """An array of a data type that tensors have; NotImplementedError for another."""
    if array.dtype not in _TAKEN:
        raise NotImplementedError(
            f"tensors are float32, float16 or int32, not {array.dtype}: use tensor.from_numpy, "
            "which converts float64 and int64"
        )
    return array
