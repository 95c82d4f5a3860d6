"""Names that PyTorch has and we do not: AttributeErrors that say so."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# Parts of PyTorch that are there without being imported; ours load on first use.
ON_DEMAND = {
    "torchlike": frozenset(
        """
        __future__ _C _dynamo _tensor _utils accelerator amp autograd backends compiler cpu cuda
        distributions fft func functional hub jit linalg library masked mps multiprocessing nn
        onnx optim overrides profiler quasirandom random return_types serialization signal sparse
        special storage testing types utils version xpu
        """.split()
    ),
    "torchlike.nn": frozenset(
        "attention functional grad init modules parallel parameter utils".split()
    ),
    "torchlike.nn.modules": frozenset(["utils"]),
    "torchlike.optim": frozenset("lr_scheduler swa_utils".split()),
    "torchlike.autograd": frozenset(
        "forward_ad function functional grad_mode graph profiler profiler_util".split()
    ),
    "torchlike.cpu": frozenset(["amp"]),
    "torchlike.cuda": frozenset(["amp"]),
    "torchlike.backends": frozenset("cpu cuda cudnn mkl mkldnn mps openmp".split()),
    "torchlike.utils": frozenset("_pytree checkpoint data dlpack hooks".split()),
}
# Modules that another module shows under a name of its own.
_SHOWN = {"torchlike.nn.functional": {"grad": "torchlike.nn.grad"}}
# Names of the torch namespace that load with the module that has them: module -> names.
_SETTINGS = """
    AcceleratorError OutOfMemoryError are_deterministic_algorithms_enabled
    get_deterministic_debug_mode get_device_module get_float32_matmul_precision
    get_num_interop_threads is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled
    set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision
    set_flush_denormal set_num_interop_threads set_warn_always typename use_deterministic_algorithms
"""
_STORAGES = """
    BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage
    DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage Storage TypedStorage
    UntypedStorage from_file
"""
_AUTOCAST = """
    autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache
    get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype
    get_autocast_xla_dtype is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled
    is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_cache_enabled
    set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled
    set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype
    set_autocast_xla_enabled
"""
_FOREACH = """
    abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min clone cos cosh div erf erfc exp
    expm1 floor frac lerp lgamma log log10 log1p log2 max maximum minimum mm mul neg norm pow powsum
    reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc
    abs_ acos_ add_ addcdiv_ addcmul_ asin_ atan_ ceil_ clamp_max_ clamp_min_ copy_ cos_ cosh_ div_
    erf_ erfc_ exp_ expm1_ floor_ frac_ lerp_ lgamma_ log_ log10_ log1p_ log2_ maximum_ minimum_
    mul_ neg_ pow_ reciprocal_ round_ rsqrt_ sigmoid_ sign_ sin_ sinh_ sqrt_ sub_ tan_ tanh_ trunc_
    zero_
"""
BORROWED = {
    name: module
    for module, names in {
        "serialization": "load save",
        "random": "get_rng_state set_rng_state",
        "_settings": _SETTINGS,
        "amp._state": _AUTOCAST,
        "amp": "GradScaler autocast",
        "compiler": "compile",
        "_removed": "eig lstsq matrix_rank solve symeig",
        "storage": _STORAGES,
        "symbols": "_assert sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
        "foreach": " ".join(f"_foreach_{name}" for name in _FOREACH.split()),
    }.items()
    for name in names.split()
}
_TABLE = "docs/coverage.md"


def _missing(module: ModuleType, name: str) -> AttributeError:
    where = module.__name__
    text = f"module '{where}' has no attribute '{name}'"
    if not name.startswith("__"):
        text += f" (torchlike does not provide {where}.{name}: see {_TABLE} for what it does)"
    return AttributeError(text, name=name, obj=module)


def present(own: str) -> list[str]:
    """The parts of one of our packages that load on demand."""
    found = [name for name in ON_DEMAND.get(own, ()) if find_spec(f"{own}.{name}") is not None]
    return [*found, *BORROWED] if own == "torchlike" else found


def lookup(module: ModuleType) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module: parts that load on demand, or an AttributeError."""
    spec = module.__spec__
    own = module.__name__ if spec is None else spec.name
    parts, shown = ON_DEMAND.get(own, frozenset()), _SHOWN.get(own, {})

    def __getattr__(name: str) -> Any:
        if name in parts and find_spec(f"{own}.{name}") is not None:
            return importlib.import_module(f"{own}.{name}")
        if name in shown:
            return importlib.import_module(shown[name])
        if own == "torchlike" and name in BORROWED:
            value = getattr(importlib.import_module(f"{own}.{BORROWED[name]}"), name)
            return vars(module).setdefault(name, value)
        raise _missing(module, name)

    return __getattr__


def attach(module: ModuleType) -> None:
    """Give a module that has no ``__getattr__`` of its own ours."""
    spec = module.__spec__
    if spec is not None and spec.name.partition(".")[0] == "torchlike":
        vars(module).setdefault("__getattr__", lookup(module))
