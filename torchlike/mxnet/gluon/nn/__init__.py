"""``gluon.nn``: layers and what puts them together."""

from ..block import Block, HybridBlock
from .basic import BatchNorm, Dense, Dropout, Embedding, Flatten, Identity, LayerNorm
from .containers import (
    Activation,
    HybridLambda,
    HybridSequential,
    Lambda,
    LeakyReLU,
    Sequential,
)
from .conv import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    Conv1D,
    Conv2D,
    Conv3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)
