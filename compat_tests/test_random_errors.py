"""The random kernels' errors: PyTorch's classes and texts, asked of PyTorch where installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from functional.kernels import random as kernels
from functional.random import Generator

try:
    import torch
except ImportError:
    torch = None

F32, I64 = np.dtype(np.float32), np.dtype(np.int64)
G = Generator().manual_seed(0)


def array(*values: float) -> np.ndarray:
    return np.array(values, F32)


ERRORS: list[tuple[Any, Any, type[Exception], str]] = [
    (
        lambda: kernels.normal(G, 0, F32, 0, -1.5),
        lambda: torch.empty(0).normal_(0, -1.5),
        RuntimeError,
        "normal expects std >= 0.0, but found std -1.5",
    ),
    (
        lambda: kernels.normal(G, 3, I64),
        lambda: torch.randn(3, dtype=torch.int64),
        NotImplementedError,
        "\"normal_kernel_cpu\" not implemented for 'Long'",
    ),
    (
        lambda: kernels.normal_tensors(G, array(0, 0), array(1, -1), F32),
        lambda: torch.normal(torch.zeros(2), torch.tensor([1.0, -1.0])),
        RuntimeError,
        "normal expects all elements of std >= 0.0",
    ),
    (
        lambda: kernels.uniform(G, 0, F32, 1.5, 1.25),
        lambda: torch.empty(0).uniform_(1.5, 1.25),
        RuntimeError,
        "uniform_ expects to return a [from, to) range, but found from=1.5 > to=1.25",
    ),
    (
        lambda: kernels.uniform(G, 3, np.float16, 0, 70000),
        lambda: torch.empty(3, dtype=torch.half).uniform_(0, 70000),
        RuntimeError,
        "to is out of bounds for c10::Half",
    ),
    (
        lambda: kernels.uniform(G, 3, F32, -3e38, 3e38),
        lambda: torch.empty(3).uniform_(-3e38, 3e38),
        RuntimeError,
        (
            "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38 and "
            "from=-3e+38 which result in to-from to exceed the limit"
        ),
    ),
    (
        lambda: kernels.uniform(G, 0, np.bool_),
        lambda: torch.rand(0, dtype=torch.bool),
        NotImplementedError,
        "\"check_uniform_bounds\" not implemented for 'Bool'",
    ),
    (
        lambda: kernels.randint(G, 5, 5, 0, I64),
        lambda: torch.randint(5, 5, (0,)),
        RuntimeError,
        "random_ expects 'from' to be less than 'to', but got from=5 >= to=5",
    ),
    (
        lambda: kernels.randint(G, 0, 300, 3, np.uint8),
        lambda: torch.randint(0, 300, (3,), dtype=torch.uint8),
        RuntimeError,
        "to - 1 is out of bounds for unsigned char",
    ),
    (
        lambda: kernels.randint(G, -5, 3, 3, np.uint32),
        lambda: torch.randint(-5, 3, (3,), dtype=torch.uint32),
        RuntimeError,
        "from is out of bounds for unsigned int",
    ),
    (
        lambda: kernels.random_from(G, 2**30, 3, F32),
        lambda: torch.empty(3).random_(2**30, None),
        RuntimeError,
        (
            "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
            "dtype, but got from=1073741824 > to_inc=16777216"
        ),
    ),
    (
        lambda: kernels.random_from(G, -(2**63), 3, np.int32),
        lambda: torch.empty(3, dtype=torch.int32).random_(-(2**63), None),
        RuntimeError,
        "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16",
    ),
    (
        lambda: kernels.random_full(G, 3, np.uint16),
        lambda: torch.empty(3, dtype=torch.uint16).random_(),
        NotImplementedError,
        "\"random_kernel_cpu\" not implemented for 'UInt16'",
    ),
    (
        lambda: kernels.bernoulli(G, 1.5, 0, F32),
        lambda: torch.empty(0).bernoulli_(1.5),
        RuntimeError,
        "bernoulli_ expects p to be in [0, 1], but got p=1.5",
    ),
    (
        lambda: kernels.bernoulli_tensor(G, array(0.5, 1.5)),
        lambda: torch.bernoulli(torch.tensor([0.5, 1.5])),
        RuntimeError,
        (
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        ),
    ),
    (
        lambda: kernels.exponential(G, 0, F32, -1.0),
        lambda: torch.empty(0).exponential_(-1.0),
        RuntimeError,
        "exponential_ expects lambda > 0.0, but found lambda=-1",
    ),
    (
        lambda: kernels.exponential(G, 3, I64),
        lambda: torch.empty(3, dtype=torch.int64).exponential_(),
        RuntimeError,
        (
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            "floating point but you specified Long"
        ),
    ),
    (
        lambda: kernels.cauchy(G, 3, np.int16),
        lambda: torch.empty(3, dtype=torch.int16).cauchy_(),
        RuntimeError,
        (
            "Cauchy distribution is a continuous probability distribution. dtype must be a "
            "floating point but you specified short int"
        ),
    ),
    (
        lambda: kernels.cauchy(G, 3, F32, 0.0, 0.0),
        lambda: torch.empty(3).cauchy_(0.0, 0.0),
        RuntimeError,
        "cauchy_ expects sigma > 0.0, but found sigma=0",
    ),
    (
        lambda: kernels.geometric(G, 3, F32, 1.0),
        lambda: torch.empty(3).geometric_(1.0),
        RuntimeError,
        "geometric_ expects p to be in (0, 1), but got p=1",
    ),
    (
        lambda: kernels.log_normal(G, 3, F32, 0.0, -1.0),
        lambda: torch.empty(3).log_normal_(0.0, -1.0),
        RuntimeError,
        "log_normal_ expects std > 0.0, but found std=-1",
    ),
    (
        lambda: kernels.randperm(G, -1),
        lambda: torch.randperm(-1),
        RuntimeError,
        "Trying to create tensor with negative dimension -1: [-1]",
    ),
    (
        lambda: kernels.randperm(G, 257, np.uint8),
        lambda: torch.randperm(257, dtype=torch.uint8),
        RuntimeError,
        "value cannot be converted to type uint8_t without overflow",
    ),
    (
        lambda: kernels.randperm(G, 2**24 + 2, F32),
        lambda: torch.randperm(2**24 + 2, dtype=torch.float32),
        RuntimeError,
        "n cannot be greater than 2^24+1 for Float type.",
    ),
    (
        lambda: kernels.multinomial(G, array(1, 1), 3),
        lambda: torch.multinomial(torch.ones(2), 3),
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    ),
    (
        lambda: kernels.multinomial(G, array(1, 1), 0),
        lambda: torch.multinomial(torch.ones(2), 0),
        RuntimeError,
        "cannot sample n_sample <= 0 samples",
    ),
    (
        lambda: kernels.multinomial(G, array(1, -1), 1),
        lambda: torch.multinomial(torch.tensor([1.0, -1.0]), 1),
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0",
    ),
    (
        lambda: kernels.multinomial(G, array(1, -1), 2, True),
        lambda: torch.multinomial(torch.tensor([1.0, -1.0]), 2, True),
        RuntimeError,
        "invalid multinomial distribution (encountering probability entry < 0)",
    ),
    (
        lambda: kernels.multinomial(G, array(1, np.inf), 2, True),
        lambda: torch.multinomial(torch.tensor([1.0, float("inf")]), 2, True),
        RuntimeError,
        "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
    ),
    (
        lambda: kernels.multinomial(G, array(0, 0), 1),
        lambda: torch.multinomial(torch.zeros(2), 1),
        RuntimeError,
        "invalid multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        lambda: kernels.multinomial(G, np.ones((2, 2, 2), F32), 1),
        lambda: torch.multinomial(torch.ones(2, 2, 2), 1),
        RuntimeError,
        "prob_dist must be 1 or 2 dim",
    ),
    (
        lambda: kernels.multinomial(G, np.ones(3, I64), 1),
        lambda: torch.multinomial(torch.ones(3, dtype=torch.int64), 1),
        RuntimeError,
        "multinomial only supports floating-point dtypes for input, got: Long",
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "error", "text"), ERRORS, ids=range(len(ERRORS)))
def test_errors(ours: Any, theirs: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        ours()
    assert str(caught.value) == text
    if torch is not None:
        with pytest.raises(error) as caught:
            theirs()
        assert str(caught.value).splitlines()[0] == text


def test_a_bad_probability_has_used_the_draws_before_it() -> None:
    generator = Generator().manual_seed(0)
    with pytest.raises(RuntimeError):
        kernels.bernoulli_tensor(generator, array(0.5, 0.5, 2.0, 0.5))
    assert generator.words(1)[0] == Generator().manual_seed(0).words(3)[2]


def test_imprecise_range_warns() -> None:
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]\. Due"):
        kernels.randint(G, 0, 2**26, 3, F32)
