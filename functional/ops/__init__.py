"""Declarations of operations, by family. Importing this package declares them all."""

from . import cast, create, index, joining, matmul, nn, pointwise, random, reduce, refused, views

__all__ = ["cast", "create", "index", "joining", "matmul", "nn", "pointwise", "random", "reduce", "refused", "views"]
