"""SINGA's optimizers: steps by hand, SINGA's own numbers, and a whole training run of SINGA's."""

import warnings

import numpy as np
import pytest

from torchlike.singa import autograd, opt, tensor
from torchlike.singa.tensor import Tensor


def param(*values, name="p"):
    return Tensor(data=np.array(values, np.float32), stores_grad=True, name=name)


def grad(*values):
    return Tensor(data=np.array(values, np.float32))


def steps(optimizer, gradients, *, count=True, start=1.0):
    """A parameter's values under several gradients, one after the other."""
    p, seen = param(start), []
    for g in gradients:
        optimizer.apply("p", p, grad(g))
        seen.append(float(tensor.to_numpy(p)[0]))
        if count:
            optimizer.step()
    return seen


def loss_of(p, target=1.0):
    return autograd.mse_loss(p, grad(*[target] * p.size()))


def close(found, wanted, tolerance=1e-6):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)


class TestRules:
    def test_sgd(self):
        close(steps(opt.SGD(0.1), [1, 2]), [0.9, 0.7])

    def test_sgd_dampens_the_first_step_too(self):
        close(steps(opt.SGD(0.1, 0.9, 0.5), [1, 1, 1]), [0.95, 0.855, 0.7195])

    def test_dampening_without_momentum(self):
        close(steps(opt.SGD(0.1, 0, 0.5), [1]), [0.9])

    def test_nesterov(self):
        # b = 1, 1.9; g + 0.9 b = 1.9, 2.71
        close(steps(opt.SGD(0.1, 0.9, nesterov=True), [1, 1]), [0.81, 0.539])

    def test_weight_decay(self):
        # g + 0.5 p = 1.5, then 1.425
        close(steps(opt.SGD(0.1, weight_decay=0.5), [1, 1]), [0.85, 0.7075])

    @pytest.mark.parametrize(
        "optimizer",
        [
            opt.SGD(0.1, 0.9, weight_decay=0.5),
            opt.RMSProp(weight_decay=0.5),
            opt.AdaGrad(weight_decay=0.5),
            opt.Adam(weight_decay=0.5),
        ],
    )
    def test_the_gradient_stays(self, optimizer):
        p, g = param(1, 2), grad(3, 4)
        optimizer.apply("p", p, g)
        assert tensor.to_numpy(g).tolist() == [3, 4]
        assert tensor.to_numpy(p)[0] < 1

    def test_rmsprop(self):
        # epsilon stands inside the root: 1 - 0.1 / sqrt(0.1 + 0.9)
        close(steps(opt.RMSProp(0.1, epsilon=0.9), [1]), [0.9])
        averages = [0.1, 0.09 + 0.4]
        wanted = 1 - 0.1 / np.sqrt(averages[0])
        close(steps(opt.RMSProp(0.1), [1, 2]), [wanted, wanted - 0.2 / np.sqrt(averages[1])])

    def test_adagrad(self):
        close(steps(opt.AdaGrad(0.1, epsilon=3.0), [1]), [0.95])
        close(steps(opt.AdaGrad(0.1), [3, 4]), [0.9, 0.9 - 0.4 / 5])

    def test_adam(self):
        close(steps(opt.Adam(0.1), [1, 2, 3]), [0.9, 0.803482, 0.707682])

    def test_adam_without_steps(self):
        close(steps(opt.Adam(0.1), [1, 2, 3], count=False), [0.9, 0.770295, 0.620329])

    def test_half(self):
        p = Tensor(data=np.ones(2, np.float16), name="h")
        opt.SGD(0.5, 0.9, dtype=tensor.float16).apply("h", p, Tensor(data=np.ones(2, np.float16)))
        assert p.dtype == tensor.float16 and tensor.to_numpy(p).tolist() == [0.5, 0.5]


