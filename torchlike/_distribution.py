"""The distribution ``torch`` as ``importlib.metadata`` sees it while the alias is on."""

from __future__ import annotations

from importlib.metadata import Distribution
from typing import Any

from .version import __version__


class Torch(Distribution):
    """Answers ``version("torch")``."""

    def read_text(self, filename: str) -> str | None:
        """The METADATA file; there are no others."""
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\n"

    def locate_file(self, path: Any) -> Any:
        """Raises: there are no files."""
        raise FileNotFoundError(path)
