"""Neural networks: layers, containers, losses, initialisation."""

from . import functional, init, modules, parameter
from .modules import *
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "functional", "init", "modules", "parameter", *modules.__all__]
