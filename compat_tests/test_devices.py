"""The namespaces of devices and settings, as PyTorch's CPU build answers."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from compat_tests.scenarios import Cases, error

CASES = Cases("devices")


@CASES.add
def cuda_answers(torch: Any) -> Any:
    c = torch.cuda
    names = (
        "is_available device_count is_initialized is_bf16_supported is_tf32_supported "
        "get_arch_list get_gencode_flags empty_cache memory_allocated max_memory_allocated "
        "memory_reserved max_memory_reserved memory_stats seed seed_all get_rng_state_all"
    ).split()
    questions = [getattr(c, name)() for name in names]
    numbers = [c.manual_seed(0), c.manual_seed_all(0), c.memory_allocated("cuda:0")]
    with c.device(-1), c.device_of(torch.ones(1)), c.stream(None):
        return questions, numbers, c.set_device(-1), c.default_generators, c.has_half


@CASES.add
def a_default_device_that_is_not_there(torch: Any) -> Any:
    makers = [
        lambda: torch.zeros(2), lambda: torch.tensor([1.0]), lambda: torch.rand(2),
        lambda: torch.arange(3), lambda: torch.nn.Linear(2, 2), lambda: torch.randperm(3),
        lambda: torch.as_tensor([1]), torch.get_default_device,
    ]  # fmt: skip
    torch.set_default_device("cuda")
    try:
        found = [error(make) for make in makers]
    finally:
        torch.set_default_device(None)
    with torch.device("cuda"):
        found.append(error(lambda: torch.zeros(2)))
    return found, torch.get_default_device().type


@CASES.add
def cuda_errors(torch: Any) -> Any:
    c, x = torch.cuda, torch.ones(1)
    names = (
        "current_device current_stream default_stream get_device_name get_device_capability "
        "get_device_properties get_rng_state init initial_seed ipc_collect mem_get_info synchronize"
    ).split()
    return [
        [error(getattr(c, name)) for name in names],
        error(lambda: c.device(0).__enter__()),
        error(lambda: c.set_device("cuda")),
        error(lambda: c.FloatTensor([1.0])),
        error(lambda: c.Stream()),
        error(lambda: c.Event()),
        error(lambda: x.cuda()),
        error(lambda: x.to("cuda:0")),
        error(lambda: torch.ones(1, device="cuda")),
        error(lambda: x.to("xpu")),
        error(lambda: x.to("mps")),
        error(lambda: torch.nn.Linear(1, 1).cuda()),
        [isinstance(x, c.FloatTensor), isinstance(x, torch.FloatTensor)],
        issubclass(c.OutOfMemoryError, RuntimeError),
        torch.OutOfMemoryError is c.OutOfMemoryError,
    ]


@CASES.add
def devices_by_number(torch: Any) -> Any:
    x = torch.ones(1)
    calls = [lambda: torch.device(1), lambda: x.cuda(1), lambda: x.to(0), lambda: x.cuda()]
    calls.append(lambda: torch.ones(1, device=0))
    return [error(call) for call in calls]


@CASES.add
def accelerators(torch: Any) -> Any:
    a = torch.accelerator
    names = (
        "current_device_index current_device_idx current_stream synchronize empty_cache "
        "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_stats "
        "reset_peak_memory_stats"
    ).split()
    device = a.current_accelerator().type if a.is_available() else "cpu"
    with a.device_index(None):
        return [
            [a.is_available(), a.device_count(), a.current_accelerator(), device],
            a.current_accelerator(check_available=True),
            [error(getattr(a, name)) for name in names],
            error(lambda: a.set_device_index(0)),
            error(lambda: a.device_index(0).__enter__()),
        ]


@CASES.add
def other_devices(torch: Any) -> Any:
    x, m, c = torch.xpu, torch.mps, torch.cpu
    return [
        [x.is_available(), x.device_count(), x.is_initialized(), x.empty_cache()],
        [x.memory_allocated(), x.manual_seed(1), x.manual_seed_all(1)],
        [error(f) for f in (x.current_device, x.get_device_name, x.synchronize)],
        [m.is_available(), m.device_count()],
        [error(f) for f in (m.synchronize, m.empty_cache, m.current_allocated_memory, m.seed)],
        [c.is_available(), c.device_count(), c.current_device(), c.synchronize()],
        [c.is_initialized(), c.set_device(0), type(c.current_stream()).__name__],
        torch.get_device_module() is c,
        torch.get_device_module("cuda") is torch.cuda,
        error(lambda: torch.get_device_module("nothing")),
    ]


@CASES.add
def backends(torch: Any) -> Any:
    b = torch.backends
    if hasattr(b, "flags_frozen"):  # PyTorch's testing package, once imported, freezes them
        b.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
    dnn, found = b.cudnn, []
    before = [dnn.enabled, dnn.benchmark, dnn.deterministic, dnn.allow_tf32, dnn.benchmark_limit]
    with dnn.flags(enabled=False, allow_tf32=False):
        found.append([dnn.enabled, dnn.allow_tf32])
    found.append([dnn.enabled, dnn.allow_tf32])
    dnn.benchmark = dnn.deterministic = True
    found.append([dnn.benchmark, dnn.deterministic])
    dnn.benchmark = dnn.deterministic = False
    return [
        before,
        found,
        [dnn.is_available(), dnn.version(), dnn.is_acceptable(torch.ones(1))],
        [error(lambda n=n: setattr(dnn, n, 3)) for n in ("benchmark", "deterministic", "enabled")],
        [b.mps.is_available(), b.mps.is_built(), b.cuda.is_built(), b.mkldnn.enabled],
        [b.cuda.flash_sdp_enabled(), b.cuda.math_sdp_enabled(), b.cuda.mem_efficient_sdp_enabled()],
        error(lambda: b.cuda.matmul.nothing),
        error(lambda: setattr(b.cuda.matmul, "nothing", True)),
    ]


@CASES.add
def matmul_precision(torch: Any) -> Any:
    product, found = torch.backends.cuda.matmul, []
    for name in ("highest", "high", "nonsense", "medium", "highest"):
        torch.set_float32_matmul_precision(name)
        found.append([torch.get_float32_matmul_precision(), product.allow_tf32])
    for value in (True, False):
        product.allow_tf32 = value
        found.append([torch.get_float32_matmul_precision(), product.allow_tf32])
    names = "allow_fp16_reduced_precision_reduction allow_fp16_accumulation".split()
    return found, [getattr(product, name) for name in names]


@CASES.add
def deterministic_algorithms(torch: Any) -> Any:
    def state() -> Any:
        return [
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
            torch.get_deterministic_debug_mode(),
        ]

    use, debug, found = torch.use_deterministic_algorithms, torch.set_deterministic_debug_mode, []
    for set_it in (
        lambda: use(True),
        lambda: use(True, warn_only=True),
        lambda: use(False),
        lambda: debug("error"),
        lambda: debug("warn"),
        lambda: debug(2),
        lambda: debug("default"),
    ):
        found.append([set_it(), *state()])
    errors = [error(lambda: use(3)), error(lambda: debug("x")), error(lambda: debug(7))]
    return found, errors, state()


@CASES.add
def threads(torch: Any) -> Any:
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    one = torch.get_num_threads()
    torch.set_num_threads(count)
    bad = [0, -1, "a", 1.5]
    return [
        one,
        [error(lambda n=n: torch.set_num_threads(n)) for n in bad],
        [error(lambda n=n: torch.set_num_interop_threads(n)) for n in bad],
        torch.get_num_interop_threads() > 0,
    ]


@CASES.add
def versions_and_compilers(torch: Any) -> Any:
    v, c = torch.version, torch.compiler
    return [
        [v.cuda, v.hip, v.xpu, v.debug, torch.__version__.startswith("2.13.0")],
        [c.is_compiling(), c.is_dynamo_compiling(), c.is_exporting()],
        c.disable(len)([1, 2]),
        c.disable()(len)([1]),
        torch.get_rng_state().shape,
    ]


test_scenario = CASES.test()


def test_one_place_says_which_devices_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    import torchlike as torch
    from functional import devices

    monkeypatch.setitem(devices.COUNTS, "cuda", 2)
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    assert str(torch.accelerator.current_accelerator()) == "cuda"
    assert torch.accelerator.device_count() == 2 and torch.backends.cuda.is_built()


def test_absent_libraries_are_said_to_be_absent() -> None:
    import torchlike as torch

    b = torch.backends
    assert not any(m.is_available() for m in (b.mkl, b.mkldnn, b.openmp, b.cudnn))
    for name in ("fx", "export"):
        with pytest.raises(AttributeError, match=name):
            getattr(torch, name)


def test_none_of_it_is_loaded_at_first() -> None:
    code = (
        "import sys, torchlike\n"
        "late = 'cuda accelerator backends _settings storage serialization cpu compiler utils'\n"
        "assert not [n for n in late.split() if 'torchlike.' + n in sys.modules]\n"
        "assert {'save', 'load', 'FloatStorage', 'cuda', 'xpu'} <= set(dir(torchlike))\n"
        "assert torchlike.cuda.is_available() is False\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_imports_under_the_alias() -> None:
    code = (
        "import torchlike; torchlike.install('force')\n"
        "import torch\n"
        "import torch.backends.cudnn as cudnn\n"
        "from torch.utils.data.distributed import DistributedSampler\n"
        "cudnn.benchmark = True\n"
        "assert torch.backends.cudnn.benchmark and torch.backends.cudnn is cudnn\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "assert torch.ones(1, device=device).device.type == 'cpu'\n"
        "assert torch.cuda.__name__ == 'torch.cuda'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
