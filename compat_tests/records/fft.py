"""Fourier transforms."""

from __future__ import annotations

from .base import A, record

KINDS = ("float64", "float32", "complex128", "complex64", "int64", "float16")

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    record(
        f"fft.{_name}",
        lambda T, x, n, dim, norm, f=_name: getattr(T.fft, f)(x, n, dim, norm) * 1,
        (A(3, 4), None, -1, None),
        (A(3, 4), 6, -1, "ortho"),
        (A(3, 4), 3, 0, "forward"),
        (A(3, 4, lay="t"), 2, 1, "backward"),
        dtypes=KINDS,
        bad=[
            (A(3, 4), 0, -1, None),
            (A(3, 4), None, 2, None),
            (A(), None, -1, None),
            (A(3, 4), None, -1, "x"),
        ],
    )
    record(
        f"fft.{_name}n",
        lambda T, x, s, dim, norm, f=_name: getattr(T.fft, f + "n")(x, s, dim, norm),
        (A(3, 4), None, None, None),
        (A(2, 3, 4), (2, 5), None, "ortho"),
        (A(2, 3, 4), None, (0, 2), "forward"),
        dtypes=KINDS,
        bad=[
            (A(3, 4), (1, 2, 3), None, None),
            (A(3, 4), (1, 2), (1,), None),
            (A(3, 4), None, (1, 1), None),
        ],
    )
    record(
        f"fft.{_name}2", lambda T, x, f=_name: getattr(T.fft, f + "2")(x), A(2, 3, 4), dtypes=KINDS
    )
for _name in ("fftshift", "ifftshift"):
    record(
        f"fft.{_name}",
        lambda T, x, dim, f=_name: getattr(T.fft, f)(x, dim),
        (A(3, 4), None),
        (A(3, 4), 1),
    )
record(
    "fft.fftfreq",
    lambda T, n, d: (T.fft.fftfreq(n, d), T.fft.rfftfreq(n, d)),
    (5, 1.0),
    (4, 0.5),
    differentiable=False,
    batchable=False,
)
record(
    "stft",
    lambda T, x, n, hop: T.stft(
        x,
        n,
        hop,
        window=T.hann_window(n, dtype=x.dtype, device=x.device),
        center=False,
        return_complex=True,
    ),
    (A(2, 12), 4, 2),
    (A(12), 4, 1),
    dtypes=("float64", "float32"),
)
record(
    "istft",
    lambda T, x, n, hop: T.istft(
        T.stft(
            x,
            n,
            hop,
            window=T.ones(n, dtype=x.dtype, device=x.device),
            center=False,
            return_complex=True,
        ),
        n,
        hop,
        window=T.ones(n, dtype=x.dtype, device=x.device),
        center=False,
    ),
    (A(2, 12), 4, 2),
    dtypes=("float64", "float32"),
    batchable=False,
)
