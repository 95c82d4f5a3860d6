"""Time torchlike and PyTorch side by side and print a table of ratios.

python -m benchmarks                       seven rounds of everything
python -m benchmarks --group engine        the small works that show the engine
python -m benchmarks --group small         training steps of small models
python -m benchmarks --only chain --only lenet-64 --rounds 11
python -m benchmarks --json times.json --chart times.png
python -m benchmarks --smoke               one very short round: does it run at all?
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report, rounds
from benchmarks.catalogue import BY_NAME, GROUPS
from benchmarks.workloads import Workload

ROUNDS = 7
SECONDS, SMOKE_SECONDS = 1.0, 0.02  # for each workload, in each process


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    parser.add_argument("--only", action="append", choices=list(BY_NAME), metavar="NAME")
    parser.add_argument("--group", choices=list(GROUPS), help="the works of one group")
    parser.add_argument("--smoke", action="store_true", help="one very short round")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--chart", type=Path, metavar="FILE.png")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds needs at least 1")
    return options


def chosen(only: Sequence[str] | None, group: str | None) -> list[Workload]:
    if only:
        return [BY_NAME[name] for name in only]
    return GROUPS[group] if group else list(BY_NAME.values())


def measure(options: argparse.Namespace) -> list[rounds.Result]:
    """Run the rounds, saying on stderr how far they are."""
    count = 1 if options.smoke else options.rounds
    seconds = SMOKE_SECONDS if options.smoke else SECONDS
    results: list[rounds.Result] = []
    for done in rounds.run(chosen(options.only, options.group), count, seconds, results):
        print(f"round {done} of {count}", file=sys.stderr)
    return results


def main() -> None:
    options = parse_options()
    results = measure(options)
    print(report.table(results))
    if rounds.PEER not in rounds.libraries():
        print("PyTorch is not installed, so there is nothing to compare with.")
    if options.json:
        report.write_json(results, options.json)
    if options.chart:
        report.draw(results, options.chart)


if __name__ == "__main__":
    main()
