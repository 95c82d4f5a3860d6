"""The CPU."""


def get_cpu_capability() -> str:
    """The instruction set kernels are chosen for: NumPy chooses its own."""
    return "DEFAULT"
