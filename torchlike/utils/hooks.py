"""The handle that registering a hook returns."""

from functional.tape.node import RemovableHandle

__all__ = ["RemovableHandle"]
