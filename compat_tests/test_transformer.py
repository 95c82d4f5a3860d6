"""Attention and Transformer layers against PyTorch: values, gradients, masks, warnings, errors."""

from __future__ import annotations

import warnings
from typing import Any

from .scenarios import Cases, error

CASES = Cases("transformer")


def numbers(torch: Any, *shape: int, seed: int = 2) -> Any:
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64)


def with_gradients(torch: Any, net: Any, out: Any) -> list[Any]:
    grads = torch.autograd.grad((out * out).sum(), list(net.parameters()), allow_unused=True)
    return [out.detach(), *[None if g is None else g.sum(-1) for g in grads]]


@CASES.add
def heads(torch: Any) -> Any:
    torch.manual_seed(1)
    net = torch.nn.MultiheadAttention(4, 2, dtype=torch.float64)
    x, y = numbers(torch, 3, 2, 4), numbers(torch, 5, 2, 4, seed=3)
    out, seen = net(x, y, y)
    mask = torch.ones(3, 5, dtype=torch.bool).triu(1)
    padding = torch.tensor([[False] * 4 + [True], [False] * 5])
    masked = net(x, y, y, key_padding_mask=padding, attn_mask=mask, average_attn_weights=False)
    fast, none = net(x, y, y, key_padding_mask=padding, need_weights=False)
    return [with_gradients(torch, net, out), seen.detach(), *[t.detach() for t in masked],
            fast.detach(), none, list(net.state_dict()), repr(net)]  # fmt: skip


@CASES.add
def other_sizes_and_extra_keys(torch: Any) -> Any:
    torch.manual_seed(1)
    options = {"kdim": 3, "vdim": 5, "add_bias_kv": True, "add_zero_attn": True}
    net = torch.nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64, **options)
    q, k, v = numbers(torch, 2, 3, 4), numbers(torch, 2, 4, 3), numbers(torch, 2, 4, 5)
    out, seen = net(q, k, v)
    return [with_gradients(torch, net, out), seen.detach(), list(net.state_dict())]


@CASES.add
def rows_that_see_nothing(torch: Any) -> Any:
    attend = torch.nn.functional.scaled_dot_product_attention
    q = numbers(torch, 1, 2, 3, 4)
    nothing = torch.zeros(3, 3, dtype=torch.bool)
    torch.manual_seed(1)
    net = torch.nn.MultiheadAttention(4, 2, dtype=torch.float64)
    ignored = torch.ones(1, 3, dtype=torch.bool)
    x = numbers(torch, 3, 1, 4)
    return [attend(q, q, q, nothing), attend(q[0], q[0], q[0], nothing),
            net(x, x, x, key_padding_mask=ignored)[0].isnan().all()]  # fmt: skip


@CASES.add
def encoder_layers(torch: Any) -> Any:
    found = []
    for options in ({}, {"norm_first": True, "activation": "gelu"}, {"bias": False}):
        torch.manual_seed(1)
        net = torch.nn.TransformerEncoderLayer(
            4, 2, 8, dropout=0.0, batch_first=True, dtype=torch.float64, **options
        )
        found.append([with_gradients(torch, net, net(numbers(torch, 2, 3, 4))), repr(net)])
    return found


@CASES.add
def dropout_draws_the_same_numbers(torch: Any) -> Any:
    torch.manual_seed(1)
    net = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.4, dtype=torch.float64)
    return net(numbers(torch, 3, 2, 4)).detach()


@CASES.add
def whole_network(torch: Any) -> Any:
    torch.manual_seed(1)
    net = torch.nn.Transformer(4, 2, 1, 2, 8, dropout=0.0, batch_first=True, dtype=torch.float64)
    mask = net.generate_square_subsequent_mask(3, dtype=torch.float64)
    out = net(numbers(torch, 2, 5, 4), numbers(torch, 2, 3, 4), tgt_mask=mask)
    return [mask, with_gradients(torch, net, out), list(net.state_dict())]


@CASES.add
def padding_in_evaluation(torch: Any) -> Any:
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dtype=torch.float64)
    net = torch.nn.TransformerEncoder(layer, 2).eval()
    x = numbers(torch, 2, 4, 4)
    padding = torch.tensor([[False, False, True, True], [False, False, False, True]])
    with torch.no_grad():
        left_out = net(x, src_key_padding_mask=padding)
        causal = net(x, mask=torch.nn.Transformer.generate_square_subsequent_mask(4).double())
    return [left_out, causal, net(x, src_key_padding_mask=padding).detach()[~padding]]


@CASES.add
def warnings_of_construction(torch: Any) -> Any:
    nn, found = torch.nn, []
    for options in ({}, {"batch_first": True, "norm_first": True}, {"batch_first": True}):
        heads = 1 if len(options) == 1 else 2
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            nn.TransformerEncoder(nn.TransformerEncoderLayer(4, heads, 8, **options), 1)
        found.append([str(w.message) for w in caught])
    return found


