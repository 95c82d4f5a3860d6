"""One record per operation. Importing this package fills ``RECORDS``."""

from . import (
    activation,
    arithmetic,
    attention,
    arrange,
    create,
    fft,
    index,
    internal,
    linalg,
    matmul,
    nn,
    normalization,
    pairs,
    pointwise,
    products,
    recurrent,
    reduce,
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

FAMILIES = (solvers, attention, linalg, products, fft, windows, scans, statistics, sorting, scatter, special, activation, pairs, arrange, arithmetic, pointwise, recurrent, reduce, views, index, matmul, nn, normalization, create, internal)

__all__ = ["FAMILIES", "RECORDS", "Record"]
