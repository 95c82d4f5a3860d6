"""Whether mixed precision on a GPU is out of the question."""

from functional import devices

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no GPU."""
    return devices.count("cuda") == 0
