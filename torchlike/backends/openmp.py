"""OpenMP: kernels here do not use it."""


def is_available() -> bool:
    """False."""
    return False
