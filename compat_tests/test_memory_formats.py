"""torch.channels_last and its kin: strides of copies and of what is computed from them."""

from __future__ import annotations

import math
from typing import Any

from .scenarios import Cases, error

CASES = Cases("memory_formats")


def numbers(torch: Any) -> Any:
    return torch.arange(24.0).reshape(1, 2, 3, 4)


@CASES.add
def copies(torch: Any) -> Any:
    x, last = numbers(torch).requires_grad_(), torch.channels_last
    y = x.contiguous(memory_format=last)
    made = [y, x.to(memory_format=last), x.clone(memory_format=last), y.contiguous()]
    made += [y.clone(), y.double(), x.to(torch.float64, memory_format=last), y.half(), y.cpu()]
    made += [y.clone(memory_format=torch.contiguous_format), x.double(memory_format=last)]
    (y * y).sum().backward()
    nodes = [t.grad_fn.name() for t in made[:3]]
    return [[t.stride() for t in made], nodes, y, x.grad, y is y.contiguous(memory_format=last)]


@CASES.add
def new_tensors(torch: Any) -> Any:
    last = torch.channels_last
    y = numbers(torch).contiguous(memory_format=last)
    made = [torch.empty(2, 3, 4, 5, memory_format=last), torch.zeros_like(y), torch.rand_like(y)]
    made += [torch.ones_like(numbers(torch), memory_format=last), torch.full_like(y, 2)]
    made += [torch.empty_like(y, memory_format=torch.contiguous_format)]
    return [t.stride() for t in made] + [made[3]]


@CASES.add
def results_keep_the_order(torch: Any) -> Any:
    x = numbers(torch)
    y = x.contiguous(memory_format=torch.channels_last)
    made = [y * 2, y.relu(), y + x, torch.where(y > 0, y, x), y.clamp(0), y == y, y.exp()]
    return [t.stride() for t in made] + [y.sum(1).stride(), y[:, 0].stride()]


@CASES.add
def questions(torch: Any) -> Any:
    x, last = numbers(torch), torch.channels_last
    y = x.contiguous(memory_format=last)
    asked = [x, y, torch.ones(2, 1, 3, 3), torch.ones(2, 3, 1, 1), torch.ones(2, 3)]
    found = [[t.is_contiguous(), t.is_contiguous(memory_format=last)] for t in asked]
    return [found, y.is_contiguous(memory_format=torch.contiguous_format), str(last)]


@CASES.add
def refusals(torch: Any) -> Any:
    x, y = numbers(torch), numbers(torch).transpose(2, 3)
    return [
        error(lambda: x.contiguous(memory_format=torch.channels_last_3d)),
        error(lambda: torch.ones(2, 3).to(memory_format=torch.channels_last)),
        error(lambda: y.contiguous(memory_format=torch.preserve_format)),
    ]


@CASES.add
def modules(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.Linear(2, 2))
    net.to(memory_format=torch.channels_last)
    return [[p.stride(), p.requires_grad, p.is_leaf] for p in net.parameters()]


def orders(*results: Any) -> Any:
    """The strides of tensors, and of tensors in tuples; 0 for dimensions of one element."""
    return [
        orders(*t)
        if isinstance(t, tuple)
        else [s if n != 1 else 0 for s, n in zip(t.stride(), t.shape, strict=True)]
        for t in results
    ]


def images(torch: Any, *shape: int) -> Any:
    """Whole numbers, so that sums are exact, channels last."""
    last = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    x = torch.arange(float(math.prod(shape))).reshape(shape) % 13 - 6
    return x.contiguous(memory_format=last).requires_grad_()


def through(torch: Any, x: Any, function: Any, *args: Any, **settings: Any) -> Any:
    """Orders of what a function returns and of the gradient from either order, and numbers."""
    y = function(x, *args, **settings)
    first = y[0] if isinstance(y, tuple) else y
    last = torch.channels_last if first.ndim == 4 else torch.channels_last_3d
    g = torch.ones(first.shape)
    seeds = [g, g.contiguous(memory_format=last)]
    grads = [torch.autograd.grad(first, x, g, retain_graph=True)[0] for g in seeds]
    return [orders(y, *grads), first[0]]


