"""GPUs: what there is of them.

``functional.devices`` says how many there are. Without one, questions are answered (no device, no
memory in use), and what needs a device raises PyTorch's error.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from functional import devices

from . import _settings
from .legacy import TYPES

AcceleratorError, OutOfMemoryError = _settings.AcceleratorError, _settings.OutOfMemoryError
has_half, has_magma = True, False
default_generators: tuple[Any, ...] = ()


def is_available() -> bool:
    """Whether there is a GPU."""
    return device_count() > 0


def device_count() -> int:
    """The number of GPUs."""
    return devices.count("cuda")


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes in bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """Whether a GPU computes in TF32."""
    return False


def get_arch_list() -> list[str]:
    """The GPU architectures that kernels were compiled for: none are compiled ahead."""
    return []


def get_gencode_flags() -> str:
    """The compiler's flags for them."""
    return ""


# --- what needs a device --------------------------------------------------------------------------


def _needs_device(name: str, says: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise devices.absent("cuda")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{says} AssertionError where there is no GPU."
    return function


init = _needs_device("init", "Start to use the GPU.")
current_device = _needs_device("current_device", "The index of the GPU in use.")
current_stream = _needs_device("current_stream", "The stream in use.")
default_stream = _needs_device("default_stream", "The default stream.")
get_device_name = _needs_device("get_device_name", "The name of a GPU.")
get_device_capability = _needs_device("get_device_capability", "Its compute capability.")
get_device_properties = _needs_device("get_device_properties", "Its properties.")
get_rng_state = _needs_device("get_rng_state", "The state of its random generator.")
initial_seed = _needs_device("initial_seed", "The seed of its random generator.")
ipc_collect = _needs_device("ipc_collect", "Free memory shared with other processes.")
mem_get_info = _needs_device("mem_get_info", "Its free and its whole memory.")
synchronize = _needs_device("synchronize", "Wait for the GPU.")
reset_peak_memory_stats = _needs_device("reset_peak_memory_stats", "Forget the peak of memory.")


def _index(device: Any) -> int:
    """The index a device argument means; -1 for none."""
    if isinstance(device, int):
        return device
    found = None if device is None else devices.device(device).index
    if device is not None and found is None:
        raise ValueError(
            f"Expected a torch.device with a specified index or an integer, but got:{device}"
        )
    return -1 if found is None else found


def set_device(device: Any) -> None:
    """Use another GPU; AssertionError where there is none. A negative index changes nothing."""
    if _index(device) >= 0:
        raise devices.absent("cuda")


class device:
    """Use another GPU for the length of a block; None or a negative index changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _index(device)

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, *exc: object) -> None:
        pass


class device_of(device):
    """Use the GPU of a tensor, if it is on one."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class Stream:
    """Work on a GPU, in order; RuntimeError where there is none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class Event:
    """A point in a stream's work; RuntimeError where there is no GPU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("Tried to instantiate dummy base class Event")


class StreamContext:
    """Use a stream for the length of a block; None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            raise devices.absent("cuda")

    def __exit__(self, *exc: object) -> None:
        pass


def stream(stream: Any) -> StreamContext:
    """Use a stream for the length of a block."""
    return StreamContext(stream)


# --- memory and random numbers --------------------------------------------------------------------


def empty_cache() -> None:
    """Give unused memory back: there is none."""


def _nothing(name: str, says: str) -> Callable[..., int]:
    def function(device: Any = None) -> int:
        return 0

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{says}: 0 without a GPU."
    return function


memory_allocated = _nothing("memory_allocated", "Bytes that tensors occupy")
max_memory_allocated = _nothing("max_memory_allocated", "The most bytes they have occupied")
memory_reserved = _nothing("memory_reserved", "Bytes held for tensors")
max_memory_reserved = _nothing("max_memory_reserved", "The most bytes held for them")


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Numbers about memory: none without a GPU."""
    return OrderedDict()


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator, if there is one."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs."""
    int(seed)


def seed() -> None:
    """Seed the GPU's generator with a random number."""


def seed_all() -> None:
    """Seed the generators of all GPUs with random numbers."""


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all GPUs."""
    return []


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Set the state of the GPU's generator, if there is one."""


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of the generators of all GPUs."""


# --- legacy types ---------------------------------------------------------------------------------


class _AbsentType(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled."
        )


globals().update({name: _AbsentType(name, (), {"__module__": __name__}) for name in TYPES})
