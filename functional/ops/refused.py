"""Dtypes that PyTorch has no kernel for, and what it says: one line per operation and kind.

``{}`` stands for the dtype. A text that only names a kernel is PyTorch's usual sentence about it.
"""

# ruff: noqa: E501 - the sentences are PyTorch's, one a line

from __future__ import annotations

from ..dtypes import BOOL, COMPLEX, FLOAT, INT
from ..tape.op import OPS
from . import extremes, matmul, nn, pointwise, reduce, selection

DECLARED = (
    extremes,
    matmul,
    nn,
    pointwise,
    reduce,
    selection,
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
remainder        complex  remainder_cpu
remainder        bool     remainder_cpu
remainder_scalar complex  remainder_cpu
fmod             complex  fmod_cpu
fmod             bool     fmod_cpu
fmod_scalar      complex  fmod_cpu
maximum          complex  ! maximum not implemented for complex tensors.
minimum          complex  ! minimum not implemented for complex tensors.
atan2            complex  atan2_cpu
pow_tensor       bool     pow
relu             complex  clamp is not supported for complex types
relu             bool     ! Boolean inputs not supported for relu
clamp_scalar     complex  clamp is not supported for complex types
clamp_tensor     complex  clamp is not supported for complex types
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
lt               complex  lt_cpu
le               complex  le_cpu
gt               complex  gt_cpu
ge               complex  ge_cpu
"""


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
