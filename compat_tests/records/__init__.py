"""One record per operation. Importing this package fills ``RECORDS``."""

from . import arithmetic, pointwise
from .base import RECORDS, Record

__all__ = ["RECORDS", "Record", "arithmetic", "pointwise"]
