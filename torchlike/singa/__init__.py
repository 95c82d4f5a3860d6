"""SINGA's interface on this library's engine: ``from singa import autograd, layer, model, opt``.

Each of SINGA's operations is one of ours underneath, recorded on the one tape. Where SINGA computes
something wrong, this does not: see ``docs/other-surfaces.md``.
"""
