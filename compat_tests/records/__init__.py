"""One record per operation. Importing this package fills ``RECORDS``."""

from . import (
    activation,
    arithmetic,
    attention,
    arrange,
    convolution,
    create,
    fft,
    index,
    internal,
    linalg,
    matmul,
    nn,
    normalization,
    padding,
    pairs,
    pointwise,
    pooling,
    products,
    recurrent,
    reduce,
    resample,
    scans,
    scatter,
    solvers,
    sorting,
    special,
    statistics,
    views,
    windows,
)
from .base import RECORDS, Record

FAMILIES = (convolution, padding, pooling, resample, solvers, attention, linalg, products, fft, windows, scans, statistics, sorting, scatter, special, activation, pairs, arrange, arithmetic, pointwise, recurrent, reduce, views, index, matmul, nn, normalization, create, internal)

__all__ = ["FAMILIES", "RECORDS", "Record"]
