"""Record what PyTorch says to bad input: ``python -m compat_tests.record_bad_input``."""

from __future__ import annotations

import json
import warnings

from compat_tests.bad_input import LINES, outcome
from compat_tests.scenarios import GOLDEN, load

PATH = GOLDEN / "bad_input.json"


def main() -> None:
    """Write PyTorch's answers down."""
    torch = load("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {line: outcome(torch, line)[0] for line in LINES}
    PATH.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")
    refused = sum(text != "no error" for text in found.values())
    print(f"{PATH.name}: {len(found)} calls, {refused} refused")


if __name__ == "__main__":
    main()
