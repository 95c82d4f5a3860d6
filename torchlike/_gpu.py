"""``torch.cuda`` where there is a GPU: CuPy's devices, streams, memory pool and our generators."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import cupy

from functional import devices, gpu_random
from functional.tensor import Tensor

from . import cuda


def index_of(device: Any) -> int:
    """The index a device argument means: the current one for None and ``cuda``."""
    if isinstance(device, int) and not isinstance(device, bool):
        device = devices.device("cuda", device)
    return devices.resolve("cuda" if device is None else device).index or 0


def on(device: Any) -> Any:
    """A context in which CuPy works on that device."""
    return cupy.cuda.Device(index_of(device))


class DeviceProperties:
    """What is known of a GPU."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.name = facts["name"].decode()
        self.major, self.minor = facts["major"], facts["minor"]
        self.total_memory = facts["totalGlobalMem"]
        self.multi_processor_count = facts["multiProcessorCount"]

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count})"
        )


def init() -> None:
    """CuPy starts by itself."""


def ipc_collect() -> None:
    """No memory is shared with other processes."""


def current_device() -> int:
    """The index of the GPU in use."""
    return cupy.cuda.runtime.getDevice()


def get_device_properties(device: Any = None) -> DeviceProperties:
    """The properties of a GPU."""
    return DeviceProperties(cupy.cuda.runtime.getDeviceProperties(index_of(device)))


def get_device_name(device: Any = None) -> str:
    """The name of a GPU."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Its compute capability."""
    found = get_device_properties(device)
    return found.major, found.minor


def set_device(device: Any) -> None:
    """Use another GPU from now on."""
    cupy.cuda.Device(index_of(device)).use()


def synchronize(device: Any = None) -> None:
    """Wait for all work on a GPU."""
    with on(device):
        cupy.cuda.runtime.deviceSynchronize()


# --- memory ---------------------------------------------------------------------------------------


def memory_allocated(device: Any = None) -> int:
    """Bytes of CuPy's pool that are in use."""
    with on(device):
        return cupy.get_default_memory_pool().used_bytes()


def memory_reserved(device: Any = None) -> int:
    """Bytes that CuPy's pool holds."""
    with on(device):
        return cupy.get_default_memory_pool().total_bytes()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Bytes of the GPU that are free, and all of them."""
    with on(device):
        return cupy.cuda.runtime.memGetInfo()


def empty_cache() -> None:
    """Give back what the pool holds and nobody uses."""
    cupy.get_default_memory_pool().free_all_blocks()


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """What the pool knows: the current numbers."""
    return OrderedDict(
        {
            "allocated_bytes.all.current": memory_allocated(device),
            "reserved_bytes.all.current": memory_reserved(device),
        }
    )


def _no_peak(name: str) -> Any:
    def function(device: Any = None) -> Any:
        raise NotImplementedError(f"torch.cuda.{name}: CuPy's memory pool keeps no peaks")

    return function


max_memory_allocated = _no_peak("max_memory_allocated")
max_memory_reserved = _no_peak("max_memory_reserved")
reset_peak_memory_stats = _no_peak("reset_peak_memory_stats")


# --- random numbers -------------------------------------------------------------------------------


def generator(device: Any = None) -> gpu_random.GpuGenerator:
    """The default generator of a GPU."""
    return gpu_random.default(index_of(device))


def default_generators() -> tuple[gpu_random.GpuGenerator, ...]:
    """The default generators of all GPUs."""
    return tuple(gpu_random.default(i) for i in range(devices.count("cuda")))


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of a GPU's generator: 16 bytes, on the CPU."""
    return generator(device).get_state()  # type: ignore[attr-defined]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Continue from a state."""
    generator(device).set_state(new_state)  # type: ignore[attr-defined]


def initial_seed() -> int:
    """The seed of the current GPU's generator."""
    return generator().initial_seed()


def manual_seed(seed: int) -> None:
    """Seed the current GPU's generator."""
    generator().manual_seed(int(seed))


manual_seed_all = gpu_random.manual_seed_all


def seed() -> None:
    """Seed the current GPU's generator with a random number."""
    generator().seed()


def seed_all() -> None:
    """Seed all GPUs' generators with one random number."""
    manual_seed_all(generator().seed())


# --- streams --------------------------------------------------------------------------------------


class Stream(cuda.Stream):
    """Work on a GPU, in order."""

    def __init__(self, device: Any = None, priority: int = 0, _stream: Any = None) -> None:
        self.device = devices.device("cuda", index_of(device))
        with on(self.device):
            self.stream = _stream or cupy.cuda.Stream(non_blocking=True)

    @property
    def cuda_stream(self) -> int:
        """The CUDA handle."""
        return self.stream.ptr

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def synchronize(self) -> None:
        """Wait for all its work."""
        self.stream.synchronize()

    def query(self) -> bool:
        """Whether all its work is done."""
        return self.stream.done

    def record_event(self, event: Any = None) -> Any:
        """Mark this moment."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Later work waits for the event."""
        self.stream.wait_event(event.event)

    def wait_stream(self, stream: Any) -> None:
        """Later work waits for what the other stream has been given."""
        self.wait_event(stream.record_event())


class Event(cuda.Event):
    """A point in a stream's work."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.event = cupy.cuda.Event(block=blocking, disable_timing=not enable_timing)

    def record(self, stream: Any = None) -> None:
        """Mark this moment in a stream."""
        self.event.record(current_stream().stream if stream is None else stream.stream)

    def wait(self, stream: Any = None) -> None:
        """Later work of a stream waits for this point."""
        (current_stream() if stream is None else stream).wait_event(self)

    def query(self) -> bool:
        """Whether this point has been reached."""
        return self.event.done

    def synchronize(self) -> None:
        """Wait for this point."""
        self.event.synchronize()

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from here to another point."""
        return cupy.cuda.get_elapsed_time(self.event, end_event.event)


def current_stream(device: Any = None) -> Stream:
    """The stream in use."""
    return Stream(device, _stream=cupy.cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """The default stream."""
    return Stream(device, _stream=cupy.cuda.Stream.null)
