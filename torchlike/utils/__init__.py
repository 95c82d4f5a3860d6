"""Helpers: data loading, hooks. Each part loads on first use."""
