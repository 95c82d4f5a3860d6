"""L-BFGS, with the strong Wolfe line search."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from functional.modes import enable_grad, no_grad
from functional.ops.joining import cat
from functional.tensor import Tensor

from .elementwise import check_lr
from .line_search import strong_wolfe
from .optimizer import Optimizer
from .updates import number, real_view

__all__ = ["LBFGS"]

_KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last ``history_size`` changes of the gradient.

    ``step`` needs a closure that computes the loss and its gradients anew, and calls it up to
    ``max_eval`` times (a quarter more than ``max_iter``, if None). It stops where the gradient is
    below ``tolerance_grad`` or nothing changes by more than ``tolerance_change``.
    ``line_search_fn`` is None or "strong_wolfe". All parameters make one group.
    (Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 7.5.)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to ``max_iter`` iterations; returns the loss before them."""
        with no_grad():
            return self._step(_with_grad(closure))

    def _step(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        m = SimpleNamespace(**{name: state.get(name) for name in _KEPT})
        m.loss, m.grad, m.evals, m.lr = float(first_loss), self._gradient(), 1, group["lr"]
        if isinstance(m.lr, Tensor) and m.lr.dim() != 0:
            m.lr = m.lr.squeeze()
        if m.grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        for i in range(group["max_iter"]):
            state["n_iter"] += 1
            _turn(m, state, group["history_size"])
            slope = m.grad.dot(m.d)
            if slope > -group["tolerance_change"]:
                break
            spent = self._move(m, closure, group, slope, i + 1 == group["max_iter"])
            m.evals += spent
            state["func_evals"] += spent
            if _stands_still(m, group):
                break
        state.update({name: getattr(m, name) for name in _KEPT})
        return first_loss

    def _move(self, m: Any, closure: Any, group: dict[str, Any], slope: Any, last: bool) -> int:
        """Go along the direction; returns how often the closure was called."""
        if group["line_search_fn"] is None:
            self._add(m.t, m.d)
            if last:  # where it leads does not matter any more
                return 0
            m.loss, m.grad = float(closure()), self._gradient()
            return 1
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [p.clone() for p in self._params]

        def at(t: Any) -> tuple[float, Tensor]:
            self._add(t, m.d)
            loss, gradient = float(closure()), self._gradient()
            for p, value in zip(self._params, start, strict=True):
                p.copy_(value)
            return loss, gradient

        m.loss, m.grad, m.t, spent = strong_wolfe(
            at, m.t, m.d, m.loss, m.grad, slope, group["max_eval"] - m.evals
        )
        self._add(m.t, m.d)
        return spent

    def _gradient(self) -> Tensor:
        """All gradients in one vector, complex ones as pairs; zeros where there is none."""
        grads = [p.new_zeros(p.shape) if p.grad is None else p.grad for p in self._params]
        return cat([real_view(g).reshape(-1) for g in grads], 0)

    def _add(self, size: Any, update: Tensor) -> None:
        at = 0
        for p in map(real_view, self._params):
            n = p.numel()
            p.add_(update[at : at + n].reshape(p.shape), alpha=number(size))
            at += n


def _with_grad(closure: Callable[[], Any]) -> Callable[[], Any]:
    def recorded() -> Any:
        with enable_grad():
            return closure()

    return recorded


def _turn(m: Any, state: dict[str, Any], history: int) -> None:
    """The next direction, and the length that is tried first."""
    if state["n_iter"] == 1:
        m.d, m.old_dirs, m.old_stps, m.ro, m.H_diag = -m.grad, [], [], [], 1
        m.t = min(1.0, 1.0 / m.grad.abs().sum()) * m.lr
    else:
        _remember(m, history)
        m.d = _direction(m, state.setdefault("al", [None] * history))
        m.t = m.lr
    if m.prev_flat_grad is None:
        m.prev_flat_grad = m.grad.clone()
    else:
        m.prev_flat_grad.copy_(m.grad)
    m.prev_loss = m.loss


def _remember(m: Any, history: int) -> None:
    """Keep the last step and the change of the gradient, if the curvature is positive."""
    y, s = m.grad - m.prev_flat_grad, m.d * m.t
    ys = y.dot(s)
    if not ys > 1e-10:
        return
    if len(m.old_dirs) == history:
        for kept in (m.old_dirs, m.old_stps, m.ro):
            kept.pop(0)
    m.old_dirs.append(y)
    m.old_stps.append(s)
    m.ro.append(1.0 / ys)
    m.H_diag = ys / y.dot(y)


def _direction(m: Any, al: list[Any]) -> Tensor:
    """The inverse Hessian's estimate times the negative gradient, in two loops."""
    q = -m.grad
    for i in range(len(m.old_dirs) - 1, -1, -1):
        al[i] = m.old_stps[i].dot(q) * m.ro[i]
        q.add_(m.old_dirs[i], alpha=-number(al[i]))
    q = q * m.H_diag
    for i in range(len(m.old_dirs)):
        back = m.old_dirs[i].dot(q) * m.ro[i]
        q.add_(m.old_stps[i], alpha=number(al[i] - back))
    return q


def _stands_still(m: Any, group: dict[str, Any]) -> bool:
    change = group["tolerance_change"]
    return bool(
        m.evals >= group["max_eval"]
        or m.grad.abs().max() <= group["tolerance_grad"]
        or (m.d * m.t).abs().max() <= change
        or abs(m.loss - m.prev_loss) < change
    )
