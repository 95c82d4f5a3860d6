"""Event files for TensorBoard. Needs the ``tensorboard`` package."""

from . import _version  # before anything that an old package lacks

# isort: split
from tensorboard.summary.writer.record_writer import RecordWriter

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
