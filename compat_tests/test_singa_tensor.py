"""SINGA's Tensor, its functions and raw tensors: values by hand and by NumPy."""

import copy
import pickle

import numpy as np
import pytest

from torchlike.singa import autograd, singa_wrap, tensor
from torchlike.singa.tensor import Tensor

A = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)


def t(values, dtype=np.float32):
    return tensor.from_numpy(np.array(values, dtype))


def values(x):
    return tensor.to_numpy(x).tolist()


class TestMaking:
    def test_defaults(self):
        assert tensor.PlaceHolder is Tensor
        x = Tensor((2, 3))
        assert (x.shape, x.dtype, x.ndim(), x.size(), x.memsize()) == ((2, 3), 0, 2, 6, 24)
        assert x.requires_grad and not x.stores_grad and x.is_dummy() and x.device.id() == -1
        assert values(x) == [[0.0] * 3] * 2

    def test_empty(self):
        x = Tensor()
        assert x.is_empty() and x.shape == () and x.size() == 0 and x.ndim() == 0

    @pytest.mark.parametrize(("dtype", "code"), [(np.float32, 0), (np.float16, 1), (np.int32, 2)])
    def test_data(self, dtype, code):
        array = A.astype(dtype)
        x = Tensor(data=array)
        array[0, 0] = 9
        assert x.dtype == code and values(x)[0][0] == 1  # a copy

    def test_float64_data_is_refused(self):
        with pytest.raises(NotImplementedError, match="float64"):
            Tensor(data=A.astype(np.float64))

    def test_other_data_is_refused(self):
        with pytest.raises(TypeError, match="not list"):
            Tensor(data=[1.0])

    def test_from_numpy_narrows(self):
        assert tensor.from_numpy(np.zeros(2)).dtype == tensor.float32
        assert tensor.from_numpy(np.zeros(2, np.int64)).dtype == tensor.int32
        with pytest.raises(AssertionError, match="not list"):
            tensor.from_numpy([1.0])

    def test_new_ones(self):
        assert values(tensor.zeros((2,))) == [0, 0] and values(tensor.ones((2,))) == [1, 1]
        x = t([[1, 2]], np.int32)
        assert values(tensor.ones_like(x)) == [[1, 1]] and tensor.zeros_like(x).dtype == 2
        drawn = tensor.to_numpy(tensor.random((1000,)))
        assert drawn.min() >= 0 and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.05

    def test_sizes(self):
        assert [tensor.sizeof(code) for code in range(3)] == [4, 2, 4]
        assert tensor.product((2, 3, 4)) == 24

    def test_raw(self):
        raw = singa_wrap.Tensor([2, 2])
        raw.CopyFloatDataFromHostPtr([1, 2, 3, 4])
        x = tensor.from_raw_tensor(raw)
        raw += 1.0
        assert values(x) == [[2, 3], [4, 5]]
        assert [values(y) for y in tensor.from_raw_tensors([raw, x.data])] == [values(x)] * 2

    def test_unhashable(self):
        with pytest.raises(TypeError, match="unhashable"):
            hash(Tensor((1,)))

    def test_repr(self):
        assert repr(t([1, 2], np.int32)) == "[1 2], int32"


