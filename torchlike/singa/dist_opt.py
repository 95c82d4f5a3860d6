"""The optimizer of several workers, for one: sums over all workers are the values themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torchlike as torch

from . import autograd
from .opt_rules import SGD, Optimizer
from .tensor import Tensor, float32

Pair = tuple[Tensor, Tensor]  # a parameter and its gradient


class Communicator:
    """The one worker's place among all."""

    world_size, local_rank, global_rank = 1, 0, 0

    def wait(self) -> None:
        """Nothing is under way."""


class DistOpt:
    """An optimizer whose gradients are averaged over the workers, of which there is one here.

    Calling it with a loss is ``backward_and_update``. NotImplementedError for more workers: they
    need a distributed backend, and there is none.
    """

    def __init__(
        self,
        opt: Optimizer | None = None,
        nccl_id: Any = None,
        local_rank: int | None = None,
        world_size: int | None = None,
        buffSize: int = 4194304,
    ) -> None:
        if world_size not in (None, 1):
            raise NotImplementedError(
                f"DistOpt: world_size={world_size} needs a distributed backend; world_size=1 runs"
            )
        if local_rank not in (None, 0):
            raise ValueError(f"DistOpt: the one worker's local_rank is 0, not {local_rank}")
        self.opt = SGD() if opt is None else opt
        self.communicator = Communicator()
        self.world_size = self.communicator.world_size
        self.local_rank = self.communicator.local_rank
        self.global_rank = self.communicator.global_rank
        self.partial = 0
        self.sparsInit = False
        self.gradAccumulation: list[Tensor] = []

    def __call__(self, loss: Tensor) -> None:
        self.backward_and_update(loss)

    def update(self, param: Tensor, grad: Tensor) -> None:
        """Update a parameter with a gradient that is summed over the workers."""
        self.opt.apply(param.name, param, grad)

    def wait(self) -> None:
        """Wait for the other workers: there are none."""
        self.communicator.wait()

    # --- sums over the workers, in place, of raw tensors ---

    def all_reduce(self, tensor: Any) -> None:
        """Sum a raw tensor over the workers: it stays as it is."""

    def fused_all_reduce(self, tensor: list[Any], send: bool = True) -> None:
        """Sum raw tensors over the workers: they stay as they are."""

    def all_reduce_half(self, tensor: Any) -> None:
        """Sum a raw tensor over the workers in float16: it is rounded to that."""
        tensor.writable().copy_(tensor.values.half())

    def fused_all_reduce_half(self, tensor: list[Any], send: bool = True) -> None:
        """Sum raw tensors in float16: they are rounded to that, if ``send``."""
        for t in tensor if send else ():
            self.all_reduce_half(t)

    def sparsification(self, tensor: Any, accumulation: Any, spars: float, topK: bool) -> None:
        """Sum the large elements of a raw tensor over the workers; the others become 0.

        Large are those with \\|x\\| >= spars, or with ``topK`` that fraction which is largest.
        ``accumulation`` (or None) has as many elements: it is added first, and takes what is left.
        """
        self.fused_sparsification([tensor], accumulation, spars, topK)

    def fused_sparsification(
        self, tensor: list[Any], accumulation: Any, spars: float, topK: bool
    ) -> None:
        """As ``sparsification``, of several raw tensors as if they were one."""
        whole = torch.cat([t.values.reshape(-1) for t in tensor])
        if accumulation is not None:
            whole = whole + accumulation.values.reshape(-1)
        sent = torch.where(_large(whole, spars, topK), whole, torch.zeros_like(whole))
        if accumulation is not None:
            accumulation.writable().copy_((whole - sent).reshape(accumulation.values.shape))
        for t, part in zip(tensor, sent.split([t.values.numel() for t in tensor]), strict=True):
            t.writable().copy_(part.reshape(t.values.shape))

    # --- steps ---

    def backward_and_update(self, loss: Tensor, threshold: int = 2097152) -> None:
        """Compute gradients, sum them over the workers, update, and count a step."""
        self._update(list(autograd.backward(loss)))

    def backward_and_update_half(
        self,
        loss: Tensor,
        threshold: int = 2097152,
        clipping: bool = False,
        clip_Value: float = 100,
    ) -> None:
        """As ``backward_and_update``, the sums in float16, of gradients clipped if ``clipping``.

        AssertionError for a parameter that is not float32.
        """
        pairs = list(autograd.backward(loss))
        for p, g in pairs:
            if p.dtype != float32:
                raise AssertionError(f"{p.name}: only float32 parameters have gradients to round")
            if clipping:
                g.writable().clamp_(-clip_Value, clip_Value)
            self.all_reduce_half(g.data)
        self._update(pairs)

    def backward_and_partial_update(self, loss: Tensor, threshold: int = 2097152) -> None:
        """Update with this worker's gradients, then average one part of the parameters.

        The part changes from step to step (``partial`` counts); one worker's are their average.
        """
        pairs = list(autograd.backward(loss))
        self._update(pairs)
        self.partial = (self.partial + 1) % max(1, len(list(_groups(pairs, threshold))))

    def backward_and_sparse_update(
        self,
        loss: Tensor,
        threshold: int = 2097152,
        spars: float = 0.05,
        topK: bool = False,
        corr: bool = True,
    ) -> None:
        """As ``backward_and_update`` with the gradients' large elements, see ``sparsification``.

        With ``corr`` the others are kept in ``gradAccumulation`` for the next step. Gradients of up
        to ``threshold`` elements are taken together, several of them as one.
        """
        pairs = list(autograd.backward(loss))
        groups = [[g for _, g in group] for group in _groups(pairs, threshold)]
        if corr and not self.gradAccumulation:
            self.gradAccumulation = [_zeros_for(group) for group in groups]
        left = self.gradAccumulation if corr else [None] * len(groups)
        for group, accumulation in zip(groups, left, strict=True):
            self.fused_sparsification([g.data for g in group], accumulation, spars, topK)
        self.sparsInit = True
        self._update(pairs)

    def _update(self, pairs: list[Pair]) -> None:
        self.wait()
        for p, g in pairs:
            self.update(p, g)
        self.opt.step()


def _large(x: Any, spars: float, topK: bool) -> Any:
    if not topK:
        return x.abs() >= spars
    if not 0 <= spars <= 1:
        raise ValueError(f"with topK, spars is a fraction, not {spars}")
    large = torch.zeros_like(x, dtype=torch.bool)
    large[x.abs().topk(math.ceil(spars * x.numel())).indices] = True
    return large


def _groups(pairs: list[Pair], threshold: int) -> Iterator[list[Pair]]:
    """Large gradients alone, small ones until they are more than ``threshold`` elements."""
    together: list[Pair] = []
    for p, g in pairs:
        if g.size() > threshold:
            yield [(p, g)]
            continue
        together.append((p, g))
        if sum(other.size() for _, other in together) > threshold:
            yield together
            together = []
    if together:
        yield together


def _zeros_for(group: list[Tensor]) -> Tensor:
    return Tensor((sum(g.size() for g in group),), group[0].device, group[0].dtype)
