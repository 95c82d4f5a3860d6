"""How modules convert their parameters: into the same objects, new ones, or swapped ones."""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip

_chosen = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether ``Module.to`` and its kin put new parameters in the place of those they convert."""
    _chosen["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions make new parameters (False unless set)."""
    return _chosen["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions, and loading with ``assign``, exchange what parameters hold.

    The objects stay the same whatever happens: see ``torch.utils.swap_tensors``.
    """
    _chosen["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions swap (False unless set)."""
    return _chosen["swap"]
