"""Modules on several devices; on a CPU they run as they are."""

from .data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
