"""``mx.npx``: what neural networks want and NumPy does not have."""

from __future__ import annotations

from . import context, elementwise, files, layers, ndarray, random, shaping, util

cpu, gpu, num_gpus = context.cpu, context.gpu, context.num_gpus
current_context, current_device = context.current_context, context.current_device
set_np, reset_np, use_np = util.set_np, util.reset_np, util.use_np
is_np_array, is_np_shape = util.is_np_array, util.is_np_shape
load, save, seed, waitall = files.load, files.save, random.seed, ndarray.waitall

relu, sigmoid, softsign = (elementwise.UNARY[n] for n in ("relu", "sigmoid", "softsign"))
erf, erfinv = elementwise.UNARY["erf"], elementwise.UNARY["erfinv"]
gamma, gammaln = elementwise.UNARY["gamma"], elementwise.UNARY["gammaln"]
softmax, log_softmax, one_hot = (
    elementwise.softmax, elementwise.log_softmax, elementwise.one_hot,
)  # fmt: skip
pick, reshape_like, batch_dot = shaping.pick, shaping.reshape_like, shaping.batch_dot
broadcast_like = shaping.broadcast_like
activation, fully_connected, convolution = (
    layers.activation, layers.fully_connected, layers.convolution,
)  # fmt: skip
pooling, dropout, embedding = layers.pooling, layers.dropout, layers.embedding
batch_norm, layer_norm, stop_gradient = layers.batch_norm, layers.layer_norm, layers.stop_gradient
