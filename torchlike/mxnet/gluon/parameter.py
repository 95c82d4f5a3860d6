"""Parameter: an array that a Block learns, whose shape may be known only at the first call."""

from __future__ import annotations

import re
from typing import Any

import torchlike as torch

from .. import initializer
from ..array import NDArray, core_dtype, core_tensor, default_kind, wrap
from ..base import MXNetError
from ..context import Context, core_device, cpu, current_context
from ..graph import GRAD_REQS


class DeferredInitializationError(MXNetError):
    """A parameter was asked for before the first call that tells its shape."""


class Parameter:
    """A learnt array and its gradient; sizes of 0 in ``shape`` are unknown as yet.

    ``grad_req`` is ``write``, ``add`` or ``null``, which is also what ``differentiable=False``
    means; ``lr_mult`` and ``wd_mult`` multiply the optimizer's learning rate and weight decay.
    """

    def __init__(
        self,
        name: str = "weight",
        grad_req: str = "write",
        shape: Any = None,
        dtype: Any = "float32",
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for kind in (stype, grad_stype):
            if kind != "default":
                raise MXNetError(f"storage type {kind!r} is not supported: arrays are dense")
        self.name, self.init, self.dtype = name, init, dtype
        self.lr_mult, self.wd_mult = lr_mult, wd_mult
        self._shape = (shape,) if isinstance(shape, int) else shape and tuple(shape)
        self._deferred_ok, self._differentiable = allow_deferred_init, differentiable
        self._data: NDArray | None = None
        self._waiting: tuple[Any, Any, Any] | None = None  # init, context, default
        self._grad_req = "null"
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self.shape}, dtype={self.dtype})"

    # --- what it is -----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape, with 0 for unknown sizes; None if not even their number is known."""
        return self._shape

    @shape.setter
    def shape(self, new: Any) -> None:
        new = tuple(new)
        if self._shape is not None and not fits(self._shape, new):
            raise ValueError(f"{self.name} has shape {self._shape}, which {new} contradicts")
        self._shape = new

    @property
    def grad_req(self) -> str:
        """How gradients arrive: ``write``, ``add`` or ``null`` (not at all)."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in GRAD_REQS:
            raise ValueError(f"grad_req must be one of {', '.join(GRAD_REQS)}, not {req!r}")
        req = req if self._differentiable else "null"
        if req != self._grad_req:
            self._grad_req = req
            if self._data is not None:
                self._attach(self._data)

    def _known(self) -> bool:
        return self._shape is not None and all(size > 0 for size in self._shape)

    # --- its beginning --------------------------------------------------------------------------

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        default_init: Any = None,
        force_reinit: bool = False,
        ctx: Any = None,
    ) -> None:
        """Make the array, or wait until its shape is known; nothing if there is one already.

        ``init`` or the parameter's own initializer decides, else ``default_init`` by the name's
        end. ValueError where the shape is not known and may not stay so.
        """
        if self._data is not None and not force_reinit:
            return
        if not self._known() and not self._deferred_ok:
            raise ValueError(f"{self.name} cannot begin: its shape {self._shape} is not complete")
        place = ctx if device is None else device
        core_device(place)
        self._data = None
        self._waiting = (init or self.init, place or current_context(), default_init)
        if self._known():
            self._finish()

    def _finish(self) -> None:
        """Make the array now that the shape is known."""
        if self._waiting is None:
            return
        if not self._known():
            raise DeferredInitializationError(
                f"{self.name} waits for its shape {self._shape}: call the block with data first"
            )
        chosen, place, default = self._waiting
        zeros = torch.zeros(self._shape, dtype=core_dtype(self.dtype), device=core_device(place))
        data = wrap(zeros, default_kind())
        if chosen is not None:
            initializer.create(chosen).fill(self.name, data)
        else:
            initializer.create(default or initializer.Uniform())(self.name, data)
        self._take(data)

    def _take(self, data: NDArray) -> None:
        self._data, self._waiting = data, None
        self._attach(data)

    def _attach(self, data: NDArray) -> None:
        """Mark the array, as what it is now if it was marked before."""
        if data._tensor.dtype.is_floating_point and self._grad_req != "null":
            data.attach_grad(self._grad_req)
        elif data.grad is not None:
            self._data = data.detach()

    # --- its values -----------------------------------------------------------------------------

    def _made(self) -> NDArray:
        if self._data is not None:
            return self._data
        if self._waiting is not None:
            raise DeferredInitializationError(
                f"{self.name} has no values before the first call of its block with data: its "
                f"shape {self._shape} is not complete"
            )
        raise RuntimeError(f"Parameter {self.name} has not been initialized: call initialize()")

    def data(self, device: Any = None, ctx: Any = None) -> NDArray:
        """The array; DeferredInitializationError or RuntimeError if there is none yet."""
        return self._made()

    def grad(self, device: Any = None, ctx: Any = None) -> NDArray:
        """The gradient array; RuntimeError where ``grad_req`` is ``null``."""
        found = self._made().grad
        if found is None:
            raise RuntimeError(f"Parameter {self.name} has no gradient: its grad_req is 'null'")
        return found

    def list_data(self) -> list[NDArray]:
        """The array, in a list: there is one device."""
        return [self.data()]

    def list_grad(self) -> list[NDArray]:
        """The gradient array, in a list."""
        return [self.grad()]

    def list_ctx(self) -> list[Context]:
        """The device, in a list."""
        if self._data is None and self._waiting is not None:
            return [self._waiting[1] or cpu()]
        return [self._made().context]

    list_device = list_ctx

    def set_data(self, data: Any) -> None:
        """Take over the elements of another array; ValueError for another shape."""
        shape = tuple(data.shape)
        if self._shape is not None and not fits(self._shape, shape):
            raise ValueError(f"{self.name} has shape {self._shape}, the new data {shape}")
        if self._data is not None:
            self._data[:] = data
            return
        place = self._waiting[1] if self._waiting else None
        self._shape = shape
        self._take(wrap(core_tensor(data, self.dtype, place), default_kind()))

    def zero_grad(self) -> None:
        """Make the gradient zeros."""
        if self._grad_req != "null" and self._data is not None:
            self.grad()[:] = 0

    def cast(self, dtype: Any) -> None:
        """Change the dtype, of the values as well."""
        core_dtype(dtype)
        self.dtype = dtype
        if self._data is not None:
            self._take(self._data.detach().astype(dtype))

    def reset_device(self, device: Any) -> None:
        """Move to another device."""
        if self._data is None:
            raise RuntimeError(f"Parameter {self.name} has not been initialized")
        self._take(self._data.detach().as_in_context(_single(device)))

    reset_ctx = reset_device


class Constant(Parameter):
    """A parameter that never changes, made from an array or nested list."""

    def __init__(self, value: Any, name: str = "const") -> None:
        array = wrap(core_tensor(value, "float32"), default_kind())
        super().__init__(
            name, "null", array.shape, "float32", init=initializer.Constant(array),
            differentiable=False,
        )  # fmt: skip


def _single(device: Any) -> Context:
    return device[0] if isinstance(device, (list, tuple)) and len(device) == 1 else device


def fits(old: Any, new: Any) -> bool:
    """Whether a shape agrees with one in which 0 and -1 stand for unknown sizes."""
    return len(old) == len(new) and all(o in (0, -1, n) for o, n in zip(old, new))


class ParameterDict(dict[str, Parameter]):
    """Parameters by their names in a Block."""

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
        ctx: Any = None,
    ) -> None:
        """Initialize each; ``init`` serves those without one of their own."""
        default = initializer.create(init or initializer.Uniform())
        for parameter in self.values():
            parameter.initialize(None, device, default, force_reinit, ctx)

    def zero_grad(self) -> None:
        """Make all gradients zeros."""
        for parameter in self.values():
            parameter.zero_grad()

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of each, such as ``grad_req`` or ``wd_mult``."""
        for parameter in self.values():
            setattr(parameter, name, value)

    def reset_device(self, device: Any) -> None:
        """Move each to another device."""
        for parameter in self.values():
            parameter.reset_device(device)

    reset_ctx = reset_device

    def matching(self, select: str | None) -> ParameterDict:
        """Those whose whole name the regular expression matches from its start."""
        if select is None:
            return self
        pattern = re.compile(select)
        return ParameterDict({n: p for n, p in self.items() if pattern.match(n)})


class OwnParameters(ParameterDict):
    """A Block's own parameters, from which it may also ask for new ones, as in MXNet 1."""

    def get(self, name: str, default: Any = None, **settings: Any) -> Any:  # type: ignore[override]
        """The parameter of that name; with settings, a new one where there is none."""
        if name in self or not settings:
            return super().get(name, default)
        return Parameter(name, allow_deferred_init=True, **settings)

    def get_constant(self, name: str, value: Any = None) -> Any:
        """The parameter of that name, or a new one that never changes."""
        return self[name] if name in self else Constant(value, name)
