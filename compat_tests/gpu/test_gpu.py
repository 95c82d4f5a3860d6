"""On a true GPU: the records, the kernels written for it, and a training run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LOOK = "import sys, cupy; sys.exit(cupy.cuda.runtime.getDeviceCount() == 0)"


def there_is_a_gpu() -> bool:
    """Asked in another process, as the stand-in may be ``cupy`` in this one."""
    return subprocess.run([sys.executable, "-c", LOOK], capture_output=True).returncode == 0


@pytest.mark.skipif(not there_is_a_gpu(), reason="no GPU, or no CuPy")
def test_everything_runs_on_the_gpu() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "compat_tests.gpu"], capture_output=True, text=True, cwd=ROOT
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout[-4000:]
