"""The classes of results with named parts: ``torch.return_types.max`` and the others."""

from __future__ import annotations

from functional.ops.results import RETURN_TYPES

__all__ = list(RETURN_TYPES)
globals().update(RETURN_TYPES)
