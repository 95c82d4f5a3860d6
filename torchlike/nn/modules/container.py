"""Containers of modules."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from functional.blame import warn

from .module import Module, _addindent
from .parameter_container import ParameterDict, ParameterList

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def position(index: Any, n: int) -> int:
    """A possibly negative index as one from 0 to n - 1; IndexError beyond."""
    index = operator.index(index)
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of range")
    return index % n


class Container(Module):
    """The base class of networks before Module was; its arguments become submodules."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """What Sequential and ModuleList share: modules in order."""

    def _key(self, index: Any) -> str:
        """The name of the module at an index."""
        at = position(index, len(self._modules))
        return list(self._modules)[at]

    def _renumber(self, modules: Iterable[Any]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, name)
        self._renumber(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Any) -> Any:
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Remove and return the module at ``key`` (an index or a slice)."""
        module = self[key]  # type: ignore[index]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules called one after another, each with the result of the one before.

    Takes modules, or one OrderedDict of named modules.
    """

    _modules: dict[str, Module]  # type: ignore[assignment]

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named: Any = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """``input`` passed through every module in turn."""
        for module in self.__dict__["_modules"].values():
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def _other(self, other: Any) -> list[Any]:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but "
                f"{type(other)} is given."
            )
        return list(other)

    def __add__(self, other: Any) -> Sequential:
        result = Sequential()
        for module in chain(self, self._other(other)):
            result.append(module)
        return result

    def __iadd__(self, other: Any) -> Sequential:
        for module in self._other(other):
            self.append(module)
        return self

    def _times(self, times: Any) -> int:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return times

    def __mul__(self, other: Any) -> Sequential:
        result = Sequential()
        for _ in range(self._times(other)):
            result.extend(self)
        return result

    __rmul__ = __mul__

    def __imul__(self, other: Any) -> Sequential:
        modules = list(self)
        for _ in range(self._times(other) - 1):
            self.extend(modules)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before the one at ``index``; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self._modules)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index + n if index < 0 else index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Add modules at the end; returns self."""
        for module in list(sequential):
            self.append(module)
        return self


class ModuleList(_Numbered):
    """Modules in a list; has no ``forward``."""

    _modules: dict[str, Module]  # type: ignore[assignment]

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[str(position(index, len(self)))]

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, str(position(index, len(self))), module)

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        result = ModuleList()
        for i, module in enumerate(chain(self, other)):
            result.add_module(str(i), module)
        return result

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end; returns self. TypeError for what cannot be iterated over."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        start = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(start + i), module)
        return self

    def __repr__(self) -> str:
        """Equal neighbours are shown once, with their number."""
        if not len(self):
            return f"{self._get_name()}()"
        runs: list[tuple[int, int, str]] = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        lines = [
            f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}"
            for a, b, text in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(map(_addindent, lines)) + "\n)"


def pairs_of(mapping: Any, owner: str, where: str) -> Iterator[tuple[Any, Any]]:
    """(key, value) of a mapping or of an iterable of pairs, with PyTorch's errors."""
    if not isinstance(mapping, Iterable):
        raise TypeError(
            f"{where} should be called with an iterable of key/value pairs, but got "
            f"{type(mapping).__name__}"
        )
    if isinstance(mapping, (Mapping, ModuleDict, ParameterDict)):
        yield from mapping.items()
        return
    for i, pair in enumerate(mapping):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{owner} update sequence element #{i} should be Iterable; is{type(pair).__name__}"
            )
        items = list(pair)
        if len(items) != 2:
            raise ValueError(
                f"{owner} update sequence element #{i} has length {len(items)}; 2 is required"
            )
        yield items[0], items[1]


class ModuleDict(Module):
    """Modules by name; has no ``forward``."""

    _modules: dict[str, Module]  # type: ignore[assignment]

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove everything."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove and return the module called ``key``; KeyError if there is none."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """(name, module) pairs."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping or of (name, module) pairs; equal names are replaced."""
        for name, module in pairs_of(modules, "ModuleDict", "ModuleDict.update"):
            self[name] = module
