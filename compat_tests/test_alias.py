"""Programs that say ``import torch``: one module under two names, given and taken back."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from compat_tests.programs import ROOT, Write, check, python, run, write

__all__ = ["write"]

# A `torch` to find: a package that is not ours, whatever else is installed.
OTHER = {
    "torch/__init__.py": "__version__ = 'other'\nfrom . import nn\nclass Tensor: pass\n",
    "torch/nn.py": "",
}


# --- one module, two names ------------------------------------------------------------------------


def test_a_program_that_imports_torch(write: Write, tmp_path: Path) -> None:
    script = write(
        program_py="""
            import torch.nn.functional as F
            from torch.utils.data import DataLoader
            import torch, sys, pickle, inspect, importlib, importlib.metadata, importlib.util
            import torch.nn as nn
            from torch import optim
            import torchlike, torchlike.nn.modules.linear as linear

            assert torch is torchlike and torch.nn is torchlike.nn is sys.modules["torch.nn"]
            assert F is torchlike.nn.functional is nn.functional
            assert torch.nn.modules.linear is linear is sys.modules["torch.nn.modules.linear"]
            assert DataLoader is torchlike.utils.data.DataLoader
            assert torch.__name__ == "torch" and F.__name__ == "torch.nn.functional"
            assert torch.nn.__spec__.name == "torchlike.nn" == linear.__spec__.parent[:12]

            x = torch.ones(1, requires_grad=True)
            p = nn.Parameter(torch.ones(1))
            assert str(type(x)) == "<class 'torch.Tensor'>"
            assert str(type(p)) == "<class 'torch.nn.parameter.Parameter'>"
            assert repr(nn.Linear) == "<class 'torch.nn.modules.linear.Linear'>"
            assert str(type(torch.float32)) == "<class 'torch.dtype'>"
            assert str(torch.FloatTensor) == "<class 'torch.FloatTensor'>"
            assert str(type(torch.Generator())) == "<class 'torch._C.Generator'>"
            assert str(type(torch.__version__)) == "<class 'torch.torch_version.TorchVersion'>"

            class Twice(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2

            nodes = [type((x * 2).grad_fn), type(Twice.apply(x).grad_fn)]
            assert str(nodes[0]) == "<class 'MulBackward0'>"
            assert str(nodes[1]) == "<class 'torch.autograd.function.TwiceBackward'>"
            assert str(type(torch.no_grad())) == "<class 'torch.autograd.grad_mode.no_grad'>"

            layer = nn.Linear(2, 1)
            data = pickle.dumps([layer, x, p, torch.float16, torch.Size([1]), nn.ReLU])
            assert b"torch.nn.modules.linear" in data
            again = pickle.loads(data)
            assert type(again[0]) is nn.Linear and again[0].weight.tolist() == layer.weight.tolist()
            assert again[3] is torch.float16 and again[5] is nn.ReLU

            assert "class Linear(" in inspect.getsource(nn.Linear)
            assert "def is_tensor" in inspect.getsource(torch.is_tensor)
            assert inspect.getmodule(nn.Linear) is linear

            old = nn.Linear
            assert importlib.reload(linear) is linear and linear.Linear is not old
            assert repr(linear.Linear) == "<class 'torch.nn.modules.linear.Linear'>"
            assert importlib.reload(torch) is torch and torch.__name__ == "torch"
            assert torch.nn is nn and torch.ones(2).sum() == 2 and not hasattr(torch, "nope")

            assert torch.__version__ == importlib.metadata.version("torch")
            assert importlib.util.find_spec("torch.nn") and importlib.util.find_spec("torch")
            assert importlib.util.find_spec("torch.nowhere") is None
            names = [d.metadata["Name"] for d in importlib.metadata.distributions()]
            assert "torch" in names
            print("done")
        """
    )
    assert run(script, cwd=tmp_path) == "done\n"


ORDERS = [
    "import torchlike.nn; import torch.nn",
    "import torch.nn.modules.linear; import torchlike.nn; import torch",
    "from torch.nn import functional as f, Linear; import torch, torchlike",
]


def test_any_order_of_imports(tmp_path: Path) -> None:
    for order in ORDERS:
        program = f"{order}; import sys; m = sys.modules; "
        program += "print(torch.nn is torchlike.nn is m['torch.nn'] is m['torchlike.nn'], "
        program += "torch.nn.Linear.__module__)"
        assert run("-c", program, cwd=tmp_path) == "True torch.nn.modules.linear\n", order


# --- inside Python --------------------------------------------------------------------------------


def _beside(tmp_path: Path) -> None:
    for name, source in OTHER.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)


def test_install_and_uninstall_where_torch_is_imported(tmp_path: Path) -> None:
    _beside(tmp_path)
    check(
        """
        import sys
        import torch as other, torch.nn as other_nn
        import torchlike, torchlike.nn, pickle
        from torchlike.alias import is_installed

        finders = list(sys.meta_path)
        kinds = [torchlike.Tensor, torchlike.nn.Linear, torchlike.nn.Parameter, torchlike.dtype]
        before = [k.__module__ for k in kinds]
        assert before == [
            "torchlike", "torchlike.nn.modules.linear", "torchlike.nn.parameter", "torchlike"
        ]
        assert torchlike.install("never") is False and torchlike.install("absent") is False
        assert sys.modules["torch"] is other and not is_installed()
        for _ in range(2):
            assert torchlike.install() is True and torchlike.install("force") is True
            import torch, torch.nn
            assert torch is torchlike and torch.nn is torchlike.nn
            assert [k.__module__ for k in kinds] == [
                "torch", "torch.nn.modules.linear", "torch.nn.parameter", "torch"
            ]
            data = pickle.dumps(torch.ones(2))
            torchlike.uninstall()
            torchlike.uninstall()
            import torch, torch.nn
            assert torch is other and torch.nn is other_nn and torch.__version__ == "other"
            assert [k.__module__ for k in kinds] == before and torchlike.__name__ == "torchlike"
            assert sys.meta_path == finders and pickle.loads(data).tolist() == [1, 1]
        """,
        tmp_path,
    )


def test_install_where_torch_is_not_imported(tmp_path: Path) -> None:
    _beside(tmp_path)
    check(
        """
        import sys, importlib.metadata
        import torchlike
        try:
            plain = importlib.metadata.version("torch")
        except ImportError:
            plain = None
        assert torchlike.install(mode="absent") is False and "torch" not in sys.modules
        assert torchlike.install() is True
        import torch
        assert torch is torchlike
        assert importlib.metadata.version("torch") == torchlike.__version__ != plain
        import torch.optim
        assert "torch.nn" in sys.modules or torch.nn.__name__ == "torch.nn"
        torchlike.uninstall()
        assert not [n for n in sys.modules if n.partition(".")[0] == "torch"]
        import torch
        assert torch.__version__ == "other"
        try:
            assert importlib.metadata.version("torch") == plain
        except ImportError:
            assert plain is None
        for mode in ("always", "", None):
            try:
                torchlike.install(mode)
            except ValueError as error:
                assert "'force', 'absent', 'never'" in str(error)
            else:
                raise AssertionError(mode)
        """,
        tmp_path,
    )


def test_absent_where_there_is_none(tmp_path: Path) -> None:
    check(
        """
        import sys
        import torchlike
        from importlib.machinery import PathFinder

        class NoTorch(PathFinder):
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                found = None if name == "torch" else PathFinder.find_spec(name, path, target)
                return found

        sys.meta_path = [NoTorch if f is PathFinder else f for f in sys.meta_path]
        assert torchlike.install("absent") is True
        import torch
        assert torch is torchlike
        """,
        tmp_path,
    )


# --- names that are missing -----------------------------------------------------------------------


def test_missing_names(tmp_path: Path) -> None:
    check(
        """
        import torchlike
        import torchlike.nn.functional

        def text(run):
            try:
                run()
            except Exception as error:
                return type(error), str(error), getattr(error, "name", None)

        assert "nn" in dir(torchlike) and all(hasattr(torchlike, n) for n in dir(torchlike))
        for on in (False, True):
            root = "torchlike"
            if on:
                torchlike.install()
                root = "torch"
            for module, name in (
                (torchlike, ""), (torchlike.nn, ".nn"), (torchlike.nn.functional, ".nn.functional")
            ):
                assert not hasattr(module, "not_there") and getattr(module, "nope", 3) == 3
                kind, message, missing = text(lambda: module.not_there)
                assert kind is AttributeError and missing == "not_there"
                start = f"module '{root}{name}' has no attribute 'not_there'"
                assert message.startswith(start), message
                assert f"{root}{name}.not_there" in message and "docs/coverage.md" in message
                assert not hasattr(module, "__wrapped__")
            kind, message, _ = text(lambda: torchlike.__nope__)
            assert message == f"module '{root}' has no attribute '__nope__'"

        def from_import():
            from torch import not_there

        def from_submodule():
            from torch.nn import not_there

        def import_module():
            import torch.not_there

        def import_deep():
            import torch.not_there.deeper

        def from_missing():
            from torch.nn.not_there import x

        kind, message, name = text(from_import)
        assert kind is ImportError and name == "torch"
        assert message.startswith("cannot import name 'not_there' from 'torch' (")
        kind, message, name = text(from_submodule)
        assert kind is ImportError and message.startswith("cannot import name 'not_there' from 'to")
        for run in (import_module, import_deep):
            assert text(run) == (
                ModuleNotFoundError, "No module named 'torch.not_there'", "torch.not_there"
            )
        assert text(from_missing)[1:] == (
            "No module named 'torch.nn.not_there'", "torch.nn.not_there"
        )
        """,
        tmp_path,
    )


# --- a program's own functional.py ----------------------------------------------------------------

OWN = """
    '''The program's own.'''
    VALUE = 41

    def relu(x):
        return "own"
"""
USES = """
    import sys, copy, pickle, importlib, inspect
    {first}
    import torch, functional
    from functional import VALUE, relu
    import torch.nn as nn, torch.nn.functional as F, torch.optim
    from torch.utils.data import DataLoader
    import torchlike

    assert VALUE == 41 and relu(1) == "own" and sys.modules["functional"] is functional
    assert "functional.py" in functional.__file__ and "own" in functional.__doc__
    assert not [n for n in sys.modules if n.startswith("functional.")]
    assert F is torchlike.nn.functional and F.relu(torch.tensor([-1.0])).item() == 0
    x = torch.ones(3, requires_grad=True)
    nn.Linear(3, 1)(x).sum().backward()
    assert x.grad is not None and type(x) is torch.Tensor and x.grad.dtype is torch.float32
    for value in (x, nn.Linear(2, 1), torch.float32, torch.device("cpu"), torch.Generator()):
        assert type(pickle.loads(pickle.dumps(value))) is type(value) is type(copy.deepcopy(value))
    assert importlib.reload(functional) is functional and "own" in inspect.getsource(functional)
    importlib.reload(nn.modules.linear)
    from torchlike import _functional
    assert _functional.__name__ == "torchlike._functional" and torch.add is _functional.add
    assert importlib.reload(sys.modules["torchlike._functional.errors"]).FREED
    print("done")
"""


def test_own_functional_beside_the_script(write: Write, tmp_path: Path) -> None:
    script = write(code__program_py=USES.format(first=""), code__functional_py=OWN)
    assert run(script, cwd=ROOT) == "done\n"
    assert run("-m", "program", cwd=script.parent) == "done\n"


@pytest.mark.parametrize("first", ["import torchlike", "import functional, torchlike"])
def test_own_functional_with_install(first: str, write: Write, tmp_path: Path) -> None:
    script = write(program_py=USES.format(first=first + "; torchlike.install()"), functional_py=OWN)
    done = python(script, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_own_functional_package(write: Write, tmp_path: Path) -> None:
    script = write(
        code__program_py="""
            import torch, functional.tools as tools, functional
            from functional import tools as again
            assert functional.A == 1 and tools.B == 2 and again is tools
            assert torch.nn.Linear(2, 1)(torch.ones(2)).shape == (1,)
            import functional.tensor
        """,
        code__functional__tools_py="B = 2",
    )
    (script.parent / "functional" / "__init__.py").write_text("from .tools import B\nA = 1\n")
    done = python("-m", "torchlike", script, cwd=ROOT)
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'functional.tensor'"
    )
    assert "siblings" not in done.stderr


def test_functional_of_another_directory(write: Write, tmp_path: Path) -> None:
    """The working directory's is found first at the start, but is not the program's."""
    script = write(
        code__program_py="""
            import torch, functional, functional.errors
            from functional import errors
            assert functional.add is torch.add and functional.errors is errors
        """,
        functional_py="raise AssertionError('imported')",
    )
    assert run(script, cwd=tmp_path) == ""


def test_without_conflict_the_core_has_its_own_name(tmp_path: Path) -> None:
    program = "import torch, functional, sys, builtins; "
    program += "print(functional.__name__, functional.add is torch.add, "
    program += "'torchlike._functional' in sys.modules, builtins.__import__)"
    expected = "functional True False <built-in function __import__>\n"
    assert run("-c", program, cwd=tmp_path) == expected


def test_own_torchlike_beside_the_script(write: Write) -> None:
    script = write(
        code__program_py="""
            import torch, torch.nn as nn, torch.optim, torch.nn.functional as F
            assert nn.Linear(2, 1)(torch.ones(2)).shape == (1,) and torch.nn is nn
        """,
        code__torchlike_py="raise AssertionError('imported')",
    )
    assert run(script, cwd=ROOT) == ""


# --- the version ----------------------------------------------------------------------------------


def test_version_compares_as_a_version() -> None:
    import torchlike
    from torchlike.torch_version import TorchVersion

    v = torchlike.__version__
    assert isinstance(v, str) and v == "2.13.0+torchlike.0.1.0" and v.split("+")[0] == "2.13.0"
    assert v >= "2.13.0" and v > "2.13.0rc1" and v < "2.13.1" and v > "2.9" and v != "2.13.0"
    assert v > (1, 9) and v > (2, 0) and v >= [2, 13] and v == v and hash(v) == hash(str(v))
    assert v not in (2, "something") and (v < "something") == (str(v) < "something")
    with pytest.raises(TypeError):
        _ = v < 3
    order = "1.dev0 1.0.dev456 1.0a1 1.0a2.dev456 1.0a12 1.0b1.dev456 1.0b2 1.0rc1 1.0 1.0+abc.5"
    order += " 1.0+abc.7 1.0+5 1.0.post456.dev34 1.0.post456 1.1.dev1 1!0.1"
    versions = [TorchVersion(text) for text in order.split()]
    assert all(a < b and b > a and a != b for a, b in itertools.pairwise(versions))
    same = [TorchVersion(text) for text in ("1.0", "v1.0.0", "1", "1.0.0")]
    assert all(a == b and a <= b for a in same for b in same)
    assert TorchVersion("1.0-alpha.1") == "1.0a1" and TorchVersion("1.0-1") == "1.0.post1"
