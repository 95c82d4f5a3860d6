"""MXNet's interface: ``nd``, ``np``, ``autograd`` and ``gluon`` over this library's tensors."""

from __future__ import annotations

from . import (
    autograd,
    base,
    context,
    gluon,
    initializer,
    lr_scheduler,
    ndarray,
    numpy,
    numpy_extension,
    optimizer,
    random,
    util,
)
from .base import MXNetError
from .context import Context, Device, cpu, current_context, current_device, gpu, num_gpus
from .initializer import Initializer
from .util import np_array, np_shape

nd, np, npx = ndarray, numpy, numpy_extension
device, init = context, initializer
