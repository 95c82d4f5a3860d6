"""ONNX files: none are written."""

from __future__ import annotations

from typing import Any

__all__ = ["OnnxExporterError", "export", "is_in_onnx_export"]


class OnnxExporterError(RuntimeError):
    """An error of the export."""


def export(model: Any, args: Any = (), f: Any = None, **settings: Any) -> Any:
    """Refused: a model's graph cannot be had from its Python code here."""
    raise NotImplementedError(
        "torch.onnx.export needs the graph of a model, which TorchScript or torch.export would "
        "give; neither is there. Save the state_dict with torch.save, and export it with PyTorch"
    )


def is_in_onnx_export() -> bool:
    """False."""
    return False
