"""Sequences of different lengths: padded, packed, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from functional.dtypes import NAMES as DTYPES
from functional.ops.recurrent import pack_rows
from functional.tape.op import TENSOR
from functional.tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence_(NamedTuple):
    """The fields of a PackedSequence."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences step by step: the rows of all sequences that last so long, longest first.

    ``data`` is (sum of lengths, *), ``batch_sizes`` (longest,) the number of rows of each step;
    ``sorted_indices`` says how the sequences were sorted, ``unsorted_indices`` how to undo that.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """All fields; ``unsorted_indices`` follow from ``sorted_indices`` where missing."""
        if batch_sizes is None:
            data, batch_sizes = data  # type: ignore[misc]
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence "
                "and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences with their data in another dtype or on another device."""
        data = self.data.to(*args, **kwargs)  # type: ignore[attr-defined]
        if data is self.data:
            return self
        where = [
            None if index is None else index.to(data.device)  # type: ignore[attr-defined]
            for index in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *where)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return bool(self.data.is_cuda)  # type: ignore[attr-defined]

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return bool(self.data.is_pinned())  # type: ignore[attr-defined]

    def pin_memory(self) -> PackedSequence:
        """``self``: memory is not pinned here."""
        return self

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On the CPU."""
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a GPU."""
        return self.to(*(args or ("cuda",)), **kwargs)


def _caster(name: str, dtype: str) -> Any:
    def cast(self: PackedSequence) -> PackedSequence:
        return self.to(DTYPES[dtype])

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"The data as {dtype}."
    return cast


for _name, _dtype in {
    "double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8",
}.items():  # fmt: skip
    setattr(PackedSequence, _name, _caster(_name, _dtype))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another."""
    if permutation is None:
        return None
    return TENSOR.argsort(permutation)


# --- packed ---------------------------------------------------------------------------------------


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Sequences padded to one length, (T, B, *) or (B, T, *), without their padding.

    ``lengths`` has the length of each; they must decrease unless ``enforce_sorted`` is False.
    """
    if not isinstance(lengths, Tensor):
        lengths = TENSOR.as_tensor(list(lengths), dtype=DTYPES["int64"], device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = TENSOR.sort(lengths, descending=True)
        input = TENSOR.index_select(input, 0 if batch_first else 1, order)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if batch_first:
        input = TENSOR.transpose(input, 0, 1)
    sizes = _batch_sizes([int(n) for n in lengths.tolist()], input.shape[1])
    data = pack_rows(input, sizes[: input.shape[0]])
    return PackedSequence(data, TENSOR.tensor(list(sizes)), order, None)


def _batch_sizes(lengths: list[int], batch: int) -> tuple[int, ...]:
    """How many sequences last for each step."""
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} "
            f"(batch_size={batch})"
        )
    if lengths[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if lengths != sorted(lengths, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    return tuple(sum(n > t for n in lengths) for t in range(lengths[0]))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Packed sequences padded to one length, (T, B, *) or (B, T, *), and the length of each."""
    sizes = sequence.batch_sizes.tolist()  # type: ignore[attr-defined]
    length = len(sizes)
    if total_length is not None:
        if total_length < length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being {length}"
            )
        length = total_length
    data = sequence.data
    shape = (length, sizes[0], *data.shape[1:])
    padded: Any = TENSOR.full(shape, padding_value, dtype=data.dtype, device=data.device)
    row = first = 0
    for t in range(1, len(sizes) + 1):  # runs of steps that equally many sequences have
        if t == len(sizes) or sizes[t] != sizes[first]:
            rows = (t - first) * sizes[first]
            block = TENSOR.narrow(data, 0, row, rows)
            padded[first:t, : sizes[first]] = TENSOR.view(
                block, (t - first, sizes[first], *data.shape[1:])
            )
            row, first = row + rows, t
    lengths = TENSOR.tensor([sum(n > i for n in sizes) for i in range(sizes[0])])
    if batch_first:
        padded = TENSOR.transpose(padded, 0, 1)
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return TENSOR.index_select(padded, 0 if batch_first else 1, back), lengths[back]  # type: ignore[index]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Tensors of different lengths, packed."""
    lengths = TENSOR.as_tensor([s.shape[0] for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a PackedSequence, each in its own tensor."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


# --- padded ---------------------------------------------------------------------------------------


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Tensors (length, *) stacked to (T, B, *) or (B, T, *), T the longest, with padding."""
    if isinstance(sequences, Tensor):
        sequences = TENSOR.unbind(sequences, 0)
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    items = tuple(sequences)
    if not items:
        raise RuntimeError("received an empty list of sequences")
    longest = max(t.shape[0] for t in items)
    shape = (len(items), longest) if batch_first else (longest, len(items))
    padded: Any = TENSOR.full(
        (*shape, *items[0].shape[1:]), padding_value, dtype=items[0].dtype, device=items[0].device
    )
    for i, t in enumerate(items):
        n = t.shape[0]
        span = slice(0, n) if padding_side == "right" else slice(longest - n, longest)
        padded[(i, span) if batch_first else (span, i)] = t
    return padded


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded tensor, each in its own tensor."""
    if not batch_first:
        padded_sequences = TENSOR.transpose(padded_sequences, 0, 1)
    rows = TENSOR.unbind(padded_sequences, 0)
    return [TENSOR.narrow(row, 0, 0, int(n)) for row, n in zip(rows, lengths.tolist(), strict=True)]