@CASES.add
def errors(torch: Any) -> Any:
    nn, x = torch.nn, torch.zeros(5, 2, 8)
    net = nn.Transformer(8, 2, 1, 1, 16)
    attend = nn.functional.scaled_dot_product_attention
    q = torch.zeros(1, 2, 3, 4)
    return [
        error(lambda: nn.MultiheadAttention(7, 2)),
        error(lambda: nn.MultiheadAttention(0, 2)),
        error(lambda: nn.TransformerEncoderLayer(8, 2, activation="foo")),
        error(lambda: net(x, torch.zeros(3, 3, 8))),
        error(lambda: net(x, torch.zeros(3, 2, 7))),
        error(lambda: attend(q[0], q[0], q[0], torch.zeros(3, 3), is_causal=True)),
        attend(
            numbers(torch, 1, 2, 3, 4),
            q.double() + 1,
            q.double() + 2,
            numbers(torch, 3, 3),
            is_causal=True,
        ),
        error(lambda: attend(q, q.double(), q)),
        error(lambda: attend(q, q, q, torch.zeros(3, 3).long())),
        error(lambda: attend(q[0, 0, 0], q, q)),
        error(lambda: attend(q, q, q, dropout_p=1.5)),
    ]


@CASES.add
def nothing_to_attend(torch: Any) -> Any:
    """Batches and sequences without elements."""
    nn, found = torch.nn, []
    torch.manual_seed(0)
    m, layer = nn.MultiheadAttention(8, 2), nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    for shape in ((0, 2, 8), (3, 0, 8), (0, 8)):
        x = torch.ones(shape)
        for weights in (True, False):
            result, seen = m(x, x, x, need_weights=weights)
            found.append([list(result.shape), None if seen is None else list(seen.shape)])
        found.append([list(layer(x).shape), list(layer.eval()(x).shape)])
    q = torch.ones(2, 3, 0)
    return found, nn.functional.scaled_dot_product_attention(q, q, torch.ones(2, 3, 4))


@CASES.add
def wrong_masks(torch: Any) -> Any:
    found = []
    q, k = torch.ones(3, 2, 8), torch.ones(4, 2, 8)
    m = torch.nn.MultiheadAttention(8, 2)
    for name, shape, dtype in (
        ("attn_mask", (5, 3, 4), torch.bool), ("attn_mask", (3, 3), torch.float32),
        ("attn_mask", (3,), torch.int64), ("attn_mask", (3,), torch.bool),
        ("key_padding_mask", (2, 3), torch.bool), ("key_padding_mask", (4, 2), torch.float32),
        ("key_padding_mask", (4,), torch.uint8), ("key_padding_mask", (4,), torch.bool),
    ):  # fmt: skip
        mask = torch.zeros(shape, dtype=dtype)
        found.append(error(lambda n=name, mask=mask: m(q, k, k, **{n: mask})))
    found.append(error(lambda: m(q, k, k, is_causal=True)))
    one, mask = torch.ones(3, 8), torch.zeros(5, 3, 3)
    found.append(error(lambda: m(one, one, one, attn_mask=mask)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m(q, k, k, torch.zeros(2, 4), attn_mask=torch.zeros(3, 4, dtype=torch.bool))
    return [*found, *(str(w.message) for w in caught)]


@CASES.add
def normalization_layers(torch: Any) -> Any:
    nn, found = torch.nn, []
    x = numbers(torch, 4, 6, 5)
    for net in (nn.BatchNorm1d(6), nn.BatchNorm1d(6, momentum=None), nn.InstanceNorm1d(6),
                nn.LayerNorm(5), nn.GroupNorm(3, 6), nn.RMSNorm(5),
                nn.InstanceNorm1d(6, affine=True, track_running_stats=True)):  # fmt: skip
        net.double()
        outs = [net(x).detach(), net(x * 2).detach()]
        found.append([*outs, *net.state_dict().values(), net.eval()(x).detach(), repr(net)])
    return found


@CASES.add
def normalization_errors(torch: Any) -> Any:
    nn = torch.nn
    return [
        error(lambda: nn.BatchNorm1d(3)(torch.zeros(2, 3, 4, 5))),
        error(lambda: nn.BatchNorm2d(3)(torch.zeros(2, 3, 4))),
        error(lambda: nn.BatchNorm1d(3)(torch.zeros(1, 3))),
        error(lambda: nn.InstanceNorm1d(3, affine=True)(torch.zeros(2, 4, 5))),
        error(lambda: nn.InstanceNorm2d(3)(torch.zeros(2, 4))),
        error(lambda: nn.GroupNorm(3, 4)),
        error(lambda: nn.LayerNorm(3)(torch.zeros(2, 4))),
    ]


test_scenario = CASES.test()
