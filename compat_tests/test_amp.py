"""``torch.amp.autocast``: which dtypes it gives, and what flows back."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from typing import Any

import pytest

from compat_tests.observe import library
from compat_tests.scenarios import Cases, error

CASES = Cases("amp")
OURS = library("torchlike")

# f: a function of sizes that gives positive numbers in the dtype of the case
EXPRESSIONS = """
f(3, 3) @ f(3, 3)
f(3) @ f(3)
f(3, 3) @ f(3)
torch.mm(f(3, 3), f(3, 3))
f(3, 3).mm(f(3, 3))
torch.matmul(f(2, 3, 3), f(3, 3))
torch.bmm(f(1, 3, 3), f(1, 3, 3))
torch.mv(f(3, 3), f(3))
torch.dot(f(3), f(3))
torch.outer(f(3), f(3))
torch.addmm(f(3, 3), f(3, 3), f(3, 3))
torch.addmv(f(3), f(3, 3), f(3))
torch.addbmm(f(3, 3), f(1, 3, 3), f(1, 3, 3))
torch.baddbmm(f(1, 3, 3), f(1, 3, 3), f(1, 3, 3))
f(3, 3).addmm_(f(3, 3), f(3, 3))
torch.mm(f(3, 3), f(3, 3), out=f(3, 3))
torch.einsum("ij,jk->ik", f(3, 3), f(3, 3))
torch.tensordot(f(3, 3), f(3, 3), 1)
torch.linalg.multi_dot([f(3, 3), f(3, 3), f(3, 3)])
torch.linalg.vecdot(f(3, 3), f(3, 3))
torch.kron(f(3, 3), f(3, 3))
torch.matrix_power(f(3, 3), 2)
torch.cov(f(3, 3))
F.linear(f(3, 3), f(3, 3), f(3))
F.linear(f(2, 3, 3), f(3, 3))
F.conv1d(f(1, 3, 3), f(3, 3, 3))
F.conv2d(f(1, 3, 3, 3), f(3, 3, 3, 3), f(3))
torch.conv3d(f(1, 3, 3, 3, 3), f(3, 3, 3, 3, 3))
F.conv_transpose2d(f(1, 3, 3, 3), f(3, 3, 3, 3))
F.scaled_dot_product_attention(f(1, 1, 3, 3), f(1, 1, 3, 3), f(1, 1, 3, 3))
F.scaled_dot_product_attention(f(1, 3, 3), f(1, 3, 3), f(1, 3, 3), f(3, 3))
F.prelu(f(3, 3), f(1))
torch.rnn_tanh_cell(f(1, 3), f(1, 3), f(3, 3), f(3, 3))
torch.lstm_cell(f(1, 3), (f(1, 3), f(1, 3)), f(12, 3), f(12, 3))[0]
torch.nn.LSTM(3, 3).to(D)(f(2, 1, 3))[1][1]
torch.nn.GRU(3, 3).to(D)(f(2, 1, 3))[0]
torch.nn.RNN(3, 3).to(D)(f(2, 1, 3))[0]
torch.nn.MultiheadAttention(4, 2).to(D)(f(2, 1, 4), f(2, 1, 4), f(2, 1, 4))[0]
torch.nn.TransformerEncoderLayer(4, 2, 8).to(D)(f(2, 1, 4))
torch.nn.Sequential(torch.nn.Conv2d(1, 1, 2), torch.nn.ReLU()).to(D)(f(1, 1, 3, 3))
F.affine_grid(f(1, 2, 3), [1, 1, 2, 2])
F.avg_pool2d(f(1, 3, 3, 3), 2)
F.avg_pool3d(f(1, 3, 3, 3, 3), 2)
F.max_pool3d(f(1, 3, 3, 3, 3), 2)
F.adaptive_avg_pool3d(f(1, 3, 3, 3, 3), 2)
F.max_unpool1d(f(1, 1, 2), torch.tensor([[[0, 3]]]), 2)
F.grid_sample(f(1, 1, 3, 3), f(1, 2, 2, 2))
torch.prod(f(3))
f(3, 3).prod(0)
torch.quantile(f(3), 0.5)
torch.cdist(f(3, 3), f(3, 3))
f(3, 3).trace()
torch.view_as_complex(f(3, 2))
torch.cholesky_inverse(f(1, 1))
torch.inverse(f(3, 3))
torch.svd(f(3, 3))[1]
torch.linalg.solve(f(3, 3), f(3, 3))
torch.linalg.eigvalsh(f(3, 3))
torch.linalg.inv(f(3, 3))
torch.linalg.norm(f(3, 3))
torch.fft.rfft(f(4))
F.pad(f(1, 3, 3), (1, 1), mode="reflect")
F.pad(f(3, 3), (1, 1))
F.mse_loss(f(3), f(3))
torch.nn.MSELoss()(f(3), f(3))
F.l1_loss(f(3), f(3))
F.smooth_l1_loss(f(3), f(3))
torch.nn.HuberLoss()(f(3), f(3))
F.binary_cross_entropy(f(3) / 2, f(3) / 2)
torch.nn.BCEWithLogitsLoss()(f(3), f(3))
F.cosine_embedding_loss(f(3, 3), f(3, 3), torch.ones(3))
F.hinge_embedding_loss(f(3), torch.ones(3))
F.poisson_nll_loss(f(3), f(3))
F.gaussian_nll_loss(f(3), f(3), f(3))
F.margin_ranking_loss(f(3), f(3), torch.ones(3))
F.triplet_margin_loss(f(3, 3), f(3, 3), f(3, 3))
F.multi_margin_loss(f(3, 3), torch.tensor([0, 1, 2]))
F.multilabel_soft_margin_loss(f(3, 3), f(3, 3))
torch.nn.NLLLoss()(f(3, 3), torch.tensor([0, 1, 2]))
torch.nn.CrossEntropyLoss()(f(3, 3), torch.tensor([0, 1, 2]))
F.cross_entropy(f(3, 3), f(3, 3))
F.ctc_loss(f(3, 1, 3).log(), torch.tensor([[1]]), torch.tensor([3]), torch.tensor([1]))
torch.nn.KLDivLoss()(f(3), f(3))
torch.softmax(f(3), 0)
F.log_softmax(f(3), 0)
F.layer_norm(f(3, 3), [3])
F.group_norm(f(1, 4, 3), 2)
f(3).cumsum(0)
f(3).sum()
f(3).exp()
f(3) ** 2
f(3) + f(3)
F.gelu(f(3))
F.embedding(torch.tensor([0]), f(3, 3))
torch.cat([f(3), torch.ones(3)])
torch.stack([f(3), torch.ones(3)])
torch.zeros(3, dtype=D).index_copy(0, torch.tensor([0]), torch.ones(1))
torch.mm(f(3, 3), torch.ones(3, 3).bfloat16())
""".strip().splitlines()
REFUSED = """
torch.cat([torch.ones(2).half(), torch.ones(2)])
torch.mm(torch.ones(2, 2), torch.ones(2, 2).double())
F.linear(torch.ones(2, 2), torch.ones(2, 2).double())
torch.mm(torch.ones(2, 2), torch.ones(2, 2).long())
""".strip().splitlines()


def dtype_of(torch: Any, expression: str, given: Any, within: Any) -> str:
    """The dtype of a result under autocast, or the class of what is raised."""
    torch.manual_seed(0)
    names = {
        "torch": torch, "F": torch.nn.functional, "D": given,
        "f": lambda *sizes: (torch.rand(*sizes) + 0.1).to(given),
    }  # fmt: skip
    try:
        with torch.autocast("cpu", within):
            return str(eval(expression, names).dtype)
    except (RuntimeError, NotImplementedError) as caught:
        return type(caught).__name__


@CASES.add
def dtypes_of_results(torch: Any) -> Any:
    b, h = torch.bfloat16, torch.float16
    pairs = [(torch.float32, b), (b, b), (torch.float64, b), (h, h)]
    return [[e, [dtype_of(torch, e, *pair) for pair in pairs]] for e in EXPRESSIONS]


@CASES.add
def refusals(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for expression in REFUSED:
        with torch.autocast("cpu"):
            found.append(error(lambda e=expression: eval(e, {"torch": torch, "F": F})))
    return found


@CASES.add
def nesting(torch: Any) -> Any:
    x, found = torch.ones(2, 2), []

    def see() -> None:
        found.append([
            str((x @ x).dtype), torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled(),
            str(torch.get_autocast_dtype("cpu")), torch.is_autocast_cache_enabled(),
        ])  # fmt: skip

    see()
    with torch.autocast("cpu", cache_enabled=False) as region:
        found.append(isinstance(region, torch.amp.autocast))
        see()
        with torch.autocast("cpu", enabled=False):
            see()
            with torch.autocast(device_type="cpu", dtype=torch.float16):
                see()
            see()
        see()
        with torch.autocast("cuda"):
            see()
    see()

    @torch.autocast("cpu")
    def product(x: Any) -> Any:
        """A docstring."""
        return x @ x

    found += [str(product(x).dtype), product.__name__, product.__doc__]
    torch.set_autocast_enabled("cpu", True)
    see()
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cpu", torch.float16)
    with torch.autocast("cpu"):
        see()
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    with pytest.raises(ZeroDivisionError), torch.autocast("cpu"):
        1 / 0
    see()
    return found


def with_warnings(call: Any) -> Any:
    """What a call returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = error(call)
    texts = [f"{w.category.__name__}: {w.message}".partition(" (Triggered")[0] for w in caught]
    return [found, texts]


