"""Block: what a network is built of. Parameters and children register by being assigned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import files
from ..array import NDArray, core_dtype, core_tensor, default_kind, wrap
from .parameter import OwnParameters, Parameter, ParameterDict, fits


class _Hook:
    """Given back by hook registration; ``detach()`` takes the hook away again."""

    def __init__(self, hooks: list[Any], hook: Callable[..., Any]) -> None:
        self._hooks, self._hook = hooks, hook
        hooks.append(hook)

    def detach(self) -> None:
        """Take the hook away."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


class Block:
    """Base class of layers and networks; subclasses define ``forward``."""

    def __init__(self) -> None:
        for name in ("_children", "_reg_params"):
            object.__setattr__(self, name, {})
        self._before: list[Callable[..., Any]] = []
        self._after: list[Callable[..., Any]] = []

    def __setattr__(self, name: str, value: Any) -> None:
        existing = getattr(self, name, None)
        if isinstance(existing, (Block, Parameter)) and value is not None:
            kind = Block if isinstance(existing, Block) else Parameter
            if not isinstance(value, kind):
                raise TypeError(
                    f"{name} of {type(self).__name__} is a {kind.__name__} and cannot become a "
                    f"{type(value).__name__}"
                )
        if isinstance(value, (Block, Parameter)):
            self._register(name, value)
        super().__setattr__(name, value)

    def _register(self, name: str, value: Any) -> None:
        if "_children" not in vars(self):
            raise RuntimeError(f"{type(self).__name__}.__init__ must call super().__init__() first")
        if isinstance(value, Block):
            self.register_child(value, name)
        else:
            self._reg_params[name] = value

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Add a child, under a name or else its number."""
        if not isinstance(block, Block):
            raise TypeError(f"a child is a Block, not {type(block).__name__}")
        self._children[str(len(self._children)) if name is None else name] = block

    # --- parameters -----------------------------------------------------------------------------

    @property
    def params(self) -> OwnParameters:
        """The block's own parameters, without its children's."""
        return OwnParameters(self._reg_params)

    def _named(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        for name, parameter in self._reg_params.items():
            yield prefix + name, parameter
        for name, child in self._children.items():
            yield from child._named(f"{prefix}{name}.")

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """All parameters by name (``0.weight``), or those whose name a pattern matches."""
        return ParameterDict(self._named()).matching(select)

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
        ctx: Any = None,
    ) -> None:
        """Initialize all parameters: Uniform(0.07) where neither they nor ``init`` say otherwise.

        A shared parameter begins once.
        """
        once = {id(parameter): name for name, parameter in reversed([*self._named()])}
        found = ParameterDict((name, p) for name, p in self._named() if once[id(p)] == name)
        found.initialize(init, device, verbose, force_reinit, ctx)

    def zero_grad(self) -> None:
        """Make all gradients zeros."""
        self.collect_params().zero_grad()

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters."""
        self.collect_params().setattr(name, value)

    def reset_device(self, device: Any) -> None:
        """Move all parameters to another device."""
        self.collect_params().reset_device(device)

    reset_ctx = reset_device

    def share_parameters(self, shared: dict[str, Parameter]) -> Block:
        """Use another block's parameters where the names agree; returns the block."""
        for name, parameter in shared.items():
            *path, last = name.split(".")
            block: Any = self
            for step in path:
                block = block and block._children.get(step)
            if block is not None and last in block._reg_params:
                setattr(block, last, parameter)
        return self

    def cast(self, dtype: Any) -> None:
        """Change the dtype of all parameters."""
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self._reg_params.values():
            parameter.cast(dtype)

    # --- files ----------------------------------------------------------------------------------

    def save_parameters(self, filename: Any, deduplicate: bool = False) -> None:
        """Save all parameters under their names; each shared one once with ``deduplicate``."""
        named = dict(self._named())
        if deduplicate:
            named = {n: p for p, n in {p: n for n, p in reversed(named.items())}.items()}
        files.write_arrays(filename, {name: p.data().asnumpy() for name, p in named.items()})

    def load_parameters(
        self,
        filename: Any,
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        ctx: Any = None,
    ) -> None:
        """Load what ``save_parameters`` has saved.

        Parameters that are not in the file, others that are, and other shapes and dtypes are
        errors (ValueError), before anything is changed.
        """
        found, named = files.read_arrays(filename), dict(self._named())
        present = {id(named[name]) for name in found if name in named}
        missing = [n for n, p in named.items() if id(p) not in present]
        extra = [n for n in found if n not in named]
        if missing and not allow_missing:
            raise ValueError(f"{filename} has no {', '.join(missing)}")
        if extra and not ignore_extra:
            raise ValueError(f"{filename} has {', '.join(extra)}, which the block has not")
        known = {name: values for name, values in found.items() if name in named}
        for name, values in known.items():
            _check(name, named[name], values, cast_dtype)
        for name, values in known.items():
            self._load(named[name], values, ctx if device is None else device)

    @staticmethod
    def _load(parameter: Parameter, values: Any, place: Any) -> None:
        array = wrap(core_tensor(values, parameter.dtype, place), default_kind())
        if parameter._data is None and parameter._waiting is None:
            parameter._shape = array.shape
            parameter._take(array)
        else:
            parameter.set_data(array)

    # --- calls ----------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        for hook in self._before:
            hook(self, args)
        found = self._run(*args)
        for hook in self._after:
            hook(self, args, found)
        return found

    def _run(self, *args: Any) -> Any:
        if any(p._waiting is not None for p in self._reg_params.values()):
            self.infer_shape(*args)
            for parameter in self._reg_params.values():
                parameter._finish()
        return self.forward(*args)

    def infer_shape(self, *args: Any) -> None:
        """Complete the shapes of the block's own parameters from the first inputs."""

    def forward(self, *args: Any) -> Any:
        """The results for the inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def register_forward_hook(self, hook: Callable[..., Any]) -> _Hook:
        """Call ``hook(block, inputs, output)`` after each call."""
        return _Hook(self._after, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> _Hook:
        """Call ``hook(block, inputs)`` before each call."""
        return _Hook(self._before, hook)

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call ``fn`` with each child, theirs first, and with the block; returns the block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Accepted without effect: every call runs operation by operation."""

    def summary(self, *inputs: NDArray) -> None:
        """Print each block below with its output's shape and its own number of weights."""
        print(f"{'block':<32}{'output shape':<24}{'weights':>12}")
        with self._printing_hooks():
            self(*inputs)
        distinct = {id(p): p for _, p in self._named()}.values()
        print(f"{'in all':<56}{sum(p.data().size for p in distinct):>12}")

    @contextmanager
    def _printing_hooks(self) -> Iterator[None]:
        def line(block: Block, _: Any, out: Any) -> None:
            shape = [o.shape for o in out] if isinstance(out, (list, tuple)) else out.shape
            own = sum(p.data().size for p in block._reg_params.values())
            print(f"{type(block).__name__:<32}{shape!s:<24}{own:>12}")

        hooks: list[_Hook] = []
        self.apply(lambda block: hooks.append(block.register_forward_hook(line)))
        try:
            yield
        finally:
            for hook in hooks:
                hook.detach()

    def __repr__(self) -> str:
        lines = [f"  ({n}): {c!r}".replace("\n", "\n  ") for n, c in self._children.items()]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])


class HybridBlock(Block):
    """The same as Block: there is no graph to compile."""


def _check(name: str, parameter: Parameter, values: Any, cast: bool) -> None:
    if parameter.shape is not None and not fits(parameter.shape, values.shape):
        raise ValueError(f"{name} has shape {parameter.shape}, in the file {values.shape}")
    own = core_dtype(parameter.dtype).array
    if values.dtype != own and not cast:
        raise ValueError(f"{name} has dtype {own}, in the file {values.dtype}")
