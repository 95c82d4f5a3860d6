"""How PyTorch splits a linear layer with its cross entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass
class LinearCrossEntropyOptions:
    """Options that save memory in PyTorch. They are kept, and change no result here."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: Any = None
