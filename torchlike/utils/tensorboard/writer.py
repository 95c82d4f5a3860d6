"""Writers of event files: what programs call."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import _embedding, _parts, summary
from ._arrays import figure_to_image

__all__ = ["FileWriter", "SummaryWriter"]

_VERSION = "brain.Event:2"


class FileWriter:
    """Writes messages to an event file in ``log_dir``, from a thread of its own.

    ``max_queue`` messages wait at most, and ``flush_secs`` seconds at most.
    """

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """Where the file lies."""
        found: str = self.event_writer.get_logdir()
        return found

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event, at a step and a time (now, if none is given)."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write what was logged."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Refused: there are no graphs of operations to write."""
        raise NotImplementedError("FileWriter.add_graph: graphs come from torch.jit.trace's")

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Write to a new file after ``close``."""
        self.event_writer.reopen()


def _bins() -> list[float]:
    """Edges a tenth apart from 1e-12 to 1e20, on both sides of 0."""
    edges: list[float] = []
    edge = 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    return [*(-e for e in reversed(edges)), 0, *edges]


def _step_name(step: Any) -> str:
    return str(0 if step is None else step).zfill(5)


class SummaryWriter:
    """Logs numbers, pictures, texts and more for TensorBoard; also a context manager.

    ``log_dir`` is ``runs/DATE_HOST`` and ``comment`` if not given. With ``purge_step`` TensorBoard
    forgets what was logged from that step on by a run that broke off. ``step`` and ``walltime`` of
    the methods say when something was: the time is now, if it is not given.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue, self.flush_secs = max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: Any = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()
        self.default_bins = _bins()

    def _open(self, folder: Any) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        """The writer of this run's own file, opened anew after ``close``."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._open(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                start = SessionLog(status=SessionLog.START)
                for event in (Event(file_version=_VERSION), Event(session_log=start)):
                    self.file_writer.add_event(event, self.purge_step)
                self.purge_step = None
        writer: FileWriter = self.file_writer
        return writer

    def get_logdir(self) -> Any:
        """Where the files lie."""
        return self.log_dir

    def _add(self, message: Any, step: Any = None, walltime: float | None = None) -> None:
        self._get_file_writer().add_summary(message, step, walltime)

    # --- numbers ----------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Log one number."""
        message = summary.scalar(tag, scalar_value, new_style, double_precision)
        self._add(message, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log several numbers for one chart, each in a run of its own."""
        walltime = time.time() if walltime is None else walltime
        own = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            folder = f"{own}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = self._open(folder)
            message = summary.scalar(main_tag, value)
            self.all_writers[folder].add_summary(message, global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Log a tensor as it is."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log how values are distributed; ``bins`` is what NumPy's ``histogram`` takes."""
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a distribution that has been counted already."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        message = summary.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(message, global_step, walltime)

    # --- pictures, sounds, texts ------------------------------------------------------------------

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log a picture: bytes, or brightness from 0 to 1."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log pictures, in rows of eight."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: Any = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Log a figure of matplotlib's, or a list of them; ``close`` closes it."""
        picture = figure_to_image(figure, close)
        formats = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, picture, global_step, walltime, dataformats=formats)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log a sound: amplitudes from -1 to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Log a text in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Any = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log points in space, and maybe their colours and the triangles between them."""
        message = _parts.mesh(tag, vertices, colors, faces, config_dict)
        self._add(message, global_step, walltime)

    # --- curves, charts, points, settings ---------------------------------------------------------

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log precision and recall of predicted probabilities."""
        message = summary.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(message, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a curve that has been computed already."""
        rows = (
            true_positive_counts, false_positive_counts, true_negative_counts,
            false_negative_counts, precision, recall,
        )  # fmt: skip
        self._add(summary.pr_curve_raw(tag, rows, num_thresholds), global_step, walltime)

    def add_custom_scalars(self, layout: dict[str, dict[str, Any]]) -> None:
        """Arrange charts: {category: {title: ["Multiline" or "Margin", tags]}}."""
        self._add(summary.custom_scalars(layout))

    def add_custom_scalars_multilinechart(
        self, tags: Any, category: str = "default", title: str = "untitled"
    ) -> None:
        """Arrange one chart of several lines."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Any, category: str = "default", title: str = "untitled"
    ) -> None:
        """Arrange one chart of a line between two bounds."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """Log points (N, D), and maybe their labels and pictures (N, C, H, W)."""
        own = self._get_file_writer().get_logdir()
        found = _embedding.write(
            own, _step_name(global_step), tag, mat, metadata, label_img, metadata_header
        )
        config = self.__dict__.setdefault("_projector_config", ProjectorConfig())
        config.embeddings.extend([found])
        with open(os.path.join(own, "projector_config.pbtxt"), "w", encoding="utf8") as file:
            file.write(text_format.MessageToString(config))

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Log a run's settings and what came of it, as a run of its own."""
        messages = _parts.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        own = self._get_file_writer().get_logdir()
        folder = os.path.join(own, run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for message in messages:
                writer._add(message, global_step)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    # --- what is not there ------------------------------------------------------------------------

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Refused: a graph of operations needs TorchScript's tracing."""
        raise NotImplementedError("SummaryWriter.add_graph needs TorchScript, which is not there")

    # --- the files --------------------------------------------------------------------------------

    def flush(self) -> None:
        """Write what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
