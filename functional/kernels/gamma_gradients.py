"""Derivatives of gamma and Dirichlet numbers by their parameters, with the draw held fixed.

If u = F(x; α) is held fixed, dx/dα = -(∂F/∂α) / (∂F/∂x) (Figurnov, Mohamed and Mnih, "Implicit
reparameterization gradients", 2018). The distribution functions' derivatives have no closed form:
there are series where x is small, saddle-point expansions (Rice, "Uniform asymptotic expansions
for saddle point integrals", 1968) where the parameters are large, and fitted rational functions
in between. Fits and limits are those of PyTorch, whose values are to be met: its errors, about
0.1 %, are part of its answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .special import digamma

ndarray = np.ndarray

# exp(p / q) with p and q cubic in log α, whose coefficients are quadratic in log(x / α)
_GAMMA_FIT = np.array([
    [0.16009398, -0.094634809, 0.025146376, -0.0030648343,
     1, 0.32668115, 0.10406089, 0.0014179084],
    [0.53487893, 0.1298071, 0.065735949, -0.0015649758,
     0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
    [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777,
     0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07],
])  # fmt: skip
# p / q, each a polynomial in log x, log(α / x) and log(total) - log(α / x)
_BETA_FIT = np.array([
    [[[1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
      [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
      [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013]],
     [[0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
      [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
      [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05]],
     [[-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
      [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
      [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05]]],
    [[[1, -0.02924021934, -0.04438342661, 0.007285809825],
      [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
      [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149]],
     [[0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
      [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
      [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05]],
     [[0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
      [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
      [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06]]],
])  # fmt: skip


def _by_region(regions: list[tuple[Any, Any]], *args: ndarray) -> ndarray:
    """For each element the function of the first region that it lies in."""
    result = np.empty(args[0].shape, np.float64)
    rest = np.ones(args[0].shape, bool)
    with np.errstate(all="ignore"):
        for inside, function in regions:
            chosen = rest & inside
            if chosen.any():
                result[chosen] = function(*(a[chosen] for a in args))
            rest &= ~chosen
    return result


def standard_gamma_grad(alpha: ndarray, x: ndarray) -> ndarray:
    """dx/dα of gamma numbers x with shape parameters α, in their dtype."""
    a, z = np.broadcast_arrays(alpha.astype(np.float64), x.astype(np.float64))
    near = (0.9 * a <= z) & (z <= 1.1 * a)
    regions = [
        (z < 0.8, _gamma_series),
        ((a > 8) & near, _gamma_middle),
        (a > 8, _gamma_saddle),
        (True, _gamma_fit),
    ]
    return _by_region(regions, a, z).astype(x.dtype)


def _gamma_series(a: ndarray, x: ndarray) -> ndarray:
    """Of the incomplete gamma function's power series, six terms."""
    term = np.ones_like(x)
    below, of_square = term / a, term / (a * a)
    for i in range(1, 6):
        term = term * (-x / i)
        below, of_square = below + term / (a + i), of_square + term / ((a + i) * (a + i))
    power = x**a
    by_alpha = (np.log(x) - digamma(a)) * (power * below) - power * of_square
    result = -by_alpha / (x ** (a - 1) * np.exp(-x))
    return np.where(np.isnan(result), 0, result)


def _gamma_middle(a: ndarray, x: ndarray) -> ndarray:
    """The saddle-point expansion's own expansion around x = α."""
    square = a * a
    first = 1 + 24 * a * (1 + 12 * a)
    second = 1440 * square + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x)
    return first * second / (1244160 * square * square)


def _gamma_saddle(a: ndarray, x: ndarray) -> ndarray:
    root, log_ratio = np.sqrt(8 * a), np.log(x / a)
    bent = (x - a - a * log_ratio) ** -1.5
    slope = root / (a - x) + np.where(x < a, -bent, bent)
    inner = log_ratio * slope - np.sqrt(2 / a) * (a + x) / ((a - x) * (a - x))
    stirling = 1 + 1 / (12 * a) * (1 + 1 / (24 * a))
    return -stirling * (x * inner) / root


def _gamma_fit(a: ndarray, x: ndarray) -> ndarray:
    u, v = np.log(x / a), np.log(a)
    c = [k0 + u * (k1 + u * k2) for k0, k1, k2 in _GAMMA_FIT.T.tolist()]
    p = c[0] + v * (c[1] + v * (c[2] + v * c[3]))
    q = c[4] + v * (c[5] + v * (c[6] + v * c[7]))
    return np.exp(p / q)