class TestWriting:
    def test_fills_return_the_tensor(self):
        x = Tensor((3,))
        assert x.set_value(1) is x and x.bernoulli(1) is x
        assert x.gaussian(0, 1) is x and x.uniform(2, 3) is x
        assert all(2 <= v < 3 for v in values(x))

    @pytest.mark.parametrize("name", ["set_value", "bernoulli"])
    def test_only_in_place(self, name):
        with pytest.raises(NotImplementedError, match="clone"):
            getattr(Tensor((1,)), name)(1, inplace=False)

    def test_fill_functions(self):
        x = Tensor((1000,))
        tensor.gaussian(3, 0.1, x)
        assert abs(tensor.average(x) - 3) < 0.05
        assert tensor.average(tensor.uniform(1, 2, x)) == pytest.approx(1.5, abs=0.1)
        assert tensor.average(tensor.bernoulli(0.0, x)) == 0

    def test_copy_from_numpy_converts_values(self):
        x = Tensor((2, 2))
        x.copy_from_numpy(np.array([1, 2, 3, 4], np.int64))
        assert x.dtype == tensor.float32 and values(x) == [[1, 2], [3, 4]]
        y = Tensor((2,), dtype=tensor.int32)
        y.copy_from_numpy(np.array([1.7, -2.7], np.float32))
        assert values(y) == [1, -2]

    def test_copy_from_numpy_offset(self):
        x = t([1, 2, 3])
        x.copy_from_numpy(np.array([8.0, 9.0]), offset=1)
        assert values(x) == [1, 8, 9]

    @pytest.mark.parametrize(("size", "offset"), [(3, 0), (4, 1), (3, 2), (5, -1)])
    def test_copy_from_numpy_of_another_size(self, size, offset):
        x = t([[1, 2], [3, 4]])
        with pytest.raises(ValueError, match=rf"{size} values .* shape \(2, 2\)"):
            x.copy_from_numpy(np.zeros(size, np.float32), offset)
        assert values(x) == [[1, 2], [3, 4]]

    def test_copy_from_numpy_of_no_numbers(self):
        with pytest.raises(NotImplementedError, match="complex"):
            Tensor((1,)).copy_from_numpy(np.zeros(1, complex))

    def test_copy_into_transposed_memory(self):
        x = t(A)
        x.T().copy_from_numpy(np.arange(6, dtype=np.float32).reshape(3, 2))
        assert values(x) == [[0, 2, 4], [1, 3, 5]]

    def test_copy_data_and_copy_from(self):
        x = Tensor((2, 3))
        x.copy_data(t(A.ravel()))
        np.testing.assert_array_equal(tensor.to_numpy(x), A)
        x.copy_from(t(A + 1))
        np.testing.assert_array_equal(tensor.to_numpy(x), A + 1)
        x.copy_from(A)
        np.testing.assert_array_equal(tensor.to_numpy(x), A)
        with pytest.raises(ValueError, match="list"):
            x.copy_from([1])
        with pytest.raises(AssertionError, match="ndarray"):
            x.copy_data(A)

    def test_copy_data_to_from(self):
        x, y = t([0, 0, 0, 0]), t([1, 2, 3])
        tensor.copy_data_to_from(x, y, 2, dst_offset=1, src_offset=1)
        assert values(x) == [0, 2, 3, 0]
        with pytest.raises(ValueError, match="src has 3 elements"):
            tensor.copy_data_to_from(x, y, 3, src_offset=1)

    def test_in_place_operators_write_to_the_data(self):
        x = t([2, 4])
        same, twin = x, x.copy()
        x += 1
        x -= t([1, 1])
        x *= 3
        x /= 2
        assert x is same and values(twin) == [3, 6]

    def test_raw_in_place(self):
        x = t([1, 2])
        x.data += t([10, 10]).data
        assert values(x) == [11, 12]

    def test_copies(self):
        x = t([1, 2])
        twin, other, third = x.copy(), x.clone(), x.deepcopy()
        x += 1
        assert [values(y) for y in (twin, other, third)] == [[2, 3], [1, 2], [1, 2]]

    def test_pickles_and_deep_copies_have_no_history(self):
        x = Tensor(data=A, stores_grad=True, name="x")
        for y in (autograd.relu(x), x):
            for found in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
                found += 1
                np.testing.assert_array_equal(tensor.to_numpy(found - 1), tensor.to_numpy(y))
                assert type(found.creator).__name__ == "Dummy" and found.creator.tensor is found
                assert (found.name, found.stores_grad) == (y.name, y.stores_grad)

    def test_rewritten_operand_keeps_its_part_in_the_graph(self):
        """A hidden state overwritten before backward: the gradient is of the old value."""
        h, w = t([[2, 3]]), Tensor(data=np.ones((2, 1), np.float32), stores_grad=True)
        loss = autograd.softmax_cross_entropy(
            autograd.matmul(autograd.matmul(h, w), t([[1, -1]])), t([1], np.int32)
        )
        h.copy_data(t([[100, 100]]))
        ((_, g),) = autograd.backward(loss)
        # dloss/dlogits = softmax - (0, 1), and softmax([5, -5]) is (s, 1 - s)
        s = 1 / (1 + np.exp(-10.0))
        np.testing.assert_allclose(tensor.to_numpy(g).ravel(), 2 * s * np.array([2, 3]), 1e-5)
        assert values(h) == [[100, 100]]


