"""Damaged and hostile GGUF files get one sentence, and no memory that they only claim to need."""

import random
import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.gguf_file.container import read_gguf
from moss_demo.errors import CheckpointError


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _file(
    path: Path,
    *,
    version: int = 3,
    tensors: int = 0,
    keys: int = 0,
    body: bytes = b"",
) -> Path:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + body)
    return path


def _tensor(name: str, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    return (
        _string(name)
        + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        + struct.pack("<IQ", kind, offset)
    )


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A file with one value of every type and three tensors."""
    path = tmp_path / "good.gguf"
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_uint8("u8", 200)
    writer.add_int16("i16", -3)
    writer.add_float64("f64", 0.5)
    writer.add_bool("yes", val=True)
    writer.add_uint64("u64", 1 << 40)
    writer.add_array("texts", ["ä", "b", ""])
    writer.add_array("numbers", [1, 2, 3])
    writer.add_tensor("a", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("b", np.ones((4, 2, 3), dtype=np.float16))
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor("c", gguf.quantize(np.ones((2, 64), np.float32), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_values_and_tensors_are_those_that_were_written(good: Path) -> None:
    """Every type of value, and tensors with their shapes as in torch."""
    file = read_gguf(good)
    assert file.metadata["u8"] == 200
    assert file.metadata["i16"] == -3
    assert file.metadata["f64"] == 0.5
    assert file.metadata["yes"] is True
    assert file.metadata["u64"] == 1 << 40
    assert file.metadata["texts"] == ["ä", "b", ""]
    assert file.metadata["numbers"] == [1, 2, 3]
    np.testing.assert_array_equal(file.read("a"), np.arange(6).reshape(2, 3))
    assert file.read("b").shape == (4, 2, 3)
    np.testing.assert_allclose(file.read("c"), 1.0, rtol=1e-2)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ("version 1", {"version": 1}),
        ("version 50331648", {"version": 3 << 24}),
        ("counts 18446744073709551615 things", {"keys": 2**64 - 1}),
        ("counts 1099511627776 things", {"tensors": 1 << 40}),
        ("ends before", {"keys": 1, "body": struct.pack("<Q", 1 << 62) + bytes(40)}),
        ("unknown type 13", {"keys": 1, "body": _string("k") + struct.pack("<I", 13) + bytes(40)}),
        (
            "counts 4611686018427387904 things",
            {"keys": 1, "body": _string("k") + struct.pack("<IIQ", 9, 8, 1 << 62) + bytes(40)},
        ),
        (
            "counts 4611686018427387904 things",
            {"keys": 1, "body": _string("k") + struct.pack("<IIQ", 9, 0, 1 << 62) + bytes(40)},
        ),
        (
            "unknown type 9",
            {"keys": 1, "body": _string("k") + struct.pack("<IIQ", 9, 9, 1) + bytes(40)},
        ),
        (
            "alignment",
            {
                "keys": 1,
                "body": _string("general.alignment") + struct.pack("<II", 4, 0) + bytes(40),
            },
        ),
        ("has 9 dimensions", {"tensors": 1, "body": _tensor("t", (1,) * 9, 0, 0)}),
        ("does not lie", {"tensors": 1, "body": _tensor("t", (1 << 40, 1 << 40), 0, 0)}),
        ("does not lie", {"tensors": 1, "body": _tensor("t", (4,), 0, 1 << 63) + bytes(64)}),
        ("does not lie", {"tensors": 1, "body": _tensor("t", (0, 4), 0, 0) + bytes(64)}),
        ("does not lie", {"tensors": 1, "body": _tensor("t", (33,), 8, 0) + bytes(256)}),
        ("not known here", {"tensors": 1, "body": _tensor("t", (4,), 250, 0) + bytes(64)}),
        (
            "'t' twice",
            {"tensors": 2, "body": 2 * _tensor("t", (4,), 0, 0) + bytes(64)},
        ),
    ],
)
def test_impossible_claims_are_refused(
    tmp_path: Path, message: str, content: dict[str, object]
) -> None:
    """Counts, lengths, shapes, types and offsets that the file cannot hold."""
    path = _file(tmp_path / "hostile.gguf", **content)  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match=message) as refused:
        find_checkpoint(str(path))
    assert "\n" not in str(refused.value)


def test_every_cut_is_noticed(good: Path) -> None:
    """A file that ends anywhere before its last weight is refused."""
    whole = good.read_bytes()
    end = max(entry.offset + entry.size_bytes for entry in read_gguf(good).tensors.values())
    for length in [*range(4, end, 7), end - 1]:
        good.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            read_gguf(good)


def test_flipped_bytes_are_read_or_refused_and_nothing_else(good: Path) -> None:
    """Of 400 files with three changed bytes each, none does more than raise our error."""
    whole, chance = good.read_bytes(), random.Random(5)
    refused = 0
    for _ in range(400):
        changed = bytearray(whole)
        for _ in range(3):
            changed[chance.randrange(4, len(whole))] = chance.randrange(256)
        good.write_bytes(changed)
        try:
            file = read_gguf(good)
            for name in file.tensors:
                file.read(name)
        except CheckpointError:
            refused += 1
    assert 0 < refused < 400


def test_types_that_hold_no_weights_are_named(good: Path) -> None:
    """Integers are known types that nobody unpacks."""
    writer = gguf.GGUFWriter(good, "qwen3")
    writer.add_tensor("numbers", np.arange(4, dtype=np.int32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(CheckpointError, match="numbers as I32"):
        read_gguf(good).read("numbers")
