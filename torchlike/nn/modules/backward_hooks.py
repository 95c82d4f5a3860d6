"""Backward hooks of modules: identity operations around a call see its gradients pass."""

from __future__ import annotations

from typing import Any

from functional.blame import warn
from functional.function import Function
from functional.modes import MODE
from functional.tensor import Tensor


class BackwardHookFunction(Function):
    """The identity: a node that gradients of a module's inputs or outputs go through."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*(a for a in args if not a.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


def _check_count(found: tuple[Any, ...], wanted: int, what: str, name: str) -> None:
    if len(found) != wanted:
        raise RuntimeError(
            f"Backward {what} returned an invalid number of {name}, got {len(found)}, but "
            f"expected {wanted}"
        )


class BackwardHook:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any, hooks: list[Any], pre_hooks: list[Any]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: Any = None
        self.inputs: list[int] | None = None  # which arguments are tensors, of how many
        self.n_inputs = -1
        self.outputs: list[int] = []
        self.n_outputs = -1

    def _through(self, values: tuple[Any, ...], watch: Any) -> tuple[Any, list[int] | None]:
        """``values`` with their tensors passed through a node that ``watch`` is told of.

        None in place of the positions where there is nothing to watch.
        """
        where = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        tensors = [values[i] for i in where]
        if not (MODE.grad and any(t.requires_grad for t in tensors)):
            return values, None
        passed = BackwardHookFunction.apply(*tensors)
        nodes = [t.grad_fn for t in passed if t.grad_fn is not None]
        watch(nodes[0])
        changed = list(values)
        for i, t in zip(where, passed, strict=True):
            changed[i] = t
        return tuple(changed), where

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments to call ``forward`` with."""
        args, self.inputs = self._through(args, self._on_inputs)
        self.n_inputs = len(args)
        return args

    def watch_outputs(self, result: Any) -> Any:
        """The result to hand to the caller."""
        values = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(values)
        self.outputs = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        changed, _ = self._through(values, self._on_outputs)
        if not isinstance(result, tuple):
            return changed[0]
        return type(result)(*changed) if hasattr(result, "_fields") else type(result)(changed)

    def _spread(self, grads: Any, where: list[int], n: int) -> tuple[Any, ...]:
        """Gradients of tensors at their places among all values; None elsewhere."""
        full: list[Any] = [None] * n
        for i, g in zip(where, grads, strict=True):
            full[i] = g
        return tuple(full)

    # --- during backward --------------------------------------------------------------------------

    def _on_outputs(self, node: Any) -> None:
        def before(grad_outputs: tuple[Any, ...]) -> Any:
            full = self._spread(grad_outputs, self.outputs, self.n_outputs)
            for hook in self.pre_hooks:
                found = hook(self.module, full)
                if found is None:
                    continue
                found = found if isinstance(found, tuple) else (found,)
                _check_count(found, len(full), "pre hook", "grad_output")
                full = found
            self.grad_outputs = full
            if self.inputs is None and self.hooks:
                self._fire_without_inputs()
            return tuple(full[i] for i in self.outputs)

        node.register_prehook(before)

    def _fire_without_inputs(self) -> None:
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See https://docs.pytorch.org/docs/main/"
            "generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more "
            "details.",
        )
        nothing = (None,) * self.n_inputs
        for hook in self.hooks:
            found = hook(self.module, nothing, self.grad_outputs)
            if found is not None and not (
                isinstance(found, tuple) and all(g is None for g in found)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _on_inputs(self, node: Any) -> None:
        def after(grad_inputs: tuple[Any, ...], _: Any) -> Any:
            if self.grad_outputs is None:  # only part of the outputs took part
                return None
            where = self.inputs or []
            full = self._spread(grad_inputs, where, self.n_inputs)
            for hook in self.hooks:
                found = hook(self.module, full, self.grad_outputs)
                if found is None:
                    continue
                found = found if isinstance(found, tuple) else (found,)
                _check_count(found, len(full), "hook", "grad_input")
                full = found
            self.grad_outputs = None
            return tuple(full[i] for i in where)

        node.register_hook(after)


# --- the old style --------------------------------------------------------------------------------


def _first_tensor(result: Any) -> Any:
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next((v for v in result.values() if isinstance(v, Tensor)), None)
        elif isinstance(result, (tuple, list)) and result:
            result = result[0]
        else:
            return None
    return result


def attach_old_style(module: Any, hooks: list[Any], args: Any, result: Any) -> None:
    """Hooks on the node of the first output, which may not be the module's only one."""
    first = _first_tensor(result)
    node = None if first is None else first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))
    _warn_incomplete(args, result, node)


def _warn(reason: str, missing: str) -> None:
    warn(
        f"Using a non-full backward hook when {reason} is deprecated and will be removed in "
        f"future versions. This hook will be missing some {missing}. Please use "
        "register_full_backward_hook to get the documented behavior.",
        FutureWarning,
    )


def _warn_incomplete(args: Any, result: Any, node: Any) -> None:
    """Say where the gradients of one node are not those of the module."""
    outs = result if isinstance(result, tuple) else (result,)
    if not (isinstance(result, Tensor) or all(isinstance(r, Tensor) for r in outs)):
        warn(
            "Using non-full backward hooks on a Module that does not return a single Tensor or a "
            "tuple of Tensors is deprecated and will be removed in future versions. This hook "
            "will be missing some of the grad_output. Please use register_full_backward_hook to "
            "get the documented behavior.",
            FutureWarning,
        )
        return
    if not all(isinstance(a, Tensor) for a in args):
        warn(
            "Using non-full backward hooks on a Module that does not take as input a single "
            "Tensor or a tuple of Tensors is deprecated and will be removed in future versions. "
            "This hook will be missing some of the grad_input. Please use "
            "register_full_backward_hook to get the documented behavior.",
            FutureWarning,
        )
        return
    sources = {r.grad_fn for r in outs if r.grad_fn is not None}
    if len(sources) > 1 or (len(sources) == 1 and node not in sources):
        _warn("outputs are generated by different autograd Nodes", "grad_output")
        return
    before = {n for n, _ in node.next_functions}
    if not {a.grad_fn for a in args if a.grad_fn is not None} <= before:
        _warn("the forward contains multiple autograd Nodes", "grad_input")
