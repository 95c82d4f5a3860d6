"""Layers and losses whose tensors differ in dtype: PyTorch's results, gradients or errors."""

from __future__ import annotations

from typing import Any

from .scenarios import Cases, error

CASES = Cases("mixed_dtypes_nn")


def _others(torch: Any) -> list[Any]:
    return [torch.int64, torch.float64, torch.float16, torch.bool, torch.complex64]


def _tried(call: Any, *args: Any) -> Any:
    """The dtype and the values of a result, or what is raised."""
    results: list[Any] = []
    said = error(lambda: results.append(call(*args)))
    if not results:
        return said
    (found,) = results
    values = (found.abs() if found.dtype.is_complex else found).double()
    exact = all(t.element_size() > 2 for t in args if hasattr(t, "element_size"))
    return [str(found.dtype), round(float(values.sum()), 4 if exact else 1)]


def _each_replaced(torch: Any, call: Any, *tensors: Any) -> list[Any]:
    """What comes of ``call`` with one tensor after the other in each other dtype."""
    found = []
    for i in range(len(tensors)):
        for dtype in _others(torch):
            args = [t.to(dtype) if j == i else t.clone() for j, t in enumerate(tensors)]
            found.append(_tried(call, *args))
    return found


def _probabilities(torch: Any) -> Any:
    x = torch.tensor([[0.25, 0.5, 1.0], [0.75, 0.125, 0.5]])
    target = torch.tensor([[0.5, 1.0, 0.25], [0.0, 0.75, 1.0]])
    return x, target, torch.tensor([[1.0, 2.0, 1.0], [1.0, 1.0, 3.0]])


@CASES.add
def losses_of_two_tensors(torch: Any) -> Any:
    f = torch.nn.functional
    x, target, _ = _probabilities(torch)
    losses = [
        f.l1_loss, f.mse_loss, f.smooth_l1_loss, f.huber_loss, f.soft_margin_loss,
        f.binary_cross_entropy, f.binary_cross_entropy_with_logits, f.multilabel_soft_margin_loss,
    ]  # fmt: skip
    return [
        _each_replaced(torch, lambda a, b, loss=loss, r=r: loss(a, b, reduction=r), x, target)
        for loss in losses
        for r in ("none", "mean")
    ]


@CASES.add
def losses_with_weights(torch: Any) -> Any:
    f = torch.nn.functional
    tensors = _probabilities(torch)
    entropy, logits = f.binary_cross_entropy, f.binary_cross_entropy_with_logits
    calls = [
        lambda x, y, w: entropy(x, y, w),
        lambda x, y, w: entropy(x, y, w, reduction="none"),
        lambda x, y, w: logits(x, y, w),
        lambda x, y, w: logits(x, y, pos_weight=w),
        lambda x, y, w: f.mse_loss(x, y, weight=w),
        lambda x, y, w: f.huber_loss(x, y, weight=w),
    ]
    return [_each_replaced(torch, call, *tensors) for call in calls]


