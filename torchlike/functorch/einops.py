"""``functorch.einops``: dimensions rearranged by a pattern."""

from torchlike._rearrange import rearrange

__all__ = ["rearrange"]