class TestShapes:
    def test_transpose(self):
        x = t(A)
        assert x.T().shape == (3, 2) and x.T().is_transpose() and not x.is_transpose()
        y = t(np.arange(24).reshape(2, 3, 4))
        assert y.transpose().shape == (4, 3, 2)
        np.testing.assert_array_equal(
            tensor.to_numpy(y.transpose((1, 2, 0))),
            np.arange(24).reshape(2, 3, 4).transpose(1, 2, 0),
        )
        assert not y.transpose().contiguous().is_transpose()
        with pytest.raises(ValueError, match="matrix"):
            y.T()

    def test_reshape(self):
        assert values(t(A).T().reshape([6])) == A.T.ravel().tolist()
        assert tensor.reshape(t(A), (3, 2)).shape == (3, 2)

    def test_int_keeps_the_axis(self):
        x = t(A)
        assert x[1].shape == (1, 3) and values(x[-1]) == [[4, 5, -6]]
        assert values(x[0, 1:]) == [[-2, 3]] and values(x[:, 2]) == [[3], [-6]]

    def test_index_copies(self):
        x = t(A)
        x[0].set_value(0)
        np.testing.assert_array_equal(tensor.to_numpy(x), A)

    @pytest.mark.parametrize(
        ("key", "error"), [(2, IndexError), ((0, 0, 0), IndexError), ("a", TypeError)]
    )
    def test_bad_index(self, key, error):
        with pytest.raises(error):
            t(A)[key]

    def test_iteration_ends(self):
        assert [values(row) for row in t(A)] == [[row] for row in A.tolist()]

    def test_repeat(self):
        x = t(A)
        np.testing.assert_array_equal(tensor.to_numpy(tensor.repeat(x, 2)), np.repeat(A, 2))
        np.testing.assert_array_equal(tensor.to_numpy(x.repeat([1, 2], 0)), np.repeat(A, [1, 2], 0))

    def test_concatenate(self):
        assert values(tensor.concatenate((t([[1], [2]]), t([[3], [4]])), 1)) == [[1, 3], [2, 4]]
        with pytest.raises(ValueError, match="at least one"):
            tensor.concatenate([], 0)

    def test_types(self):
        x = t([1.5, -1.5])
        assert values(x.as_type("int")) == [1, -1] and x.dtype == tensor.float32
        x.to_type(tensor.int32)
        assert x.dtype == tensor.int32 and x.as_type("float").dtype == tensor.float32
        with pytest.raises(ValueError, match="double"):
            x.as_type("double")

    def test_reset_like(self):
        x = Tensor()
        x.reset_like(t([[1, 2]], np.int32))
        assert x.shape == (1, 2) and x.dtype == tensor.int32

    def test_to_host(self):
        x = t([1])
        x.to_host()
        assert x.device.id() == -1 and values(tensor.to_host(x)) == [1]


