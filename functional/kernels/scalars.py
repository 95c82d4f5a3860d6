"""Numbers in the dtypes of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def scalar(dtype: np.dtype, value: Any) -> Any:
    """A number in ``dtype``; whole numbers that it cannot hold wrap, as C's do."""
    try:
        return dtype.type(value)
    except OverflowError:
        return np.asarray(value).astype(dtype)[()]
