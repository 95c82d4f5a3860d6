"""Where the storages of a checkpoint go: ``map_location``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from functional import devices, dtypes

from .storage import TypedStorage, UntypedStorage

_NO_DEVICE = (
    "Attempting to deserialize object on a {} device but torch.{}.is_available() is False. If you "
    "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu')"
    " to map your storages to the CPU."
)
Restore = Callable[[UntypedStorage, str], UntypedStorage]


def _placed(storage: UntypedStorage, location: str) -> UntypedStorage:
    """The storage on the device of that name; RuntimeError where there is none."""
    kind = location.partition(":")[0]
    if kind == "cpu":
        return storage
    if kind == "meta":
        return UntypedStorage.over(storage.nbytes())
    if kind == "cuda" and devices.count("cuda"):
        return storage.to(location)
    if kind in ("cuda", "xpu", "hpu"):
        raise RuntimeError(_NO_DEVICE.format(kind.upper(), kind))
    if kind == "mps":
        raise RuntimeError("torch.UntypedStorage(): Storage device not recognized: mps")
    raise RuntimeError(
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{location})"
    )


# What programs have registered: (priority, tagger, deserializer), by priority.
PACKAGES: list[tuple[int, Any, Any]] = []


def register_package(
    priority: int,
    tagger: Callable[[Any], str | None],
    deserializer: Callable[[Any, str], Any],
) -> None:
    """Ask two functions about storages before the library does, those of low priority first.

    ``tagger`` names a storage's location, ``deserializer`` puts a storage there; both return None
    for what is not theirs.
    """
    PACKAGES.append((priority, tagger, deserializer))
    PACKAGES.sort(key=lambda item: item[0])


def location_tag(storage: Any) -> str:
    """The name of the place a storage is kept at."""
    for _, tagger, _ in PACKAGES:
        found = tagger(storage)
        if found:
            return found  # type: ignore[no-any-return]
    return str(getattr(storage, "_untyped_storage", storage).device)


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage at the place of that name; RuntimeError where there is none."""
    for _, _, deserializer in PACKAGES:
        found = deserializer(storage, location)
        if found is not None:
            return found
    return _placed(storage, location)


def restorer(map_location: Any) -> Restore:
    """The function that puts a storage where ``map_location`` says."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        names = {str(old): str(new) for old, new in map_location.items()}
        return lambda storage, location: default_restore_location(
            storage, names.get(location, location)
        )
    if isinstance(map_location, (str, bytes, devices.device)):
        name = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, name)

    def restore(storage: UntypedStorage, location: str) -> UntypedStorage:
        found = map_location(storage, location)
        return default_restore_location(storage, location) if found is None else found

    return restore


def text(value: Any) -> str:
    """A word of a checkpoint, which Python 2 wrote as bytes."""
    return value.decode("ascii") if isinstance(value, bytes) else value


class Loaded:
    """The storages of one checkpoint, each fetched when it is first asked for."""

    def __init__(self, fetch: Callable[[str], ndarray], restore: Restore, swap: bool) -> None:
        self.fetch, self.restore, self.swap = fetch, restore, swap
        self.storages: dict[str, TypedStorage] = {}

    def find(self, pid: Any) -> TypedStorage:
        """The storage that a reference ``('storage', type, key, location, numel)`` means."""
        if not isinstance(pid, tuple) or len(pid) != 5 or text(pid[0]) != "storage":
            raise RuntimeError(f"Unknown typename for persistent_load, expected 'storage': {pid!r}")
        _, kind, key, location, numel = pid
        key = text(key)
        if not isinstance(key, str) or not isinstance(text(location), str):
            raise RuntimeError(f"a reference to a storage is damaged: {pid!r}")
        if key not in self.storages:
            self.storages[key] = self._load(dtype_of(kind), key, text(location), numel)
        return self.storages[key]

    def _load(self, dtype: dtypes.dtype, key: str, location: str, numel: Any) -> TypedStorage:
        memory = self.fetch(key)
        if type(numel) is not int or memory.size != numel * dtype.itemsize:
            raise RuntimeError(
                f"record data/{key} has {memory.size} bytes, but the checkpoint speaks of {numel} "
                f"elements of {dtype}"
            )
        if self.swap and dtype.itemsize > 1:
            part = dtype.itemsize // (2 if dtype.is_complex else 1)
            memory.view(f"u{part}").byteswap(inplace=True)
        storage = self.restore(UntypedStorage.over(memory), location)
        storage = getattr(storage, "_untyped_storage", storage)
        return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def dtype_of(kind: Any) -> dtypes.dtype:
    """The dtype of a storage class."""
    if kind is UntypedStorage:
        return dtypes.uint8
    dtype = getattr(kind, "dtype", None)
    if not isinstance(dtype, dtypes.dtype):
        raise RuntimeError(f"a checkpoint names {kind!r} where a storage class belongs")
    return dtype