class TestArithmetic:
    def test_results_are_detached(self):
        x = Tensor(data=A, stores_grad=True)
        y = x * 2.0
        assert type(y.creator).__name__ == "Dummy" and y.requires_grad and not y.stores_grad

    def test_types_of_results(self):
        whole, real = t([3, -7], np.int32), t([0.5, 0.5])
        for y in (whole + 0.5, 0.5 - whole, whole * real, np.float64(2) / whole):
            assert y.dtype == tensor.float32
        for y in (whole + 1, 2 - whole, whole * whole, whole / 2, whole // 2):
            assert y.dtype == tensor.int32
        assert (real + 1).dtype == tensor.float32
        assert t([1], np.float16).__add__(0.5).dtype == tensor.float16

    def test_values(self):
        x = t([3, -7], np.int32)
        assert values(x / 2) == [1, -3] and values(7 / x) == [2, -1] and values(x // 2) == [1, -4]
        assert values(x / 2.0) == [1.5, -3.5] and values(1 - x) == [-2, 8]
        assert values(2.0 * x) == [6, -14] and values(x - t([1, 1], np.int32)) == [2, -8]

    def test_broadcasting(self):
        np.testing.assert_array_equal(
            tensor.to_numpy(t(A) - t([[1], [2]])), A - np.array([[1], [2]])
        )

    def test_comparisons(self):
        x = t([1, 2, 3])
        assert values(x < 2) == [1, 0, 0] and values(x <= 2) == [1, 1, 0]
        assert values(x > 2) == [0, 0, 1] and values(x <= 2) == [1, 1, 0]
        assert values(x == t([1, 0, 3])) == [1, 0, 1] and values(x != 2) == [1, 0, 1]
        assert (x < 2).dtype == tensor.float32 and (x == None) is False  # noqa: E711
        assert values(tensor.ge(x, 2)) == [0, 1, 1] and values(tensor.eq(x, x)) == [1, 1, 1]

    @pytest.mark.parametrize("other", ["a", None, [1]])
    def test_foreign_operands(self, other):
        with pytest.raises(TypeError):
            t([1]) + other
        with pytest.raises(TypeError, match="operands"):
            tensor.add(t([1]), other)

    @pytest.mark.parametrize("name", ["abs", "exp", "ceil", "sign", "square", "tanh"])
    def test_pointwise(self, name):
        found = tensor.to_numpy(getattr(tensor, name)(t(A)))
        np.testing.assert_allclose(found, getattr(np, name)(A), 1e-6)

    def test_more_pointwise(self):
        x = t([1, 4])
        np.testing.assert_allclose(values(tensor.sqrt(x)), [1, 2])
        np.testing.assert_allclose(values(tensor.log(x)), [0, np.log(4)], 1e-6)
        np.testing.assert_allclose(values(tensor.sigmoid(t([0]))), [0.5])

    def test_binary_functions(self):
        x, y, ret = t([6, 8]), t([2, 4]), Tensor((2,))
        assert tensor.add(x, y, ret) is ret and values(ret) == [8, 12]
        assert values(tensor.sub(x, 1)) == [5, 7] and values(tensor.eltwise_mult(x, y)) == [12, 32]
        assert values(tensor.div(x, y)) == [3, 2]
        with pytest.raises(ValueError, match="does not go into"):
            tensor.add(x, y, Tensor((3,)))

    def test_pow(self):
        out = Tensor((2,))
        assert tensor.pow(t([2, 3]), 2.0, out) is out and values(out) == [4, 9]
        assert values(tensor.pow(t([2, 3]), t([3, 0]))) == [8, 1]

    def test_axpy(self):
        x, y = t([1, 2]), t([10, 10])
        assert tensor.axpy(2.0, x, y) is y and values(y) == [12, 14]
        alpha = t([0.5]).data
        singa_wrap.Axpy(alpha, x.data, y.data)
        assert values(y) == [12.5, 15]

    def test_columns_and_rows(self):
        x, v, w = t([[1, 2], [3, 4]]), t([10, 20]), t([2, 4])
        with pytest.warns(DeprecationWarning, match="add_column"):
            x.add_column(v)
        assert values(x) == [[11, 12], [23, 24]]
        with pytest.warns(DeprecationWarning, match="div_row"):
            x.div_row(w)
        assert values(x) == [[5.5, 3], [11.5, 6]]
        assert values(tensor.add_row(2.0, v, 2.0, x)) == [[31, 46], [43, 52]]
        with pytest.raises(ValueError, match="column"):
            tensor.add_column(1.0, t([1, 2, 3]), 1.0, x)


class TestReductionsAndProducts:
    def test_sum(self):
        x = t(A)
        assert values(tensor.sum(x)) == [[5]] and values(tensor.sum(x, 0)) == [5, 3, -3]
        assert values(tensor.sum(x, axis=(0, 1))) == [[5]]
        out = Tensor((2,))
        assert tensor.sum(x, 1, out) is out and values(out) == [2, 3]
        assert tensor.sum(t([1, 2], np.int32)).dtype == tensor.int32

    def test_average(self):
        assert tensor.average(t([1, 2])) == 1.5 and tensor.average(t(A)) == pytest.approx(5 / 6)
        assert values(tensor.average(t(A), 0)) == [2.5, 1.5, -1.5]

    def test_sum_rows_and_columns(self):
        x = t(A)
        assert values(tensor.sum_rows(x)) == [[5, 3, -3]]
        assert values(tensor.sum_columns(x)) == [[2], [3]]
        with pytest.raises(ValueError, match="matrix"):
            tensor.sum_rows(t([1]))

    def test_norms(self):
        x = t([3, -4])
        assert x.l1() == 3.5 and x.l2() == 2.5  # the norm, 5, by the number of elements

    def test_softmax(self):
        e = np.exp(A - A.max(1, keepdims=True))
        np.testing.assert_allclose(
            tensor.to_numpy(tensor.softmax(t(A))), e / e.sum(1, keepdims=True), 1e-5
        )

    def test_mult(self):
        x, C = t([[1, 2], [3, 4]]), t([[1, 1], [1, 1]])
        assert values(tensor.mult(x, x)) == [[7, 10], [15, 22]]
        assert values(tensor.mult(x, t([1, 1]))) == [3, 7]
        assert tensor.mult(x, x, C, 2.0, 10.0) is C and values(C) == [[24, 30], [40, 54]]

    def test_einsum_and_tensordot(self):
        x = t(A)
        np.testing.assert_allclose(values(tensor.einsum("ij,kj->ik", x, x)), A @ A.T)
        assert values(tensor.tensordot(x, x)) == [[91]]
        np.testing.assert_allclose(values(tensor.tensordot(x, x, ([0], [0]))), A.T @ A)
