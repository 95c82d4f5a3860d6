"""PyTorch's interface on NumPy: ``import torchlike as torch``."""

from __future__ import annotations

import math as _math
import sys as _sys
from typing import Any

from . import _start  # before the first import of our core

# isort: split
import functional as _core
from functional import devices as _devices
from functional import dtypes as _dtypes
from functional import modes as _modes
from functional.devices import device, get_default_device, set_default_device
from functional.dtypes import (
    can_cast,
    dtype,
    get_default_dtype,
    promote_types,
    set_default_dtype,
)
from functional.kernels import threads as _threads
from functional.modes import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from functional.random import Generator, default_generator, initial_seed, manual_seed, seed
from functional.size import Size
from functional.tape.node import Node as _Node
from functional.tape.op import TENSOR as _FUNCTIONS
from functional.tensor import Tensor
from functional.transforms import vmap

from . import copying as _copying
from . import intercept as _intercept
from . import labels as _labels
from . import loading as _loading
from . import methods, names
from . import missing as _missing
from .legacy import TYPES as _TYPES
from .methods import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    is_inference,
    layout,
    memory_format,
    preserve_format,
)
from .number_info import finfo, iinfo
from .printing import set_printoptions
from .torch_version import __version__

globals().update(methods.LAYOUTS)
pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan

for _name in names.FUNCTIONS:
    globals()[_name] = _intercept.public(getattr(_FUNCTIONS, _name))
    if hasattr(_FUNCTIONS, _name + "_"):
        globals()[_name + "_"] = _intercept.public(getattr(_FUNCTIONS, _name + "_"))
for _name, _old in names.ALIASES.items():
    globals()[_name] = _intercept.public(getattr(_FUNCTIONS, _old))
    if hasattr(_FUNCTIONS, _old + "_"):
        globals()[_name + "_"] = _intercept.public(getattr(_FUNCTIONS, _old + "_"))
for _name in names.WRITERS:
    globals()[_name] = _intercept.public(methods.as_function(_name))
globals().update(_dtypes.NAMES)
globals().update(_dtypes.ALIASES)
globals().update(_TYPES)


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating."""
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input.dtype.is_complex


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input.dtype.is_signed


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage object."""
    found = _sys.modules.get("torchlike.storage")
    return found is not None and isinstance(obj, (found.TypedStorage, found.UntypedStorage))


def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


def result_type(tensor: Any, other: Any) -> dtype:
    """The dtype of an operation on two operands, tensors or numbers."""
    return _dtypes.result_type(
        (x.dtype, x.ndim) if isinstance(x, Tensor) else x for x in (tensor, other)
    )


def get_num_threads() -> int:
    """How many threads a kernel may share its work among."""
    return _threads.workers()


def set_num_threads(int: int) -> None:
    """Let kernels share their work among this many threads.

    Matrix products go by the settings of NumPy's own BLAS (``OPENBLAS_NUM_THREADS``).
    """
    from ._settings import positive

    _threads.set_workers(positive("set_num_threads", int))


def __dir__() -> list[str]:
    return sorted({*globals(), *_missing.present(__spec__.name)})


def install(name: str = "torch", mode: str = "force") -> bool:
    """Serve ``import NAME`` from this library: see ``torchlike.alias.install``."""
    from .alias import install

    return install(name, mode)


def uninstall(name: str | None = None) -> None:
    """Undo ``install``, of one name or of all."""
    from .alias import uninstall

    uninstall(name)


_labels.label_functions(globals())
_labels.name_nodes(_Node)
_loading.watch(_missing.attach, _labels.label)