@CASES.add
def pooling(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for n, shape in ((2, (2, 3, 6, 8)), (3, (2, 3, 6, 4, 8))):
        x = images(torch, *shape)
        for name, size in (("max_pool", 2), ("avg_pool", 2), ("adaptive_avg_pool", 3)):
            found.append(through(torch, x, getattr(F, f"{name}{n}d"), size))
        for name in ("max_pool", "adaptive_max_pool"):
            found.append(through(torch, x, getattr(F, f"{name}{n}d"), 2, return_indices=True))
        found.append(through(torch, x, getattr(F, f"lp_pool{n}d"), 2.0, 2))
    return found


@CASES.add
def unpooling(torch: Any) -> Any:
    places = torch.arange(8).reshape(2, 4).expand(2, 3, 2, 4) * 4
    return through(torch, images(torch, 2, 3, 2, 4), torch.nn.functional.max_unpool2d, places, 2)


@CASES.add
def norms(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for shape in ((2, 4, 3, 5), (2, 4, 3, 2, 5)):
        x, zeros, ones = images(torch, *shape), torch.zeros(4), torch.ones(4)
        batch = [(F.batch_norm, None, None, ones, zeros, True), (F.batch_norm, zeros, ones)]
        for f, *args in (*batch, (F.group_norm, 2), (F.instance_norm,)):
            found.append(through(torch, x, f, *args)[0])
        rest = F.rms_norm(x, (5,)), F.layer_norm(x, (5,)), F.local_response_norm(x, 2)
        found.append([orders(*rest), F.group_norm(x, 2)])
    return found


@CASES.add
def convolutions(torch: Any) -> Any:
    """Either operand decides."""
    F, found = torch.nn.functional, []
    for n, shape in ((2, (2, 4, 5, 6)), (3, (2, 4, 5, 3, 6))):
        for groups in (1, 2):
            x, w = images(torch, *shape), images(torch, 4, 4 // groups, *(3,) * n)
            plain = [t.detach().contiguous().requires_grad_() for t in (x, w)]
            for a, b in ((x, w), (x, plain[1]), (plain[0], w), plain):
                for name in ("conv", "conv_transpose"):
                    y = getattr(F, f"{name}{n}d")(a, b, padding=1, groups=groups)
                    found.append(orders(y, *torch.autograd.grad(y.sum(), [a, b])))
    return [*found, y]


@CASES.add
def convolutions_of_one_volume(torch: Any) -> Any:
    """Formats count where oneDNN computes: for half types, large kernels and large volumes."""
    F, x, w = torch.nn.functional, images(torch, 1, 4, 5, 3, 6), torch.ones(2, 4, 3, 3, 3)
    tall = images(torch, 1, 4, 5, 4, 6)
    return orders(
        F.conv3d(x, w),
        F.conv3d(x.double(), w.double()),
        F.conv3d(x.bfloat16(), w.bfloat16()),
        F.conv3d(x, torch.ones(4, 2, 3, 3, 3), groups=2),
        F.conv3d(tall, torch.ones(2, 4, 4, 3, 4)),
        F.conv3d(tall, torch.ones(2, 4, 3, 4, 4)),
        F.conv3d(images(torch, 1, 4, 72, 72, 3), w),
    )


@CASES.add
def one_channel(torch: Any) -> Any:
    """Strides of dimensions of size 1 alone say that images are channels last."""
    F, x = torch.nn.functional, torch.ones(2, 1, 5, 6)
    same, moved = (
        x.contiguous(memory_format=torch.channels_last),
        x.to(memory_format=torch.channels_last),
    )
    w = torch.ones(3, 1, 3, 3)
    small = images(torch, 2, 3, 4, 4)[..., :1, :1]
    pixel = torch.ones(2, 3, 1, 1)
    return orders(
        F.conv2d(same, w), F.conv2d(moved, w), F.conv2d(x, w.to(memory_format=torch.channels_last)),
        F.interpolate(small, size=(2, 2)), F.pad(small, (1, 1, 1, 1)),
        F.interpolate(pixel, size=(2, 2)), torch.cat([moved, moved], 1),
    )  # fmt: skip


@CASES.add
def resampling(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for shape, modes in (
        ((2, 3, 4, 5), ("nearest", "nearest-exact", "bilinear", "bicubic", "area")),
        ((2, 3, 4, 2, 5), ("nearest", "trilinear")),
    ):
        x = images(torch, *shape)
        for mode in modes:
            found.append(through(torch, x, F.interpolate, scale_factor=2, mode=mode))
    smooth = {"size": (2, 3), "mode": "bilinear", "antialias": True}
    return [*found, through(torch, images(torch, 2, 3, 4, 5), F.interpolate, **smooth)]


@CASES.add
def padding(torch: Any) -> Any:
    pad, x, found = torch.nn.functional.pad, images(torch, 2, 3, 4, 5), []
    for mode in ("constant", "reflect", "replicate", "circular"):
        found.append(through(torch, x, pad, (1, 2, 1, 2), mode))
    for pads in ((-1, 2, 0, 0), (-1, -1, 0, -1), (0, 0, 0, 0, 1, 1)):
        found.append(through(torch, x, pad, pads))
    return [*found, through(torch, images(torch, 2, 3, 4, 3, 5), pad, (1, 1) * 3, "replicate")]


@CASES.add
def moved_about(torch: Any) -> Any:
    F, x = torch.nn.functional, images(torch, 2, 8, 4, 6)
    made = [
        through(torch, x, F.pixel_shuffle, 2),
        through(torch, x, F.pixel_unshuffle, 2),
        through(torch, x, F.channel_shuffle, 2),
        through(torch, x, torch.roll, 1, 2),
    ]
    joined = [torch.stack([x, x, x], dim) for dim in range(5)]
    joined += [torch.cat([x, x], 1), torch.cat([x[..., ::2], x[..., ::2]], 1)]
    joined += [
        x.repeat(1, 1, 1, 1),
        torch.bernoulli(x.sigmoid()),
        x.roll((1, 1), (0, 2)),
        x.roll(1),
    ]
    joined.append(torch.stack([x, x.detach().contiguous()]))
    return [made, orders(*joined), joined[2]]


@CASES.add
def activations(torch: Any) -> Any:
    F, x = torch.nn.functional, images(torch, 2, 3, 4, 5)
    found = []
    for name in ("relu", "gelu", "silu", "mish", "elu", "leaky_relu", "hardswish", "softplus"):
        y = getattr(F, name)(x)
        (grad,) = torch.autograd.grad(y, x, y.detach())
        found.append(orders(y, grad))
    torch.manual_seed(0)
    return [found, orders(F.dropout(x), F.dropout2d(x), F.glu(images(torch, 2, 4, 3, 5), 1))]


@CASES.add
def losses(torch: Any) -> Any:
    """The gradients of these are in C order, whatever their inputs' is."""
    F, x, found = torch.nn.functional, images(torch, 2, 3, 4, 5), []
    for name in ("mse_loss", "smooth_l1_loss", "huber_loss"):
        for reduction in ("mean", "none"):
            y = getattr(F, name)(x, x.detach() / 2, reduction=reduction)
            (grad,) = torch.autograd.grad(y, x, y.detach())
            found.append(orders(y, grad))
    return found


@CASES.add
def a_network(torch: Any) -> Any:
    """A model converted to channels last computes so from plain images on; its gradients too."""
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, groups=4), nn.GroupNorm(2, 4), nn.GELU(), nn.Upsample(scale_factor=2),
    )  # fmt: skip
    net.to(memory_format=torch.channels_last)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.arange(float(p.numel())).reshape(p.shape).cos())
    seen: list[Any] = []
    for module in net:
        module.register_forward_hook(lambda m, args, y: seen.append(y))
        module.register_full_backward_hook(lambda m, gx, gy: seen.append(gy[0]))
    y = net(images(torch, 2, 3, 8, 8).detach().contiguous())
    y.backward(y.detach())
    return [orders(*seen), orders(*[p.grad for p in net.parameters()])]


@CASES.add
def without_numbers(torch: Any) -> Any:
    """Meta tensors have the same strides."""
    F, last = torch.nn.functional, torch.channels_last
    x = torch.empty(2, 4, 6, 8, device="meta").to(memory_format=last)
    w = torch.empty(3, 4, 3, 3, device="meta")
    return orders(
        F.conv2d(x, w), F.conv_transpose2d(x, torch.empty(4, 2, 3, 3, device="meta")),
        F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.batch_norm(x, None, None, training=True),
        F.interpolate(x, scale_factor=2), F.pad(x, (1, 1)), torch.stack([x, x], 1), F.gelu(x),
    )  # fmt: skip


@CASES.add
def weights_in_another_format(torch: Any) -> Any:
    nn, last = torch.nn, torch.channels_last
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.Sequential(nn.ConvTranspose2d(4, 2, 3), nn.Conv1d(2, 3, 2)),
        nn.Conv3d(3, 4, 3), nn.Linear(2, 2),
    )  # fmt: skip
    weights = [p for p in net.parameters() if p.dim() > 1]
    before = [w.detach().clone() for w in weights]
    same = nn.utils.convert_conv2d_weight_memory_format(net, last) is net
    two = orders(*weights)
    nn.utils.convert_conv3d_weight_memory_format(net, torch.channels_last_3d)
    values = [torch.equal(w, b) for w, b in zip(weights, before)]
    wrong = error(lambda: nn.utils.convert_conv3d_weight_memory_format(net, last))
    y = net[0](images(torch, 2, 3, 8, 8).detach().contiguous())
    return [same, two, orders(*weights), values, wrong, y.stride()]


@CASES.add
def copies_of_one_channel(torch: Any) -> Any:
    last, found = torch.channels_last, []
    for shape in ((4, 1, 3, 3), (4, 2, 1, 1), (1, 3, 4, 4)):
        x = torch.ones(shape).to(memory_format=last)
        made = [x.clone(), x.double(), x.half(), torch.zeros_like(x), torch.rand_like(x), x.flip(0)]
        made += [torch.randint_like(x, 3), torch.full_like(x, 2, dtype=torch.int64), x.bool()]
        found.append([t.stride() for t in made])
    x = torch.ones(2, 3, 4, 5).permute(1, 3, 0, 2)
    same = x.to(memory_format=torch.contiguous_format) is x
    return [found, same, x.contiguous().stride(), x.to(torch.float64).stride()]


@CASES.add
def one_channel_turned(torch: Any) -> Any:
    found = []
    for device in ("cpu", "meta"):
        x = torch.empty(4, 1, 3, 3, device=device).to(memory_format=torch.channels_last)
        found.append([x.flip(0).stride(), x.rot90(1, (2, 3)).stride(), x.rot90(2, (2, 3)).stride()])
    return found


test_scenario = CASES.test()
