"""Dtypes that PyTorch has no kernel for, and what it says: one line per operation and kind.

``{}`` stands for the dtype. A text that only names a kernel is PyTorch's usual sentence about it.
"""

# ruff: noqa: E501 - the sentences are PyTorch's, one a line

from __future__ import annotations

from ..dtypes import BOOL, COMPLEX, FLOAT, INT
from ..tape.op import OPS
from . import (
    activation,
    bessel,
    complex,
    counting,
    distances,
    errorfn,
    extremes,
    gamma,
    matmul,
    nn,
    norms,
    pairs,
    pointwise,
    polynomials,
    ranks,
    reduce,
    repeats,
    rounding,
    scans,
    scatter,
    selection,
    sorting,
    statistics,
)

DECLARED = (
    activation,
    bessel,
    complex,
    counting,
    distances,
    errorfn,
    extremes,
    gamma,
    matmul,
    nn,
    norms,
    pairs,
    pointwise,
    polynomials,
    reduce,
    repeats,
    rounding,
    scans,
    scatter,
    selection,
    sorting,
    ranks,
    statistics,
)  # the table speaks of their operations

_KINDS = {"bool": (BOOL,), "whole": (BOOL, INT), "complex": (COMPLEX,), "inexact": (FLOAT, COMPLEX)}

