"""Work that kernels share among threads: ranges, errors, callers inside and beside each other."""

from __future__ import annotations

import multiprocessing
import threading as threading_
import time
import weakref
from collections.abc import Iterator
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import scipy.special

from functional.kernels import elementwise, errorfn, norm, softmax, threads

MANY = 600_000


@pytest.fixture(autouse=True)
def _four() -> Iterator[None]:
    before = threads.workers()
    threads.set_workers(4)
    yield
    threads.set_workers(before)


def squares(first: int, last: int) -> list[int]:
    return [i * i for i in range(first, last)]


def test_ranges_cover_everything_in_order():
    found = threads.spread(10, 4, squares)
    assert found == [[0, 1], [4, 9, 16], [25, 36], [49, 64, 81]]
    assert threads.spread(3, 8, squares) == [[0], [1], [4]]
    assert threads.spread(0, 4, squares) == [[]]


def test_the_callers_range_is_longer_by_the_lead():
    assert threads.ranges(50, 4, 1.0) == [(0, 20), (20, 30), (30, 40), (40, 50)]
    assert threads.ranges(40, 4, 0.0) == [(0, 10), (10, 20), (20, 30), (30, 40)]


def pause(seconds: float) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


def test_work_follows_upon_work_after_any_time(monkeypatch):
    monkeypatch.setattr(threads, "_PROCESSORS", 4)  # so that helpers watch
    rng = np.random.default_rng(0)
    for gap in rng.uniform(0, 4e-4, 600):
        count = int(rng.integers(4, 40))
        found = threads.spread(count, 4, squares)
        assert [square for part in found for square in part] == squares(0, count)
        pause(gap)


def test_a_helper_watches_while_work_follows_upon_work(monkeypatch):
    threads.set_workers(2)
    big, alert = np.ones(MANY), []
    for processors in (2, 1):
        monkeypatch.setattr(threads, "_PROCESSORS", processors)
        time.sleep(0.01)  # it has gone to sleep
        watched = 0
        for _ in range(500):
            threads.spread(MANY, 2, lambda first, last: np.negative(big[first:last]))
            watched += threads._helpers[0].alert
        alert.append(watched > 0)
    assert alert == [True, False]


def test_a_helper_keeps_no_results(monkeypatch):
    def work(first: int, last: int) -> np.ndarray:
        return np.ones(last - first)

    refs = [weakref.ref(part) for part in threads.spread(4000, 4, work)]
    threads.spread(4, 4, squares)
    assert [ref() for ref in refs] == [None] * 4


@pytest.mark.parametrize("lead", [0.0, 0.2, 0.45, 1.0])
def test_no_item_is_left_out(lead: float):
    for parts in (2, 3, 4):
        for count in (*range(1, 40), 999_999, 1_000_000, 1_000_001):
            found = threads.spread(count, parts, lambda first, last: (first, last), lead)
            ends = [0, *(last for _, last in found)]
            assert found == list(pairwise(ends)) and ends[-1] == count


def test_errors_of_any_part_reach_the_caller():
    for bad in (0, 3):

        def work(first: int, last: int, bad: int = bad) -> None:
            if first == bad:
                raise ValueError(f"part at {first}")

        with pytest.raises(ValueError, match=f"part at {bad}"):
            threads.spread(4, 4, work)
    assert threads.spread(4, 4, squares) == [[0], [1], [4], [9]]


def test_work_that_shares_its_own_work():
    def outer(first: int, last: int) -> list[list[int]]:
        return threads.spread(last - first, 2, squares)

    assert threads.spread(4, 2, outer) == [[[0], [1]], [[0], [1]]]


def test_several_callers_at_once():
    found: dict[int, list[list[int]]] = {}

    def call(i: int) -> None:
        for _ in range(50):
            found[i] = threads.spread(8, 4, squares)

    callers = [threading_.Thread(target=call, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert list(found.values()) == [[[0, 1], [4, 9], [16, 25], [36, 49]]] * 4


def test_floating_point_settings_are_the_callers():
    big = np.full(MANY, 1000.0)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        elementwise.exp(big)


def _in_child(queue: Any) -> None:
    threads.set_workers(4)
    queue.put(threads.spread(4, 4, squares))


@pytest.mark.filterwarnings("ignore:.*fork")  # Python and JAX warn of forks beside threads
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_child_process_has_threads_of_its_own(method):
    threads.spread(4, 4, squares)
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get() == [[0], [1], [4], [9]]
    child.join()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shared_functions_give_what_whole_ones_give(dtype):
    x = np.random.default_rng(0).normal(size=(3, MANY // 3)).astype(dtype)
    bound = 6e-7 if dtype == np.float32 else 2e-15
    np.testing.assert_array_equal(elementwise.exp(x), np.exp(x))
    np.testing.assert_array_equal(elementwise.exp(x.T), np.exp(x).T)
    np.testing.assert_allclose(elementwise.sigmoid(x), scipy.special.expit(x), rtol=bound)
    np.testing.assert_allclose(errorfn.erf(x), scipy.special.erf(x.astype(float)), rtol=bound)


@pytest.mark.parametrize("scale", [1, 100])
def test_softmax_and_layer_norm_of_many_rows(scale):
    x = np.random.default_rng(1).normal(size=(600, 1000)) * scale
    exact = scipy.special.softmax(x, axis=1)
    np.testing.assert_allclose(softmax.softmax(x, 1), exact, rtol=1e-12, atol=1e-300)
    single = softmax.softmax(x.astype(np.float32), 1)
    np.testing.assert_allclose(single, exact, rtol=2e-5 * scale, atol=1e-8)
    out, mean, rstd = norm.layer_norm(x, None, None, 1, 1e-5)
    np.testing.assert_allclose(mean[:, 0], x.mean(1), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rstd[:, 0], 1 / np.sqrt(x.var(1) + 1e-5), rtol=1e-12)
    np.testing.assert_allclose(out, (x - mean) * rstd, rtol=1e-10, atol=1e-12)
