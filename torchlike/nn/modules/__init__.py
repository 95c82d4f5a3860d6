"""The layers."""

from .activation import LeakyReLU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .conv import Conv1d, Conv2d, Conv3d
from .dropout import Dropout
from .flatten import Flatten, Unflatten
from .linear import Identity, Linear
from .loss import CrossEntropyLoss, MSELoss, NLLLoss
from .module import Module
from .pooling import MaxPool1d, MaxPool2d, MaxPool3d

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "CrossEntropyLoss", "Dropout", "Flatten", "Identity",
    "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "MaxPool1d", "MaxPool2d", "MaxPool3d",
    "Module", "ModuleDict", "ModuleList", "NLLLoss", "ParameterDict", "ParameterList", "ReLU",
    "Sequential", "Sigmoid", "Softmax", "Tanh", "Unflatten",
]  # fmt: skip
