"""What is logged, as the messages that TensorBoard reads."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from ._arrays import make_np, to_bytes, to_hwc

__all__ = [
    "audio", "custom_scalars", "histogram", "histogram_raw", "image", "plugin", "pr_curve",
    "pr_curve_raw", "scalar", "shape_of", "tensor_proto", "text",
]  # fmt: skip

_LEAST = 1e-7  # of what a rate is divided by


def plugin(name: str, content: bytes = b"") -> SummaryMetadata:
    """Which part of TensorBoard reads a message, and what it is told."""
    data = SummaryMetadata.PluginData(plugin_name=name, content=content)
    return SummaryMetadata(plugin_data=data)


def shape_of(*sizes: int) -> TensorShapeProto:
    """Sizes as a message."""
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in sizes])


def scalar(
    name: str, tensor: Any, new_style: bool = False, double_precision: bool = False
) -> Summary:
    """One number."""
    found = make_np(tensor).squeeze()
    if found.ndim:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions).             "
            f"Was given size: {found.size} and {found.ndim} dimensions."
        )
    number = float(found)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    else:
        proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    return Summary(value=[Summary.Value(tag=name, tensor=proto, metadata=plugin("scalars"))])


def text(tag: str, words: str) -> Summary:
    """A text in Markdown."""
    proto = TensorProto(
        dtype="DT_STRING", string_val=[words.encode("utf-8")], tensor_shape=shape_of(1)
    )
    value = Summary.Value(tag=tag + "/text_summary", metadata=plugin("text"), tensor=proto)
    return Summary(value=[value])


# --- histograms -----------------------------------------------------------------------------------


def _merged(counts: np.ndarray, edges: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring bins put together, so that there are hardly more than ``most``."""
    together = len(counts) // most
    counts = np.append(counts, np.zeros(-len(counts) % together, counts.dtype))
    return counts.reshape(-1, together).sum(1), np.append(edges[:-1:together], edges[-1])


def _distribution(values: np.ndarray, bins: Any, max_bins: int | None) -> HistogramProto:
    if not values.size:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, edges = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, edges = _merged(counts, edges, max_bins)
    full = np.nonzero(counts)[0]
    if not full.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = full[0], full[-1]
    return HistogramProto(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=edges[first : last + 2].tolist(),  # an empty bin comes first
        bucket=[0, *counts[first : last + 1].tolist()],
    )  # fmt: skip


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Summary:
    """How values are distributed over ``bins``, which NumPy's ``histogram`` takes."""
    found = _distribution(make_np(values).astype(float), bins, max_bins)
    return Summary(value=[Summary.Value(tag=name, histo=found)])


def histogram_raw(
    name: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, limits: Any, counts: Any
) -> Summary:
    """A distribution that has been counted already."""
    found = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=limits,
        bucket=counts,
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=name, histo=found)])


# --- pictures and sounds --------------------------------------------------------------------------


def png(picture: np.ndarray) -> bytes:
    """A picture (H, W, C) of bytes as a PNG file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, format="PNG")
    return file.getvalue()


def image(tag: str, tensor: Any, dataformats: str = "NCHW") -> Summary:
    """A picture, or several in a grid."""
    picture = to_bytes(to_hwc(make_np(tensor), dataformats))
    height, width, channels = picture.shape
    found = Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=png(picture)
    )
    return Summary(value=[Summary.Value(tag=tag, image=found)])


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Summary:
    """A sound: amplitudes from -1 to 1."""
    found = make_np(tensor).squeeze()
    if abs(found).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        found = found.clip(-1, 1)
    if found.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((found * np.iinfo(np.int16).max).astype("<i2").data)
    clip = Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=found.shape[-1],
        encoded_audio_string=file.getvalue(), content_type="audio/wav",
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, audio=clip)])


# --- precision and recall -------------------------------------------------------------------------


def _curve(tag: str, data: np.ndarray, num_thresholds: int) -> Summary:
    content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    proto = TensorProto(
        dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=shape_of(*data.shape)
    )
    value = Summary.Value(tag=tag, metadata=plugin("pr_curves", content), tensor=proto)
    return Summary(value=[value])


def pr_curve_raw(tag: str, rows: Any, num_thresholds: int = 127) -> Summary:
    """A curve whose six rows have been counted already."""
    return _curve(tag, np.stack([make_np(row) for row in rows]), min(num_thresholds, 127))


def pr_curve(
    tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None
) -> Summary:
    """Precision and recall of predicted probabilities, for thresholds from 0 to 1."""
    num_thresholds = min(num_thresholds, 127)  # TensorBoard shows no more
    truth = make_np(labels).astype(np.float64)
    weights = 1.0 if weights is None else make_np(weights)
    bins = np.floor(make_np(predictions) * (num_thresholds - 1)).astype(np.int32)

    def above(weights: np.ndarray) -> np.ndarray:
        """How much weight lies at each threshold or above it."""
        span = (0, num_thresholds - 1)
        counts, _ = np.histogram(bins, bins=num_thresholds, range=span, weights=weights)
        return np.cumsum(counts[::-1])[::-1]

    hits, alarms = above(truth * weights), above((1.0 - truth) * weights)
    missed, rejected = hits[0] - hits, alarms[0] - alarms
    precision = hits / np.maximum(_LEAST, hits + alarms)
    recall = hits / np.maximum(_LEAST, hits + missed)
    rows = np.stack([hits, alarms, rejected, missed, precision, recall])
    return _curve(tag, rows, num_thresholds)


# --- tensors and layouts --------------------------------------------------------------------------

_KINDS = {
    "float16": ("DT_HALF", "half_val"), "bfloat16": ("DT_BFLOAT16", "half_val"),
    "float32": ("DT_FLOAT", "float_val"), "float64": ("DT_DOUBLE", "double_val"),
    "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "uint32_val"),
    "int16": ("DT_INT16", "int_val"), "int32": ("DT_INT32", "int_val"),
    "int64": ("DT_INT64", "int64_val"), "bool": ("DT_BOOL", "bool_val"),
    "complex64": ("DT_COMPLEX64", "scomplex_val"), "complex128": ("DT_COMPLEX128", "dcomplex_val"),
}  # fmt: skip


def tensor_proto(tag: str, tensor: Any) -> Summary:
    """A tensor as it is."""
    kind = str(tensor.dtype).removeprefix("torch.")
    if kind not in _KINDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    dtype, field = _KINDS[kind]
    found = make_np(tensor).reshape(-1)
    if field == "half_val":  # PyTorch writes the bits of float32
        found = found.astype(np.float32).view(np.int32)
    if found.dtype.kind == "c":
        found = np.stack([found.real, found.imag], 1).reshape(-1)
    proto = TensorProto(
        dtype=dtype, tensor_shape=shape_of(*tensor.shape), **{field: found.tolist()}
    )
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=plugin("tensor"))])


def _chart(title: str, kind: str, tags: Any) -> Any:
    if kind == "Margin":
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        value = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
        margin = layout_pb2.MarginChartContent(series=[value])
        return layout_pb2.Chart(title=title, margin=margin)
    return layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags))


def custom_scalars(layout: dict[str, dict[str, Any]]) -> Summary:
    """Which charts show which scalars: {category: {title: [kind, tags]}}."""
    categories = [
        layout_pb2.Category(
            title=category, chart=[_chart(title, *rest) for title, rest in charts.items()]
        )
        for category, charts in layout.items()
    ]
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=shape_of())
    value = Summary.Value(
        tag="custom_scalars__config__", tensor=proto, metadata=plugin("custom_scalars")
    )
    return Summary(value=[value])
