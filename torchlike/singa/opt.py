"""Optimizers: ``sgd(loss)``, or ``apply`` for each pair of ``autograd.backward(loss)``."""

from __future__ import annotations

from .dist_opt import DistOpt
from .opt_decay import Constant, DecayScheduler, ExponentialDecay
from .opt_rules import SGD, AdaGrad, Adam, Optimizer, RMSProp

__all__ = [
    "SGD",
    "AdaGrad",
    "Adam",
    "Constant",
    "DecayScheduler",
    "DistOpt",
    "ExponentialDecay",
    "Optimizer",
    "RMSProp",
]
