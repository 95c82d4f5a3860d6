"""Batches of images, made in the background."""

from __future__ import annotations

import os
import queue
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Batch = tuple[np.ndarray, Any]


class ImageBatchIter:
    """Endless batches of the images that a file lists, a path and a label in each line.

    ``next(batches)`` gives float32 images (batch_size, 3, height, width) and int32 labels, or a
    list of strings if not every label is a whole number (None where there is none).
    ``image_folder`` stands before the paths. ``image_transform`` takes a path and returns a list of
    Pillow images, which get the same label. The list is shuffled before each pass, if at all.
    ``start`` starts the one worker, a thread, which is ``capacity`` batches ahead at most; ``end``
    stops it.
    """

    def __init__(
        self,
        img_list_file: str,
        batch_size: int,
        image_transform: Callable[[str], list[Any]],
        shuffle: bool = True,
        delimiter: str = " ",
        image_folder: str | None = None,
        capacity: int = 10,
    ) -> None:
        self.img_list_file, self.batch_size = img_list_file, batch_size
        self.image_transform, self.shuffle = image_transform, shuffle
        self.delimiter, self.image_folder = delimiter, image_folder
        self.queue: queue.Queue[Batch | Exception] = queue.Queue(capacity)
        self.stop = False
        self.p: threading.Thread | None = None
        self._entries = self._listed()
        self.num_samples = len(self._entries)

    def _listed(self) -> list[tuple[str, Any]]:
        with open(self.img_list_file, encoding="utf-8") as file:
            rows = [line.strip().split(self.delimiter) for line in file if line.strip()]
        if not rows:
            raise ValueError(f"{self.img_list_file} lists no images")
        labels = [row[1].strip() if len(row) > 1 else None for row in rows]
        if all(label is not None and label.lstrip("-").isdigit() for label in labels):
            labels = [int(label) for label in labels if label is not None]
        return [(row[0].strip(), label) for row, label in zip(rows, labels, strict=True)]

    def start(self) -> None:
        """Start making batches; RuntimeError if that goes on already."""
        if self.p is not None:
            raise RuntimeError("batches are being made already: call end first")
        self.stop = False
        self.queue = queue.Queue(self.queue.maxsize)
        self.p = threading.Thread(target=self.run, daemon=True)
        self.p.start()

    def __iter__(self) -> ImageBatchIter:
        return self

    def __next__(self) -> Batch:
        if self.p is None:
            raise AssertionError("call start before next")
        made = self.queue.get()
        if isinstance(made, Exception):
            self.end()
            raise made
        return made

    def end(self) -> None:
        """Stop making batches and forget those that wait; ``start`` begins anew."""
        self.stop = True
        if self.p is None:
            return
        while self.p.is_alive():
            self._drain()
            self.p.join(0.01)
        self._drain()
        self.p = None

    def _drain(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()

    def run(self) -> None:
        """What the worker does: put batches into the queue until ``end``."""
        try:
            images = self._images()
            while not self.stop:
                self._put(self._batch(images))
        except Exception as error:  # for the one who waits for the batch
            self._put(error)

    def _put(self, made: Batch | Exception) -> None:
        while not self.stop:
            try:
                return self.queue.put(made, timeout=0.1)
            except queue.Full:
                continue
        return None

    def _images(self) -> Iterator[tuple[list[Any], Any]]:
        """Transformed images and the label of each listed one, pass after pass."""
        entries = list(self._entries)
        while True:
            if self.shuffle:
                random.shuffle(entries)
            for path, label in entries:
                yield self.image_transform(os.path.join(self.image_folder or "", path)), label

    def _batch(self, images: Iterator[tuple[list[Any], Any]]) -> Batch:
        x: list[np.ndarray] = []
        y: list[Any] = []
        while len(x) < self.batch_size:
            made, label = next(images)
            if not made or len(x) + len(made) > self.batch_size:
                raise AssertionError(
                    f"image_transform made {len(made)} images for {self.batch_size - len(x)} places"
                )
            x += [np.asarray(i.convert("RGB"), np.float32).transpose(2, 0, 1) for i in made]
            y += [label] * len(made)
        whole = all(isinstance(label, int) for label in y)
        return np.stack(x), np.asarray(y, np.int32) if whole else y
