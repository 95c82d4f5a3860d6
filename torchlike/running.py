"""Run a program as Python would run it, with ``torch`` or another name served by this library.

The program becomes ``__main__`` in the module object that is ``__main__`` already, and an
exception that it does not catch goes on to the interpreter, which then does all that it does at
the end of a program; only the frames of this file are taken out of the traceback.
"""

from __future__ import annotations

import builtins
import importlib.util
import linecache
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any, NoReturn

from . import alias, siblings, version

USAGE = """\
usage: python -m torchlike [--as NAME] SCRIPT [ARGS]
       python -m torchlike [--as NAME] -m MODULE [ARGS]
       python -m torchlike [--as NAME] -c CODE [ARGS]

Runs a program in which `import torch` gives torchlike. SCRIPT may be a file, a directory or a zip
file with a __main__.py, or - for the standard input.

  --as NAME      the name to serve: torch (the default), singa or mxnet; may be given again
  -h, --help     show this text
  --version      show the version
"""


def _fail(text: str, code: int = 2) -> NoReturn:
    print(text, file=sys.stderr)
    raise SystemExit(code)


def _split(args: list[str]) -> tuple[str, list[str]]:
    """How to run (``script``, ``-m``, ``-c``), and what with which arguments."""
    args = list(args)
    while args and args[0].startswith("-") and args[0] != "-":
        option = args.pop(0)
        if option in ("-h", "--help"):
            print(USAGE, end="")
            raise SystemExit(0)
        if option == "--version":
            print(f"torchlike {version.TORCHLIKE} (follows PyTorch {version.PYTORCH})")
            raise SystemExit(0)
        if option in ("-m", "-c"):
            if not args:
                _fail(f"python -m torchlike: argument expected for {option}\n\n{USAGE}")
            return option, args
        _surface(option, args)
    if not args:
        _fail(USAGE)
    return "script", args


def _surface(option: str, args: list[str]) -> None:
    """Note the NAME of ``--as NAME``, and take it off the arguments."""
    head, equals, name = option.partition("=")
    if head != "--as":
        _fail(f"python -m torchlike: unknown option {option}\n\n{USAGE}")
    if not equals:
        if not args:
            _fail(f"python -m torchlike: argument expected for --as\n\n{USAGE}")
        name = args.pop(0)
    if name not in alias.SURFACES:
        known = ", ".join(alias.SURFACES)
        _fail(f"python -m torchlike: --as {name}: no such surface; there is: {known}")
    _NAMES.append(name)


_NAMES: list[str] = []  # what to serve, where the command line says so


def _install() -> None:
    for name in _NAMES or ["torch"]:
        alias.install(name)


def main() -> None:
    """The command line: run what ``sys.argv`` says."""
    how, args = _split(sys.argv[1:])
    sys.argv = Arguments(args)
    prepare = {"script": _script, "-m": _module, "-c": _command}[how]
    try:
        _become(*prepare(args[0]))
    except SystemExit:
        raise
    except BaseException as error:
        _clean_traceback(error)
        raise


# --- the three ways to name a program -------------------------------------------------------------

Program = tuple[CodeType, dict[str, Any], str | None]  # code, __main__'s attributes, directory


def _script(path: str) -> Program:
    if path == "-":
        return compile(sys.stdin.read(), "<stdin>", "exec"), _attributes(), ""
    if os.path.isdir(path) or (os.path.isfile(path) and _is_archive(path)):
        return _directory(path)
    full = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        text = f"can't open file {full!r}: [Errno {error.errno}] {error.strerror}"
        _fail(f"{sys.executable}: {text}")
    directory = os.path.dirname(os.path.realpath(path))
    loader = SourceFileLoader("__main__", full)
    return _compiled(source, full), _attributes(full, loader), directory


def _compiled(source: bytes, filename: str) -> CodeType:
    return compile(source, filename, "exec", dont_inherit=True)


def _is_archive(path: str) -> bool:
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            return False
    import zipfile

    return zipfile.is_zipfile(path)


def _directory(path: str) -> Program:
    path = os.path.join(os.getcwd(), path)
    spec = PathFinder.find_spec("__main__", [path])
    if spec is None or spec.loader is None:
        _fail(f"{sys.executable}: can't find '__main__' module in {path!r}", 1)
    code = spec.loader.get_code("__main__")  # type: ignore[attr-defined]
    return code, _of_spec(spec), path


