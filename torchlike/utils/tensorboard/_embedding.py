"""Files that TensorBoard's projector reads."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from ._arrays import make_grid, make_np, to_bytes
from .summary import png

_ESCAPES = {ord(c): f"%{ord(c):02x}" for c in "%/\\"}  # in names of folders


def write_labels(metadata: Any, header: Any, folder: str) -> None:
    """One label a line, or one row of columns with a header."""
    if header:
        lines = ["\t".join(str(e) for e in row) for row in [header, *metadata]]
    else:
        lines = [str(x) for x in metadata]
    with open(os.path.join(folder, "metadata.tsv"), "w", encoding="utf8") as file:
        file.writelines(line + "\n" for line in lines)


def write_pictures(label_img: Any, folder: str) -> None:
    """All pictures in one square, row by row."""
    pictures = make_np(label_img)
    columns = math.ceil(math.sqrt(len(pictures)))
    grid = make_grid(pictures, columns)
    size = grid.shape[2]
    square = np.zeros((3, size, size), grid.dtype)
    square[:, : grid.shape[1]] = grid
    with open(os.path.join(folder, "sprite.png"), "wb") as file:
        file.write(png(to_bytes(square.transpose(1, 2, 0))))


def write_points(mat: np.ndarray, folder: str) -> None:
    """One point a line."""
    with open(os.path.join(folder, "tensors.tsv"), "w", encoding="utf8") as file:
        file.writelines("\t".join(str(x) for x in row) + "\n" for row in mat.tolist())


def write(
    own: str, step: str, tag: str, mat: Any, metadata: Any, label_img: Any, header: Any
) -> EmbeddingInfo:
    """Write the files of one set of points; what the projector is told about them."""
    points, subdir = make_np(mat), f"{step}/{tag.translate(_ESCAPES)}"
    folder = os.path.join(own, subdir)
    if os.path.exists(folder):
        print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
    os.makedirs(folder, exist_ok=True)
    found = EmbeddingInfo(tensor_name=f"{tag}:{step}", tensor_path=f"{subdir}/tensors.tsv")
    if metadata is not None:
        if len(points) != len(metadata):
            raise AssertionError("#labels should equal with #data points")
        write_labels(metadata, header, folder)
        found.metadata_path = f"{subdir}/metadata.tsv"
    if label_img is not None:
        if len(points) != label_img.shape[0]:
            raise AssertionError("#images should equal with #data points")
        write_pictures(label_img, folder)
        found.sprite.image_path = f"{subdir}/sprite.png"
        found.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    write_points(points, folder)
    return found
