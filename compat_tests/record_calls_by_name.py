"""Record what calls with named arguments print: ``python -m compat_tests.record_calls_by_name``.

Each line of ``calls_by_name.txt`` is an expression in the names of bad_input.py.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from compat_tests.bad_input import names
from compat_tests.scenarios import GOLDEN, load

PATH = GOLDEN / "calls_by_name.json"
TABLE = Path(__file__).with_name("calls_by_name.txt")
LINES = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("# ")]


def answer(torch: Any, line: str) -> str:
    """What an expression prints, or the class of what it raises."""
    try:
        return repr(eval(line, names(torch)))
    except Exception as error:
        return type(error).__name__


def main() -> None:
    """Write PyTorch's answers down."""
    torch = load("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {line: answer(torch, line) for line in LINES}
    PATH.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")
    print(f"{PATH.name}: {len(found)} calls")


if __name__ == "__main__":
    main()
