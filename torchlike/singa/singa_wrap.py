"""The raw tensors that operators see in ``forward`` and ``backward``, and SINGA's constants."""

from __future__ import annotations

from typing import Any

import numpy as np

import torchlike as torch

from .arithmetic import install, number
from .device import Device, get_default_device

USE_CUDA, USE_DIST, USE_OPENCL = False, False, False
kFloat32, kFloat16, kInt, kChar, kDouble = range(5)
DTYPES = {
    kFloat32: torch.float32,
    kFloat16: torch.float16,
    kInt: torch.int32,
    kChar: torch.int8,
    kDouble: torch.float64,
}
CODES = {dtype: code for code, dtype in DTYPES.items()}


def dtype_of(code: Any) -> Any:
    """Our dtype for one of SINGA's codes; ValueError for another code."""
    if code not in DTYPES:
        raise ValueError(f"unknown data type code {code!r}: 0 float32, 1 float16, 2 int32")
    return DTYPES[code]


def code_of(dtype: Any) -> int:
    """SINGA's code for one of our dtypes; NotImplementedError where it has none."""
    if dtype not in CODES:
        raise NotImplementedError(f"SINGA has no tensors of {dtype}")
    return CODES[dtype]


class Tensor:
    """A raw tensor: an array of values, without a history.

    Made from a shape or a list of numbers, a device and a data type code; ``core`` is the tensor of
    ours that holds the values.
    """

    def __init__(
        self, shape: Any = (), device: Device | None = None, data_type: int = kFloat32
    ) -> None:
        self._device = get_default_device() if device is None else device
        shape = tuple(int(n) for n in shape)
        self.core = torch.zeros(shape, dtype=dtype_of(data_type), device=self._device.place)

    @classmethod
    def of(cls, core: Any, device: Device | None = None) -> Tensor:
        """The raw tensor of one of ours, in the same memory."""
        raw = cls.__new__(cls)
        raw.core = core.detach()
        raw._device = get_default_device() if device is None else device
        return raw

    @property
    def values(self) -> Any:
        """Our tensor without a history, in the same memory."""
        return self.core.detach()

    def writable(self) -> Any:
        """What to write new values to: the values."""
        return self.values

    # --- what it is ---

    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(self.core.shape)

    def nDim(self) -> int:
        """The number of dimensions."""
        return int(self.core.ndim)

    def Size(self) -> int:
        """The number of elements."""
        return int(self.core.numel())

    def MemSize(self) -> int:
        """The number of bytes."""
        return int(self.core.numel() * self.core.element_size())

    def data_type(self) -> int:
        """The data type's code."""
        return code_of(self.core.dtype)

    def device(self) -> Device:
        """Where the values are."""
        return self._device

    def transpose(self) -> bool:
        """Whether the dimensions lie in memory in another order."""
        return not self.core.is_contiguous()

    # --- values ---

    def GetFloatValue(self, count: int | None = None) -> list[float]:
        """The first ``count`` values as floats."""
        return self._first(count, float)

    def GetIntValue(self, count: int | None = None) -> list[int]:
        """The first ``count`` values as ints."""
        return self._first(count, int)

    def _first(self, count: int | None, kind: Any) -> list[Any]:
        flat = self.numpy().reshape(-1)
        return [kind(value) for value in flat[:count]]

    def numpy(self) -> np.ndarray:
        """The values as an array, shared with a CPU tensor."""
        return self.core.cpu().numpy()

    def SetFloatValue(self, value: float) -> None:
        """Set all elements."""
        self.core.fill_(value)

    SetIntValue = SetFloatValue

    def CopyFloatDataFromHostPtr(self, values: Any) -> None:
        """Set the elements from a flat sequence of as many numbers."""
        self.copy_from(np.asarray(values))

    CopyIntDataFromHostPtr = CopyHalfFloatDataFromHostPtr = CopyFloatDataFromHostPtr

    def copy_from(self, values: np.ndarray) -> None:
        """Set the elements from an array of as many; ValueError for another number."""
        if values.size != self.Size():
            raise ValueError(f"{values.size} values do not fill a tensor of {self.Size()}")
        source = torch.from_numpy(np.array(values, order="C").reshape(self.shape()))
        self.values.copy_(source)

    def CopyData(self, other: Tensor) -> None:
        """Set the elements from a raw tensor of as many."""
        self.copy_from(other.numpy())

    # --- others like it ---

    def _like(self, core: Any) -> Tensor:
        return Tensor.of(core, self._device)

    def Clone(self, device: Device | None = None) -> Tensor:
        """A copy in memory of its own."""
        place = self._device if device is None else device
        return Tensor.of(self.core.clone().to(place.place), place)

    def AsType(self, code: int) -> Tensor:
        """The values in another data type."""
        return self._like(self.core.to(dtype_of(code)))

    def ToType(self, code: int) -> None:
        """Change the data type."""
        self.core = self.core.to(dtype_of(code))

    def ToDevice(self, device: Device) -> None:
        """Move the values."""
        self.core, self._device = self.core.to(device.place), device

    def ToHost(self) -> None:
        """Move the values to the CPU."""
        self.ToDevice(get_default_device())

    def Reshape(self, shape: Any) -> Tensor:
        """The same values with other sizes of dimensions."""
        return self._like(self.core.reshape(tuple(shape)))

    def Transpose(self, axes: Any = None) -> Tensor:
        """The dimensions in another order: reversed, unless ``axes`` says which."""
        order = range(self.core.ndim)[::-1] if axes is None else axes
        return self._like(self.core.permute(*order))

    def __repr__(self) -> str:
        return f"{self.numpy()}, {self.core.dtype}".replace("torch.", "")


def _operand(x: Any) -> Any:
    return x.values if isinstance(x, Tensor) else number(x)


install(Tensor, _operand, comparisons=False)


def Gaussian(mean: float, std: float, out: Tensor) -> None:
    """Fill a raw tensor with normal numbers."""
    out.core.normal_(mean, std)


def Uniform(low: float, high: float, out: Tensor) -> None:
    """Fill a raw tensor with uniform numbers from [low, high)."""
    out.core.uniform_(low, high)


def Bernoulli(p: float, out: Tensor) -> None:
    """Fill a raw tensor with ones, each with probability ``p``, and zeros."""
    out.core.bernoulli_(p)


def Axpy(alpha: Any, x: Tensor, y: Tensor) -> None:
    """y += alpha x; ``alpha`` is a number or a raw tensor of one element."""
    y.values.add_(x.values * _operand(alpha))


def SumAll(x: Tensor) -> Tensor:
    """The sum of all elements, in shape (1,)."""
    return x._like(x.core.sum().reshape(1))


def __getattr__(name: str) -> Any:
    # the operators, which need this module, say what a handle is
    if name.endswith("Handle"):
        from .operators import handles

        if hasattr(handles, name):
            return getattr(handles, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
