"""Record PyTorch's facts about every record: ``python -m compat_tests.record_ops``."""

from __future__ import annotations

import gzip
import json
from typing import Any

from . import promotion
from .oracle import GOLDEN, OBSERVERS, SAME, TORCH, cases, facts, family_of, pack, public
from .records import RECORDS


def recorded(name: str) -> dict[str, Any]:
    """Everything about one record."""
    record, found = RECORDS[name], {}
    for kind in OBSERVERS:
        for index, dtype in cases(record, kind):
            numbers = dtype not in SAME or SAME[dtype] not in record.dtypes or kind == "bad"
            found[f"{kind}/{index}/{dtype}"] = pack(
                facts(TORCH, record, kind, index, dtype), numbers
            )
    return found


def main() -> None:
    if TORCH is None:
        raise SystemExit("PyTorch is not installed")
    GOLDEN.mkdir(parents=True, exist_ok=True)
    families: dict[str, Any] = {}
    for name in public():
        families.setdefault(family_of(name), {})[name] = recorded(name)
    families["promotion"] = {"promotion": promotion.pack(promotion.table(TORCH))}
    for family, found in families.items():
        text = json.dumps(found, separators=(",", ":")).encode()
        (GOLDEN / f"{family}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