def _module(name: str) -> Program:
    siblings.make_room(os.getcwd())
    _install()
    try:
        spec = _find_module(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        kind = type(error).__name__
        text = f"Error while finding module specification for {name!r} ({kind}: {error})"
        _fail(f"{sys.executable}: {text}", 1)
    if spec.origin is not None:
        sys.argv[0] = spec.origin
    code = spec.loader.get_code(spec.name)  # type: ignore[union-attr]
    return code, _of_spec(spec), None


def _find_module(name: str) -> ModuleSpec:
    spec = importlib.util.find_spec(name)
    if spec is None:
        _fail(f"{sys.executable}: No module named {name}", 1)
    if spec.submodule_search_locations is None:
        return spec
    inner = importlib.util.find_spec(name + ".__main__")
    if inner is None:
        text = f"No module named {name}.__main__; {name!r} is a package and cannot be directly "
        _fail(f"{sys.executable}: {text}executed", 1)
    return inner


def _command(source: str) -> Program:
    sys.argv[0] = "-c"
    if sys.version_info >= (3, 13):  # its tracebacks show the lines
        lines = source.splitlines(keepends=True)
        linecache.cache["<string>"] = len(source), None, lines, "<string>"
    return compile(source, "<string>", "exec", dont_inherit=True), _attributes(), ""


# --- child processes ------------------------------------------------------------------------------


class Arguments(list[str]):
    """``sys.argv``, which ``multiprocessing`` sends to a process that it spawns.

    Such a process imports the program's file anew: unpickling the arguments there, before that,
    turns the alias on.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return in_child, (list(self), sys.path[0], _NAMES)


def in_child(arguments: list[str], directory: str, names: list[str]) -> Arguments:
    """Turn the alias on; returns the arguments."""
    siblings.make_room(directory)
    _NAMES[:] = names
    _install()
    return Arguments(arguments)


# --- running it -----------------------------------------------------------------------------------


def _attributes(filename: str | None = None, loader: Any = None) -> dict[str, Any]:
    """What ``__main__`` knows about a program that is no module."""
    found = {"__loader__": loader, "__spec__": None, "__package__": None}
    if filename is not None:
        found |= {"__file__": filename, "__cached__": None}
    return found


def _of_spec(spec: ModuleSpec) -> dict[str, Any]:
    return {
        "__file__": spec.origin, "__cached__": spec.cached, "__loader__": spec.loader,
        "__package__": spec.parent, "__spec__": spec,
    }  # fmt: skip


def _become(code: CodeType, attributes: dict[str, Any], directory: str | None) -> None:
    """Turn ``__main__`` into the program, and run it."""
    if directory is not None:
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = directory
        siblings.make_room(directory or os.getcwd())
    _install()
    namespace = sys.modules["__main__"].__dict__
    namespace.clear()
    namespace |= {"__name__": "__main__", "__doc__": None, "__builtins__": builtins}
    namespace |= attributes
    if sys.version_info < (3, 14):
        namespace["__annotations__"] = {}
    _PROGRAM.append(code)
    exec(code, namespace)


_PROGRAM: list[CodeType] = []  # what runs, once it runs


def _clean_traceback(error: BaseException) -> None:
    """Have the traceback printed as of a program that Python runs itself."""
    hook = sys.excepthook

    def excepthook(kind: Any, value: BaseException, traceback: Any) -> None:
        sys.excepthook = hook
        value.__traceback__ = traceback = _without_us(traceback)
        hook(kind, value, traceback)

    sys.excepthook = excepthook


def _without_us(traceback: Any) -> Any:
    """The frames of the program; and before them runpy's, which Python's own -m shows as well."""
    program = traceback
    while program is not None and program.tb_frame.f_code not in _PROGRAM:
        program = program.tb_next
    _drop_imports(program)
    if program is None or program.tb_frame.f_globals.get("__spec__") is None:
        return program
    last = traceback
    while last.tb_next is not None and _is_runpy(last.tb_next):
        last = last.tb_next
    if not _is_runpy(last):
        return program
    last.tb_next = program
    return traceback


def _drop_imports(traceback: Any) -> None:
    """Take out the frames that a program's import statements get from ``siblings``."""
    while traceback is not None:
        following = traceback.tb_next
        while following is not None and _is_import(following):
            following = traceback.tb_next = following.tb_next
        traceback = following


def _is_import(traceback: Any) -> bool:
    return traceback.tb_frame.f_code.co_filename == siblings.__file__


def _is_runpy(traceback: Any) -> bool:
    return traceback.tb_frame.f_globals.get("__name__") == "runpy"
