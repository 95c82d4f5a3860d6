"""Gluon: blocks, parameters, losses, the trainer and data loading."""

from . import block, data, loss, nn, parameter, trainer, utils
from .block import Block, HybridBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict
from .trainer import Trainer
