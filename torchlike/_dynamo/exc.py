"""Errors of the compiler's front end."""

from __future__ import annotations


class TorchDynamoException(RuntimeError):
    """Any error of the compiler's front end."""


class InvalidBackend(TorchDynamoException):
    """The compiler asked for is unknown."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available "
            "backends."
        )
