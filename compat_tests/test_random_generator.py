"""The CPU Generator: seeds, words, copies, and states exchanged with PyTorch."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

from compat_tests import record_random as recorded
from compat_tests.test_random_streams import OurSide, needs_torch
from functional.kernels import random as kernels
from functional.random import Generator, default_generator, initial_seed, manual_seed, seed

try:
    import torch
except ImportError:
    torch = None

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def test_seed_zero_starts_like_mt19937() -> None:
    # The reference implementation's first outputs for init_genrand(5489) and (0).
    assert Generator().manual_seed(5489).words(2).tolist() == [3499211612, 581869302]
    assert Generator().manual_seed(0).words(2).tolist() == [2357136044, 2546248239]
    assert Generator().manual_seed(5489).words(10_000)[-1] == 4123659995  # the C++ standard's


def test_seeds_count_modulo_two_to_64_and_words_use_32_bits() -> None:
    generator = Generator()
    assert generator.initial_seed() == 67280421310721
    assert generator.manual_seed(-1) is generator
    assert generator.initial_seed() == 2**64 - 1
    assert generator.manual_seed(-(2**63)).initial_seed() == 2**63
    first = generator.manual_seed(7).words(5).tolist()
    assert generator.manual_seed(2**32 + 7).words(5).tolist() == first
    assert generator.initial_seed() == 2**32 + 7


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.5, RuntimeError, "manual_seed expected a long, but got float"),
        (True, RuntimeError, "manual_seed expected a long, but got bool"),
        ("a", RuntimeError, "manual_seed expected a long, but got str"),
        (None, RuntimeError, "manual_seed expected a long, but got NoneType"),
        (np.int64(5), TypeError, "an integer is required"),
        (2**64, ValueError, "Overflow when unpacking long long"),
        (-(2**63) - 1, ValueError, "Overflow when unpacking long long"),
    ],
)
def test_bad_seeds(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        Generator().manual_seed(value)
    assert str(caught.value) == text
    if torch is not None:
        with pytest.raises(error) as caught:
            torch.Generator().manual_seed(value)
        assert str(caught.value).splitlines()[0] == text


def test_module_functions_act_on_the_default_generator() -> None:
    before = default_generator.state_bytes()
    try:
        assert manual_seed(3.9) is default_generator
        assert initial_seed() == 3
        assert manual_seed(np.int64(12)).initial_seed() == 12
        assert seed() == initial_seed() != 12
        with pytest.raises(ValueError, match="invalid literal for int"):
            manual_seed("a")
    finally:
        default_generator.load_state_bytes(before)


def test_seed_differs_from_call_to_call() -> None:
    generator = Generator()
    assert len({generator.seed() for _ in range(5)}) == 5


def test_words_do_not_depend_on_how_they_are_asked_for() -> None:
    whole = Generator().manual_seed(9).words(5000).tolist()
    for sizes in ((1, 623, 1, 624, 3000, 751), (2500, 2500), (625, 4375)):
        generator = Generator().manual_seed(9)
        assert [w for size in sizes for w in generator.words(size).tolist()] == whole
    pairs = Generator().manual_seed(9)
    pairs.words(1)
    assert pairs.words64(400).tolist() == [
        high << 32 | low for high, low in zip(whole[1:801:2], whole[2:802:2], strict=True)
    ]


def test_device_repr_and_unsupported_parts() -> None:
    generator = Generator(device="cpu")
    assert generator.device.type == "cpu"
    assert repr(generator).startswith("<torch._C.Generator object at 0x")
    for device, text in (
        ("cuda", "Cannot get CUDA generator without ATen_cuda library."),
        ("meta", "META device type not an accelerator."),
    ):
        with pytest.raises(RuntimeError, match=text):
            Generator(device)
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        generator.get_offset()
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        generator.set_offset(1)
    with pytest.raises(NotImplementedError, match="graphsafe_get_state is not supported"):
        generator.graphsafe_get_state()
    with pytest.raises(NotImplementedError, match="graphsafe_set_state is not supported"):
        generator.graphsafe_set_state(generator)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, Generator.clone_state])
def test_copies_continue_alone(duplicate: Any) -> None:
    generator = Generator().manual_seed(4)
    kernels.normal(generator, 3, F32)
    twin = duplicate(generator)
    assert twin.initial_seed() == 4
    expected = kernels.normal(generator, 5, F64).tolist()
    assert kernels.normal(twin, 5, F64).tolist() == expected


def test_pickles() -> None:
    generator = Generator().manual_seed(4)
    kernels.normal(generator, 3, F32)
    twin = pickle.loads(pickle.dumps(generator))
    assert twin.state_bytes().tolist() == generator.state_bytes().tolist()


def test_threads_share_no_words() -> None:
    generator, taken = Generator().manual_seed(0), []

    def work() -> None:
        taken.extend(generator.words(7).tolist() for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = Generator().manual_seed(0).words(7 * 2000).reshape(-1, 7).tolist()
    assert sorted(taken) == sorted(whole)


@needs_torch
@pytest.mark.parametrize("position", [0, 1, 5, 623, 624, 625, 1248, 3000])
def test_states_cross_both_ways(position: int) -> None:
    ours, theirs = OurSide(11), recorded.TorchSide(11)
    if position:
        assert ours.randint(position, "int32", 0, 9) == theirs.randint(position, "int32", 0, 9)
    assert ours.normal(3, "float32", 0.0, 1.0) == theirs.normal(3, "float32", 0.0, 1.0)
    assert ours.state() == theirs.state()
    into_ours, into_theirs = OurSide(0), recorded.TorchSide(0)
    into_ours.generator.load_state_bytes(theirs.generator.get_state().numpy())
    into_theirs.generator.set_state(torch.from_numpy(ours.generator.state_bytes()))
    for size in (1, 2, 700, 9):
        assert into_ours.normal(size, "float64", 0.0, 1.0) == into_theirs.normal(
            size, "float64", 0.0, 1.0
        )
    assert into_ours.state() == into_theirs.state()


def test_fresh_state_layout() -> None:
    state = Generator().manual_seed(2**40 + 1).state_bytes()
    assert state.dtype == np.uint8 and state.shape == (5056,)
    head = state[:24].tobytes()
    assert int.from_bytes(head[:8], "little") == 2**40 + 1
    assert np.frombuffer(head[8:], np.int32).tolist() == [1, 1, 0, 0]
    assert not state[24 + 4992 :].any()


def pending_float_state() -> np.ndarray:
    state = Generator().manual_seed(1).state_bytes()
    state[5048:5052] = np.array([0.25], np.float32).view(np.uint8)
    state[5052] = 1
    return state


def test_pending_float_survives() -> None:
    state = pending_float_state()
    generator = Generator()
    generator.load_state_bytes(state)
    assert generator.pending_float == 0.25
    kernels.normal(generator, 4, F32)  # no kernel on the CPU uses it
    assert generator.state_bytes()[5048:].tolist() == state[5048:].tolist()
    if torch is not None:
        theirs = torch.Generator()
        theirs.set_state(torch.from_numpy(state))
        torch.randn(4, generator=theirs)
        assert theirs.get_state().numpy().tolist() == generator.state_bytes().tolist()


def with_head(left: int, seeded: int, position: int) -> np.ndarray:
    state = Generator().manual_seed(1).state_bytes()
    state[8:16] = np.array([left, seeded], np.int32).view(np.uint8)
    state[16:24] = np.array([position], np.uint64).view(np.uint8)
    return state


@needs_torch
@pytest.mark.parametrize(("left", "position"), [(1, 300), (5, 10), (625 - 77, 77), (624, 0)])
def test_unusual_positions_beside_torch(left: int, position: int) -> None:
    ours, theirs = OurSide(0), recorded.TorchSide(0)
    ours.generator.load_state_bytes(with_head(left, 1, position))
    theirs.generator.set_state(torch.from_numpy(with_head(left, 1, position)))
    for size in (1, 3, 1000):
        assert ours.randint(size, "int32", 0, 1000) == theirs.randint(size, "int32", 0, 1000)
        assert ours.state() == theirs.state()


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        (None, TypeError, "expected a torch.ByteTensor, but got NoneType"),
        (np.zeros(5056, np.int8), TypeError, "RNG state must be a torch.ByteTensor"),
        (np.zeros(10112, np.uint8)[::2], RuntimeError, "RNG state must be contiguous"),
        (
            np.zeros(5048, np.uint8),
            RuntimeError,
            (
                "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size "
                "to be 5048"
            ),
        ),
        (np.zeros(5056, np.uint8), RuntimeError, "Invalid mt19937 state"),
        (with_head(0, 1, 0), RuntimeError, "Invalid mt19937 state"),
        (with_head(625, 1, 0), RuntimeError, "Invalid mt19937 state"),
        (with_head(5, 1, 625), RuntimeError, "Invalid mt19937 state"),
        (with_head(5, 0, 20), RuntimeError, "Invalid mt19937 state"),
    ],
)
def test_bad_states(state: Any, error: type[Exception], text: str) -> None:
    generator = Generator().manual_seed(6)
    with pytest.raises(error) as caught:
        generator.load_state_bytes(state)
    assert str(caught.value) == text
    assert generator.initial_seed() == 6
    if torch is not None:
        theirs = state
        if state is not None:  # from_numpy keeps the strides
            theirs = torch.from_numpy(state)
        with pytest.raises(error) as caught:
            torch.Generator().set_state(theirs)
        assert str(caught.value).splitlines()[0] == text
