"""What has to be done before the first import of our core: ``torchlike`` imports this first."""

from __future__ import annotations

from . import loading, siblings

siblings.secure()
loading.start()
