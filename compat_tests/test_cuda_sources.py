"""The CUDA sources of elementwise kernels, compiled as C++ for the CPU, against their twins."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("standin")
TYPES = {"f": "float", "d": "double", "Q": "unsigned long long"}
WORDS = {"uint64": "unsigned long long", "uint32": "unsigned int"}
START = """
#include <cmath>
using namespace std;
static unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * b) >> 32);
}
template <class X> X normcdf(X x) { return X(0.5) * erfc(-x / sqrt(X(2))); }
"""


def program(kernel: Any, char: str) -> str:
    """A loop over arrays with the kernel's source in it."""
    kinds = {**WORDS, "T": TYPES[char]}
    inputs, outputs = (
        [part.split() for part in text.split(",")] for text in (kernel.inputs, kernel.outputs)
    )
    taken = [f"const {kinds[t]} *p_{n}" for t, n in inputs]
    given = [f"{kinds[t]} *p_{n}" for t, n in outputs]
    names = [
        f"const {kinds[t]} &{n} = p_{n}[{0 if i in kernel.numbers else 'i'}];"
        for i, (t, n) in enumerate(inputs)
    ] + [f"{kinds[t]} &{n} = p_{n}[i];" for t, n in outputs]
    return f"""{START}
typedef {TYPES[char]} T;
extern "C" void run({", ".join([*taken, *given])}, long count) {{
    for (long i = 0; i < count; ++i) {{ {" ".join(names)} {kernel.source} }}
}}
"""


def test_sources_say_what_their_twins_say(tmp_path: Path) -> None:
    """Where there is no C++ compiler, the stand-in alone has run the twins."""
    import cupy

    import functional.kernels.cupy  # noqa: F401 - it enters the kernels
    from functional.kernels.cupy import fused

    compiler = shutil.which("c++") or shutil.which("g++")
    for kernel in fused.KERNELS if compiler else ():
        for arrays in kernel.samples(np.random.default_rng(0)):
            char = arrays[0].dtype.char
            source, library = tmp_path / "kernel.cpp", tmp_path / f"{kernel.name}.{char}"
            source.write_text(program(kernel, char))
            subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
            twin = kernel.twin(cupy, *[cupy.asarray(a) if a.ndim else a[()] for a in arrays]).get()
            out = np.empty_like(twin)
            places = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
            ctypes.CDLL(str(library)).run(*places, ctypes.c_long(out.size))
            rtol, atol = (1e-5, 2e-5) if char == "f" else (1e-11, 1e-12)
            assert np.allclose(out, twin, rtol, atol), (kernel.name, char)