def dirichlet_grad(x: ndarray, alpha: ndarray, total: ndarray) -> ndarray:
    """-(∂F/∂α) / (∂F/∂x) / (1 - x) of Beta(α, total - α), F its distribution function."""
    z, a, t = np.broadcast_arrays(*(v.astype(np.float64) for v in (x, alpha, total)))
    b = t - a
    edge = t * z * (1 - z)
    regions = [
        ((z <= 0.5) & (edge < 2.5), lambda z, a, b: _beta_first_series(z, a, b)),
        ((z >= 0.5) & (edge < 0.75), lambda z, a, b: -_beta_second_series(1 - z, b, a)),
        ((a > 6) & (b > 6), _beta_large),
        (True, _beta_fit),
    ]
    return _by_region(regions, z, a, b).astype(x.dtype)


def _beta_first_series(x: ndarray, a: ndarray, b: ndarray) -> ndarray:
    """By the first parameter, x near 0."""
    factor = digamma(a) - digamma(a + b) - np.log(x)
    term = np.ones_like(x)
    series = term / a * (factor + 1 / a)
    for i in range(1, 11):
        term = term * ((i - b) * x / i)
        series = series + term / (a + i) * (factor + 1 / (a + i))
    result = x * (1 - x) ** -b * series
    return np.where(np.isnan(result), 0, result)


def _beta_second_series(x: ndarray, a: ndarray, b: ndarray) -> ndarray:
    """By the second parameter, x near 0."""
    factor = digamma(a + b) - digamma(b)
    term, product, slope = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    series = factor / a
    for i in range(1, 9):
        term = term * (-x / i)
        slope = slope * (b - i) + product
        product = product * (b - i)
        series = series + term / (a + i) * (slope + factor * product)
    result = -((1 - x) ** (1 - b)) * series
    return np.where(np.isnan(result), 0, result)


def _beta_large(x: ndarray, a: ndarray, b: ndarray) -> ndarray:
    """Both parameters large: Rice's expansion, and its limit where x is near the mean."""
    total = a + b
    mean = a / total
    deviation = np.sqrt(a * b / (total + 1)) / total
    middle = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return np.where(middle, _beta_middle(x, a, b), _beta_saddle(x, a, b))


def _beta_middle(x: ndarray, a: ndarray, b: ndarray) -> ndarray:
    total, square = a + b, b * b
    of_a = 8 * (1 - x) * (135 * b - 11)
    of_a = (453 + 1620 * b * (1 - x) - 455 * x) * b + a * of_a
    of_a = 3 * (59 + 180 * b - 90 * x) * square + a * of_a
    of_a = (43 + 20 * (16 + 27 * b) * x) * square * b + a * of_a
    polynomial = 47 * x * square * square + a * of_a
    above = (1 + 12 * a) * (1 + 12 * b) / (total * total)
    below = 12960 * a * a * a * square * (1 + 12 * total)
    return above / (1 - x) * polynomial / below


def _stirling(a: ndarray) -> ndarray:
    return 1 + 1 / (12 * a) + 1 / (288 * a * a)


def _beta_saddle(x: ndarray, a: ndarray, b: ndarray) -> ndarray:
    total = a + b
    off = a * (x - 1) + b * x
    first = 2 * (a * a) * (x - 1) + a * b * (x - 1) - x * (b * b)
    first = first / (np.sqrt(2 * a / b) * total**1.5 * off * off)
    entropy = b * np.log(b / (total * (1 - x))) + a * np.log(a / (total * x))
    bent = entropy**-1.5
    slope = np.sqrt(8 * a * b / total) / off + np.where(x < a / total, bent, -bent)
    inner = first + 0.5 * np.log(a / (total * x)) * slope
    stirling = _stirling(a) * _stirling(b) / _stirling(total)
    return stirling * (-x / np.sqrt(2 * a * b / total)) * inner


def _beta_fit(x: ndarray, a: ndarray, b: ndarray) -> ndarray:
    total = a + b
    u = np.log(x)
    v = np.log(a) - u
    w = np.log(total) - v
    powers = np.stack([u**i * v**j * w**k for i in range(3) for j in range(3) for k in range(4)])
    p, q = _BETA_FIT.reshape(2, -1) @ powers
    return p / q * (x * (digamma(total) - digamma(a)) / b)