@CASES.add
def losses_of_classes(torch: Any) -> Any:
    f = torch.nn.functional
    x, target, weight = _probabilities(torch)[0], torch.tensor([2, 0]), torch.ones(3)
    labels = torch.tensor([[2, 0, -1], [1, -1, 0]])
    sure = torch.tensor([[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
    return [
        *[_each_replaced(torch, call, x, target, weight) for call in (
            lambda *a: f.nll_loss(*a), lambda *a: f.cross_entropy(*a),
            lambda a, b, w: f.multi_margin_loss(a, b, weight=w),
        )],
        _each_replaced(torch, f.multilabel_margin_loss, x, labels),
        _each_replaced(torch, f.cross_entropy, x, sure),
        error(lambda: f.nll_loss(x[:, :, None, None], target[:, None, None], weight.double())),
    ]  # fmt: skip


@CASES.add
def ctc_lengths(torch: Any) -> Any:
    logs = torch.full((4, 1, 3), -1.0)
    targets, given, wanted = torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2])
    call = torch.nn.functional.ctc_loss
    return _each_replaced(torch, call, logs, targets, given, wanted)


@CASES.add
def gradients(torch: Any) -> Any:
    """Every tensor's gradient has its own dtype."""
    f = torch.nn.functional
    found = []
    for loss in (f.mse_loss, f.smooth_l1_loss, f.binary_cross_entropy_with_logits):
        for first, second in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
            x, target, _ = _probabilities(torch)
            x, target = x.to(first).requires_grad_(), target.to(second).requires_grad_()
            loss(x, target).backward()
            found += [x.grad, target.grad]
    x = torch.tensor([0.5, -2.0], requires_grad=True)
    f.mse_loss(x, torch.tensor([1, 0])).backward()
    w = torch.ones(1, 2, 3, 3, requires_grad=True)
    b = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    f.conv_transpose2d(torch.ones(1, 1, 2, 2), w, b).sum().backward()
    return [*found, x.grad, w.grad, b.grad]


@CASES.add
def normalizations(torch: Any) -> Any:
    f = torch.nn.functional
    x = torch.tensor([[[1.0, 2.0], [3.5, -1.0]], [[0.5, 2.0], [4.0, 1.0]]])
    weight, bias = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
    mean, var = torch.tensor([0.25, 1.0]), torch.tensor([1.0, 0.5])
    five = x, mean, var, weight, bias
    calls = [
        lambda *a: f.batch_norm(*a), lambda *a: f.batch_norm(*a, training=True),
        lambda *a: f.instance_norm(*a), lambda *a: f.instance_norm(*a, use_input_stats=False),
    ]  # fmt: skip
    found = [_each_replaced(torch, call, *five) for call in calls]
    for call in (
        lambda a, w, b: f.layer_norm(a, (2,), w, b),
        lambda a, w, b: f.group_norm(a, 2, w, b),
        lambda a, w, b: f.rms_norm(a, (2,), w),
    ):
        found.append(_each_replaced(torch, call, x, weight, bias))
    return [found, f.batch_norm(torch.ones(0, 2, 3, dtype=torch.int64), mean, var, weight, bias)]


@CASES.add
def statistics_of_half_types(torch: Any) -> Any:
    x, weight = torch.ones(2, 2, 3, dtype=torch.float16), torch.ones(3)
    found = []
    for w in (None, weight, weight.half()):
        found += [str(t.dtype) for t in torch.native_layer_norm(x, (3,), w, None, 1e-5)]
    for w in (None, weight[:2], weight[:2].half()):
        found += [str(t.dtype) for t in torch.native_group_norm(x, w, None, 2, 2, 3, 2, 1e-5)]
    return found


@CASES.add
def convolutions(torch: Any) -> Any:
    """Which dtypes of a bias are taken depends on the kernel that PyTorch chooses."""
    f = torch.nn.functional
    found = []
    for n in (1, 2, 3):
        conv, back = getattr(f, f"conv{n}d"), getattr(f, f"conv_transpose{n}d")
        weight, bias = torch.ones(2, 2, *(3,) * n), torch.tensor([1.0, 0.5])
        for batch in (1, 2):
            x = torch.ones(batch, 2, *(4,) * n)
            for call in (
                conv,
                lambda x, w, b, conv=conv: conv(x, w, b, padding="same"),
                lambda x, w, b, conv=conv: conv(x, w, b, padding="same", dilation=2),
                lambda x, w, b, conv=conv: conv(x, w),
                back,
                lambda x, w, b, back=back: back(x, w),
            ):
                outcomes = _each_replaced(torch, call, x, weight, bias)
                del outcomes[2]  # of half inputs: PyTorch's kernel depends on the processor
                found.append(outcomes)
    return found


@CASES.add
def embeddings(torch: Any) -> Any:
    f = torch.nn.functional
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    line, starts, scales = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 2]), torch.ones(4)
    return [
        _each_replaced(torch, lambda w, i: f.embedding(i, w), table, line),
        _each_replaced(torch, lambda w, i: f.embedding(i, w.clone(), max_norm=2.0), table, line),
        _each_replaced(
            torch,
            lambda w, i, o, s: f.embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
            table, line, starts, scales,
        ),
        _each_replaced(torch, lambda w, i: f.embedding_bag(i, w), table, line.reshape(2, 2)),
        [f.embedding_bag(line, table, torch.tensor([0, 1, 3]), mode=mode, include_last_offset=True)
         for mode in ("sum", "max")],
    ]  # fmt: skip


@CASES.add
def whole_numbers(torch: Any) -> Any:
    """Softmax, pooling and dropout of dtypes that PyTorch has no kernels for, or nothing to do."""
    f = torch.nn.functional
    found = []
    for dtype in (torch.int64, torch.bool, torch.complex64):
        for x in (torch.ones(2, 4, dtype=dtype), torch.ones(0, 4, dtype=dtype)):
            found += [_tried(lambda x, d=d: torch.softmax(x, d), x) for d in (0, 1)]
            found += [_tried(lambda x, d=d: f.log_softmax(x, d), x) for d in (0, 1)]
            found += [_tried(lambda x: f.adaptive_avg_pool1d(x[:, None], 2), x)]
            found += [_tried(lambda x: f.max_pool1d(x[:, None], 2), x)]
        found += [_tried(f.alpha_dropout, torch.ones(2, 2, dtype=dtype), 1.0, True)]
        found += [_tried(f.dropout2d, torch.ones(2, 2, 1, 1, dtype=dtype), 1.0)]
        found += [_tried(f.grid_sample, torch.ones(1, 1, 2, 2, 2, dtype=dtype),
                         torch.zeros(1, 1, 1, 1, 3), "bilinear", "zeros", False)]  # fmt: skip
    return found


test_scenario = CASES.test()
