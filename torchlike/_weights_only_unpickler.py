"""Reads pickles without running anything that they name, but for a short list.

The opcodes are described in Python's ``pickletools``.
"""

from __future__ import annotations

import pickle
import pickletools
import struct
import warnings
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from ._safe_globals import Allowed

_BLOCKED = frozenset(("sys", "os", "posix", "nt"))
_MAPPINGS = (dict, OrderedDict, Counter)
# What reading damaged bytes runs into.
_DAMAGE = (EOFError, IndexError, KeyError, struct.error, UnicodeError, ValueError, TypeError)
_OPCODES: dict[int, Callable[[Any], None]] = {}


def _opcode(*codes: bytes) -> Callable[[Any], Any]:
    def register(method: Any) -> Any:
        for code in codes:
            _OPCODES[code[0]] = method
        return method

    return register


def python3_name(module: str, name: str) -> tuple[str, str]:
    """Where Python 3 has what a pickle of protocol 2 names as Python 2 did."""
    if (module, name) in NAME_MAPPING:
        return NAME_MAPPING[module, name]
    return IMPORT_MAPPING.get(module, module), name


def globals_of(data: bytes) -> set[str]:
    """The names of all classes and functions that a pickle refers to."""
    names = set()
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            module, _, name = argument.partition(" ")
            names.add(".".join(python3_name(module, name)))
        elif opcode.name in ("STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4"):
            raise UnpicklingError(f"Unsupported operand {opcode.code}")
    return names


def unsupported(path: str) -> UnpicklingError:
    """The error for a class or function that is not on the list."""
    path = path.removeprefix("builtins.")
    return UnpicklingError(
        f"Unsupported global: GLOBAL {path} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{path}])` or the "
        f"`torch.serialization.safe_globals([{path}])` context manager to allowlist this global "
        "if you trust this class/function."
    )