class TestEntryPoints:
    def test_call_steps(self):
        p, sgd = param(3.0), opt.SGD(0.25)
        sgd(loss_of(p))  # the gradient is 2 (3 - 1) = 4
        assert tensor.to_numpy(p)[0] == 2 and tensor.to_numpy(sgd.step_counter)[0] == 1

    def test_update_warns_and_does_not_step(self):
        p, sgd = param(3.0), opt.SGD(0.25)
        with pytest.warns(DeprecationWarning, match="update is deprecated"):
            for tensor_, g in autograd.backward(loss_of(p)):
                sgd.update(tensor_, g)
        assert tensor.to_numpy(p)[0] == 2 and tensor.to_numpy(sgd.step_counter)[0] == 0

    def test_backward_and_update(self):
        p, sgd = param(3.0), opt.SGD(0.25)
        with pytest.warns(DeprecationWarning):
            sgd.backward_and_update(loss_of(p))
        assert tensor.to_numpy(p)[0] == 2 and tensor.to_numpy(sgd.step_counter)[0] == 1

    def test_a_copy_of_the_parameter_sees_the_step(self):
        p = param(3.0)
        twin = p.copy()
        opt.SGD(0.25)(loss_of(p))
        assert tensor.to_numpy(twin)[0] == 2

    def test_another_pass_over_the_same_graph(self):
        """As in SINGA it meets the new parameters and the old values between them."""
        x, w, v = (Tensor(data=np.ones((1, 1), np.float32), stores_grad=i > 0) for i in range(3))
        hidden = autograd.matmul(x, w)
        loss = autograd.mse_loss(autograd.matmul(hidden, v), Tensor((1, 1)))
        sgd = opt.SGD(0.25)
        sgd(loss)  # dloss/dy = 2, so both gradients are 2
        assert [tensor.to_numpy(p).item() for p in (w, v)] == [0.5, 0.5]
        sgd(loss)  # w's is 2 v = 1, v's again 2
        assert [tensor.to_numpy(p).item() for p in (w, v)] == [0.25, 0.0]

    def test_one_name_one_buffer(self):
        """As in SINGA, what is kept belongs to the name, not to the tensor."""
        sgd, p, q = opt.SGD(0.1, 0.9), param(1), param(1)
        sgd.apply("same", p, grad(1))
        sgd.apply("same", q, grad(1))
        close(tensor.to_numpy(q), [1 - 0.19])
        with pytest.raises(ValueError, match="same name"):
            sgd.apply("same", param(1, 1), grad(1, 1))

    def test_shapes_and_types_must_fit(self):
        sgd, p = opt.SGD(0.1), param(1, 1)
        with pytest.raises(AssertionError, match=r"p: a gradient of shape \(1,\)"):
            sgd.apply("p", p, grad(1))
        half = Tensor(data=np.ones(1, np.float16))
        with pytest.raises(AssertionError, match="data type"):
            sgd.apply("h", half, half)
        assert tensor.to_numpy(p).tolist() == [1, 1]

    def test_a_base_has_no_rule(self):
        with pytest.raises(NotImplementedError, match="apply"):
            opt.Optimizer(0.1).apply("p", param(1), grad(1))

    def test_a_rule_of_the_user(self):
        class Signs(opt.Optimizer):
            def apply(self, name, p, g):
                p -= self.lr_value * tensor.sign(g)

        p = param(3.0)
        Signs(0.5)(loss_of(p))
        assert tensor.to_numpy(p)[0] == 2.5

    def test_device_check(self):
        sgd = opt.SGD(0.1)
        sgd.device_check(param(1), sgd.lr_value)
        assert sgd.lr_value.device.id() == -1


class TestArguments:
    @pytest.mark.parametrize("lr", [np.float32(0.1), "0.1", True, None])
    def test_wrong_learning_rates(self, lr):
        with pytest.raises(TypeError, match="Wrong learning rate type"):
            opt.SGD(lr)

    @pytest.mark.parametrize("name", ["momentum", "weight_decay"])
    def test_negative(self, name):
        with pytest.raises(ValueError, match=f"Invalid {name} value: -1"):
            opt.SGD(0.1, **{name: -1})
        with pytest.raises(TypeError, match=f"Wrong {name} type"):
            opt.SGD(0.1, **{name: "1"})

    @pytest.mark.parametrize("arguments", [{}, {"momentum": 0.9, "dampening": 0.1}])
    def test_nesterov_needs_momentum(self, arguments):
        with pytest.raises(ValueError, match="Nesterov"):
            opt.SGD(0.1, nesterov=True, **arguments)

    def test_values_are_tensors_of_one_element(self):
        adam = opt.Adam()
        for name, value in (("lr_value", 0.1), ("beta_1_value", 0.9), ("beta_2_value", 0.999)):
            assert getattr(adam, name).shape == (1,)
            close(tensor.to_numpy(getattr(adam, name)), [value], 1e-7)


