"""One record per operation. Importing this package fills ``RECORDS``."""

from . import arithmetic, create, index, internal, matmul, nn, pointwise, reduce, views
from .base import RECORDS, Record

FAMILIES = (arithmetic, pointwise, reduce, views, index, matmul, nn, create, internal)

__all__ = ["FAMILIES", "RECORDS", "Record"]
