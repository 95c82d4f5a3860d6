"""SINGA's raw tensors, devices, initializers, utilities and snapshots: values by hand."""

import numpy as np
import pytest

from torchlike.singa import (
    autograd,
    device,
    initializer,
    singa_wrap,
    snapshot,
    tensor,
    utils,
)
from torchlike.singa.tensor import Tensor


def raw_of(values):
    return tensor.from_numpy(np.array(values, np.float32)).data


class TestRaw:
    def test_facts(self):
        raw = singa_wrap.Tensor([2, 3], data_type=singa_wrap.kInt)
        assert (raw.shape(), raw.nDim(), raw.Size(), raw.MemSize()) == ((2, 3), 2, 6, 24)
        assert raw.data_type() == singa_wrap.kInt and raw.device().id() == -1
        raw.CopyIntDataFromHostPtr([1, 2, 3, 4, 5, 2**24 + 1])
        assert raw.GetIntValue(2) == [1, 2] and raw.GetIntValue()[-1] == 16777217
        assert raw.AsType(singa_wrap.kFloat32).GetFloatValue(1) == [1.0]

    def test_wrong_number_of_values(self):
        with pytest.raises(ValueError, match="3 values"):
            singa_wrap.Tensor([2]).CopyFloatDataFromHostPtr([1, 2, 3])

    def test_functions(self):
        raw = singa_wrap.Tensor([4])
        singa_wrap.Uniform(1, 2, raw)
        assert all(1 <= v < 2 for v in raw.GetFloatValue(4))
        raw.SetFloatValue(2.0)
        assert singa_wrap.SumAll(raw).GetFloatValue() == [8.0]
        assert singa_wrap.SumAll(raw).shape() == (1,)

    def test_handles_come_from_the_operators(self):
        handle = singa_wrap.ConvHandle(singa_wrap.Tensor([1, 2, 5, 5]), 3, 1, 0, 2, 4, True)
        assert handle.num_filters == 4
        with pytest.raises(AttributeError, match="NoHandle"):
            singa_wrap.NoHandle


class TestDevice:
    def test_the_cpu(self):
        cpu = device.get_default_device()
        assert cpu.id() == -1 and device.create_cpu_device() is cpu and cpu.host() is cpu
        assert cpu == device.Device() and cpu.lang() == "kCpp"

    def test_random_numbers_restart(self):
        cpu = device.get_default_device()
        drawn = []
        for _ in range(2):
            cpu.SetRandSeed(3)
            drawn.append(tensor.to_numpy(Tensor((5,)).gaussian(0, 1)).tolist())
        assert drawn[0] == drawn[1]

    def test_switches(self):
        cpu = device.Device()
        cpu.EnableGraph(True)
        assert cpu.graph_enabled() and not device.get_default_device().graph_enabled()
        cpu.EnableGraph(False)
        for done in (cpu.Sync, cpu.RunGraph, cpu.ResetGraph, cpu.Reset):
            assert done() is None

    def test_profiles(self, capsys):
        cpu = device.Device()
        cpu.SetSkipIteration(3)
        cpu.PrintTimeProfiling()
        assert capsys.readouterr().out == ""
        cpu.SetVerbosity(1)
        cpu.PrintTimeProfiling()
        assert "Time Profiling" in capsys.readouterr().out

    def test_numbers_of_devices(self):
        assert device.get_gpu_ids() == list(range(device.get_num_gpus()))
        assert device.get_num_opencl_platforms() == 0
        with pytest.raises(RuntimeError, match="OpenCL"):
            device.create_opencl_device()

    def test_no_gpu(self, monkeypatch):
        monkeypatch.setattr(device, "get_num_gpus", lambda: 0)
        with pytest.warns(RuntimeWarning, match="the CPU takes its place"):
            assert device.create_cuda_gpu() is device.get_default_device()
        monkeypatch.setattr(device, "get_num_gpus", lambda: 1)
        with pytest.raises(ValueError, match="no GPU 1"):
            device.create_cuda_gpu_on(1)


# The variances of a (40, 60) matrix and a (20, 10, 3, 3) kernel: fans 40 and 60, 90 and 180
VARIANCES = {
    "lecun_uniform": (1 / 40, 1 / 90),
    "lecun_normal": (1 / 40, 1 / 90),
    "glorot_uniform": (2 / 100, 2 / 270),
    "glorot_normal": (2 / 100, 2 / 270),
    "he_uniform": (2 / 40, 2 / 90),
    "he_normal": (2 / 40, 2 / 90),
    "xavier": (2 / 100, 2 / 270),
    "glorot": (2 / 100, 2 / 270),
    "msra": (2 / 40, 2 / 90),
}


