"""Numbers and pictures as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from functional.dtypes import bfloat16, float32
from functional.tensor import Tensor


def make_np(x: Any) -> np.ndarray:
    """An array of a tensor, an array, a list or a number."""
    if isinstance(x, Tensor):
        x = x.detach().cpu()
        found: np.ndarray = (x.to(float32) if x.dtype is bfloat16 else x).numpy()
        return found
    if isinstance(x, (list, np.ndarray)):
        return np.asarray(x)
    if np.isscalar(x):
        return np.array([x])
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")


def make_grid(images: np.ndarray, columns: int = 8) -> np.ndarray:
    """Pictures (N, C, H, W), with C 1 or 3, side by side in rows: one picture (3, H, W)."""
    count, channels, height, width = images.shape
    if channels == 1:
        images = np.concatenate([images] * 3, 1)
    columns = min(count, columns)
    rows = -(-count // columns)
    canvas = np.zeros((3, height * rows, width * columns), images.dtype)
    for i, image in enumerate(images):
        top, left = i // columns * height, i % columns * width
        canvas[:, top : top + height, left : left + width] = image
    return canvas


def to_hwc(tensor: np.ndarray, input_format: str) -> np.ndarray:
    """A picture whose dimensions are named by letters (CHW, HW, NCHW, ...), as (H, W, C)."""
    letters = input_format.upper()
    if len(set(letters)) != len(letters):
        raise AssertionError(
            "You can not use the same dimension shorthand twice.             "
            f"input_format: {input_format}"
        )
    if tensor.ndim != len(letters):
        raise AssertionError(
            "size of input tensor and input format are different.         "
            f"tensor shape: {tensor.shape}, input_format: {input_format}"
        )
    if len(letters) == 4:
        order = [letters.index(c) for c in "NCHW"]
        return make_grid(tensor.transpose(order)).transpose(1, 2, 0)
    if len(letters) == 3:
        picture = tensor.transpose([letters.index(c) for c in "HWC"])
        return np.concatenate([picture] * 3, 2) if picture.shape[2] == 1 else picture
    picture = tensor.transpose([letters.index(c) for c in "HW"])
    return np.stack([picture] * 3, 2)


def to_bytes(picture: np.ndarray) -> np.ndarray:
    """Brightness from 0 to 255: that of whole bytes as it is, of others from 0 to 1."""
    factor = 1 if picture.dtype == np.uint8 else 255
    return (picture.astype(np.float32) * factor).clip(0, 255).astype(np.uint8)


def figure_to_image(figures: Any, close: bool = True) -> np.ndarray:
    """Figures of matplotlib as one picture (C, H, W), or several (N, C, H, W)."""
    import matplotlib.backends.backend_agg as backend
    import matplotlib.pyplot as plt

    def render(figure: Any) -> np.ndarray:
        canvas = backend.FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
        if close:
            plt.close(figure)
        return pixels.transpose(2, 0, 1)

    if isinstance(figures, list):
        return np.stack([render(f) for f in figures])
    return render(figures)