@CASES.add
def settings_and_their_errors(torch: Any) -> Any:
    importlib.import_module(f"{torch.__name__}.cuda.amp")
    importlib.import_module(f"{torch.__name__}.cpu.amp")
    amp = torch.amp
    calls = [
        lambda: torch.autocast("cuda"), lambda: torch.autocast("cpu", torch.float32),
        lambda: torch.autocast("foo"), lambda: torch.autocast(3), lambda: torch.autocast("meta"),
        torch.cuda.amp.autocast, torch.cpu.amp.autocast, torch.cuda.amp.GradScaler,
        torch.cpu.amp.GradScaler, torch.amp.GradScaler,
        lambda: torch.is_autocast_enabled(3), lambda: torch.set_autocast_enabled("cpu"),
        lambda: torch.set_autocast_enabled("cpu", 3), lambda: torch.set_autocast_dtype("cpu", 3),
        lambda: torch.set_autocast_cache_enabled(1), lambda: torch.get_autocast_dtype("meta"),
        torch.is_autocast_cpu_enabled, torch.get_autocast_cpu_dtype, torch.get_autocast_gpu_dtype,
        lambda: torch.set_autocast_cpu_enabled(False),
        lambda: torch.set_autocast_cpu_dtype(torch.bfloat16),
        lambda: amp.custom_fwd(print), lambda: amp.custom_fwd(print, device_type=3),
        lambda: torch.cuda.amp.custom_fwd(print), lambda: torch.cuda.amp.custom_bwd(print),
        lambda: amp.is_autocast_available("foo"), lambda: amp.is_autocast_available(3),
        lambda: amp.GradScaler("cpu", growth_factor=1.0),
        lambda: amp.GradScaler("cpu", backoff_factor=1.0),
    ]  # fmt: skip
    region = torch.autocast("cpu", torch.float16, False, False)
    return [
        [with_warnings(call) for call in calls],
        [amp.is_autocast_available(d) for d in ("cpu", "cuda", "meta", "xpu")],
        [str(torch.get_autocast_dtype(d)) for d in ("cpu", "cuda", "xpu", "mps")],
        [torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()],
        sorted((k, str(v)) for k, v in vars(region).items()),
        [torch.autocast is amp.autocast, torch.GradScaler is amp.GradScaler],
        torch.cuda.amp.common.amp_definitely_not_available(),
    ]


