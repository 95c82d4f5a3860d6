"""``torch.utils.tensorboard``: the event files, read back, say what PyTorch's say."""

from __future__ import annotations

import importlib
import io
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict
from PIL import Image
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.plugins.custom_scalar.layout_pb2 import Layout
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from compat_tests.scenarios import Cases, error

matplotlib.use("Agg")
CASES = Cases("tensorboard")
CONTENTS = {"hparams": HParamsPluginData, "mesh": MeshPluginData, "pr_curves": PrCurvePluginData}


def module(torch: Any) -> Any:
    """The part that programs import by name."""
    return importlib.import_module(f"{torch.__name__}.utils.tensorboard")


def records(file: Path) -> list[Event]:
    """The events of a file: each has a length, a checksum, bytes and another checksum."""
    data, found = file.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        found.append(Event.FromString(data[12 : 12 + length]))
        data = data[16 + length :]
    return found


def pixels(png: bytes) -> Any:
    """The bytes of a picture."""
    return np.asarray(Image.open(io.BytesIO(png))).tolist()


def ordered(value: Any) -> Any:
    """Fields by name: a map's come in any order."""
    if isinstance(value, list):
        return [ordered(v) for v in value]
    return {k: ordered(value[k]) for k in sorted(value)} if isinstance(value, dict) else value


def told(value: Any) -> Any:
    """A value as lists and words; pictures as pixels, what parts are told as its fields."""
    data = value.metadata.plugin_data
    picture = content = None
    if value.HasField("image"):
        picture = pixels(value.image.encoded_image_string)
        value.image.encoded_image_string = b""  # another encoder's may differ
    if data.plugin_name in CONTENTS:
        content = ordered(MessageToDict(CONTENTS[data.plugin_name].FromString(data.content)))
        data.content = b""
    if data.plugin_name == "custom_scalars":
        content = MessageToDict(Layout.FromString(value.tensor.string_val[0]))
        value.tensor.string_val[:] = []
    return [MessageToDict(value), picture, content]


def seen(torch: Any, act: Callable[[Any, Any], Any]) -> Any:
    """What ``act(torch, writer)`` leaves behind: [name, events] of each file."""
    with tempfile.TemporaryDirectory() as folder:
        writer = module(torch).SummaryWriter(folder + "/log")
        answer = act(torch, writer)
        writer.close()
        found: list[Any] = [answer]
        for file in sorted(Path(folder).rglob("*")):
            name = str(file.relative_to(folder))
            if "tfevents" in name:
                events = [[e.step, [told(v) for v in e.summary.value]] for e in records(file)[1:]]
                found.append([re.sub(r"tfevents.*", "tfevents", name), events])
            elif file.suffix == ".png":
                found.append([name, pixels(file.read_bytes())])
            elif file.is_file():
                found.append([name, file.read_text()])
        return found


