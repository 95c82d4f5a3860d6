"""Which library of a GPU's would factor and multiply matrices: here always the default."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class _Backend(IntEnum):
    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


_LinalgBackend = _Backend("_LinalgBackend", "Default Cusolver Magma", start=0)  # type: ignore
_BlasBackend = _Backend("_BlasBackend", "Default Cublas Cublaslt Ck", start=0)  # type: ignore
_LINALG = {"default": "Default", "cusolver": "Cusolver", "magma": "Magma"}
_BLAS = {
    "default": "Default", "cublas": "Cublas", "hipblas": "Cublas", "cublaslt": "Cublaslt",
    "hipblaslt": "Cublaslt", "ck": "Ck",
}  # fmt: skip
_TITLES = {"Cusolver": "cuSOLVER", "Magma": "MAGMA", "Cublaslt": "cuBLASLt", "Ck": "CK"}


def _chosen(backend: Any, kinds: Any, names: dict[str, str]) -> str:
    """The name of a backend; those that are not there are refused."""
    if isinstance(backend, str):
        if backend not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        name = names[backend]
    elif isinstance(backend, kinds):
        name = backend.name
    else:
        raise RuntimeError("Unknown input value type.")
    if name in _TITLES:
        title = _TITLES[name]
        missing = f"if PyTorch has not been compiled with {title}."
        raise RuntimeError(f"Cannot set preferred backend to {title} {missing}")
    return name


def preferred_linalg_library(backend: Any = None) -> Any:
    """What factors matrices on a GPU: always the default.

    Raises RuntimeError for any other ``backend``.
    """
    if backend is not None:
        _chosen(backend, _LinalgBackend, _LINALG)
    return _LinalgBackend.Default


def preferred_blas_library(backend: Any = None) -> Any:
    """What multiplies matrices on a GPU: always cuBLAS, which is the default.

    Raises RuntimeError for any other ``backend``.
    """
    if backend is not None:
        _chosen(backend, _BlasBackend, _BLAS)
    return _BlasBackend.Cublas