@CASES.add
def gradients(torch: Any) -> Any:
    found: list[Any] = []
    x = torch.tensor([[1.001, 2.001], [3.003, 4.004]])
    for cached in (True, False):
        w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        with torch.autocast("cpu", cache_enabled=cached):
            once = x @ w
            loss = once.sum() + (3 * x @ w).float().sum() * 1.2345
        loss.backward()
        found += [w.grad, str(once.dtype)]
    layer = torch.nn.Linear(2, 2)
    with torch.no_grad():
        layer.weight.copy_(x)
        layer.bias.fill_(0.5)
    with torch.autocast("cpu"):
        with torch.no_grad():
            layer(x)
        y, again = layer(x), layer(x)
        edges = y.grad_fn.next_functions
        found += [
            y.float(), type(y.grad_fn).__name__, [type(n).__name__ for n, _ in edges],
            edges[0][0] is again.grad_fn.next_functions[0][0],
        ]  # fmt: skip
        loss = torch.nn.functional.mse_loss(y, torch.ones(2, 2))
    loss.backward()
    return [*found, loss, str(loss.dtype), layer.weight.grad, layer.bias.grad]


@CASES.add
def functions_with_own_derivatives(torch: Any) -> Any:
    amp, seen = torch.amp, []

    class Square(torch.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, a: Any) -> Any:
            seen.append(["forward", torch.is_autocast_enabled("cpu"), ctx._fwd_used_autocast])
            ctx.save_for_backward(a)
            return a @ a

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            (a,) = ctx.saved_tensors
            seen.append(["backward", torch.is_autocast_enabled("cpu"), str((a @ a).dtype)])
            return g @ a

    class InFloat(Square):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx: Any, a: Any, more: Any = None) -> Any:
            seen.append([torch.is_autocast_enabled("cpu"), str(a.dtype), str(ctx._dtype)])
            seen.append([str(t.dtype) for t in more or ()])
            ctx.save_for_backward(a)
            return a @ a

    x = torch.ones(2, 2, requires_grad=True)
    for function in (Square, InFloat):
        with torch.autocast("cpu"):
            y = function.apply(x)
        seen.append(str(y.dtype))
        y.sum().backward() if function is Square else function.apply(x)
    with torch.autocast("cpu"):
        InFloat.apply(x.detach().bfloat16(), [torch.ones(1).half(), torch.ones(1).double()])
    return [seen, x.grad]


