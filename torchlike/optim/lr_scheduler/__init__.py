"""Schedules that change the learning rates of an optimizer's groups."""

from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler
from .combined import ChainedScheduler, SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cycles import CyclicLR, OneCycleLR
from .functions import LambdaLR, MultiplicativeLR
from .plateau import ReduceLROnPlateau
from .ramps import ConstantLR, LinearLR, PolynomialLR
from .steps import ExponentialLR, MultiStepLR, StepLR

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip
