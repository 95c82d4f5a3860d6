"""All works, by group and by name."""

from __future__ import annotations

from benchmarks.everyday import EVERYDAY
from benchmarks.small import SMALL
from benchmarks.workloads import ENGINE

GROUPS = {"engine": ENGINE, "everyday": EVERYDAY, "small": SMALL}
BY_NAME = {work.name: work for group in GROUPS.values() for work in group}
