"""Automatic differentiation: ``backward``, ``grad``, custom Functions, and checks."""

from functional.autograd import backward, grad
from functional.tape.saved import SavedTensor

from . import anomaly_mode, function, grad_mode, graph, variable
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function", "SavedTensor", "Variable", "anomaly_mode", "backward", "detect_anomaly",
    "enable_grad", "function", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph",
    "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled", "variable",
]  # fmt: skip