class TestSchedules:
    def rates(self, schedule, count=5):
        sgd, seen = opt.SGD(schedule), []
        for _ in range(count):
            seen.append(float(tensor.to_numpy(sgd.lr_value)[0]))
            sgd.step()
        return seen

    def test_constant(self):
        close(self.rates(opt.Constant(0.2)), [0.2] * 5)

    def test_exponential(self):
        close(self.rates(opt.ExponentialDecay(0.1, 2, 0.25)), [0.1 * 0.5**i for i in range(5)])
        stairs = self.rates(opt.ExponentialDecay(0.1, 2, 0.25, True))
        close(stairs, [0.1, 0.1, 0.025, 0.025, 0.00625])
        with pytest.raises(ValueError, match="decay_steps"):
            opt.ExponentialDecay(0.1, 0, 0.5)

    def test_own(self):
        class Linear(opt.DecayScheduler):
            def call(self, step):
                return self.init_value - step

        assert self.rates(Linear(3), 3) == [3, 2, 1]
        with pytest.raises(NotImplementedError, match="call"):
            opt.DecayScheduler(1)(grad(0))

    def test_other_values_follow_schedules(self):
        # momentum 0.5, then 0.25: b = 1, 1.25
        sgd = opt.SGD(0.1, opt.ExponentialDecay(0.5, 1, 0.5))
        close(steps(sgd, [1, 1]), [0.9, 0.775])

    def test_a_rate_decays_only_by_steps(self):
        decaying = lambda: opt.SGD(opt.ExponentialDecay(0.1, 1, 0.5))
        close(steps(decaying(), [1, 1], count=False), [0.9, 0.8])
        close(steps(decaying(), [1, 1]), [0.9, 0.85])


MAKERS = {
    "moments": lambda: opt.SGD(0.1, 0.9),
    "running_average": lambda: opt.RMSProp(0.1),
    "history": lambda: opt.AdaGrad(0.1),
    "m": lambda: opt.Adam(opt.ExponentialDecay(0.1, 1, 0.5)),
}


class TestStates:
    @pytest.mark.parametrize("kept", MAKERS)
    @pytest.mark.parametrize("arrays", [False, True])
    def test_a_resumed_run_goes_on(self, kept, arrays):
        whole = steps(MAKERS[kept](), [1, 2, 3, 4])
        first, second = MAKERS[kept](), MAKERS[kept]()
        half = steps(first, [1, 2])
        states = first.get_states()
        assert states["step_counter"] == 2 and list(states[kept]) == ["p"]
        if arrays:
            states = {
                k: {n: tensor.to_numpy(x) for n, x in v.items()} if isinstance(v, dict) else v
                for k, v in states.items()
            }
        second.set_states(states)
        close(half + steps(second, [3, 4], start=half[-1]), whole)

    def test_states_are_copies(self):
        sgd = opt.SGD(0.1, 0.9)
        steps(sgd, [1])
        states = sgd.get_states()
        steps(sgd, [1])
        close(tensor.to_numpy(states["moments"]["p"]), [1])

    def test_moments_are_there_without_momentum(self):
        assert opt.SGD(0.1).get_states() == {"step_counter": 0, "moments": {}}

    def test_step_counter_alone(self):
        sgd = opt.SGD(opt.ExponentialDecay(0.1, 1, 0.5))
        sgd.set_states({"step_counter": np.array([2])})
        close(tensor.to_numpy(sgd.lr_value), [0.025])

    def test_bad_states_change_nothing(self):
        sgd = opt.SGD(0.1, 0.9)
        with pytest.raises(ValueError, match="SGD keeps no v"):
            sgd.set_states({"step_counter": 5, "v": {}})
        with pytest.raises(KeyError, match="step_counter"):
            sgd.set_states({"moments": {}})
        with pytest.raises(ValueError, match="one number"):
            sgd.set_states({"step_counter": [1, 2]})
        assert tensor.to_numpy(sgd.step_counter)[0] == 0


