"""SINGA's tensors and optimizers on a GPU, for which the stand-in for CuPy stands."""

import numpy as np
import pytest

from torchlike.singa import autograd, device, initializer, opt, singa_wrap, tensor
from torchlike.singa.tensor import Tensor

pytestmark = pytest.mark.usefixtures("standin")

A = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)


@pytest.fixture
def gpu(standin):
    return device.create_cuda_gpu()


def test_the_gpu(gpu):
    assert gpu.id() == 0 and gpu.lang() == "kCuda" and gpu.host() is device.get_default_device()
    assert device.create_cuda_gpus(1) == [gpu] and device.get_gpu_ids() == [0]
    with pytest.raises(ValueError, match="no GPU 1"):
        device.create_cuda_gpu_on(1)


def test_results_stay_there(gpu):
    x = Tensor(data=A, device=gpu)
    results = (x + 1, x > 2, x[0], x.T(), x.as_type("int"), x.clone(), tensor.sum(x), x * x)
    assert all(y.device == gpu and y.core.device.type == "cuda" for y in results)
    assert tensor.to_numpy(tensor.sum(x)).tolist() == [[5]]
    assert x.l1() == 3.5 and tensor.average(x) == pytest.approx(5 / 6)


def test_moves(gpu):
    x = Tensor(data=A)
    x.to_device(gpu)
    assert x.device == gpu and x.data.device() == gpu
    other = tensor.to_host(x)
    assert other.device.id() == -1 and x.device.id() == 0
    x.to_host()
    assert x.core.device.type == "cpu"
    np.testing.assert_array_equal(tensor.to_numpy(x), A)


def test_writing_from_the_cpu(gpu):
    x = Tensor((2, 3), gpu)
    x.copy_from_numpy(A.astype(np.float64))
    np.testing.assert_array_equal(tensor.to_numpy(x), A)
    x.copy_data(tensor.from_numpy(A + 1))
    tensor.copy_data_to_from(x, tensor.from_numpy(np.array([7.0, 8.0])), 2, dst_offset=1)
    assert tensor.to_numpy(x)[0].tolist() == [2, 7, 8]
    x.data.CopyFloatDataFromHostPtr(range(6))
    assert x.data.GetFloatValue(3) == [0, 1, 2]
    singa_wrap.Axpy(2.0, x.data, x.data)
    assert tensor.to_numpy(x)[1].tolist() == [9, 12, 15]


def test_first_values(gpu):
    x = Tensor((3, 3), gpu)
    initializer.he_uniform(x)
    initializer.orthogonal(x)
    found = tensor.to_numpy(tensor.mult(x, x.T()))
    np.testing.assert_allclose(found, np.eye(3), atol=1e-5)


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (lambda: opt.SGD(0.5, 0.9), 3 - 0.5 * 4),
        (lambda: opt.RMSProp(0.5), 3 - 0.5 / 0.1**0.5),
        (lambda: opt.AdaGrad(0.5), 2.5),
        (lambda: opt.Adam(0.5), 2.5),
        (lambda: opt.DistOpt(opt.SGD(0.5)), 1.0),
    ],
)
def test_steps(gpu, make, first):
    """d/dp (p - 1)^2 = 4 at p = 3."""
    p = Tensor(data=np.array([3.0], np.float32), device=gpu, stores_grad=True, name="p")
    optimizer = make()
    optimizer(autograd.mse_loss(p, Tensor((1,), gpu).set_value(1.0)))
    assert p.device == gpu and p.core.device.type == "cuda"
    np.testing.assert_allclose(tensor.to_numpy(p), [first], rtol=1e-5)


def test_states_move_to_the_parameter(gpu):
    sgd, g = opt.SGD(1.0, 0.5), np.ones(1, np.float32)
    sgd.set_states({"step_counter": 1, "moments": {"p": g}})
    p = Tensor((1,), gpu)
    sgd.apply("p", p, Tensor(data=g, device=gpu))
    assert tensor.to_numpy(p).tolist() == [-1.5] and sgd.moments["p"].device == gpu
