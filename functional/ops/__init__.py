"""Declarations of operations, by family. Importing this package declares them all."""

from . import (
    advanced,
    cast,
    create,
    gather,
    index,
    joining,
    matmul,
    nn,
    pointwise,
    random,
    ranges,
    reduce,
    refused,
    views,
)

__all__ = [
    "advanced",
    "cast",
    "create",
    "gather",
    "index",
    "joining",
    "matmul",
    "nn",
    "pointwise",
    "random",
    "ranges",
    "reduce",
    "refused",
    "views",
]