class TestDistOpt:
    def test_one_worker(self):
        dist = opt.DistOpt(opt.SGD(0.25), nccl_id=object(), local_rank=0, world_size=1)
        assert (dist.world_size, dist.local_rank, dist.global_rank) == (1, 0, 0)
        assert hasattr(dist, "communicator")
        p = param(3.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dist(loss_of(p))
            dist.update(p, grad(4))
        assert tensor.to_numpy(p)[0] == 1 and dist.opt.get_states()["step_counter"] == 1

    def test_default(self):
        assert isinstance(opt.DistOpt().opt, opt.SGD)
        assert opt.DistOpt().opt is not opt.DistOpt().opt

    def test_more_workers_are_refused(self):
        with pytest.raises(NotImplementedError, match="world_size=2 needs a distributed backend"):
            opt.DistOpt(world_size=2)
        with pytest.raises(ValueError, match="local_rank"):
            opt.DistOpt(local_rank=1)

    def test_sums(self):
        dist, x = opt.DistOpt(), grad(1, 2049)
        dist.all_reduce(x.data)
        dist.fused_all_reduce([x.data])
        dist.fused_all_reduce_half([x.data], send=False)
        dist.wait()
        assert tensor.to_numpy(x).tolist() == [1, 2049]
        dist.all_reduce_half(x.data)  # float16 has 11 bits
        assert tensor.to_numpy(x).tolist() == [1, 2048]

    def test_half_step(self):
        p = param(4.0, 4098.0)
        opt.DistOpt(opt.SGD(1.0)).backward_and_update_half(loss_of(p), clipping=True, clip_Value=9)
        assert tensor.to_numpy(p).tolist() == [1, 4089]

    def test_partial_step(self):
        dist, p = opt.DistOpt(opt.SGD(0.25)), param(3.0)
        dist.backward_and_partial_update(loss_of(p))
        assert tensor.to_numpy(p)[0] == 2 and dist.partial == 0

    @pytest.mark.parametrize(("spars", "topK"), [(2.0, False), (0.5, True)])
    def test_sparsification(self, spars, topK):
        x, left = grad(1, -3, 2, 0), grad(0.5, 0, -1, 0)
        opt.DistOpt().sparsification(x.data, left.data, spars, topK)
        # the sum is 1.5, -3, 1, 0; two of them with topK
        wanted = [1.5, -3, 0, 0] if topK else [0, -3, 0, 0]
        assert tensor.to_numpy(x).tolist() == wanted
        close(tensor.to_numpy(left), np.array([1.5, -3, 1, 0]) - wanted)

    def test_sparse_steps_keep_what_is_left(self):
        dist, p = opt.DistOpt(opt.SGD(1.0)), param(1.5, 6.0)
        dist.backward_and_sparse_update(loss_of(p), spars=1.0)  # gradients 0.5, 5
        assert tensor.to_numpy(p).tolist() == [1.5, 1] and dist.sparsInit
        dist.backward_and_sparse_update(loss_of(p), spars=1.0)  # 0.5 + 0.5, 0
        assert tensor.to_numpy(p).tolist() == [0.5, 1]
        dist.backward_and_sparse_update(loss_of(p), spars=1.0, corr=False)  # -0.5, 0
        assert tensor.to_numpy(p).tolist() == [0.5, 1]


class TestGoldenRun:
    """SINGA's losses for 400 points on two sides of y = 5 x + 1, with a 2-3-2 network."""

    LOSSES = (0.690838, 0.441566, 0.161088, 0.089751, 0.068353, 0.057040)
    LATER = (0.049847, 0.044790, 0.041001, 0.038031, 0.035624)

    def network(self):
        draw = np.random.RandomState(0)
        x = draw.uniform(-1, 1, 400)
        y = 5 * x + 1 + 2 * draw.randn(400)
        below = (5 * x + 1 > y).astype(np.int32)
        points = Tensor(data=np.stack([x, y], 1).astype(np.float32))
        weights = [draw.normal(0, 0.1, shape).astype(np.float32) for shape in ((2, 3), (3, 2))]
        biases = [np.zeros(n, np.float32) for n in (3, 2)]
        return points, Tensor(data=below), [
            Tensor(data=value, stores_grad=True) for value in (*weights, *biases)
        ]  # fmt: skip

    def test_losses(self):
        points, labels, (w0, w1, b0, b1) = self.network()
        sgd, seen = opt.SGD(0.05, 0.8), []
        for i in range(1001):
            hidden = autograd.relu(autograd.add_bias(autograd.matmul(points, w0), b0))
            logits = autograd.add_bias(autograd.matmul(hidden, w1), b1)
            loss = autograd.softmax_cross_entropy(logits, labels)
            sgd(loss)
            if i % 100 == 0:
                seen.append(tensor.to_numpy(loss)[0])
        close(seen, self.LOSSES + self.LATER, 1e-4)
        close(np.abs(tensor.to_numpy(b1)), [1.3151] * 2, 1e-3)
        close(tensor.to_numpy(w0)[0], [-3.06443, 2.06852, -4.03784], 1e-3)


def test_parameters_of_one_name_have_states_of_their_own():
    first, second = (
        Tensor(data=np.ones(n, np.float32), stores_grad=True, name="W") for n in (2, 2)
    )
    sgd = opt.SGD(0.1, momentum=0.5)
    for _ in range(2):
        zeros = tensor.from_numpy(np.zeros(2, np.float32))
        loss = autograd.add(autograd.mse_loss(first, zeros), autograd.mse_loss(second, zeros))
        sgd(loss)
    moments = sgd.get_states()["moments"]
    assert sorted(moments) == ["W", "W#2"]
    # g = p: 1, then b = 0.5 + 0.9
    np.testing.assert_allclose(tensor.to_numpy(moments["W#2"]), [1.4, 1.4], rtol=1e-6)
    np.testing.assert_allclose(tensor.to_numpy(second), [0.76, 0.76], rtol=1e-6)
