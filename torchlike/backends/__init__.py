"""Libraries that PyTorch computes with: which are there, and their settings.

Kernels here are NumPy's. Settings of libraries that are absent are kept, and change nothing.
"""
