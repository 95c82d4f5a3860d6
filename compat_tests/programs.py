"""Programs in processes of their own, for tests of how this library runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
Write = Callable[..., Path]


def python(
    *args: object, cwd: Path | None = None, **options: object
) -> subprocess.CompletedProcess:
    """Run Python with this library importable."""
    path = os.pathsep.join([str(ROOT), *str(os.environ.get("PYTHONPATH", "")).split(os.pathsep)])
    environment = {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)}
    environment.pop("PYTHONSAFEPATH", None)
    command = [sys.executable, *map(str, args)]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60
    )


def run(*args: object, cwd: Path | None = None) -> str:
    """What ``python -m torchlike ARGS`` prints; it must succeed."""
    done = python("-m", "torchlike", *args, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def check(source: str, tmp_path: Path) -> None:
    """Run a program of assertions under Python itself, ``torchlike`` being importable."""
    script = tmp_path / "check_it.py"
    script.write_text(textwrap.dedent(source))
    done = python(script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files of a program; returns the path of the first."""

    def write_files(**sources: str) -> Path:
        for name, source in sources.items():
            path = tmp_path / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source), encoding="latin-1")
        first = next(iter(sources))
        return tmp_path / first.replace("__", "/").replace("_py", ".py")

    return write_files
