"""Gluon's trainer, optimizers, schedules and data: update rules by hand, staleness, batches."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import torchlike.mxnet as mx
from torchlike.mxnet import autograd, gluon, lr_scheduler, nd, np, optimizer
from torchlike.mxnet.gluon import Parameter, Trainer, nn
from torchlike.mxnet.gluon.data import ArrayDataset, DataLoader, SimpleDataset


def values(array: Any) -> Any:
    return array.asnumpy().tolist()


def parameter(*start: float, **more: Any) -> Any:
    p = Parameter(shape=(len(start),), **more)
    p.initialize(init=mx.init.Constant(nd.array(start)))
    return p


def backward(p: Any, gradient: float) -> None:
    with autograd.record():
        y = p.data() * gradient
    y.backward()


def steps(p: Any, trainer: Trainer, gradients: list[float], batch_size: int = 1) -> list[float]:
    found = []
    for g in gradients:
        backward(p, g)
        trainer.step(batch_size)
        found.append(p.data().asnumpy()[0].item())
    return found


# --- optimizers -----------------------------------------------------------------------------------


def test_sgd_momentum_contains_the_learning_rate() -> None:
    p = parameter(1)
    settings = {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.5}
    found = steps(p, Trainer([p], "sgd", settings), [2, 2])
    onp.testing.assert_allclose(found, [0.75, 0.2875], rtol=1e-6)


def test_changed_rate_does_not_rescale_the_momentum() -> None:
    p = parameter(0)
    trainer = Trainer([p], "sgd", {"learning_rate": 1.0, "momentum": 0.5})
    backward(p, 1)
    trainer.step(1)  # m = -1
    trainer.set_learning_rate(0)
    backward(p, 1)
    trainer.step(1)  # m = -0.5
    assert values(p.data()) == [-1.5]


def test_step_divides_by_the_batch_size() -> None:
    p = parameter(1)
    assert steps(p, Trainer([p], "sgd", {"learning_rate": 1.0}), [8], 4) == [-1]
    q = parameter(1)
    clipped = Trainer([q], "sgd", {"learning_rate": 1.0, "clip_gradient": 0.5})
    assert steps(q, clipped, [8], 4) == [0.5]
    assert Trainer([q], "sgd").learning_rate == 0.1
    with pytest.raises(ValueError, match="batch_size must be positive, and is 0"):
        clipped.step(0)


def test_multipliers_of_parameters() -> None:
    p, q = parameter(1, lr_mult=2), parameter(1, wd_mult=0)
    trainer = Trainer({"p": p, "q": q}, "sgd", {"learning_rate": 0.25, "wd": 0.5})
    with autograd.record():
        y = p.data() + q.data()
    y.backward()
    trainer.step(1)
    assert (values(p.data()), values(q.data())) == ([1 - 0.5 * 1.5], [0.75])


def test_adam() -> None:
    p = parameter(1)
    gradients = [2.0, -1.0, 0.5]
    found = steps(p, Trainer([p], "adam", {"learning_rate": 0.1, "wd": 0.01}), gradients)
    w, m, v, expected = 1.0, 0.0, 0.0, []
    for t, gradient in enumerate(gradients, start=1):
        g = gradient + 0.01 * w
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        rate = 0.1 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w -= rate * m / (math.sqrt(v) + 1e-8)
        expected.append(w)
    onp.testing.assert_allclose(found, expected, rtol=1e-5)
    assert Trainer([p], "adam").learning_rate == 0.001


def test_own_optimizer() -> None:
    @optimizer.register
    class Signs(optimizer.Optimizer):
        def step(self, w: Any, g: Any, state: Any, lr: float, count: int) -> None:
            w.sub_(g.sign() * lr)

    p = parameter(1)
    assert steps(p, Trainer([p], "signs", {"learning_rate": 0.5}), [9]) == [0.5]
    assert steps(p, Trainer([p], Signs(learning_rate=0.25)), [9]) == [0.25]
    with pytest.raises(ValueError, match="there is no optimizer 'no', only sgd, adam"):
        Trainer([p], "no")
    with pytest.raises(ValueError, match="optimizer_params belong to an optimizer's name"):
        Trainer([p], Signs(), {"wd": 1})


# --- the trainer ----------------------------------------------------------------------------------


def test_stale_gradients() -> None:
    p, q = parameter(1), parameter(1)
    trainer = Trainer([p, q], "sgd", {"learning_rate": 1.0})
    with pytest.raises(UserWarning, match="has not been written by backward since the last step"):
        trainer.step(1)
    backward(p, 2)
    with pytest.raises(UserWarning, match="ignore_stale_grad=True"):
        trainer.step(1)
    assert values(p.data()) == [1]
    trainer.step(1, ignore_stale_grad=True)
    assert (values(p.data()), values(q.data())) == ([-1], [1])
    assert not p.data()._fresh_grad
    trainer.step(1, ignore_stale_grad=True)
    assert values(p.data()) == [-1]


def test_parameters_without_gradients_are_left_alone() -> None:
    p, q = parameter(1), parameter(1, grad_req="null")
    trainer = Trainer([p, q, p], "sgd", {"learning_rate": 1.0})
    backward(p, 2)
    trainer.allreduce_grads()
    trainer.update(1)
    assert (values(p.data()), values(q.data())) == ([-1], [1])


def test_trainer_wants_parameters() -> None:
    with pytest.raises(ValueError, match="a Parameter is wanted, not NDArray"):
        Trainer([nd.ones(1)], "sgd")
    with pytest.raises(ValueError, match="params is a dict or list of Parameters, not Dense"):
        Trainer(nn.Dense(1), "sgd")


@pytest.mark.parametrize(
    ("rule", "settings"), [("sgd", {"learning_rate": 0.5, "momentum": 0.5}), ("adam", {})]
)
def test_states_in_files(tmp_path: Path, rule: str, settings: dict[str, Any]) -> None:
    path = tmp_path / "trainer.states"
    p = parameter(1)
    trainer = Trainer([p], rule, settings)
    steps(p, trainer, [1, 3])
    trainer.save_states(path)
    q = parameter(p.data().asscalar())
    resumed = Trainer([q], rule, settings)
    resumed.load_states(path)
    assert steps(q, resumed, [2, 1]) == steps(p, trainer, [2, 1])


def test_states_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "trainer.states"
    p = parameter(1)
    trainer = Trainer([p], "adam")
    steps(p, trainer, [1])
    trainer.save_states(path)
    with pytest.raises(ValueError, match=r"holds 0\.mean, which this Trainer does not know"):
        Trainer([p], "sgd").load_states(path)
    with pytest.raises(ValueError, match=r"0.mean of shape \(1,\) for a parameter of shape \(2,\)"):
        Trainer([parameter(1, 2)], "adam").load_states(path)
    nd.save(path, [nd.ones(1)])
    with pytest.raises(ValueError, match="holds no states of a Trainer"):
        trainer.load_states(path)


# --- learning rates -------------------------------------------------------------------------------


def test_schedules() -> None:
    factor = lr_scheduler.FactorScheduler(step=2, factor=0.5, stop_factor_lr=0.2, base_lr=1)
    assert [factor(n) for n in range(1, 9)] == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2]
    steps_at = lr_scheduler.MultiFactorScheduler([2, 5], 0.5, base_lr=1)
    assert [steps_at(n) for n in range(1, 8)] == [1, 1, 0.5, 0.5, 0.5, 0.25, 0.25]
    poly = lr_scheduler.PolyScheduler(4, base_lr=1, pwr=2)
    assert [poly(n) for n in (0, 2, 4, 9)] == [1, 0.25, 0, 0]
    cosine = lr_scheduler.CosineScheduler(
        6, base_lr=1, final_lr=0.5, warmup_steps=2, warmup_begin_lr=0.5
    )
    assert [cosine(n) for n in (0, 1, 2)] == [0.5, 0.75, 1]
    assert cosine(4) == pytest.approx(0.75)
    assert cosine(6) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="growing positive numbers"):
        lr_scheduler.MultiFactorScheduler([5, 2])


def test_scheduler_decides() -> None:
    p = parameter(0)
    schedule = lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1)
    trainer = Trainer([p], "sgd", {"lr_scheduler": schedule})
    assert steps(p, trainer, [-1, -1, -1]) == [1, 1.5, 1.75]
    assert trainer.learning_rate == 0.25
    with pytest.raises(UserWarning, match="the scheduler decides"):
        trainer.set_learning_rate(1)
    Trainer([p], "sgd", {"lr_scheduler": schedule, "learning_rate": 8})
    assert schedule.base_lr == 8


def test_clip_global_norm() -> None:
    arrays = [nd.array([3.0]), nd.array([4.0])]
    assert gluon.utils.clip_global_norm(arrays, 1) == 5
    onp.testing.assert_allclose([a.asscalar() for a in arrays], [0.6, 0.8], rtol=1e-6)
    assert gluon.utils.clip_global_norm(arrays, 10) == pytest.approx(1)
    with pytest.raises(ValueError, match="the norm of the arrays is inf"):
        gluon.utils.clip_global_norm([nd.array([math.inf])], 1)


def test_split_and_load() -> None:
    parts = gluon.utils.split_and_load(onp.arange(4), [mx.cpu(0), mx.cpu(1)])
    assert [values(p) for p in parts] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="a batch of 3 does not split into 2 parts"):
        gluon.utils.split_data(nd.ones(3), 2)


# --- data -----------------------------------------------------------------------------------------


def test_array_dataset() -> None:
    data = ArrayDataset(nd.array([[1, 2], [3, 4]]), nd.array([5, 6]))
    x, y = data[1]
    assert (len(data), values(x), y) == (2, [3, 4], 6)
    assert isinstance(y, onp.float32)
    assert ArrayDataset([7, 8])[1] == 8
    doubled = data.transform_first(lambda v: v * 2)
    assert values(doubled[0][0]) == [2, 4]
    assert doubled[0][1] == 5
    assert SimpleDataset([1, 2, 3]).transform(lambda v: v + 1, lazy=False)[2] == 4
    assert [*SimpleDataset([1, 2, 3]).filter(lambda v: v > 1).take(1)] == [2]
    with pytest.raises(ValueError, match=r"different lengths: \[2, 3\]"):
        ArrayDataset(nd.ones(2), nd.ones(3))


@pytest.mark.parametrize(
    ("last", "first_round", "second_round"),
    [
        ("keep", [[0, 1, 2], [3, 4]], [[0, 1, 2], [3, 4]]),
        ("discard", [[0, 1, 2]], [[0, 1, 2]]),
        ("rollover", [[0, 1, 2]], [[3, 4, 0], [1, 2, 3]]),
    ],
)
def test_last_batches(last: str, first_round: Any, second_round: Any) -> None:
    loader = DataLoader(SimpleDataset(list(range(5))), 3, last_batch=last)
    for expected in (first_round, second_round):
        assert len(loader) == len(expected)
        assert [values(b) for b in loader] == expected


def test_batches_of_arrays() -> None:
    x, y = onp.arange(10, dtype="float32").reshape(5, 2), onp.arange(5, dtype="int32")
    whole = ArrayDataset(nd.array(x), nd.array(y, dtype="int32"))
    single = SimpleDataset([whole[i] for i in range(5)])
    for dataset in (whole, single, ArrayDataset(np.array(x), y)):
        (a, b), (c, d) = DataLoader(dataset, 3)
        assert (values(a), values(d)) == (x[:3].tolist(), [3, 4])
        assert (b.dtype, c.shape) == (onp.int32, (2, 2))
    assert isinstance(next(iter(DataLoader(ArrayDataset(np.array(x), y), 2)))[0], np.ndarray)


def test_shuffled_batches_hold_everything_once() -> None:
    data = ArrayDataset(nd.arange(20), nd.arange(20) * 10)
    loader = DataLoader(data, 6, shuffle=True, num_workers=2)
    mx.random.seed(1)
    rounds = [[(x, y) for b in loader for x, y in zip(*map(values, b))] for _ in range(2)]
    assert rounds[0] != rounds[1]
    for found in rounds:
        assert sorted(found) == [(i, 10 * i) for i in range(20)]
    mx.random.seed(1)
    assert [v for b in loader for v in values(b[0])] == [x for x, _ in rounds[0]]


def test_loader_arguments() -> None:
    data = SimpleDataset([1, 2, 3])
    assert [values(b) for b in DataLoader(data, batch_sampler=[[2, 0]])] == [[3, 1]]
    assert [*DataLoader(data, 2, batchify_fn=sum)] == [3, 3]
    with pytest.raises(ValueError, match="batch_size or batch_sampler is wanted"):
        DataLoader(data)
    with pytest.raises(ValueError, match="do not go with a batch_sampler"):
        DataLoader(data, 2, batch_sampler=[[1]])
    with pytest.raises(ValueError, match="last_batch must be one of keep, discard, rollover"):
        DataLoader(data, 2, last_batch="no")


# --- all together ---------------------------------------------------------------------------------


def test_linear_regression_finds_its_weights() -> None:
    mx.random.seed(0)
    x = nd.random.normal(shape=(200, 2))
    y = nd.dot(x, nd.array([2, -3.4])) + 4.2
    net = nn.Dense(1)
    net.initialize(mx.init.Normal(0.01))
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    squared = gluon.loss.L2Loss()
    for _ in range(10):
        for a, b in DataLoader(ArrayDataset(x, y), 10, shuffle=True):
            with autograd.record():
                out = squared(net(a), b)
            out.backward()
            trainer.step(len(a))
    onp.testing.assert_allclose(net.weight.data().asnumpy(), [[2, -3.4]], atol=1e-4)
    onp.testing.assert_allclose(net.bias.data().asnumpy(), [4.2], atol=1e-4)


def test_example() -> None:
    home = Path(__file__).resolve().parent.parent
    script = home / "examples" / "mxnet_autograd.py"
    command = [sys.executable, "-m", "torchlike", "--as", "mxnet", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].endswith("x.grad = [ 0.  4.  8. 12.]")
    assert lines[5].endswith("y''    = [ 4.    29.556]")
    assert "1437 digits to train on, 360 held out" in lines
    share = float(lines[-1].rpartition(" ")[2].rstrip("%"))
    assert share >= 97
