"""Walking a module's tree, and changing every tensor in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from functional import devices, dtypes
from functional.blame import warn
from functional.ops.create import empty_like
from functional.tensor import Tensor

from ..parameter import Parameter, is_lazy
from .conversion import converted

_SIGNATURES = (
    "\n * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, "
    "bool copy = False, *, torch.memory_format memory_format = None)"
    "\n * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)"
    "\n * (Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format "
    "memory_format = None)\n"
)
COMPLEX_WARNING = (
    "Complex modules are a new feature under active development whose design may change, and "
    "some modules might not work as expected when using complex tensors as parameters or "
    "buffers. Please file an issue at https://github.com/pytorch/pytorch/issues/new?template="
    "bug-report.yml if a complex module does not work as expected."
)


class TraversalMixin:
    """The part of Module that visits and converts what it holds."""

    training: bool
    _modules: dict[str, Any]
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    # --- walking ----------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(name, module) for this module and every one below it, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and every one below it, each once unless ``remove_duplicate`` is False."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """(name, module) for every direct submodule, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Every direct submodule, each once."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for at, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{at}.{name}" if at else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(name, parameter) for this module's and, with ``recurse``, all below it, each once."""
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with ``recurse``, of all below it, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(name, buffer), as ``named_parameters``."""
        return self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, as ``parameters``."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # --- finding by name --------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """The module at a dotted path; AttributeError where there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, TraversalMixin):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _get_member(self, target: str) -> tuple[Any, str, Any]:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return module, name, getattr(module, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; AttributeError where there is none."""
        _, name, found = self._get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; AttributeError where there is none."""
        module, name, found = self._get_member(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put ``module`` at a dotted path, where with ``strict`` one must be already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, TraversalMixin):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), TraversalMixin):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    # --- changing everything ----------------------------------------------------------------------

    def apply(self, fn: Callable[[Any], None]) -> Any:
        """Call ``fn`` on every module below, then on this one; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replace every parameter, gradient and buffer by what ``fn`` makes of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = converted(parameter, fn, f"{type(self).__name__}.{name}")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _replicate_for_data_parallel(self) -> Any:
        """A module with the same buffers and submodules, without parameters yet."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers, replica._modules = replica._buffers.copy(), replica._modules.copy()
        replica._is_replica = True
        return replica

    def train(self, mode: bool = True) -> Any:
        """Set training mode (dropout drops, and so on) here and below; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Set evaluation mode: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Whether gradients of all parameters are computed; returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or fill them with zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert to a dtype (floating and complex tensors only) and/or move to a device.

        ``to(device, dtype, non_blocking)``, ``to(dtype)`` or ``to(tensor)``; in place, returns
        self. ``memory_format`` concerns tensors of four and five dimensions. Raises TypeError for
        a dtype that is neither floating nor complex.
        """
        device, dtype = _to_arguments(args, kwargs)
        memory_format = kwargs.get("memory_format")
        if dtype is not None:
            if dtype.category < dtypes.FLOAT:
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype}"
                )
            if dtype.is_complex:
                warn(COMPLEX_WARNING)

        def convert(t: Tensor) -> Tensor:
            changes = dtype if t.dtype.category >= dtypes.FLOAT else None
            try:
                if memory_format is not None and t.dim() in (4, 5):
                    return t.to(device=device, dtype=changes, memory_format=memory_format)
                return t.to(device=device, dtype=changes)
            except NotImplementedError as error:
                if str(error) == "Cannot copy out of meta tensor; no data!":
                    raise NotImplementedError(
                        f"{error} Please use torch.nn.Module.to_empty() instead of "
                        "torch.nn.Module.to() when moving module from meta to a different device."
                    ) from None
                raise

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move to a device without copying values; returns self."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def type(self, dst_type: Any) -> Any:
        """Convert every tensor, integer ones too; returns self."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Convert floating tensors to float32; returns self."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Convert floating tensors to float64; returns self."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        """Convert floating tensors to float16; returns self."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """Convert floating tensors to bfloat16; returns self."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self) -> Any:
        """Move to the CPU; returns self."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Move to a GPU; returns self."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: Any = None) -> Any:
        """Refused: there is no XPU here."""
        raise AssertionError("Torch not compiled with XPU enabled")

    def ipu(self, device: Any = None) -> Any:
        """Refused: there is no IPU here."""
        raise RuntimeError("PyTorch is not linked with support for ipu devices")

    def mtia(self, device: Any = None) -> Any:
        """Refused: there is no MTIA here."""
        raise AssertionError("Torch not compiled with MTIA enabled.")

    def share_memory(self) -> Any:
        """Refused: tensors are not shared among processes."""
        for t in (*self.parameters(), *self.buffers()):
            if is_lazy(t):
                t.share_memory_()  # has an error of its own
        raise NotImplementedError("Module.share_memory: memory is not shared among processes")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Checks the arguments as ``torch.compile`` does; the module runs as it is.

        Nothing is compiled.
        """
        from ...compiler import compile

        compile(self._call_impl, *args, **kwargs)


def clear_grad(t: Any, set_to_none: bool) -> None:
    """Forget a gradient, or fill it with zeros."""
    grad = t._grad
    if grad is None:
        return
    if set_to_none:
        t._grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


_TO_NAMES = {"device", "dtype", "tensor", "non_blocking", "copy", "memory_format"}


def _to_arguments(args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """(device, dtype) of ``to``; TypeError as PyTorch's for anything else."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    rest = list(args)
    if "tensor" in kwargs:
        rest.insert(0, kwargs["tensor"])
    ok = set(kwargs) <= _TO_NAMES and len(rest) <= 4
    if rest and isinstance(rest[0], Tensor):
        device, dtype, rest = rest[0].device, rest[0].dtype, rest[1:]
    elif rest and isinstance(rest[0], dtypes.dtype):
        dtype, rest = rest[0], rest[1:]
    elif rest:
        device, rest = rest[0], rest[1:]
        if rest:
            dtype, rest = rest[0], rest[1:]
    ok = ok and len(rest) <= 2 and all(isinstance(flag, bool) for flag in rest)
    ok = ok and (dtype is None or isinstance(dtype, dtypes.dtype))
    if not ok or not isinstance(device, (str, int, devices.device, type(None))):
        raise _bad_to(args, kwargs)
    if kwargs.get("copy") or (len(rest) == 2 and rest[1]):
        raise RuntimeError(".to() does not accept copy argument")
    return (None if device is None else devices.device(device)), dtype


def _bad_to(args: Any, kwargs: dict[str, Any]) -> TypeError:
    def name(value: Any) -> str:
        kind = type(value)
        return f"torch.{kind.__name__}" if kind in (dtypes.dtype, devices.device) else kind.__name__

    shown = [name(a) for a in args] + [f"{key}={name(value)}" for key, value in kwargs.items()]
    text = ", ".join(shown) + (", " if kwargs and not args else "")
    return TypeError(
        f"to() received an invalid combination of arguments - got ({text}), but expected one of:"
        + _SIGNATURES
    )
