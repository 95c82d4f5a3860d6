"""Parts of DataLoader that programs import by name."""

from . import collate, worker

__all__ = ["collate", "worker"]
