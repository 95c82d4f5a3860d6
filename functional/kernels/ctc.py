"""The connectionist temporal classification loss, in logarithms.

A. Graves et al., "Connectionist temporal classification" (2006): α by equations 6 to 8, β by 10
and 11, the gradient by 16. All sequences of a batch go through the recursion together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["ctc_loss", "ctc_loss_backward"]


def _padded(targets: ndarray, lengths: tuple[int, ...]) -> ndarray:
    """Labels as (N, longest); rows hold anything beyond their length."""
    longest = max(lengths, default=0)
    if targets.ndim == 2:
        return targets[:, :longest]
    rows = np.zeros((len(lengths), longest), targets.dtype)
    start = 0
    for i, n in enumerate(lengths):
        rows[i, :n] = targets[start : start + n]
        start += n
    return rows


class _Paths:
    """The labels with blanks between them, and where a path may step over a blank."""

    def __init__(self, log_probs: ndarray, targets: Any, lengths: Any, blank: int) -> None:
        labels = _padded(targets, lengths)
        n, width = len(lengths), 2 * labels.shape[1] + 1
        self.symbols = np.full((n, width), blank)
        self.symbols[:, 1::2] = labels
        self.ends = 2 * np.asarray(lengths)  # the last place of each row
        places = np.arange(width)
        self.symbols[places > self.ends[:, None]] = blank
        skips = np.zeros((n, width), bool)
        skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
        self.skips = np.where(skips, 0, -np.inf).astype(log_probs.dtype)
        self.outside = places > self.ends[:, None]
        self.rows = np.arange(n)

    def scores(self, log_probs: ndarray) -> ndarray:
        """(T, N, width): the log probability of each place's symbol."""
        return np.take_along_axis(log_probs, self.symbols[None], 2)


def _log_sum(*terms: ndarray) -> ndarray:
    top = np.maximum.reduce(terms)
    base = np.where(np.isneginf(top), 0, top)
    return np.asarray(np.log(sum(np.exp(t - base) for t in terms)) + base)


def _shifted(a: ndarray, by: int) -> ndarray:
    """Each row moved right, from -inf."""
    z = np.full_like(a, -np.inf)
    z[:, by:] = a[:, : a.shape[1] - by]
    return z


def _step(a: ndarray, skips: ndarray) -> ndarray:
    """Stay, come from the place before, or from the one before that."""
    return _log_sum(a, _shifted(a, 1), _shifted(a, 2) + skips)


def _forward(scores: ndarray, paths: _Paths) -> ndarray:
    alpha = np.full(scores.shape, -np.inf, scores.dtype)
    if not len(scores):
        return alpha
    alpha[0, :, 0] = scores[0, :, 0]
    alpha[0, :, 1:2] = np.where(paths.ends[:, None] > 0, scores[0, :, 1:2], -np.inf)
    for t in range(1, len(scores)):
        alpha[t] = _step(alpha[t - 1], paths.skips) + scores[t]
        alpha[t][paths.outside] = -np.inf
    return alpha


def _check(x: ndarray, targets: ndarray, given: Any, wanted: Any, blank: int) -> None:
    """ValueError for what the recursion cannot run on."""
    steps, rows, classes = x.shape
    fits = len(given) == len(wanted) == rows and 0 <= blank < classes
    fits = fits and all(0 <= n <= steps for n in given) and all(n >= 0 for n in wanted)
    total, longest = sum(wanted), max(wanted, default=0)
    if not fits or (targets.size != total if targets.ndim == 1 else targets.shape[1] < longest):
        raise ValueError("lengths, labels and scores do not go together")


def ctc_loss(
    log_probs: ndarray,
    targets: ndarray,
    input_lengths: tuple[int, ...],
    target_lengths: tuple[int, ...],
    blank: int,
    zero_infinity: bool,
) -> tuple[ndarray, ndarray]:
    """-log p of each row (N,), and log α (N, T, 2 S + 1), from log_probs (T, N, C)."""
    _check(log_probs, targets, input_lengths, target_lengths, blank)
    paths = _Paths(log_probs, targets, target_lengths, blank)
    with np.errstate(all="ignore"):
        alpha = _forward(paths.scores(log_probs), paths)
        last = np.asarray(input_lengths) - 1
        if len(log_probs):
            final = alpha[np.maximum(last, 0), paths.rows]
            end = final[paths.rows, paths.ends]
            before = final[paths.rows, np.maximum(paths.ends - 1, 0)]
            total = _log_sum(end, np.where(paths.ends > 0, before, -np.inf))
        else:
            total = np.full(len(last), -np.inf, log_probs.dtype)
    empty = np.where(paths.ends > 0, -np.inf, 0)  # without input only the empty word is possible
    total = np.where(last < 0, empty, total).astype(log_probs.dtype)
    alpha[np.arange(len(log_probs))[:, None] > last] = -np.inf
    return -total, np.ascontiguousarray(alpha.transpose(1, 0, 2))


def _backward(scores: ndarray, paths: _Paths, last: ndarray) -> ndarray:
    """log β of every step, the step's own score included."""
    beta = np.full(scores.shape, -np.inf, scores.dtype)
    start = np.full(scores.shape[1:], -np.inf, scores.dtype)
    start[paths.rows, paths.ends] = 0
    start[paths.rows, np.maximum(paths.ends - 1, 0)] = 0
    reverse = np.full_like(paths.skips, -np.inf)  # from a place to the one two further
    reverse[:, :-2] = paths.skips[:, 2:]
    current = beta[0]
    for t in range(len(scores) - 1, -1, -1):
        flipped = _step(current[:, ::-1], reverse[:, ::-1])[:, ::-1]
        current = np.where((last == t)[:, None], start, flipped) + scores[t]
        current[paths.outside] = -np.inf
        current[last < t] = -np.inf
        beta[t] = current
    return beta


def ctc_loss_backward(
    g: ndarray,
    log_probs: ndarray,
    targets: ndarray,
    loss: ndarray,
    log_alpha: ndarray,
    input_lengths: tuple[int, ...],
    target_lengths: tuple[int, ...],
    blank: int,
    zero_infinity: bool,
) -> ndarray:
    """The gradient of the scores before the logarithm of the softmax, as PyTorch defines it."""
    grad = np.zeros(log_probs.shape, log_probs.dtype)
    if not grad.size:
        return grad
    paths = _Paths(log_probs, targets, target_lengths, blank)
    last = np.asarray(input_lengths) - 1
    with np.errstate(all="ignore"):
        scores = paths.scores(log_probs)
        both = log_alpha.transpose(1, 0, 2) + _backward(scores, paths, last)
        both[:, paths.outside] = -np.inf
        total = np.full_like(grad, -np.inf)  # log Σ α β over the places of each symbol
        times = np.arange(len(grad))[:, None, None]
        np.logaddexp.at(total, (times, paths.rows[:, None], paths.symbols[None]), both)
        share = np.exp(total + loss[:, None] - log_probs)
        grad = np.exp(log_probs) - np.where(np.isneginf(total), 0, share)
        grad *= g[:, None]
    grad[np.arange(len(grad))[:, None] > last] = 0
    if zero_infinity:
        grad[:, np.isinf(loss)] = 0
    return grad
