"""Which functions of the core are seen where: one table for the torch namespace and Tensor."""

# torch.NAME
FUNCTIONS = """
add sub mul div floor_divide remainder fmod pow square neg reciprocal exp expm1 log log1p log2
log10 sqrt rsqrt sin cos tan sinh cosh asin acos atan atan2 tanh sigmoid relu abs sign sgn floor
ceil trunc round maximum minimum eq ne lt le gt ge isnan isinf isfinite logical_not logical_and
logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not where clamp masked_fill
erf erfc erfinv lgamma digamma polygamma mvlgamma igamma igammac i0 sinc logit xlogy exp2 asinh
acosh atanh hypot logaddexp logaddexp2 copysign nextafter heaviside frac frexp ldexp float_power
fmax fmin gcd lcm bitwise_left_shift bitwise_right_shift lerp addcmul addcdiv clamp_min clamp_max
nan_to_num isposinf isneginf isreal signbit deg2rad rad2deg positive rsub isclose allclose equal
is_same_size is_nonzero real imag angle polar complex view_as_real view_as_complex conj_physical
resolve_conj resolve_neg is_conj is_neg celu selu rrelu prelu threshold hardshrink cosine_similarity
pairwise_distance
sum mean max min amax amin argmax argmin all any var logsumexp cumsum
reshape flatten unflatten ravel t transpose permute movedim broadcast_to unsqueeze squeeze select
narrow diagonal as_strided unbind split split_with_sizes chunk cat stack flip
tensor_split hsplit vsplit dsplit vander unsafe_split unsafe_split_with_sizes unsafe_chunk
atleast_1d atleast_2d atleast_3d hstack vstack dstack column_stack
broadcast_shapes broadcast_tensors meshgrid roll rot90 fliplr flipud tile adjoint diag diag_embed
diagflat
alias_copy as_strided_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy
split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy
unsqueeze_copy view_copy resize_as_ embedding_renorm_
gather scatter index_select index_put nonzero tril triu
std std_mean var_mean prod norm nuclear_norm frobenius_norm dist nansum nanmean count_nonzero
aminmax median nanmedian mode
quantile nanquantile kthvalue cumprod cummax cummin logcumsumexp histc histogram histogramdd
bincount
cov corrcoef renorm cdist pdist trapezoid cumulative_trapezoid diff gradient trace
sort topk argsort msort unique unique_consecutive searchsorted bucketize nonzero_static argwhere
isin
unravel_index scatter_add scatter_reduce index_add index_copy index_fill index_reduce
masked_select masked_scatter take take_along_dim put select_scatter slice_scatter diagonal_scatter
as_strided_scatter repeat_interleave combinations cartesian_prod fill
mm bmm mv dot addmm addmv baddbmm matmul outer einsum tensordot kron inner vdot addr addbmm
chain_matmul cross block_diag bilinear det slogdet logdet inverse pinverse matrix_exp matrix_power
cholesky cholesky_inverse cholesky_solve qr svd lu lu_unpack lu_solve triangular_solve geqrf orgqr
ormqr svd_lowrank pca_lowrank stft istft hann_window hamming_window blackman_window bartlett_window
kaiser_window
clone detach conj softmax log_softmax dropout
tensor as_tensor from_numpy zeros ones empty full zeros_like ones_like empty_like full_like arange
linspace logspace eye tril_indices triu_indices scalar_tensor empty_strided empty_permuted
asarray from_dlpack to_dlpack frombuffer rand randn rand_like randn_like randint randperm normal
bernoulli multinomial
lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
batch_norm native_batch_norm instance_norm layer_norm native_layer_norm group_norm
native_group_norm rms_norm
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d avg_pool1d
adaptive_avg_pool1d adaptive_max_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d
constant_pad_nd pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle grid_sampler
grid_sampler_2d grid_sampler_3d affine_grid_generator convolution conv_tbc
binary_cross_entropy_with_logits kl_div ctc_loss cosine_embedding_loss hinge_embedding_loss
margin_ranking_loss poisson_nll_loss triplet_margin_loss embedding embedding_bag native_dropout
feature_dropout alpha_dropout feature_alpha_dropout native_dropout_backward
poisson binomial randint_like range segment_reduce
""".split()

# the same, of sparse tensors
SPARSE = """
sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_compressed_tensor spmm dsmm smm hspmm
sspaddmm
""".split()
FUNCTIONS += SPARSE

# torch.NAME is Tensor.NAME
WRITERS = "as_strided_ detach_ fill_ index_put_ zero_".split()

# torch.NEW is torch.OLD
ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
    "negative": "neg", "absolute": "abs", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "clip": "clamp", "swapaxes": "transpose", "swapdims": "transpose",
    "moveaxis": "movedim", "concat": "cat", "concatenate": "cat", "ger": "outer", "trapz":
"trapezoid", "row_stack": "vstack", "fix": "trunc", "_segment_reduce": "segment_reduce",
}  # fmt: skip

# functions that are no methods of Tensor
NOT_METHODS = set(
    """
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d avg_pool1d
adaptive_avg_pool1d adaptive_max_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d
constant_pad_nd pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle grid_sampler
grid_sampler_2d grid_sampler_3d affine_grid_generator convolution conv_tbc
einsum tensordot chain_matmul block_diag bilinear lu_unpack svd_lowrank pca_lowrank hann_window
hamming_window
blackman_window bartlett_window kaiser_window
cat concat concatenate stack tensor as_tensor from_numpy zeros ones empty full zeros_like ones_like
empty_like full_like arange linspace eye rand randn rand_like randn_like randint randperm normal
dropout broadcast_to
real imag polar complex view_as_real view_as_complex rsub celu selu rrelu threshold
cosine_similarity pairwise_distance
logspace tril_indices triu_indices scalar_tensor empty_strided empty_permuted asarray from_dlpack
to_dlpack lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
batch_norm native_batch_norm instance_norm layer_norm native_layer_norm group_norm
native_group_norm rms_norm
poisson randint_like range segment_reduce _segment_reduce vander
frombuffer atleast_1d atleast_2d atleast_3d hstack vstack row_stack dstack column_stack
broadcast_shapes broadcast_tensors meshgrid alias_copy as_strided_copy diagonal_copy expand_copy
permute_copy select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy
transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy
std_mean var_mean nuclear_norm frobenius_norm histogramdd cdist pdist trapezoid
cumulative_trapezoid gradient searchsorted
bucketize isin unravel_index combinations cartesian_prod fill trapz
binary_cross_entropy_with_logits kl_div ctc_loss cosine_embedding_loss hinge_embedding_loss
margin_ranking_loss poisson_nll_loss triplet_margin_loss embedding embedding_bag native_dropout
feature_dropout alpha_dropout feature_alpha_dropout native_dropout_backward
embedding_renorm_ sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_compressed_tensor
spmm dsmm hspmm
""".split()
) - {"broadcast_to"}

# Tensor.NAME only
METHODS = """
view view_as reshape_as unfold expand expand_as contiguous repeat softmax log_softmax
""".split()
SPARSE_METHODS = "to_dense to_sparse to_sparse_csr to_sparse_csc coalesce sparse_mask".split()
METHODS += SPARSE_METHODS
