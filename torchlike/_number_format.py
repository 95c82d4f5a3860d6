"""How the elements of one tensor become strings of one width.

A style is chosen once per tensor, from all the elements that will be shown: whole numbers print
as ``1.``, others with a fixed number of digits, and a wide or extreme range in scientific
notation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PRECISION = 4


class Options:
    """What ``set_printoptions`` can change."""

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(self) -> None:
        self.precision, self.threshold, self.edgeitems = PRECISION, 1000, 3
        self.linewidth = 80
        self.sci_mode: bool | None = None  # None: decided for each tensor


OPTIONS = Options()


def texts(values: np.ndarray) -> tuple[list[str], int]:
    """The elements as strings padded to one width, in C order, and the width of a column."""
    kind = values.dtype.kind
    if kind == "c":
        return _complex_texts(values)
    if kind in "biu":
        return _exact_texts(values)
    return _float_texts(values)


def _exact_texts(values: np.ndarray) -> tuple[list[str], int]:
    found = list(map(str, values.ravel().tolist()))
    width = max(map(len, found))
    return [s.rjust(width) for s in found], width


def _float_texts(values: np.ndarray) -> tuple[list[str], int]:
    flat = values.ravel().astype(np.float64)
    shown, width = _style(flat)
    return [shown(v).rjust(width) for v in flat.tolist()], width


def _complex_texts(values: np.ndarray) -> tuple[list[str], int]:
    flat = values.ravel()
    real, real_width = _float_texts(flat.real)
    imag, imag_width = _float_texts(flat.imag)
    joined = [a + _signed(b.lstrip()) + "j" for a, b in zip(real, imag, strict=True)]
    return joined, real_width + imag_width + 1


def _signed(number: str) -> str:
    return number if number[0] in "+-" else "+" + number


def _style(flat: np.ndarray) -> tuple[Any, int]:
    """The function that formats one float, and the width of the widest that counts.

    Zeros, infinities and NaN take no part in either decision; they may stick out.
    """
    numbers = flat[np.isfinite(flat) & (flat != 0)]
    if not numbers.size:
        return _whole, 1
    sizes = np.abs(numbers)
    low, high = float(sizes.min()), float(sizes.max())
    whole = bool((numbers == np.ceil(numbers)).all())
    scientific = high / low > 1000 or high > 1e8 or (not whole and low < 1e-4)
    if OPTIONS.sci_mode is not None:
        scientific = OPTIONS.sci_mode
    shown = _formatter(whole, scientific)
    return shown, max(len(shown(v)) for v in numbers.tolist())


def _formatter(whole: bool, scientific: bool) -> Any:
    if whole and not scientific:
        return _whole
    return f"%.{OPTIONS.precision}{'e' if scientific else 'f'}".__mod__


def _whole(value: float) -> str:
    text = f"{value:.0f}"
    return text if text[-1] in "fn" else text + "."  # inf and nan stay bare
