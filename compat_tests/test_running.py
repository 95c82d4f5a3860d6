"""``python -m torchlike PROGRAM`` runs a program as Python itself runs it.

What a program prints, its traceback and its exit code must be the same.
"""

from __future__ import annotations

import os
import signal
import textwrap
from pathlib import Path

import pytest

from compat_tests.programs import Write, python, run, write

__all__ = ["write"]

REPORT = """
    # -*- coding: latin-1 -*-
    from __future__ import annotations
    import sys, pickle
    print(__name__, __file__, sys.argv, sys.path[0], __spec__ and __spec__.name, __package__)
    print(type(__loader__).__name__, sorted(globals()), __builtins__.__name__)
    print(sys.modules["__main__"].__dict__ is globals(), __doc__, len("\xe9"))

    class A:
        x: nowhere

    print(type(pickle.loads(pickle.dumps(A()))) is A, A.__annotations__)
"""
FAILS = """
    import atexit, sys
    atexit.register(print, "at exit")

    def fail(depth):
        if depth:
            fail(depth - 1)
        try:
            {}["key"]
        except KeyError as error:
            raise ValueError("bad") from error

    fail(2)
"""
HOOKED = """
    import sys
    def hook(kind, value, traceback):
        print("hook", kind, value, traceback.tb_frame.f_code.co_filename, traceback.tb_next)
    sys.excepthook = hook
    1 / 0
"""
PROGRAMS = {
    "report": REPORT,
    "fails": FAILS,
    "hooked": HOOKED,
    "syntax": "x = 1\ndef f(:\n",
    "exits_3": "import sys; sys.exit(3)",
    "exits_text": "import sys; sys.exit('text')",
    "interrupted": "def f():\n    raise KeyboardInterrupt\nf()",
    "missing": "import not_there",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_script_as_python_runs_it(name: str, write: Write, tmp_path: Path) -> None:
    script = write(program_py=PROGRAMS[name])
    plain = python(script.name, "a", "-m", "--as", cwd=tmp_path)
    ours = python("-m", "torchlike", script.name, "a", "-m", "--as", cwd=tmp_path)
    assert ours.returncode == plain.returncode
    assert ours.stdout == plain.stdout
    assert ours.stderr == plain.stderr


@pytest.mark.parametrize("how", ["-m", "directory", "-m package", "relative"])
def test_other_ways_as_python_runs_them(how: str, write: Write, tmp_path: Path) -> None:
    program = textwrap.dedent(REPORT) + textwrap.dedent(FAILS)
    script = write(inner__code_py=program, inner__sub__empty_py="")
    (tmp_path / "inner" / "__main__.py").write_bytes(script.read_bytes())
    args = {
        "-m": ["-m", "inner.code", "x"],
        "directory": ["inner", "x"],
        "-m package": ["-m", "inner", "x"],
        "relative": ["./inner/sub/../code.py", "x"],
    }[how]
    plain, ours = python(*args, cwd=tmp_path), python("-m", "torchlike", *args, cwd=tmp_path)
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
    assert ours.stderr == plain.stderr


@pytest.mark.parametrize(
    "args", [["nowhere.py"], ["-m", "nowhere"], ["-m", "no.where"], ["-c", "1/0"]]
)
def test_failures_as_python_reports_them(args: list[str], tmp_path: Path) -> None:
    plain, ours = python(*args, cwd=tmp_path), python("-m", "torchlike", *args, cwd=tmp_path)
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)
    assert ours.stderr == plain.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_interrupt_from_outside(write: Write, tmp_path: Path) -> None:
    script = write(
        program_py="""
            import os, signal, torch
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & turns it off
            os.kill(os.getpid(), signal.SIGINT)
            torch.ones(1)
        """
    )
    done = python("-m", "torchlike", script, cwd=tmp_path)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n") and "torchlike" not in done.stderr


def test_spawned_processes(write: Write, tmp_path: Path) -> None:
    script = write(
        program_py="""
            import multiprocessing, sys
            import torch, functional

            def work(x):
                return functional.twice(x), torch.__name__, sys.argv[1:]

            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.apply(work, (torch.tensor([1.5]),)))
        """,
        functional_py="def twice(x):\n    return 2 * x\n",
    )
    assert run(script, "a", cwd=tmp_path) == "(tensor([3.]), 'torch', ['a'])\n"


def test_command_line_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from torchlike.running import main

    def call(*args: str) -> tuple[object, str]:
        monkeypatch.setattr("sys.argv", ["torchlike", *args])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return stopped.value.code, captured.err + captured.out

    assert call()[0] == 2 and call()[1].startswith("usage: python -m torchlike")
    code, text = call("--as", "tensorflow", "x.py")
    assert code == 2 and "--as tensorflow: no such surface; there is: torch" in text
    for wrong in (["--as"], ["-m"], ["-c"], ["--nonsense", "x.py"]):
        code, text = call(*wrong)
        assert code == 2 and wrong[0] in text and "usage:" in text
    assert call("--help")[0] == 0 and call("--as=torch", "-h")[0] == 0
    assert call("--version")[1] == "torchlike 0.1.0 (follows PyTorch 2.13.0)\n"


def test_serving_torch_by_name(tmp_path: Path) -> None:
    program = "import torch; print(torch.ones(1))"
    assert run("--as", "torch", "-c", program, cwd=tmp_path) == "tensor([1.])\n"