@CASES.add
def scalars(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        w.add_scalar("s", 1.5, 3)
        w.add_scalar("s", torch.tensor(2.5, requires_grad=True), 4)
        w.add_scalar("s", np.float64(0.1))
        w.add_scalar("new", 1, 5, new_style=True)
        w.add_scalar("double", 0.1, torch.tensor(5), new_style=True, double_precision=True)
        w.add_scalar("half", torch.tensor([1.5]).bfloat16())
        w.add_scalars("group/x", {"a": 1.0, "b c": torch.tensor(2.0)}, 7)
        w.add_scalars("group/x", {"a": 3.0}, 8)
        return [
            error(lambda: w.add_scalar("s", "foo")), error(lambda: w.add_scalar("s", None)),
            error(lambda: w.add_scalar("s", torch.ones(2))),
        ]  # fmt: skip

    return seen(torch, act)


@CASES.add
def histograms(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        w.add_histogram("h", torch.tensor([-1.0, 0.0, 0.0, 2.0, 3.5]), 1)
        w.add_histogram("near", torch.tensor([1.0, 1.25, 1.5]).bfloat16(), 1)
        w.add_histogram("auto", np.array([1, 2, 3, 4, 5.5]), 1, bins="auto")
        w.add_histogram("four", np.arange(10.0), bins=4)
        w.add_histogram("fewer", np.arange(10), 1, bins=9, max_bins=4)
        w.add_histogram("gap", np.array([0.5, 9.5]), 1, bins=10)
        w.add_histogram_raw("raw", 0.0, 5.0, 3, 6.0, 14.0, [1.0, 2.0, 3.0], [1, 1, 1], 2)
        bins = w.default_bins
        return [
            error(lambda: w.add_histogram("h", np.array([]))),
            error(lambda: w.add_histogram_raw("r", 0, 5, 3, 6, 14, [1.0, 2.0], [1, 1, 1])),
            [len(bins), bins[:3], bins[773:777], bins[-1]],
        ]  # fmt: skip

    return seen(torch, act)


@CASES.add
def pictures(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        x = torch.tensor([[0.0, 0.5], [1.0, 0.25]])
        w.add_image("rgb", torch.arange(12.0).reshape(3, 2, 2) / 12, 1)
        w.add_image("bytes", np.arange(12, dtype=np.uint8).reshape(2, 2, 3), dataformats="HWC")
        w.add_image("grey", x, 1, dataformats="HW")
        w.add_image("one", x[None], 1)
        w.add_image("beyond", x[None] * 4 - 1, 1)
        w.add_image("four", torch.arange(16.0).reshape(4, 2, 2) / 16, 1)
        w.add_images("five", torch.arange(60.0).reshape(5, 3, 2, 2) / 64, 1)
        w.add_images("nine", torch.arange(36.0).reshape(9, 2, 2, 1) / 64, 1, dataformats="NHWC")
        return [
            error(lambda: w.add_image("i", x)),
            error(lambda: w.add_image("i", x[None], dataformats="HHW")),
        ]

    return seen(torch, act)


@CASES.add
def figures(torch: Any) -> Any:
    import matplotlib.pyplot as plt

    def act(torch: Any, w: Any) -> Any:
        few = [plt.figure(figsize=(0.2, 0.1), dpi=100, facecolor=c) for c in ("red", "blue")]
        w.add_figure("two", few, 1, close=False)
        before = len(plt.get_fignums())
        w.add_figure("one", few[0], 2)
        w.add_figure("last", few[1:], 2)
        return [before - len(plt.get_fignums())]

    return seen(torch, act)


@CASES.add
def texts_sounds_and_tensors(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        w.add_text("t", "hello **x** ä", 1)
        w.add_audio("a", torch.tensor([-1.5, 0.0, 0.25, 1.0]), 1, sample_rate=8000)
        t = torch.tensor([[1.0, 2.0]])
        for dtype in ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8",
                      "bool", "complex64"):  # fmt: skip
            w.add_tensor(dtype, t.to(getattr(torch, dtype)), 1)
        return error(lambda: w.add_audio("a", torch.zeros(2, 3)))

    return seen(torch, act)


@CASES.add
def curves_charts_and_meshes(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        labels, chances = np.array([0, 1, 1, 0]), np.array([0.1, 0.4, 0.8, 0.6])
        w.add_pr_curve("p", labels, chances, 1, num_thresholds=5)
        w.add_pr_curve("w", labels, torch.tensor(chances), 1, 4, weights=np.array([1, 2, 3, 4.0]))
        rows = [1, 1], [0, 1], [1, 0], [0, 1], [0.5, 1.0], [0.5, 1.0]
        w.add_pr_curve_raw("r", *rows, 1, num_thresholds=2)
        w.add_custom_scalars({"T": {"d": ["Multiline", ["a", "b"]], "m": ["Margin", list("xyz")]}})
        w.add_custom_scalars_multilinechart(["a/b"], title="T")
        w.add_custom_scalars_marginchart(["a", "b", "c"])
        points = torch.arange(9.0).reshape(1, 3, 3)
        w.add_mesh("m", points, points + 1, torch.tensor([[[0, 1, 2]]]), {"b": 1, "a": 2}, 1)
        w.add_mesh("points", points)
        return error(lambda: w.add_custom_scalars_marginchart(["a", "b"]))

    return seen(torch, act)


@CASES.add
def points(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        mat = torch.tensor([[1.0, 2.5], [3, 4e-7], [-1e10, 1 / 3]])
        pictures = torch.arange(36.0).reshape(3, 3, 2, 2) / 36
        w.add_embedding(mat, ["a", "b", "c"], pictures, 1, "some/tag")
        w.add_embedding(mat[:2], [["a", 1], ["b", 2]], metadata_header=["name", "value"])
        w.add_embedding(mat[1:], global_step=3)
        return [
            error(lambda: w.add_embedding(mat, ["a"], global_step=4)),
            error(lambda: w.add_embedding(mat, label_img=pictures[:2], global_step=5)),
            error(lambda: w.add_embedding(torch.ones(2), global_step=6)),
        ]

    return seen(torch, act)


@CASES.add
def hyperparameters(torch: Any) -> Any:
    def act(torch: Any, w: Any) -> Any:
        settings = {"lr": 0.1, "n": 3, "b": True, "s": "x", "t": torch.tensor([3.0]), "no": None}
        w.add_hparams(settings, {"acc": 0.9, "loss": torch.tensor(2.0)}, run_name="r")
        domain = {"lr": [0.1, 0.2], "s": ["x", "y"]}
        w.add_hparams({"lr": 0.1, "s": "x"}, {"acc": 0.9}, domain, "r2", global_step=2)
        return [
            error(lambda: w.add_hparams({"lr": [1]}, {"acc": 0.9})),
            error(lambda: w.add_hparams(3, {"acc": 0.9})),
            error(lambda: w.add_hparams({"lr": 0.1}, {"acc": 0.9}, {"s": ["x", "y"]})),
            error(lambda: w.add_hparams({"lr": 0.1}, {"acc": 0.9}, {"lr": ["x"]})),
            error(lambda: w.add_hparams({"lr": 0.1}, {"acc": 0.9}, 3)),
        ]

    return seen(torch, act)


@CASES.add
def files(torch: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("socket.gethostname", lambda: "host")
        with module(torch).SummaryWriter(comment="_x") as w:
            default = re.sub(r"[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d", "DATE", w.log_dir)
        w = module(torch).SummaryWriter("purged", purge_step=5, filename_suffix=".end")
        w.add_scalar("a", 1.0, walltime=10.0)
        w.flush()
        (file,) = Path("purged").iterdir()
        before = [MessageToDict(e) for e in records(file)[1:]]
        for event in before[:2]:
            del event["wallTime"]
        logdir = w.get_logdir(), w.file_writer.get_logdir(), list(w.all_writers)
        w.close()
        closed = w.all_writers, w.file_writer
        w.close()
        w.add_scalar("a", 2.0)
        w.close()
        plain = module(torch).FileWriter("plain")
        plain.add_event(Event(), 3, 10.0)
        plain.close()
        (only,) = Path("plain").iterdir()
        return [
            default, before, logdir, closed, file.name.endswith(".end"),
            len(list(Path("purged").iterdir())), [MessageToDict(e) for e in records(only)[1:]],
        ]  # fmt: skip


test_scenario = CASES.test()


def test_what_needs_a_graph_is_refused(tmp_path: Path) -> None:
    import torchlike
    from torchlike.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer, pytest.raises(NotImplementedError, match="add_graph"):
        writer.add_graph(torchlike.nn.Linear(1, 1), torchlike.ones(1, 1))


def test_the_package_is_asked_for_only_here() -> None:
    program = """
import sys
sys.modules["tensorboard"] = None  # as if it were not installed
import torchlike, torchlike.utils
try:
    import torchlike.utils.tensorboard
except ImportError as error:
    print(type(error).__name__, error.name)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "ModuleNotFoundError tensorboard\n", found.stderr
