"""Writes ``golden/checkpoints``: one small file of each kind, by PyTorch itself.

Run it with PyTorch installed: ``python -m compat_tests.record_checkpoints``.
"""

from __future__ import annotations

from .checkpoints import GOLDEN, KINDS, network


def main() -> None:
    """Write every file anew."""
    import torch

    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, make in KINDS.items():
        torch.save(make(torch), GOLDEN / f"{name}.pt")
    old = {"x": torch.arange(5), "model": network(torch).state_dict()}
    torch.save(old, GOLDEN / "old_format.pt", _use_new_zipfile_serialization=False)
    complex_views = [torch.tensor([1 + 2j, 3 - 1j]).conj(), torch.tensor([1 + 2j]).conj().imag]
    torch.save(complex_views, GOLDEN / "conjugate.pt")


if __name__ == "__main__":
    main()
