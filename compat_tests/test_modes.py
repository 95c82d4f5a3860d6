"""Grad modes against PyTorch: as context managers and decorators, nested, per thread."""

from __future__ import annotations

import threading
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("modes")


def now(torch: Any) -> Any:
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


def all_modes(torch: Any) -> list[Any]:
    return [
        torch.no_grad,
        torch.enable_grad,
        lambda: torch.set_grad_enabled(False),
        lambda: torch.set_grad_enabled(True),
        torch.inference_mode,
        lambda: torch.inference_mode(False),
    ]


@CASES.add
def as_context_managers(torch: Any) -> Any:
    found = []
    for outer in all_modes(torch):
        with outer():
            found.append(now(torch))
            for inner in all_modes(torch):
                with inner():
                    found.append(now(torch))
                found.append(now(torch))
        found.append(now(torch))
    return found


@CASES.add
def leaving_by_exceptions(torch: Any) -> Any:
    found = []
    for mode in all_modes(torch):
        try:
            with mode():
                raise KeyError
        except KeyError:
            found.append(now(torch))
    return found


@CASES.add
def what_is_recorded(torch: Any) -> Any:
    found = []
    x = torch.ones(2, requires_grad=True)
    for mode in all_modes(torch):
        with mode():
            y = x * 2
            z = torch.ones(2, requires_grad=True)
            found.append((y.requires_grad, y.is_leaf, z.requires_grad, y.is_inference()))
    return found


@CASES.add
def as_decorators(torch: Any) -> Any:
    found = []
    for mode in all_modes(torch):

        @mode()
        def function(a: int, *, b: int = 2) -> Any:
            """Text."""
            return a, b, now(torch)

        found.append((function(1), function(a=3, b=4), function.__name__, function.__doc__))
        found.append(now(torch))
    return found


@CASES.add
def as_decorators_without_parentheses(torch: Any) -> Any:
    found = []
    for mode in (torch.no_grad, torch.enable_grad, torch.inference_mode):

        @mode
        def function(a: int) -> Any:
            return a, now(torch)

        found += [function(1), now(torch)]
    return found, error(lambda: torch.set_grad_enabled(lambda: 1)()), now(torch)


@CASES.add
def set_grad_enabled_as_a_function(torch: Any) -> Any:
    torch.set_grad_enabled(False)
    first = now(torch)
    torch.set_grad_enabled(True)

    @torch.set_grad_enabled(False)
    def function() -> Any:
        return now(torch)

    between = now(torch)
    return first, between, function(), now(torch)


@CASES.add
def methods_and_classes(torch: Any) -> Any:
    class Model:
        @torch.no_grad()
        def run(self, x: Any) -> Any:
            return now(torch), x

        @staticmethod
        @torch.no_grad()
        def static(x: Any) -> Any:
            return now(torch), x

        @classmethod
        @torch.enable_grad()
        def make(cls, x: Any) -> Any:
            return now(torch), cls.__name__

    return Model().run(1), Model.static(2), Model.make(3), now(torch)


@CASES.add
def generators(torch: Any) -> Any:
    log: list[Any] = []

    @torch.no_grad()
    def numbers() -> Any:
        try:
            got = yield now(torch)
            log.append((got, now(torch)))
            got = yield now(torch)
            log.append((got, now(torch)))
        except ValueError:
            log.append(("caught", now(torch)))
            yield now(torch)
        finally:
            log.append(("finally", now(torch)))
        return "result"

    one = numbers()
    log += [next(one), now(torch), one.send("a"), now(torch)]
    try:
        one.send("b")
    except StopIteration as stop:
        log.append(stop.value)
    two = numbers()
    next(two)
    log += [two.throw(ValueError()), now(torch)]
    three = numbers()
    next(three)
    three.close()
    log.append(list(numbers()))
    with torch.no_grad():
        four = numbers()
        next(four)
    log.append(now(torch))

    @torch.enable_grad()
    def outer() -> Any:
        return (yield from numbers())

    return log, list(outer()), now(torch)


@CASES.add
def the_same_object_again(torch: Any) -> Any:
    found = []
    for mode in all_modes(torch):
        manager = mode()
        with manager:
            found.append(now(torch))
        found.append(now(torch))
        with manager:
            found.append(now(torch))
        found.append(now(torch))
    return found


@CASES.add
def recursion(torch: Any) -> Any:
    found: list[Any] = []

    @torch.no_grad()
    def down(n: int) -> None:
        found.append(now(torch))
        if n:
            with torch.enable_grad():
                down(n - 1)
                found.append(now(torch))
        found.append(now(torch))

    down(3)
    return found, now(torch)


@CASES.add
def threads(torch: Any) -> Any:
    found: list[Any] = []

    @torch.no_grad()
    def decorated() -> None:
        found.append(now(torch))

    def plain() -> None:
        found.append(now(torch))
        decorated()
        with torch.inference_mode():
            found.append(now(torch))
        found.append(now(torch))

    with torch.no_grad():
        thread = threading.Thread(target=plain)
        thread.start()
        thread.join()
        found.append(now(torch))
    return found, now(torch)


@CASES.add
def other_threads_record_during_inference_mode(torch: Any) -> Any:
    found: list[Any] = []

    def work() -> None:
        x = torch.ones(2, requires_grad=True)
        (x * 3).sum().backward()
        found.append(x.grad)

    with torch.inference_mode():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    work()
    return found


@CASES.add
def names_and_values(torch: Any) -> Any:
    with torch.no_grad() as a, torch.enable_grad() as b, torch.set_grad_enabled(True) as c:
        values = a, b, c
    return [
        values,
        torch.autograd.no_grad is torch.no_grad,
        torch.autograd.enable_grad is torch.enable_grad,
        torch.autograd.set_grad_enabled is torch.set_grad_enabled,
        torch.no_grad.__name__,
        isinstance(torch.no_grad(), torch.no_grad),
        isinstance(torch.inference_mode(), torch.inference_mode),
    ]


test_scenario = CASES.test()
