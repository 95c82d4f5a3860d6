"""Where tensors live: the CPU, and GPUs where CuPy finds them."""

from __future__ import annotations

import warnings
from typing import Any

import torchlike as torch


class Device:
    """A CPU (id -1) or a GPU; ``place`` is what our own tensors call it."""

    def __init__(self, index: int = -1) -> None:
        self._id = index
        self.place = "cpu" if index < 0 else f"cuda:{index}"
        self._graph, self._verbosity, self._skip = False, 0, 5

    def id(self) -> int:
        """-1 for the CPU, else the GPU's number."""
        return self._id

    def lang(self) -> str:
        """What computes here: ``kCpp`` or ``kCuda``."""
        return "kCpp" if self._id < 0 else "kCuda"

    def host(self) -> Device:
        """The CPU."""
        return default_device

    def SetRandSeed(self, seed: int) -> None:
        """Restart the random numbers of this device."""
        if self._id < 0:
            torch.manual_seed(seed)
        else:
            with torch.cuda.device(self._id):
                torch.cuda.manual_seed(seed)

    def Sync(self) -> None:
        """Wait until all work is done."""
        if self._id >= 0:
            torch.cuda.synchronize(self._id)

    def EnableGraph(self, enable: bool) -> None:
        """Note whether steps are to be captured; work is done at once all the same."""
        self._graph = bool(enable)

    def graph_enabled(self) -> bool:
        """What ``EnableGraph`` was told."""
        return self._graph

    def RunGraph(self, sequential: bool = False) -> None:
        """Nothing is left to run: work is done at once."""

    def ResetGraph(self) -> None:
        """Nothing is kept between steps."""

    Reset = ResetGraph

    def SetVerbosity(self, verbosity: int) -> None:
        """Note how much ``PrintTimeProfiling`` is to say."""
        self._verbosity = int(verbosity)

    def SetSkipIteration(self, iterations: int) -> None:
        """Note how many steps a profile leaves out."""
        self._skip = int(iterations)

    def PrintTimeProfiling(self) -> None:
        """Print that steps are not captured, hence not timed one by one, if verbose."""
        if self._verbosity:
            print("Time Profiling: steps run at once and are not captured")

    @staticmethod
    def EnableLazyAlloc(enable: bool) -> None:
        """Memory is taken when it is needed, whatever this says."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        return f"Device({self.place})"


Platform = None  # SINGA's C++ class of queries; the functions below answer them
default_device = Device()
_gpus: dict[int, Device] = {}


def get_default_device() -> Device:
    """The CPU: always the same object."""
    return default_device


create_cpu_device = get_default_device


def get_num_gpus() -> int:
    """How many GPUs there are."""
    return int(torch.cuda.device_count())


def get_gpu_ids() -> list[int]:
    """Their numbers."""
    return list(range(get_num_gpus()))


def get_gpu_mem_size(id: int) -> tuple[int, int]:
    """Free and total memory of a GPU, in bytes."""
    free, total = torch.cuda.mem_get_info(id)
    return int(free), int(total)


def device_query(id: int, verbose: bool = False) -> str:
    """A line about a GPU."""
    return str(torch.cuda.get_device_properties(id))


def create_cuda_gpu_on(device_id: int) -> Device:
    """The GPU of that number; the CPU, after a warning, where there is no GPU at all.

    Raises ValueError where there are GPUs but none of that number.
    """
    count = get_num_gpus()
    if count == 0:
        warnings.warn("no GPU is there: the CPU takes its place", RuntimeWarning, stacklevel=2)
        return default_device
    if not 0 <= device_id < count:
        raise ValueError(f"there is no GPU {device_id}: there are {count}")
    return _gpus.setdefault(device_id, Device(device_id))


def create_cuda_gpu() -> Device:
    """The first GPU, as ``create_cuda_gpu_on(0)``."""
    return create_cuda_gpu_on(0)


def create_cuda_gpus_on(device_ids: Any) -> list[Device]:
    """The GPUs of these numbers."""
    return [create_cuda_gpu_on(i) for i in device_ids]


def create_cuda_gpus(num: int) -> list[Device]:
    """The first ``num`` GPUs."""
    return create_cuda_gpus_on(range(num))


def get_num_opencl_platforms() -> int:
    """None: OpenCL is not served."""
    return 0


get_num_opencl_devices = get_num_opencl_platforms


def create_opencl_device() -> Device:
    """Raises: OpenCL is not served."""
    raise RuntimeError("OpenCL is not served: use create_cpu_device or create_cuda_gpu")


def enable_lazy_alloc(enable: bool) -> None:
    """Memory is taken when it is needed, whatever this says."""
