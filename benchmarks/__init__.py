"""The same work timed side by side under torchlike and PyTorch: ``python -m benchmarks``."""