_TABLE = """
neg              bool     ! Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.
floor_divide     complex  div_floor_cpu
floor_divide_    complex  div_floor_cpu
floor_divide_scalar   complex  div_floor_cpu
floor_divide_scalar_  complex  div_floor_cpu
floor_divide     bool     div_floor_cpu
floor_divide_    bool     div_floor_cpu
floor_divide_scalar   bool     div_floor_cpu
floor_divide_scalar_  bool     div_floor_cpu
remainder        complex  remainder_cpu
remainder        bool     remainder_cpu
remainder_scalar complex  remainder_cpu
remainder_scalar bool     remainder_cpu
fmod             complex  fmod_cpu
fmod             bool     fmod_cpu
fmod_scalar      complex  fmod_cpu
fmod_scalar      bool     fmod_cpu
maximum          complex  ! maximum not implemented for complex tensors.
minimum          complex  ! minimum not implemented for complex tensors.
atan2            complex  atan2_cpu
pow_tensor       bool     pow
pow_of_scalar    bool     pow
relu             complex  clamp is not supported for complex types
relu             bool     ! Boolean inputs not supported for relu
clamp_scalar     complex  clamp is not supported for complex types
abs              bool     abs_cpu
sign             complex  Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.
floor            complex  floor is not supported for complex inputs
floor            bool     floor_vml_cpu
ceil             complex  ceil is not supported for complex inputs
ceil             bool     ceil_vml_cpu
trunc            complex  trunc is not supported for complex inputs
trunc            bool     trunc_vml_cpu
round            complex  round_vml_cpu
round            bool     round_vml_cpu
leaky_relu       complex  leaky_relu_cpu
leaky_relu       whole    leaky_relu_cpu
var_dims         whole    ! std and var only support floating point and complex dtypes
max_all          complex  max_all
min_all          complex  min_all
max_dim          complex  ! max(): does not support complex input
min_dim          complex  ! min(): does not support complex input
amax_dims        complex  max_values_cpu
amin_dims        complex  min_values_cpu
argmax_flat      complex  ! argmax(): does not support complex input
argmin_flat      complex  ! argmin(): does not support complex input
argmax_flat      bool     ! argmax(): does not support bool input
argmin_flat      bool     ! argmin(): does not support bool input
max_pool2d_with_indices complex max_pool2d
max_pool2d_with_indices bool  max_pool2d
max_pool3d_with_indices complex max_pool3d_frame
max_pool3d_with_indices bool  max_pool3d_frame
nll_loss_reduced whole    nll_loss_out_frame
nll_loss_reduced complex  nll_loss_out_frame
nll_loss2d_reduced whole  nll_loss2d_forward_out_frame
nll_loss2d_reduced complex nll_loss2d_forward_out_frame
convolution      bool     slow_conv2d_cpu
softmax_dim      complex  softmax_lastdim_kernel_impl
log_softmax_dim  complex  log_softmax_lastdim_kernel_impl
mm_primitive     bool     addmm_impl_cpu_
addmm_primitive  bool     addmm_impl_cpu_
bmm_primitive    bool     bmm
baddbmm_primitive bool    baddbmm
mv_primitive     bool     addmv_impl_cpu
addmv_primitive  bool     addmv_impl_cpu
dot_primitive    bool     dot
mse_loss_reduced complex  mse_cpu
mse_loss_reduced whole    mse_cpu
bitwise_and      inexact  bitwise_and_cpu
bitwise_or       inexact  bitwise_or_cpu
bitwise_xor      inexact  bitwise_xor_cpu
bitwise_not      inexact  bitwise_not_cpu
lt_write         complex  lt_cpu
le_write         complex  le_cpu
gt_write         complex  gt_cpu
ge_write         complex  ge_cpu
lt_write_scalar  complex  lt_cpu
le_write_scalar  complex  le_cpu
gt_write_scalar  complex  gt_cpu
ge_write_scalar  complex  ge_cpu
lt               complex  lt_cpu
le               complex  le_cpu
gt               complex  gt_cpu
ge               complex  ge_cpu
erf              complex  erf_vml_cpu
erfc             complex  erfc_vml_cpu
erfinv           complex  erfinv_vml_cpu
lgamma           complex  lgamma_vml_cpu
digamma          complex  digamma
mvlgamma_of      complex  arange_cpu
i0               complex  i0_vml_cpu
logit_of         complex  logit_cpu
frac             complex  frac_cpu
frac             whole    frac_cpu
signbit          complex  signbit is not implemented for complex tensors.
isposinf         complex  ! isposinf does not support complex inputs.
isneginf         complex  ! isneginf does not support complex inputs.
deg2rad          complex  ! deg2rad is not supported for complex tensors.
rad2deg          complex  ! rad2deg is not supported for complex tensors.
clamp_min_tensor complex  maximum_cpu
clamp_min_number complex  clamp is not supported for complex types
clamp_min_number bool     clamp_min_scalar_cpu
clamp_max_tensor complex  minimum_cpu
clamp_max_number complex  clamp is not supported for complex types
clamp_max_number bool     clamp_max_scalar_cpu
igamma           whole    igamma_cpu
igamma           complex  igamma_cpu
igammac          whole    igammac_cpu
igammac          complex  igammac_cpu
hypot            whole    hypot_cpu
hypot            complex  hypot_cpu
logaddexp        whole    logaddexp_cpu
logaddexp2       whole    logaddexp2_cpu
logaddexp2       complex  logaddexp2_cpu
copysign         complex  copysign_cpu
copysign_number  complex  copysign_cpu
nextafter        whole    nextafter_cpu
nextafter        complex  nextafter_cpu
fmax             complex  ! fmax not implemented for complex tensors.
fmin             complex  ! fmin not implemented for complex tensors.
gcd              bool     gcd_cpu
gcd              inexact  gcd_cpu
lcm              bool     lcm_cpu
lcm              inexact  lcm_cpu
bitwise_left_shift   bool    lshift_cpu
bitwise_left_shift   inexact lshift_cpu
bitwise_right_shift  bool    rshift_cpu
bitwise_right_shift  inexact rshift_cpu
lerp_number      whole    lerp_kernel_scalar
lerp_tensor      whole    lerp_kernel_tensor
addcmul_of       bool     addcmul_cpu_out
elu_of           whole    elu_cpu
elu_of           complex  elu_cpu
elu_over         whole    elu_cpu
elu_over         complex  elu_cpu
celu_of          whole    elu_cpu
celu_of          complex  elu_cpu
celu_over        whole    elu_cpu
celu_over        complex  elu_cpu
gelu_of          whole    GeluKernelImpl
gelu_of          complex  GeluKernelImpl
silu             whole    silu_cpu
mish_of          whole    mish_cpu
mish_of          complex  mish_cpu
hardtanh_of      complex  clamp is not supported for complex types
hardswish_of     whole    hardswish_cpu
hardswish_of     complex  hardswish_cpu
hardsigmoid_of   whole    hardsigmoid_cpu
hardsigmoid_of   complex  hardsigmoid_cpu
hardshrink_of    whole    hardshrink_cpu
hardshrink_of    complex  hardshrink_cpu
softplus         whole    softplus_cpu
softplus         complex  softplus_cpu
log_sigmoid      whole    log_sigmoid_cpu
log_sigmoid      complex  log_sigmoid_cpu
leaky_relu_over  whole    leaky_relu_cpu
leaky_relu_over  complex  leaky_relu_cpu
rrelu_with_noise whole    leaky_relu_cpu
rrelu_with_noise complex  leaky_relu_cpu
rrelu_over       whole    leaky_relu_cpu
rrelu_over       complex  leaky_relu_cpu
threshold_of     bool     threshold_cpu
threshold_of     complex  threshold_cpu
threshold_over   bool     threshold_cpu
threshold_over   complex  threshold_cpu
prelu_kernel     whole    prelu_cpu
prelu_kernel     complex  prelu_cpu
glu_dim          whole    glu_cpu
glu_dim          complex  glu_cpu
std_dims         whole    ! std and var only support floating point and complex dtypes
std_mean_dims    whole    ! std_mean only support floating point and complex dtypes
var_mean_dims    whole    ! var_mean only support floating point and complex dtypes
aminmax_dims     complex  aminmax_cpu
logcumsumexp_dim whole    logcumsumexp_out_cpu
median_all       complex  median_cpu
median_all       bool     median_cpu
nanmedian_all    complex  median_cpu
nanmedian_all    bool     median_cpu
median_dim       complex  median_out
median_dim       bool     median_out
nanmedian_dim    complex  median_out
nanmedian_dim    bool     median_out
sort_dim         complex  !  Sort does not support complex dtypes on CPU
sort_stable      complex  !  Sort does not support complex dtypes on CPU
topk_dim         complex  !  topk does not support complex dtypes on CPU
topk_dim         bool     ! topk does not support bool dtypes on CPU
unique           complex  unique
unique_dim       complex  unique_dim
unique_consecutive complex unique
trace_of         bool     trace
"""

_SPECIAL = "entr erfcx i0e i1 i1e log_ndtr ndtri".split()


def _declare(line: str) -> None:
    name, kind, text = line.split(None, 2)
    error: type[Exception] = NotImplementedError
    if text.startswith("! "):
        error, text = RuntimeError, text[2:]
    elif " " not in text:
        text = f"\"{text}\" not implemented for '{{}}'"
    OPS[name].refused = (*OPS[name].refused, (_KINDS[kind], error, text))


for _line in _TABLE.strip().splitlines():
    _declare(_line)
for _name in (*bessel.WITHOUT_DERIVATIVES, *polynomials.POLYNOMIALS, *_SPECIAL):
    _declare(f"{_name} complex {_name}_cpu")
for _name in ("xlogy", "xlog1py", "zeta"):
    for _form in ("pair", "after_number", "before_number"):
        _declare(f"{_name}_{_form} complex {_name}_cpu")
