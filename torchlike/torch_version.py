"""TorchVersion: a version string that compares as a version."""

from __future__ import annotations

import re
from typing import Any

from .version import __version__ as _current

_PATTERN = r"""
    v? (?:(?P<epoch>\d+)!)? (?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>\d*))?
    (?:-(?P<post_n1>\d+) | [-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_n2>\d*))?
    (?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_n>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?
"""
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_BEFORE, _AFTER = (-1,), (1,)  # sort before and after every number and stage


def _key(text: str) -> tuple[Any, ...] | None:
    """What versions are ordered by (PEP 440); None for a text that is none."""
    match = re.fullmatch(_PATTERN, text.strip().lower(), re.VERBOSE)
    if match is None:
        return None
    release = [int(n) for n in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    return int(match["epoch"] or 0), tuple(release), _stage(match), *_ends(match)


def _stage(match: re.Match[str]) -> tuple[Any, ...]:
    stage = match["pre"]
    if stage is not None:
        return 0, _STAGES.get(stage, stage), int(match["pre_n"] or 0)
    only_dev = match["dev"] and not match["post"] and match["post_n1"] is None
    return _BEFORE if only_dev else _AFTER


def _ends(match: re.Match[str]) -> tuple[Any, ...]:
    number = match["post_n1"] or match["post_n2"] or 0
    posted = match["post"] is not None or match["post_n1"] is not None
    post = (0, int(number)) if posted else _BEFORE
    dev = (0, int(match["dev_n"] or 0)) if match["dev"] else _AFTER
    local = re.split(r"[-_.]", match["local"]) if match["local"] else []
    return post, dev, tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in local)


def _text(other: Any) -> str | None:
    """A string, a version object of another library, or a sequence of parts, as a string."""
    if isinstance(other, str):
        return other
    if isinstance(other, (tuple, list)):
        return ".".join(map(str, other))
    return str(other) if type(other).__name__ == "Version" else None


def _comparison(name: str) -> Any:
    plain = getattr(str, name)
    by_key = getattr(tuple, name)

    def compare(self: TorchVersion, other: Any) -> Any:
        text = _text(other)
        if text is None:
            return NotImplemented
        mine, theirs = _key(self), _key(text)
        if mine is None or theirs is None:
            return plain(str(self), text)
        return by_key(mine, theirs)

    return compare


class TorchVersion(str):
    """A version; compares with version strings and with tuples such as ``(2, 0)``."""

    __slots__ = ()
    __hash__ = str.__hash__
    __eq__, __ne__ = _comparison("__eq__"), _comparison("__ne__")
    __lt__, __le__ = _comparison("__lt__"), _comparison("__le__")
    __gt__, __ge__ = _comparison("__gt__"), _comparison("__ge__")


__version__ = TorchVersion(_current)