@CASES.add
def modes_and_classes_see_calls_first(torch: Any) -> Any:
    overrides = importlib.import_module(f"{torch.__name__}.overrides")
    seen = []

    class Log(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            seen.append([func.__name__, str(args[0].dtype), str(result.dtype)])
            return result

    class Sub(torch.Tensor):
        pass

    x = torch.ones(2, 2)
    with torch.autocast("cpu"):
        with Log():
            torch.matmul(x, x)
            torch.add(x, x)
        on = overrides.has_torch_function((x,))
        y = torch.mm(x.as_subclass(Sub), x)
        text = repr(y.as_subclass(torch.Tensor))
    with Log(), torch.autocast("cpu"):
        torch.mm(x, x)
    torch.mm(x, x)
    return [seen, on, type(y).__name__, str(y.dtype), text]


test_scenario = CASES.test()


def test_nothing_stays_on_the_path_after_a_region() -> None:
    from functional.modes import MODE, PLAIN

    before = set(PLAIN)
    with OURS.autocast("cpu"):
        assert not PLAIN and len(MODE.functions) == 1
    assert before == PLAIN and MODE.functions == ()


def test_functions_are_their_own_outside_of_a_region() -> None:
    F, T = OURS.nn.functional, OURS.Tensor
    before = F.linear, F.mse_loss, T.prod, T.matmul
    with OURS.autocast("cpu"):
        assert F.linear is not before[0]
        from torchlike.nn.functional import linear

        x = OURS.ones(2, 2)
        assert str(linear(x, x).dtype) == str(before[0](x, x).dtype) == "torch.bfloat16"
    assert before == (F.linear, F.mse_loss, T.prod, T.matmul)
    assert str(linear(x, x).dtype) == "torch.float32"


def test_a_region_is_one_threads_own() -> None:
    import threading

    found = []

    def other() -> None:
        x = OURS.ones(2, 2)
        found.extend([str((x @ x).dtype), OURS.is_autocast_enabled("cpu")])

    with OURS.autocast("cpu"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == ["torch.float32", False]


def test_linalg_loaded_in_a_region_stays_as_it_is():
    program = (
        "import torchlike as torch\n"
        "with torch.autocast('cpu'):\n"
        "    torch.linalg.norm(torch.eye(2))\n"
        "print(torch.linalg.norm(torch.eye(2), axis=1))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "tensor([1., 1.])\n", run.stderr
