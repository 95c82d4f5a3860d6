"""SINGA's and MXNet's names, served at no cost to others; the page that compares the styles."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "other-surfaces.md"


def python(*args: str, cwd: Path = ROOT) -> str:
    run = subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, cwd=cwd, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_importing_torchlike_loads_no_other_surface():
    found = python(
        "-c",
        "import sys, torchlike; torchlike.install(); import torch, torch.nn.functional\n"
        "print([n for n in sys.modules if 'singa' in n or 'mxnet' in n or n == 'onnx'])",
    )
    assert found == "[]\n"


@pytest.mark.parametrize(("name", "module"), [("singa", "autograd"), ("mxnet", "gluon")])
def test_a_name_is_served_and_given_back(name: str, module: str):
    found = python(
        "-c",
        f"import sys, torchlike\n"
        f"print(torchlike.install({name!r}), torchlike.install({name!r}))\n"
        f"import {name}.{module} as served, torchlike.{name}.{module} as own\n"
        f"print(served is own, 'torch' in sys.modules)\n"
        f"torchlike.install()\n"
        f"import torch\n"
        f"try: import torch.{name}\n"
        f"except ModuleNotFoundError as error: print(torch is torchlike, error)\n"
        f"torchlike.uninstall({name!r})\n"
        f"print([n for n in sys.modules if n.startswith({name!r})], 'torch' in sys.modules)\n"
        f"torchlike.uninstall()\n"
        f"print('torch' in sys.modules)\n",
    )
    lines = ["True True", "True False", f"True No module named 'torch.{name}'", "[] True", "False"]
    assert found.splitlines() == lines


def test_the_command_line_serves_the_names_it_is_given():
    code = "import {0}; print({0}.__name__)"
    run = ("-m", "torchlike", "--as")
    assert python(*run, "singa", "-c", code.format("singa")) == "torchlike.singa\n"
    assert python(*run, "mxnet", "-c", code.format("mxnet")) == "torchlike.mxnet\n"
    both = "import torch, singa; print(torch.ones(1), singa.__name__)"
    assert python(*run, "singa", "--as", "torch", "-c", both) == "tensor([1.]) torchlike.singa\n"


def test_another_name_is_refused():
    run = subprocess.run(
        [sys.executable, "-m", "torchlike", "--as", "keras", "-c", "1"],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert run.returncode == 2
    assert "no such surface; there is: torch, singa, mxnet, functorch" in run.stderr


# --- the page -------------------------------------------------------------------------------------

DATA = """
import numpy
images = numpy.random.default_rng(0).random((32, 64)).astype("float32")
labels = numpy.arange(32).astype("int32") % 10
"""
SHOW = {
    "PyTorch": "print(loss.shape, len(list(net.parameters())), net[0].weight.grad.shape)",
    "Functional": "print(loss(p, x, t) < 3, g['w0'].shape)",
    "SINGA": "print(out.shape, loss.shape, list(net.get_params()))",
    "MXNet": "print(loss.shape, net[0].weight.grad().shape, trainer.learning_rate)",
}
SHOWN = {
    "PyTorch": "torch.Size([]) 4 torch.Size([64, 64])\n",
    "Functional": "tensor(True) torch.Size([64, 64])\n",
    "SINGA": "(32, 10) (1,) ['linear1.W', 'linear1.b', 'linear2.W', 'linear2.b']\n",
    "MXNet": "(32,) (64, 64) 0.1\n",
}
BLOCK = re.compile(r"\*\*(\w+)\*\*\n\n```python\n(.*?)```", re.DOTALL)


def test_the_page_shows_four_styles():
    assert [title for title, _ in BLOCK.findall(PAGE.read_text())] == list(SHOW)


@pytest.mark.parametrize("title", SHOW)
def test_each_style_runs_as_the_page_prints_it(title: str, tmp_path: Path):
    (block,) = (code for name, code in BLOCK.findall(PAGE.read_text()) if name == title)
    program = tmp_path / "program.py"
    program.write_text(DATA + block + SHOW[title] + "\n")
    surface = title.lower() if title in ("SINGA", "MXNet") else "torch"
    assert python("-m", "torchlike", "--as", surface, str(program)) == SHOWN[title]


# --- the examples ---------------------------------------------------------------------------------

TWIN = """
import numpy as np, torch
from torch import nn
rng = np.random.default_rng(0)
torch.manual_seed(0)
with np.load("examples/data/digits.npz") as file:
    images, labels = (file["images"].reshape(-1, 64) / 16).astype(np.float32), file["labels"]
order = rng.permutation(len(labels))
x, t = torch.from_numpy(images[order]), torch.from_numpy(labels[order]).long()
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    for batch in torch.from_numpy(360 + rng.permutation(len(labels) - 360)).split(32):
        sgd.zero_grad()
        nn.functional.cross_entropy(net(x[batch]), t[batch]).backward()
        sgd.step()
print(f"{100 * (net(x[:360]).argmax(1) == t[:360]).float().mean().item():.1f}%")
"""


def accuracies(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"(\d+\.\d)%", text)]


@pytest.mark.parametrize(
    ("surface", "script"),
    [("singa", "singa_mlp"), ("singa", "singa_model"), ("mxnet", "mxnet_autograd")],
)
def test_perceptrons_are_as_good_as_their_twin(surface: str, script: str):
    (twin,) = accuracies(python("-m", "torchlike", "-c", TWIN))
    found = accuracies(python("-m", "torchlike", "--as", surface, f"examples/{script}.py"))
    assert twin > 94 and found[-1] > twin - 1


def test_the_convolutional_network_is_as_good_as_its_twin():
    (*_, twin) = accuracies(python("-m", "torchlike", "examples/digits_cnn.py", "--epochs", "6"))
    found = accuracies(python("-m", "torchlike", "--as", "singa", "examples/singa_cnn.py"))
    assert twin > 94 and found[-1] > twin - 1


def test_the_models_training_goes_on_from_its_checkpoint(tmp_path: Path):
    run = ("-m", "torchlike", "--as", "singa", str(ROOT / "examples" / "singa_model.py"))
    arguments = ("--checkpoint", str(tmp_path / "digits.zip"), "--epochs", "4")
    whole = python(*run, *arguments)
    again = python(*run, *arguments, "--resume")
    assert (tmp_path / "digits.zip").exists()
    (saved,) = re.findall(r"resumed at (.*)", whole)
    assert re.findall(r"resumed at (.*)", again) == [saved]
    assert "    2  " in whole and saved.split("%")[0] in whole.split("saved")[0]
