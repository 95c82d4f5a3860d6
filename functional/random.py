"""Generator: the source of random bits on the CPU, with PyTorch's streams and states.

The engine is the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), seeded from the low
32 bits of the seed by its original ``init_genrand``; 64-bit draws are two words, high one first.
How bits become numbers is in ``kernels/random.py`` and the files beside it.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from typing import Any

import numpy as np

from .devices import count
from .devices import device as Device

DEFAULT_SEED = 67280421310721  # what a new Generator starts from
BLOCK = 624  # words that one turn of the twister makes
AHEAD = 8  # how many blocks may be made before they are asked for
MANY = 8 * BLOCK  # 64-bit draws from here on are not put together from words
STATE_BYTES = 5056
_HEAD = struct.Struct("<QiiQ")  # initial seed, words left + 1, seeded, next word
_TAIL = struct.Struct("<dddi4xf?3x")  # unused, pending double, unused, flag, pending float, flag
_KEY_BYTES = 8 * BLOCK  # each 32-bit word sits in 64 bits

CPU = Device("cpu")
NO_WORDS = np.empty(0, np.uint32)
HALF_WIDTH = np.uint64(32)
BIG_ENDIAN = sys.byteorder == "big"


def _check_seed(seed: Any) -> int:
    if isinstance(seed, np.integer):
        raise TypeError("an integer is required")
    if not isinstance(seed, int) or isinstance(seed, bool):
        text = f"manual_seed expected a long, but got {type(seed).__name__}"
        raise RuntimeError(text)
    if not -(2**63) <= seed < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return seed % 2**64


def _cpu_device(value: Any) -> Device:
    found = Device(value)
    if found.type == "cpu":
        return CPU
    if found.type == "cuda":
        raise RuntimeError("Cannot get CUDA generator without ATen_cuda library.")
    raise RuntimeError(f"{found.type.upper()} device type not an accelerator.")


def _temper(key: np.ndarray) -> np.ndarray:
    """The output words of a twisted block (Matsumoto and Nishimura 1998, section 2.1)."""
    y = key.copy()
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    return y


def _swapped(draws: np.ndarray) -> np.ndarray:
    """64-bit numbers with their halves exchanged."""
    result = draws << HALF_WIDTH
    result |= draws >> HALF_WIDTH
    return result


class Generator:
    """A pseudo-random stream on the CPU: the same seed gives PyTorch's numbers, bit for bit.

    Attributes:
        lock: held by a kernel for one whole fill, so that threads never share words.
        pending_double: the second normal of the last pair made one by one, or None.
        pending_float: the same in single precision; only states from elsewhere carry one.
        made: what a kernel has made of the words of `block`, and these words; or None.
    """

    # Whole blocks are drawn from NumPy's engine, which therefore always stands between two
    # blocks: `_words` holds the block being handed out and `_position` the next word of it. After
    # `read_ahead` these are several blocks, and `_before` is the engine's state before them.
    __slots__ = (
        "__weakref__",
        "_before",
        "_engine",
        "_legacy",
        "_position",
        "_seed",
        "_words",
        "lock",
        "made",
        "pending_double",
        "pending_float",
    )

    def __new__(cls, device: Any = CPU) -> Any:
        given = cls is Generator and device is not CPU and device is not None
        if given and Device(device).type == "cuda" and count("cuda"):
            from .gpu_random import GpuGenerator

            return object.__new__(GpuGenerator)
        return object.__new__(cls)

    def __init__(self, device: Any = CPU) -> None:
        if device is not CPU:
            _cpu_device(CPU if device is None else device)
        self._engine = np.random.MT19937(0)
        self._legacy = np.random.RandomState(self._engine)
        self.lock = threading.RLock()
        self._reseed(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        """Where the numbers are made: always the CPU."""
        return CPU

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    def _reseed(self, seed: int) -> None:
        with self.lock:
            self._seed = seed
            self._legacy.seed(seed & 0xFFFFFFFF)
            self._words, self._position = NO_WORDS, 0
            self._before: Any = None
            self.made: tuple[np.ndarray, np.ndarray] | None = None
            self.pending_double: float | None = None
            self.pending_float: float | None = None

    def manual_seed(self, seed: int, /) -> Generator:
        """Restart the stream from ``seed``, an int from -2**63 to 2**64 - 1; returns self.

        Negative seeds count from 2**64. Raises RuntimeError for what is not an int and
        ValueError for an int outside the range.
        """
        self._reseed(_check_seed(seed))
        return self

    def seed(self) -> int:
        """Restart from a seed that the operating system picks; returns it (64 bits)."""
        seed = int.from_bytes(os.urandom(8), "little")
        self._reseed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed the stream was started from, 0 to 2**64 - 1."""
        return self._seed

    def get_offset(self) -> int:
        """Only generators of accelerators have an offset: raises RuntimeError."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Only generators of accelerators have an offset: raises RuntimeError."""
        raise RuntimeError("CPU Generator does not use offset")

    def words(self, count: int) -> np.ndarray:
        """The next ``count`` words: a uint32 array to read only, not to write to."""
        with self.lock:
            start = self._position
            stop = start + count
            if stop <= len(self._words):
                self._position = stop
                return self._words[start:stop]
            return self._next_blocks(start, count)

    def _next_blocks(self, start: int, count: int) -> np.ndarray:
        rest = self._words[start:]
        missing = count - len(rest)
        blocks = -(-missing // BLOCK)
        made = self._draw(blocks * BLOCK)
        last = made if blocks == 1 else made[-BLOCK:].copy()
        return self._handed_out(rest, made, missing, last)

    def _handed_out(
        self, rest: np.ndarray, made: np.ndarray, missing: int, last: np.ndarray
    ) -> np.ndarray:
        """``rest`` and ``missing`` of the draws ``made``, whose last block's words are ``last``."""
        words_left = (len(made) - missing) * made.itemsize // last.itemsize
        self._words, self._position = last, BLOCK - words_left
        return np.concatenate((rest, made[:missing])) if len(rest) else made[:missing]

    def block(self) -> tuple[np.ndarray, int]:
        """The words being handed out, to read only, and the position of the next one."""
        return self._words, self._position

    def read_ahead(self) -> None:
        """Make the words that follow those handed out, up to twice as many, if all are used up."""
        with self.lock:
            if self._position == len(self._words):
                blocks = min(max(1, 2 * len(self._words) // BLOCK), AHEAD)
                self._before = self._engine.state if blocks > 1 else None
                self._words, self._position = self._draw(blocks * BLOCK), 0

    def _draw(self, count: int) -> np.ndarray:
        if count <= 4 * BLOCK:  # the quicker start; for long runs the cast costs more
            return self._engine.random_raw(count).astype(np.uint32)
        return self._legacy.randint(0, 2**32, count, np.uint32)

    def words64(self, count: int) -> np.ndarray:
        """The next ``count`` 64-bit draws, uint64: two words each, the first one on top."""
        if count >= MANY:
            with self.lock:
                if self._position % 2 == 0:
                    return self._many64(count)
        packed = self.words(2 * count).view(np.uint64)
        return packed.copy() if BIG_ENDIAN else _swapped(packed)

    def whole64(self, most: int) -> int:
        """How many 64-bit draws, up to ``most``, end with a block: the next ones are one piece."""
        rest = (len(self._words) - self._position) // 2
        return rest + max(0, most - rest) // (BLOCK // 2) * (BLOCK // 2)

    def _many64(self, count: int) -> np.ndarray:
        """The same for many draws, which NumPy makes of two words as PyTorch does."""
        rest = self.words64((len(self._words) - self._position) // 2)
        missing = count - len(rest)
        blocks = -(-2 * missing // BLOCK)
        made = self._legacy.randint(0, 2**64, blocks * BLOCK // 2, np.uint64)
        last = made[-BLOCK // 2 :]
        words = (last.copy() if BIG_ENDIAN else _swapped(last)).view(np.uint32)
        return self._handed_out(rest, made, missing, words)

    def state_bytes(self) -> np.ndarray:
        """The whole state as PyTorch lays it out: a uint8 array of shape (5056,)."""
        with self.lock:
            double, single = self.pending_double, self.pending_float
            key, start = self._key()
            left = min(len(self._words) - start, BLOCK) - (self._position - start) + 1
            head = _HEAD.pack(self._seed, left, 1, self._position - start)
            tail = _TAIL.pack(
                0.0, double or 0.0, 0.0, double is not None, single or 0.0, single is not None
            )
        data = head + key.astype("<u8").tobytes() + tail
        return np.frombuffer(data, np.uint8).copy()

    def _key(self) -> tuple[np.ndarray, int]:
        """The engine's key after the block being handed out, and where in `_words` that starts."""
        if len(self._words) <= BLOCK:
            return self._engine.state["state"]["key"], 0
        start = max(0, self._position - 1) // BLOCK * BLOCK
        engine = np.random.MT19937(0)
        engine.state = self._before
        engine.random_raw(start + BLOCK, False)
        return engine.state["state"]["key"], start

    def load_state_bytes(self, state: np.ndarray) -> None:
        """Continue from a state that ``state_bytes`` or PyTorch made.

        Raises TypeError unless ``state`` is an array of uint8, and RuntimeError unless it is
        contiguous, has 5056 elements and holds a possible position of the engine.
        """
        data = _checked_state(state)
        seed, left, seeded, position = _HEAD.unpack_from(data)
        stop = position + left - 1
        if seeded == 0 or not 0 < left <= BLOCK or position > BLOCK or stop > BLOCK:
            raise RuntimeError("Invalid mt19937 state")
        key = np.frombuffer(data, "<u8", BLOCK, _HEAD.size).astype(np.uint32)
        _, double, _, has_double, single, has_single = _TAIL.unpack_from(
            data, _HEAD.size + _KEY_BYTES
        )
        with self.lock:
            self._engine.state = {
                "bit_generator": "MT19937",
                "state": {"key": key, "pos": BLOCK},
            }
            self._seed = seed
            self._words, self._position = _temper(key)[:stop], position
            self.pending_double = double if has_double else None
            self.pending_float = single if has_single else None

    def clone_state(self) -> Generator:
        """A new Generator that continues this stream on its own."""
        twin = type(self)()
        twin.load_state_bytes(self.state_bytes())
        return twin

    def graphsafe_get_state(self) -> Generator:
        """Only generators of accelerators have one: raises NotImplementedError."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator) -> None:
        """Only generators of accelerators have one: raises NotImplementedError."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.device,), (self._seed, None, self.state_bytes())

    def __setstate__(self, saved: tuple[int, None, Any]) -> None:
        self.load_state_bytes(np.asarray(saved[2]))


def _checked_state(state: Any) -> bytes:
    if not isinstance(state, np.ndarray):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if state.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if not state.flags.c_contiguous:
        raise RuntimeError("RNG state must be contiguous")
    if state.size != STATE_BYTES:
        raise RuntimeError(
            f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG "
            f"state size to be {state.size}"
        )
    return state.tobytes()


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: Any) -> Generator:
    """Seed the default generators with ``int(seed)``; returns the CPU's."""
    from .gpu_random import manual_seed_all

    manual_seed_all(seed)
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default generator was last started from."""
    return default_generator.initial_seed()
