"""Which functions of the core are seen where: one table for the torch namespace and Tensor."""

# torch.NAME
FUNCTIONS = """
add sub mul div floor_divide remainder fmod pow square neg reciprocal exp expm1 log log1p log2
log10 sqrt rsqrt sin cos tan sinh cosh asin acos atan atan2 tanh sigmoid relu abs sign sgn floor
ceil trunc round maximum minimum eq ne lt le gt ge isnan isinf isfinite logical_not logical_and
logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not where clamp masked_fill
sum mean max min amax amin argmax argmin all any var logsumexp cumsum
reshape flatten unflatten ravel t transpose permute movedim broadcast_to unsqueeze squeeze select
narrow diagonal as_strided unbind split chunk cat stack flip
gather scatter index_select index_put nonzero tril triu
mm bmm mv dot addmm addmv baddbmm matmul outer clone detach conj softmax log_softmax dropout
tensor as_tensor from_numpy zeros ones empty full zeros_like ones_like empty_like full_like arange
linspace eye rand randn rand_like randn_like randint randperm normal bernoulli multinomial
""".split()

# torch.NEW is torch.OLD
ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
    "negative": "neg", "absolute": "abs", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "clip": "clamp", "swapaxes": "transpose", "swapdims": "transpose",
    "moveaxis": "movedim", "concat": "cat", "concatenate": "cat", "ger": "outer", "fix": "trunc",
}  # fmt: skip

# functions that are no methods of Tensor
NOT_METHODS = set(
    """
cat concat concatenate stack tensor as_tensor from_numpy zeros ones empty full zeros_like ones_like
empty_like full_like arange linspace eye rand randn rand_like randn_like randint randperm normal
dropout broadcast_to
""".split()
) - {"broadcast_to"}

# Tensor.NAME only
METHODS = "view view_as expand expand_as contiguous repeat softmax log_softmax".split()
