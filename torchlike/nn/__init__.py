"""Neural networks: layers, containers, losses, initialisation."""

from . import functional, init, modules, parameter
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter",
    "functional", "init", "modules", "parameter", *modules.__all__,
]  # fmt: skip
