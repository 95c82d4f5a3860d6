"""The parts of ``utils.benchmark``."""

from . import common, compare, timer
