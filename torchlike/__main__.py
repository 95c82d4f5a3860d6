"""``python -m torchlike SCRIPT [ARGS]``: run a program that says ``import torch``."""

from torchlike.running import main

main()
