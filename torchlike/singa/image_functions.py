"""Changes of single images, by Pillow: each takes an image and returns another."""

from __future__ import annotations

import importlib
import math
import random
from typing import Any

import numpy as np

__all__ = """
color_cast crop crop_and_resize enhance flip flip_down get_list_sample load_img random_crop
random_crop_resize resize resize_by_hw scale
""".split()


def _pillow(name: str) -> Any:
    """One of Pillow's modules; ImportError that says how to get it."""
    try:
        return importlib.import_module(f"PIL.{name}")
    except ImportError as error:
        raise ImportError("image_tool works on Pillow's images: pip install Pillow") from error


def load_img(path: str, grayscale: bool = False) -> Any:
    """The image of a file, in grey values or RGB."""
    with _pillow("Image").open(path) as image:
        return image.convert("L" if grayscale else "RGB")


# The corner's part of what is left over, horizontally and vertically
_CORNERS = {
    "left_top": (0, 0),
    "left_bottom": (0, 2),
    "right_top": (2, 0),
    "right_bottom": (2, 2),
    "center": (1, 1),
}
_SQUARES = {"left": (0, 0), "center": (1, 0), "right": (2, 0)} | {
    "top": (0, 0),
    "middle": (0, 1),
    "bottom": (0, 2),
}


def _box(size: Any, patch: Any, places: dict[str, tuple[int, int]], position: str) -> Any:
    if position not in places:
        raise ValueError(f"position is one of {', '.join(places)}, not {position!r}")
    left, top = (
        (n - p) * halves // 2 for n, p, halves in zip(size, patch, places[position], strict=True)
    )
    return left, top, left + patch[0], top + patch[1]


def _check_inside(img: Any, patch: Any) -> None:
    if img.size[0] < patch[0] or img.size[1] < patch[1]:
        raise ValueError(f"a patch of {tuple(patch)} is larger than an image of {img.size}")


def crop(img: Any, patch: Any, position: str) -> Any:
    """The patch (width, height) at left_top, left_bottom, right_top, right_bottom or center."""
    _check_inside(img, patch)
    return img.crop(_box(img.size, patch, _CORNERS, position))


def crop_and_resize(img: Any, patch: Any, position: str) -> Any:
    """The largest square at a position, resized to (width, height).

    The position is left, center or right of a wide image, top, middle or bottom of a high one.
    """
    side = min(img.size)
    square = img.crop(_box(img.size, (side, side), _SQUARES, position))
    return square.resize(tuple(patch), _pillow("Image").BILINEAR)


def resize(img: Any, small_size: int) -> Any:
    """The whole image so that its smaller side has that size."""
    width, height = img.size
    if width < height:
        size = (small_size, int(small_size * height / width))
    else:
        size = (int(small_size * width / height), small_size)
    return img.resize(size, _pillow("Image").BILINEAR)


def scale(img: Any, small_size: int) -> Any:
    """As ``resize``."""
    return resize(img, small_size)


def resize_by_hw(img: Any, size: Any) -> Any:
    """The whole image in (height, width)."""
    height, width = size
    return img.resize((width, height))


def color_cast(img: Any, offset: int) -> Any:
    """Add to each channel, with probability 1/2, a whole number from [-offset, offset]."""
    casts = [random.randint(-offset, offset) if random.randint(0, 1) else 0 for _ in range(3)]
    values = np.asarray(img.convert("RGB"), dtype=np.int32) + casts
    return _pillow("Image").fromarray(values.clip(0, 255).astype(np.uint8))


def enhance(img: Any, scale: float) -> Any:
    """Change color, contrast, brightness and sharpness, each with probability 1/2.

    The factors are from [1 - scale, 1 + scale].
    """
    names = ("Color", "Contrast", "Brightness", "Sharpness")
    factors = [random.uniform(1 - scale, 1 + scale) if random.randint(0, 1) else 1 for _ in names]
    for name, factor in zip(names, factors, strict=True):
        if factor != 1:
            img = getattr(_pillow("ImageEnhance"), name)(img).enhance(factor)
    return img


def flip(img: Any) -> Any:
    """Left and right exchanged."""
    return img.transpose(_pillow("Image").FLIP_LEFT_RIGHT)


def flip_down(img: Any) -> Any:
    """Top and bottom exchanged."""
    return img.transpose(_pillow("Image").FLIP_TOP_BOTTOM)


def random_crop(img: Any, patch: Any) -> Any:
    """A patch (width, height) from anywhere in the image."""
    _check_inside(img, patch)
    left, top = (random.randint(0, n - p) for n, p in zip(img.size, patch, strict=True))
    return img.crop((left, top, left + patch[0], top + patch[1]))


def random_crop_resize(img: Any, patch: Any) -> Any:
    """A part of 0.08 to 1 of the area, its sides 3:4 to 4:3, resized to (width, height).

    The whole image, if ten such parts do not fit into it.
    """
    area = img.size[0] * img.size[1]
    part = img
    for _ in range(10):
        target, ratio = random.uniform(0.08, 1.0) * area, random.uniform(3 / 4, 4 / 3)
        size = round(math.sqrt(target * ratio)), round(math.sqrt(target / ratio))
        if img.size[0] > size[0] and img.size[1] > size[1]:
            part = random_crop(img, size)
            break
    return part.resize(tuple(patch), _pillow("Image").BILINEAR)


def get_list_sample(l: Any, sample_size: int) -> list[Any]:  # noqa: E741  the name is SINGA's
    """That many elements by chance, in their order."""
    return [l[i] for i in sorted(random.sample(range(len(l)), sample_size))]