class Unpickler:
    """Reads one pickle from a file; ``persistent_load`` is called with references to storages."""

    def __init__(self, file: Any, *, encoding: str = "utf-8", persistent_load: Any = None) -> None:
        self.file, self.encoding, self.persistent_load = file, encoding, persistent_load
        self.allowed = Allowed()
        self.memo: dict[int, Any] = {}
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.outside = False  # in the program's own map_location, whose errors are its own

    def load(self) -> Any:
        """The object; UnpicklingError for what is not allowed, and for damaged bytes."""
        try:
            while True:
                code = self.read(1)[0]
                if code == pickle.STOP[0]:
                    return self.stack.pop()
                method = _OPCODES.get(code)
                if method is None:
                    raise UnpicklingError(f"Unsupported operand {code}")
                method(self)
        except UnpicklingError:
            raise
        except _DAMAGE as error:
            if self.outside:
                raise
            what = f"{type(error).__name__}: {error}"
            raise UnpicklingError(f"the pickle is damaged or cut off ({what})") from error

    def read(self, count: int) -> bytes:
        """So many bytes, or EOFError."""
        data = self.file.read(count)
        if len(data) != count:
            raise EOFError("the data end too early")
        return data

    def number(self, form: str) -> Any:
        """A number in the notation of ``struct``."""
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def line(self) -> str:
        """The text up to the end of the line."""
        text = self.file.readline()
        if not text.endswith(b"\n"):
            raise EOFError("the data end too early")
        return text[:-1].decode()

    def marked(self) -> list[Any]:
        """What was pushed since the last mark."""
        items, self.stack = self.stack, self.marks.pop()
        return items

    # --- names and calls --------------------------------------------------------------------------

    @_opcode(pickle.GLOBAL)
    def _global(self) -> None:
        module, name = python3_name(self.line(), self.line())
        path = f"{module}.{name}"
        if module in _BLOCKED:
            raise UnpicklingError(
                f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked."
            )
        found = self.allowed.find(path)
        if found is None:
            raise unsupported(path)
        self.stack.append(found)

    @_opcode(pickle.REDUCE)
    def _reduce(self) -> None:
        args = self.stack.pop()
        function = self.stack[-1]
        self.stack[-1] = self.allowed.call(function, args)

    @_opcode(pickle.NEWOBJ)
    def _new(self) -> None:
        args = self.stack.pop()
        cls = self.stack.pop()
        self.stack.append(self.allowed.new(cls, args))

    @_opcode(pickle.BUILD)
    def _build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if type(target) is OrderedDict:
            target.__dict__.update(state)
        elif self.allowed.may_build(type(target)):
            _set_state(target, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                f"`add_safe_globals`, but got {type(target)}"
            )

    @_opcode(pickle.BINPERSID)
    def _persistent(self) -> None:
        pid = self.stack.pop()
        if type(pid) is not tuple or not pid:
            raise UnpicklingError(f"persistent_load id must be tuple or int, but got {type(pid)}")
        if pid[0] not in ("storage", b"storage"):
            raise UnpicklingError(
                f"Only persistent_load of storage is allowed, but got {type(pid[0])}"
            )
        self.outside = True
        found = self.persistent_load(pid)
        self.outside = False
        self.stack.append(found)

    # --- containers -------------------------------------------------------------------------------

    def _list(self, what: str) -> list[Any]:
        if type(self.stack[-1]) is not list:
            raise UnpicklingError(f"Can only {what} lists, but got {type(self.stack[-1])}")
        return self.stack[-1]

    def _mapping(self, what: str) -> Any:
        if type(self.stack[-1]) not in _MAPPINGS:
            raise UnpicklingError(
                f"Can only {what} for dict, collections.OrderedDict, collections.Counter, but got "
                f"{type(self.stack[-1])}"
            )
        return self.stack[-1]

    @_opcode(pickle.APPEND)
    def _append(self) -> None:
        item = self.stack.pop()
        self._list("append to").append(item)

    @_opcode(pickle.APPENDS)
    def _appends(self) -> None:
        items = self.marked()
        self._list("extend").extend(items)

    @_opcode(pickle.SETITEM)
    def _set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._mapping("SETITEM")[key] = value

    @_opcode(pickle.SETITEMS)
    def _set_items(self) -> None:
        items = self.marked()
        self._mapping("SETITEMS").update(zip(items[::2], items[1::2], strict=True))

    @_opcode(pickle.MARK)
    def _mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    @_opcode(pickle.TUPLE)
    def _tuple(self) -> None:
        items = tuple(self.marked())
        self.stack.append(items)

    def _last(self, count: int) -> None:
        if len(self.stack) < count:
            raise IndexError("the stack is empty")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    # --- numbers and texts ------------------------------------------------------------------------

    @_opcode(pickle.BINUNICODE)
    def _text(self) -> None:
        self.stack.append(str(self.read(self.number("<I")), "utf-8", "surrogatepass"))

    @_opcode(pickle.SHORT_BINSTRING)
    def _old_text(self) -> None:
        data = self.read(self.number("B"))
        self.stack.append(data if self.encoding == "bytes" else data.decode(self.encoding))

    @_opcode(pickle.LONG1)
    def _long(self) -> None:
        self.stack.append(int.from_bytes(self.read(self.number("B")), "little", signed=True))

    # --- the memo, and the beginning --------------------------------------------------------------

    @_opcode(pickle.PROTO)
    def _protocol(self) -> None:
        found = self.number("B")
        if found != 2:
            warnings.warn(
                f"Detected pickle protocol {found} in the checkpoint, which was not the default "
                "pickle protocol used by `torch.load` (2). The weights_only Unpickler might not "
                "support all instructions implemented by this protocol, please file an issue for "
                "adding support if you encounter this.",
                stacklevel=2,
            )

    def _put(self, form: str) -> None:
        self.memo[self.number(form)] = self.stack[-1]

    def _get(self, form: str) -> None:
        self.stack.append(self.memo[self.number(form)])


def _push(make: Callable[[Unpickler], Any]) -> Callable[[Any], None]:
    return lambda self: self.stack.append(make(self))


for _code, _form in ((pickle.BININT, "<i"), (pickle.BININT1, "B"), (pickle.BININT2, "<H")):
    _opcode(_code)(_push(lambda self, form=_form: self.number(form)))
_opcode(pickle.BINFLOAT)(_push(lambda self: self.number(">d")))
for _code, _value in ((pickle.NONE, None), (pickle.NEWTRUE, True), (pickle.NEWFALSE, False)):
    _opcode(_code)(_push(lambda self, value=_value: value))
for _code, _kind in (
    (pickle.EMPTY_TUPLE, tuple),
    (pickle.EMPTY_LIST, list),
    (pickle.EMPTY_DICT, dict),
    (pickle.EMPTY_SET, set),
):
    _opcode(_code)(_push(lambda self, kind=_kind: kind()))
for _count, _code in enumerate((pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3), 1):
    _opcode(_code)(lambda self, count=_count: self._last(count))
for _code, _form in ((pickle.BINPUT, "B"), (pickle.LONG_BINPUT, "<I")):
    _opcode(_code)(lambda self, form=_form: self._put(form))
for _code, _form in ((pickle.BINGET, "B"), (pickle.LONG_BINGET, "<I")):
    _opcode(_code)(lambda self, form=_form: self._get(form))


def _set_state(target: Any, state: Any) -> None:
    """What ``pickle`` does with an object's state."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)
