"""Random chains of views and in-place writes, against a NumPy model and against PyTorch.

The first machine needs no PyTorch: values must be those of the same views and writes in NumPy. The
second compares values, gradients, versions, strides, offsets and errors with PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import torchlike
from compat_tests.scenarios import HAVE_TORCH, error, load, needs_torch

SHAPES = [(6,), (2, 3), (3, 2), (4, 4), (2, 3, 2), (1, 3), (1,), ()]
SETTINGS = settings(
    max_examples=60,
    stateful_step_count=14,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def overlaps(model: np.ndarray) -> bool:
    """Whether several elements share memory."""
    pairs = zip(model.strides, model.shape, strict=True)
    return model.size > 0 and any(s == 0 and n > 1 for s, n in pairs)


class Views(RuleBasedStateMachine):
    """A family of views of one base; every rule acts on all libraries alike."""

    libraries: tuple[Any, ...] = (torchlike,)

    @initialize(shape=st.sampled_from(SHAPES), transposed=st.booleans())
    def make(self, shape: tuple[int, ...], transposed: bool) -> None:
        data = np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)
        self.leaves = [lib.tensor(data.tolist(), dtype=lib.float64) for lib in self.libraries]
        bases = []
        for leaf in self.leaves:
            base = leaf.requires_grad_() * 1
            bases.append(base.t().clone().t() if transposed and base.ndim == 2 else base)
        self.models: list[np.ndarray] = [np.array(data, order="F" if transposed else "C")]
        self.tensors: list[list[Any]] = [bases]

    def pick(self, index: int) -> tuple[np.ndarray, list[Any]]:
        at = index % len(self.models)
        return self.models[at], self.tensors[at]

    def add(self, model: np.ndarray, views: list[Any]) -> None:
        if len(self.models) < 8:
            self.models.append(model)
            self.tensors.append(views)

    def view(self, model: Any, make: Any, views: list[Any]) -> None:
        """Add a view made by ``make`` in every library, and by ``model`` in NumPy."""
        self.add(model, [make(t) for t in views])

    # --- views -----------------------------------------------------------------------------------

    @rule(index=st.integers(0, 7), dim=st.integers(0, 2), at=st.integers(0, 3))
    def select(self, index: int, dim: int, at: int) -> None:
        model, views = self.pick(index)
        if dim < model.ndim and at < model.shape[dim]:
            key = (slice(None),) * dim + (at,)
            self.view(model[(*key, Ellipsis)], lambda t: t.select(dim, at), views)

    @rule(
        index=st.integers(0, 7), dim=st.integers(0, 2),
        bounds=st.tuples(st.integers(-4, 4), st.integers(-4, 5), st.integers(1, 3)),
    )  # fmt: skip
    def slice(self, index: int, dim: int, bounds: tuple[int, int, int]) -> None:
        model, views = self.pick(index)
        if dim < model.ndim:
            key = (slice(None),) * dim + (slice(*bounds),)
            if model[key].size:
                self.view(model[key], lambda t: t[key], views)

    @rule(index=st.integers(0, 7), a=st.integers(0, 2), b=st.integers(0, 2))
    def transpose(self, index: int, a: int, b: int) -> None:
        model, views = self.pick(index)
        if max(a, b) < model.ndim:
            self.view(model.swapaxes(a, b), lambda t: t.transpose(a, b), views)

    @rule(index=st.integers(0, 7), dim=st.integers(0, 3))
    def unsqueeze(self, index: int, dim: int) -> None:
        model, views = self.pick(index)
        if dim <= model.ndim < 4:
            self.view(np.expand_dims(model, dim), lambda t: t.unsqueeze(dim), views)

    @rule(index=st.integers(0, 7))
    def squeeze(self, index: int) -> None:
        model, views = self.pick(index)
        self.view(model.squeeze(), lambda t: t.squeeze(), views)

    @rule(index=st.integers(0, 7), n=st.integers(1, 3))
    def expand(self, index: int, n: int) -> None:
        model, views = self.pick(index)
        if model.ndim < 4:
            shape = (n, *model.shape)
            view = np.lib.stride_tricks.as_strided(model, shape, (0, *model.strides))
            self.view(view, lambda t: t.expand(*shape), views)

    @rule(index=st.integers(0, 7))
    def diagonal(self, index: int) -> None:
        model, views = self.pick(index)
        if model.ndim >= 2:
            view = model.diagonal()
            view.flags.writeable = True
            self.view(view, lambda t: t.diagonal(), views)

    @rule(index=st.integers(0, 7), shape=st.sampled_from([(-1,), (2, -1), (3, -1), (1, -1, 2)]))
    def reshape_view(self, index: int, shape: tuple[int, ...]) -> None:
        model, views = self.pick(index)
        known = -int(np.prod(shape))
        if model.size % known:
            return
        texts = [error(lambda t=t: t.view(shape)) for t in views]
        assert len(set(texts)) == 1, texts
        if texts[0] == "no error":
            view = model.view()
            try:
                view.shape = shape
            except AttributeError:  # NumPy is stricter about dimensions of size 1
                return
            self.view(view, lambda t: t.view(shape), views)

    # --- writes ----------------------------------------------------------------------------------

    def write(self, index: int, call: Any, model_call: Any) -> None:
        model, views = self.pick(index)
        texts = [error(lambda t=t: call(t)) for t in views]
        assert len(set(texts)) == 1, texts
        if texts[0] == "no error":
            model_call(model)
        if overlaps(model):
            assert "more than one element" in texts[0]

    @rule(index=st.integers(0, 7), value=st.sampled_from([2.0, -1.5, 3]))
    def multiply(self, index: int, value: float) -> None:
        self.write(index, lambda t: t.mul_(value), lambda m: np.multiply(m, value, out=m))

    @rule(index=st.integers(0, 7), value=st.sampled_from([1.0, -2]))
    def add_number(self, index: int, value: float) -> None:
        self.write(index, lambda t: t.__iadd__(value), lambda m: np.add(m, value, out=m))

    @rule(index=st.integers(0, 7), steps=st.sampled_from([0.5, 1.0]))
    def add_row(self, index: int, steps: float) -> None:
        model, views = self.pick(index)
        row = (np.arange(model.shape[-1]) * steps).tolist() if model.ndim else steps
        for lib, t in zip(self.libraries, views, strict=True):
            if not overlaps(model):
                t.add_(lib.tensor(row, dtype=lib.float64))
        if not overlaps(model):
            model += row

    @rule(index=st.integers(0, 7))
    def square(self, index: int) -> None:
        self.write(index, lambda t: t.pow_(2), lambda m: np.square(m, out=m))

    @rule(index=st.integers(0, 7))
    def tanh(self, index: int) -> None:
        self.write(index, lambda t: t.tanh_(), lambda m: np.tanh(m, out=m))

    @precondition(lambda self: len(self.models) > 1)
    @rule(index=st.integers(0, 7), value=st.sampled_from([4.0, 0.25]))
    def assign_first(self, index: int, value: float) -> None:
        model, views = self.pick(index)
        if model.ndim and not overlaps(model):
            for t in views:
                t[0] = value
            model[0] = value

    @rule(index=st.integers(0, 7), limit=st.sampled_from([2.0, 5.0]))
    def assign_where(self, index: int, limit: float) -> None:
        model, views = self.pick(index)
        if not overlaps(model):
            for t in views:
                t[t.detach() > limit] = limit
            model[model > limit] = limit

    @rule(index=st.integers(0, 7), other=st.integers(0, 7))
    def copy(self, index: int, other: int) -> None:
        model, views = self.pick(index)
        source, sources = self.pick(other)
        if overlaps(model) or source.shape != model.shape:
            return
        texts = [
            error(lambda a=a, b=b: a.copy_(b * 1)) for a, b in zip(views, sources, strict=True)
        ]
        assert len(set(texts)) == 1, texts
        model[...] = source.copy()

    @rule(index=st.integers(0, 7))
    def write_unrecorded(self, index: int) -> None:
        model, views = self.pick(index)
        if not overlaps(model):
            for lib, t in zip(self.libraries, views, strict=True):
                with lib.no_grad():
                    t.add_(1)
            model += 1

    # --- what must hold --------------------------------------------------------------------------

    @invariant()
    def values_are_the_models(self) -> None:
        for model, views in zip(
            getattr(self, "models", []), getattr(self, "tensors", []), strict=True
        ):
            np.testing.assert_allclose(views[0].detach().numpy(), model, rtol=1e-12)


class ViewsAgainstPyTorch(Views):
    """The same rules on PyTorch too."""

    libraries = (torchlike, load("torch")) if HAVE_TORCH else (torchlike,)

    @invariant()
    def layouts_are_equal(self) -> None:
        for ours, theirs in getattr(self, "tensors", []):
            # the stride of a dimension of size 1 says nothing
            strides = [[s for s, n in zip(t.stride(), t.shape) if n > 1] for t in (ours, theirs)]
            assert strides[0] == strides[1]
            for what in ("storage_offset", "is_contiguous", "_is_view", "size"):
                a, b = getattr(ours, what)(), getattr(theirs, what)()
                assert a == b, (what, a, b)
            assert ours._version == theirs._version

    def teardown(self) -> None:
        if not hasattr(self, "tensors"):
            return
        outcomes = []
        for k, leaf in enumerate(self.leaves):

            def run(k: int = k) -> None:
                total = sum((views[k] * (n + 1)).sum() for n, views in enumerate(self.tensors))
                total.backward()

            text = error(run).split(", which is output")[0].split(" is at version")[0]
            outcomes.append((text, None if leaf.grad is None else leaf.grad.tolist()))
        (ours, our_grad), (theirs, their_grad) = outcomes
        assert ours == theirs
        if their_grad is not None and theirs == "no error":
            np.testing.assert_allclose(our_grad, their_grad, rtol=1e-9, atol=1e-12)


TestViews = Views.TestCase
TestViews.settings = SETTINGS
TestViewsAgainstPyTorch = needs_torch(ViewsAgainstPyTorch.TestCase)
TestViewsAgainstPyTorch.settings = SETTINGS
