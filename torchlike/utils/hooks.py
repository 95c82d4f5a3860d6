"""The handle that registering a hook returns."""

from __future__ import annotations

import weakref
from typing import Any

from functional.tape.node import Handle


class RemovableHandle(Handle):
    """Takes a hook away again: ``remove()``, or leaving a ``with`` block.

    ``extra`` are further dictionaries that hold something under the same id.
    """

    def __init__(self, hooks: Any, *, extra_dict: Any = None) -> None:
        super().__init__(hooks)
        many = extra_dict if isinstance(extra_dict, (list, tuple)) else [extra_dict]
        self.extra = tuple(weakref.ref(d) for d in many if d is not None)

    def remove(self) -> None:
        super().remove()
        for ref in self.extra:
            found = ref()
            if found is not None:
                found.pop(self.id, None)
