"""Automatic mixed precision on the CPU, under its older names: see ``torch.amp``."""

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast
from .grad_scaler import GradScaler
