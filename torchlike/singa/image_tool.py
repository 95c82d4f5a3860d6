"""Augmentation of images: ``ImageTool().load(path).resize_by_range((112, 128)).flip().get()``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from . import image_functions as functions
from .image_functions import *  # noqa: F403

_CROP5 = ("left_top", "left_bottom", "right_top", "right_bottom", "center")
_CROP3 = {True: ("left", "center", "right"), False: ("top", "middle", "bottom")}  # wide?


class ImageTool:
    """A list of images, and changes of all of them.

    A method returns the tool, so that calls can be chained, or with ``inplace=False`` the new
    images. Where there are several cases, ``num_case`` of them are drawn for each image; all of
    them, in order, if it is their number.
    """

    def __init__(self) -> None:
        self.imgs: list[Any] = []
        self._given = 0

    def load(self, path: str, grayscale: bool = False) -> ImageTool:
        """Hold the image of a file, in grey values or RGB."""
        return self.set([functions.load_img(path, grayscale)])

    def set(self, imgs: list[Any]) -> ImageTool:
        """Hold these images."""
        self.imgs, self._given = imgs, len(imgs)
        return self

    def append(self, img: Any) -> ImageTool:
        """Hold one more image."""
        self.imgs.append(img)
        self._given += 1
        return self

    def get(self) -> list[Any]:
        """The images."""
        return self.imgs

    def num_augmentation(self) -> int:
        """How many images each image has become."""
        return len(self.imgs) // self._given if self._given else 0

    def _changed(self, change: Callable[[Any], Iterable[Any]], inplace: bool) -> Any:
        imgs = [new for img in self.imgs for new in change(img)]
        if not inplace:
            return imgs
        self.imgs = imgs
        return self

    def _by_cases(self, change: Any, cases: Any, num_case: int, inplace: bool) -> Any:
        cases = list(cases)
        _check_cases(num_case, len(cases))
        return self._changed(
            lambda img: [change(img, case) for case in _drawn(cases, num_case)], inplace
        )

    # --- sizes ---

    def scale_by_range(self, rng: tuple[int, int], inplace: bool = True) -> Any:
        """As ``resize_by_range``."""
        return self.resize_by_range(rng, inplace)

    def scale_by_list(self, size_list: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """As ``resize_by_list``."""
        return self.resize_by_list(size_list, num_case, inplace)

    def resize_by_range(self, rng: tuple[int, int], inplace: bool = True) -> Any:
        """Resize the smaller side to a number from range(*rng)."""
        return self.resize_by_list(range(*rng), 1, inplace)

    def resize_by_list(self, size_list: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """Resize the smaller side to sizes from a list."""
        return self._by_cases(functions.resize, size_list, num_case, inplace)

    def resize_by_hw_range(self, rng: Any, inplace: bool = True) -> Any:
        """Resize to one of the pairs (height, width) from two ranges of one length."""
        heights, widths = (range(*limits) for limits in rng)
        if len(heights) != len(widths):
            raise ValueError(f"{len(heights)} heights and {len(widths)} widths form no pairs")
        return self.resize_by_hw_list(zip(heights, widths, strict=True), 1, inplace)

    def resize_by_hw_list(self, size_list: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """Resize to pairs (height, width) from a list."""
        return self._by_cases(functions.resize_by_hw, size_list, num_case, inplace)

    # --- angles ---

    def rotate_by_range(self, rng: tuple[int, int], inplace: bool = True) -> Any:
        """Rotate by a number of degrees from range(*rng)."""
        return self.rotate_by_list(range(*rng), 1, inplace)

    def rotate_by_list(self, angle_list: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """Rotate by degrees from a list, counterclockwise; the size stays."""
        return self._by_cases(lambda img, angle: img.rotate(angle), angle_list, num_case, inplace)

    # --- patches (width, height) ---

    def crop5(self, patch: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """Patches from the four corners and the center."""
        return self._by_cases(
            lambda img, place: functions.crop(img, patch, place), _CROP5, num_case, inplace
        )

    def crop3(self, patch: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """Largest squares from both ends and the middle, resized to a square patch."""
        if patch[0] != patch[1]:
            raise ValueError(f"crop3 makes squares, not {tuple(patch)}")
        _check_cases(num_case, 3)

        def change(img: Any) -> list[Any]:
            places = _drawn(_CROP3[img.size[0] > img.size[1]], num_case)
            return [functions.crop_and_resize(img, patch, place) for place in places]

        return self._changed(change, inplace)

    def crop8(self, patch: Any, num_case: int = 1, inplace: bool = True) -> Any:
        """The cases of ``crop5`` and those of ``crop3``."""
        _check_cases(num_case, 8)
        fives = sum(case < 5 for case in _drawn(range(8), num_case))
        imgs = self.crop5(patch, fives, False) if fives else []
        imgs += self.crop3(patch, num_case - fives, False) if num_case > fives else []
        if not inplace:
            return imgs
        self.imgs = imgs
        return self

    def random_crop(self, patch: Any, inplace: bool = True) -> Any:
        """A patch from anywhere; ValueError if it is larger than an image."""
        return self._changed(lambda img: [functions.random_crop(img, patch)], inplace)

    def random_crop_resize(self, patch: Any, inplace: bool = True) -> Any:
        """A part of 0.08 to 1 of the area, its sides 3:4 to 4:3, resized to the patch."""
        return self._changed(lambda img: [functions.random_crop_resize(img, patch)], inplace)

    # --- mirrors and colors ---

    def flip(self, num_case: int = 1, inplace: bool = True) -> Any:
        """Exchange left and right, or not; with ``num_case`` 2 both, the new image first."""
        return self._flipped(functions.flip, num_case, inplace)

    def flip_down(self, num_case: int = 1, inplace: bool = True) -> Any:
        """Exchange top and bottom, or not; with ``num_case`` 2 both, the new image first."""
        return self._flipped(functions.flip_down, num_case, inplace)

    def _flipped(self, change: Any, num_case: int, inplace: bool) -> Any:
        _check_cases(num_case, 2)

        def cases(img: Any) -> list[Any]:
            if num_case == 2:
                return [change(img), img]
            return [change(img) if random.randint(0, 1) else img]

        return self._changed(cases, inplace)

    def color_cast(self, offset: int = 20, inplace: bool = True) -> Any:
        """Add to each channel, or not, a number from [-offset, offset]."""
        if not 0 <= offset <= 255:
            raise ValueError(f"offset is from 0 to 255, not {offset}")
        return self._changed(lambda img: [functions.color_cast(img, offset)], inplace)

    def enhance(self, scale: float = 0.2, inplace: bool = True) -> Any:
        """Change color, contrast, brightness and sharpness, or not, by 1 - scale to 1 + scale."""
        return self._changed(lambda img: [functions.enhance(img, scale)], inplace)


def _check_cases(num_case: int, most: int) -> None:
    if not 1 <= num_case <= most:
        raise ValueError(f"num_case is from 1 to {most}, not {num_case}")


def _drawn(cases: Any, num_case: int) -> Any:
    return cases if num_case == len(cases) else functions.get_list_sample(cases, num_case)
