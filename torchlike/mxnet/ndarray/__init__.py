"""``mx.nd``: arrays with the manners of MXNet before NumPy's, and their functions."""

from __future__ import annotations

from .. import creation, elementwise, layers, operators, random, reductions, shaping
from .. import methods as _methods
from ..array import NDArray
from ..context import Context, cpu, gpu
from ..files import load, save
from ..random import normal, randn, uniform

array, arange = creation.nd_array, creation.nd_arange
zeros, ones, empty = (creation.filled(NDArray, name) for name in ("zeros", "ones", "empty"))
full, linspace, eye = creation.full(NDArray), creation.linspace(NDArray), creation.eye(NDArray)
zeros_like, ones_like = creation.zeros_like, creation.ones_like
random_uniform, random_normal, shuffle = random.uniform, random.normal, random.shuffle

globals().update(elementwise.UNARY | elementwise.BINARY | reductions.ND)
clip, where, cast, one_hot = (
    elementwise.clip, elementwise.where, elementwise.cast, elementwise.one_hot,
)  # fmt: skip
softmax, log_softmax = elementwise.softmax, elementwise.log_softmax
norm, argmax, argmin = reductions.norm, reductions.argmax, reductions.argmin
sort, argsort, cumsum = reductions.sort, reductions.argsort, reductions.cumsum

for _old, _new in {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "power": "power",
    "maximum": "maximum", "minimum": "minimum", "equal": "equal", "not_equal": "not_equal",
    "greater": "greater", "lesser": "lesser",
}.items():  # fmt: skip
    globals()[f"broadcast_{_old}"] = elementwise.BINARY[_new]
    globals()[f"elemwise_{_old}"] = elementwise.BINARY[_new]
true_divide, mod = elementwise.BINARY["divide"], elementwise.BINARY["modulo"]

reshape, transpose, swapaxes = shaping.nd_reshape, shaping.transpose, shaping.swapaxes
expand_dims, squeeze, flatten = shaping.expand_dims, shaping.squeeze, shaping.flatten
concat = shaping.nd_concat
stack, split, tile, repeat = shaping.nd_stack, shaping.nd_split, shaping.tile, shaping.repeat
flip = reverse = shaping.flip
broadcast_to, broadcast_like = shaping.broadcast_to, shaping.broadcast_like
slice, slice_axis, take, pick = shaping.slice_, shaping.slice_axis, shaping.take, shaping.pick
dot, batch_dot, reshape_like = shaping.nd_dot, shaping.batch_dot, shaping.reshape_like

FullyConnected, Convolution, Pooling = layers.fully_connected, layers.convolution, layers.pooling
Activation, Dropout, Embedding = layers.activation, layers.dropout, layers.embedding
BatchNorm, LayerNorm = layers.batch_norm, layers.layer_norm
L2Normalization, BlockGrad = layers.l2_normalization, layers.stop_gradient
stop_gradient, Flatten, Concat = layers.stop_gradient, flatten, concat
Reshape, Cast, SliceChannel, SwapAxis = reshape, cast, split, swapaxes


def waitall() -> None:
    """Return at once: operations are done when they return."""
