"""GPUs: what there is of them.

``functional.devices`` says how many there are. Without one, questions are answered (no device, no
memory in use), and what needs a device raises PyTorch's error. With one, ``_gpu`` answers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any

from functional import devices, gpu_random
from functional.tensor import Tensor

from .. import _settings
from ..legacy import TYPES

AcceleratorError, OutOfMemoryError = _settings.AcceleratorError, _settings.OutOfMemoryError
has_half, has_magma = True, False


def _gpu() -> Any:
    """What answers where there is a GPU; PyTorch's error where there is none."""
    if not is_available():
        raise devices.absent("cuda")
    from .. import _gpu

    return _gpu


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        return _gpu().default_generators() if is_available() else ()
    if name == "amp":
        return import_module(f"{__spec__.name}.amp")
    raise AttributeError(f"module 'torchlike.cuda' has no attribute '{name}'")


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
    return is_available() and (including_emulation or _gpu().get_device_capability()[0] >= 8)


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
        return getattr(_gpu(), name)(*args, **kwargs)

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
    if device is not None and found is None and is_available():
        return _gpu().index_of(device)
    if device is not None and found is None:
        raise ValueError(
            f"Expected a torch.device with a specified index or an integer, but got:{device}"
        )
    return -1 if found is None else found


def set_device(device: Any) -> None:
    """Use another GPU; AssertionError where there is none. A negative index changes nothing."""
    index = _index(device)
    if index >= 0:
        _gpu().set_device(index)


class device:
    """Use another GPU for the length of a block; None or a negative index changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _index(device)
        self._used: Any = None

    def __enter__(self) -> None:
        if self.idx >= 0:
            if not is_available():
                raise RuntimeError("PyTorch was compiled without CUDA support")
            self._used = _gpu().on(self.idx)
            self._used.__enter__()

    def __exit__(self, *exc: object) -> None:
        if self._used is not None:
            self._used.__exit__(*exc)
            self._used = None


class device_of(device):
    """Use the GPU of a tensor, if it is on one."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class Stream:
    """Work on a GPU, in order; RuntimeError where there is none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if not is_available():
            raise RuntimeError("torch.cuda.Stream requires CUDA support")
        return object.__new__(_gpu().Stream if cls is Stream else cls)


class Event:
    """A point in a stream's work; RuntimeError where there is no GPU."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if not is_available():
            raise RuntimeError("Tried to instantiate dummy base class Event")
        return object.__new__(_gpu().Event if cls is Event else cls)


class StreamContext:
    """Use a stream for the length of a block; None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            _gpu()
            self.stream.stream.__enter__()

    def __exit__(self, *exc: object) -> None:
        if self.stream is not None:
            self.stream.stream.__exit__(*exc)


def stream(stream: Any) -> StreamContext:
    """Use a stream for the length of a block."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Use a stream from now on."""
    _gpu()
    if stream is not None:
        stream.stream.use()


# --- memory and random numbers --------------------------------------------------------------------


def empty_cache() -> None:
    """Give unused memory back."""
    if is_available():
        _gpu().empty_cache()


def _nothing(name: str, says: str) -> Callable[..., int]:
    def function(device: Any = None) -> int:
        return getattr(_gpu(), name)(device) if is_available() else 0

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{says}: 0 without a GPU."
    return function


memory_allocated = _nothing("memory_allocated", "Bytes that tensors occupy")
max_memory_allocated = _nothing("max_memory_allocated", "The most bytes they have occupied")
memory_reserved = _nothing("memory_reserved", "Bytes held for tensors")
max_memory_reserved = _nothing("max_memory_reserved", "The most bytes held for them")


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Numbers about memory: none without a GPU."""
    return _gpu().memory_stats(device) if is_available() else OrderedDict()


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator, if there is one."""
    if is_available():
        _gpu().manual_seed(seed)
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs."""
    gpu_random.manual_seed_all(seed)


def seed() -> None:
    """Seed the GPU's generator with a random number."""
    if is_available():
        _gpu().seed()


def seed_all() -> None:
    """Seed the generators of all GPUs with random numbers."""
    if is_available():
        _gpu().seed_all()


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all GPUs."""
    return [_gpu().get_rng_state(i) for i in range(device_count())]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Set the state of the GPU's generator, if there is one."""
    if is_available():
        _gpu().set_rng_state(new_state, device)


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of the generators of all GPUs."""
    for i, state in enumerate(new_states[: device_count()]):
        _gpu().set_rng_state(state, i)


# --- legacy types ---------------------------------------------------------------------------------


class _Type(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.type() == f"torch.cuda.{cls.__name__}"

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if is_available():
            return TYPES[cls.__name__](*args).cuda()
        raise TypeError(
            f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled."
        )


globals().update({name: _Type(name, (), {"__module__": __name__}) for name in TYPES})
