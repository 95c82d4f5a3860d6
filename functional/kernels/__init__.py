"""Kernels: arrays in, arrays out. No Tensor is known here."""
