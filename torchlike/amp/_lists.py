"""Which operations autocast runs in which dtype, by their names and those of their parts."""

from __future__ import annotations

LOWER, FLOAT32, WIDEST = "lower", "float32", "widest"

# Names with an underscore at the end of a word (`_of`, `_primitive`, `_reduced`, ...) are the
# core's single operations, which see to calls from within other functions.
_PRODUCTS = """
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution
    linear matmul mm bmm addmm addmm_primitive addbmm baddbmm baddbmm_primitive vecdot
    prelu prelu_kernel scaled_dot_product_attention attention
    rnn_layer rnn_tanh_cell rnn_relu_cell
"""
_LOSSES = """
    mse_loss l1_loss smooth_l1_loss cosine_embedding_loss hinge_embedding_loss poisson_nll_loss
    margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss
    multilabel_margin_loss nll_loss cross_entropy kl_div ctc_loss binary_cross_entropy_with_logits
    mse_loss_reduced smooth_l1_loss_reduced soft_margin_loss_reduced multi_margin_loss_reduced
    multilabel_margin_loss_reduced nll_loss_reduced nll_loss2d_reduced bce_with_logits ctc_loss_of
"""
_CPU = {
    LOWER: _PRODUCTS + "affine_grid_of lstm_layer",
    FLOAT32: _LOSSES
    + """
    huber_loss huber_loss_reduced binary_cross_entropy binary_cross_entropy_reduced
    avg_pool3d avg_pool3d_of max_pool3d max_pool3d_with_indices
    adaptive_avg_pool3d adaptive_avg_pool3d_of adaptive_max_pool3d adaptive_max_pool3d_of
    fractional_max_pool2d fractional_max_pool2d_of fractional_max_pool3d fractional_max_pool3d_of
    max_unpool2d max_unpool2d_of max_unpool3d max_unpool3d_of
    grid_sampler grid_sampler_2d grid_sampler_2d_of grid_sampler_3d grid_sampler_3d_of
    reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d
    polar prod quantile nanquantile stft cdist trace view_as_complex
    cholesky cholesky_inverse cholesky_solve inverse lu lu_solve orgqr ormqr pinverse geqrf qr svd
    triangular_solve
    cond matrix_rank solve cholesky_ex svdvals eig eigvals eigh eigvalsh inv inv_ex
    householder_product tensorinv tensorsolve lstsq
    fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft
    """,
    WIDEST: "cat stack index_copy",
}
_GPU = {
    LOWER: _PRODUCTS
    + """
    mv addmv addr addmv_primitive chain_matmul multi_dot gru_layer lstm_layer gru_cell lstm_cell
    """,
    FLOAT32: _LOSSES
    + """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow pow_scalar
    pow_tensor __rpow__ softplus softplus_of cumprod cumsum dist cdist pdist norm prod renorm sum
    sum_dims logsumexp cosine_similarity normalize group_norm layer_norm layer_norm_of
    group_norm_of softmax log_softmax softmin softmax_dim log_softmax_dim
    """,
    WIDEST: """
    addcdiv addcmul atan2 bilinear cat cross dot grid_sampler index_put scatter_add stack tensordot
    """,
}
POLICIES = {
    device: {name: kind for kind, names in kinds.items() for name in names.split()}
    for device, kinds in (("cpu", _CPU), ("cuda", _GPU))
}