class TestInitializer:
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.parametrize("name", VARIANCES)
    @pytest.mark.parametrize("which", [0, 1])
    def test_variances(self, name, which):
        device.get_default_device().SetRandSeed(0)
        t = Tensor([(40, 60), (20, 10, 3, 3)][which])
        assert getattr(initializer, name)(t) is None
        x, variance = tensor.to_numpy(t), VARIANCES[name][which]
        assert abs(x.mean()) < 0.1 * variance**0.5 and x.var() == pytest.approx(variance, rel=0.1)
        if "uniform" in name or name == "xavier":
            assert 0.95 < np.abs(x).max() / (3 * variance) ** 0.5 <= 1
        else:
            assert np.abs(x).max() > 2.5 * variance**0.5

    def test_gaussian(self):
        t = Tensor((100, 100))
        for fans, variance in (((50, 0), 2 / 50), ((0, 20), 2 / 20), ((10, 30), 2 / 20)):
            with pytest.warns(DeprecationWarning, match="gaussian"):
                initializer.gaussian(t, *fans)
            assert tensor.to_numpy(t).var() == pytest.approx(variance, rel=0.1)
        with pytest.warns(DeprecationWarning), pytest.raises(AssertionError, match="fan_in"):
            initializer.gaussian(t)

    def test_eye(self):
        t = Tensor((2, 3))
        initializer.eye(t)
        assert tensor.to_numpy(t).tolist() == [[1, 0, 0], [0, 1, 0]]
        with pytest.raises(ValueError, match=r"matrix, not a tensor of shape \(2,\)"):
            initializer.eye(Tensor((2,)))

    @pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
    def test_orthogonal(self, shape):
        t = Tensor(shape)
        initializer.orthogonal(t, 2.0)
        x = tensor.to_numpy(t).reshape(shape[0], -1)
        product = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
        np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)
        with pytest.raises(ValueError, match="orthogonal"):
            initializer.orthogonal(Tensor((3,)))

    def test_nothing_to_set(self):
        with pytest.raises(ValueError, match="no values"):
            initializer.he_normal(Tensor())


class TestUtils:
    @pytest.mark.parametrize(
        ("mode", "shape"), [("SAME_UPPER", [3, 2]), ("SAME_LOWER", [3, 2]), ("VALID", [2, 1])]
    )
    def test_output_shape(self, mode, shape):
        assert utils.get_output_shape(mode, (5, 6), (3, 4), (2, 3)) == shape

    def test_padding_shape(self):
        # (3 - 1) 2 + 3 - 5 = 2 rows, (2 - 1) 3 + 4 - 6 = 1 column
        assert utils.get_padding_shape("SAME_UPPER", (5, 6), (3, 4), (2, 3)) == (
            [1, 1, 0, 0],
            [0, 0, 0, 1],
        )
        assert utils.get_padding_shape("SAME_LOWER", (5, 6), (3, 4), (2, 3))[1] == [0, 0, 1, 0]
        assert utils.get_padding_shape("SAME_UPPER", (5,), (1,), (3,)) == ([0, 0], [0, 0])
        with pytest.raises(ValueError, match="NOTSET"):
            utils.get_output_shape("NOTSET", (5,), (1,), (1,))

    def test_odd_padding(self):
        x = raw_of(np.arange(4).reshape(1, 1, 2, 2))
        padded = utils.handle_odd_pad_fwd(x, (1, 0, 0, 2))
        assert padded.numpy()[0, 0].tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [2, 3, 0, 0]]
        back = utils.handle_odd_pad_bwd(padded, (1, 0, 0, 2))
        assert back.numpy().tolist() == x.numpy().tolist()

    def test_handles(self):
        x = raw_of(np.zeros((1, 2, 5, 5)))
        handle = singa_wrap.ConvHandle(x, (3, 3), (1, 1), (1, 1), 2, 4, True, 1)
        assert utils.same_pad_shape_check(handle, "SAME_UPPER", x) == ([1] * 4, [0] * 4)
        again = utils.re_new_handle(handle, raw_of(np.zeros((7, 2, 5, 5))))
        assert (again.batchsize, again.num_filters, again.pad_h) == (7, 4, 1)
        pool = singa_wrap.PoolingHandle(x, (2, 2), (1, 1), (0, 0), False)
        assert utils.re_new_handle(pool, x, is_pool=True).is_max_pooling is False
        with pytest.raises(AssertionError, match=r"padding \[1, 1\] is wrong"):
            wrong = singa_wrap.ConvHandle(x, (1, 1), (1, 1), (1, 1), 2, 4, True, 1)
            utils.same_pad_shape_check(wrong, "SAME_UPPER", x)

    def test_progress(self, capsys):
        utils.update_progress(0.5, "half")
        utils.update_progress(1, "ready")
        assert capsys.readouterr().out == (
            "\r[..........          ] 50.0% half\r[....................] 100.0% Done. ready"
        )

    def test_force_unicode(self):
        assert utils.force_unicode("ä".encode()) == utils.force_unicode("ä") == "ä"

    def test_post_order(self):
        x = Tensor(data=np.ones((1, 2), np.float32))
        w = Tensor(data=np.ones((2, 1), np.float32), stores_grad=True, name="w")
        y = autograd.relu(autograd.matmul(x, w))
        nodes, weights, inputs = utils.post_order_recursive(y.creator, y)
        assert [type(op).__name__ for op in nodes.values()] == ["Matmul", "ReLU"]
        assert list(weights) == ["w"] and weights["w"] is w and list(inputs.values()) == [None]


class TestSnapshot:
    def test_round_trip(self, tmp_path):
        path = str(tmp_path / "params")
        out = snapshot.Snapshot(path, True)
        out.write("b/W", tensor.from_numpy(np.array([[1.5, 2]])))
        out.write("a", tensor.from_numpy(np.array([3])))
        with pytest.raises(ValueError, match="has a 'a' already"):
            out.write("a", tensor.zeros((1,)))
        found = snapshot.Snapshot(path, False).read()
        assert [(k, tensor.to_numpy(v).tolist(), v.dtype) for k, v in found.items()] == [
            ("b/W", [[1.5, 2]], tensor.float32),
            ("a", [3], tensor.int32),
        ]

    def test_errors(self, tmp_path):
        path = str(tmp_path / "p.npz")
        with pytest.raises(FileNotFoundError, match=r"p\.npz"):
            snapshot.Snapshot(path, False)
        with pytest.raises(TypeError, match="ndarray"):
            snapshot.Snapshot(path, True).write("a", np.zeros(1))
        with pytest.raises(ValueError, match="opened to read"):
            snapshot.Snapshot(path, False).write("a", tensor.zeros((1,)))
