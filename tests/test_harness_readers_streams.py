"""Compressed and dirty files: every member, no bomb, and never the beginning of a file for the whole."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile

import pytest
import zstandard
from reading import joined, read, refusal

from harness.readers import decompress

ROW = '{"timestamp":%d,"input_length":512,"output_length":1,"hash_ids":[%d]}'
ROWS = joined(ROW % (i, i) for i in range(200)).encode()
FULL = joined(ROW % (i, i) for i in range(20_000)).encode()


def compressed(codec: str, content: bytes) -> bytes:
    if codec == "gzip":
        return gzip.compress(content, mtime=0)
    return zstandard.ZstdCompressor().compress(content) if codec == "zstd" else lzma.compress(content)


both = pytest.mark.parametrize("codec", ["gzip", "zstd", "xz"])


@both
def test_a_compressed_trace_is_the_trace(codec: str) -> None:
    assert read(compressed(codec, FULL)) == read(FULL)


@both
def test_every_member_of_a_file_is_read(codec: str) -> None:
    content = b"".join(compressed(codec, ROWS[at : at + 1000]) for at in range(0, len(ROWS), 1000))
    assert read(content + compressed(codec, b"")) == read(ROWS)


def test_zero_bytes_after_a_gzip_member_are_padding() -> None:
    half = ROWS.index(b"\n", len(ROWS) // 2) + 1
    content = compressed("gzip", ROWS[:half]) + bytes(512) + compressed("gzip", ROWS[half:]) + bytes(2**20)
    assert read(content) == read(ROWS)


def test_skippable_zstd_frames_are_skipped() -> None:
    frame = b"\x5f\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    assert read(frame + compressed("zstd", ROWS) + frame) == read(ROWS)


@both
def test_a_cut_file_is_refused_with_the_rows_read_so_far_even_leniently(codec: str) -> None:
    whole = compressed(codec, FULL)
    rows = set()
    for kept in (len(whole) - 1, len(whole) // 2, 30):
        message = refusal(whole[:kept], lenient=True)
        before, _, after = message.partition(", rows read so far: ")
        assert before == f"x.jsonl: the {codec} data is cut short"
        assert after.endswith("; get the whole file again")
        rows.add(int(after.partition(";")[0]))
    assert len(rows) == 3
    assert min(rows) == 0
    # A codec hands out whole blocks, so a few rows of the last one may never be seen.
    assert 19_000 < max(rows) <= 20_000


@both
def test_a_corrupt_file_is_refused_with_the_rows_read_so_far(codec: str) -> None:
    whole = bytearray(compressed(codec, ROWS))
    whole[len(whole) // 2] ^= 0xFF
    message = refusal(bytes(whole))
    assert message.startswith(f"x.jsonl: the {codec} data is corrupt, rows read so far: ")
    assert message.endswith("; get the file again")


@both
@pytest.mark.parametrize("garbage", [b"\n", b"garbage", ROWS])
def test_what_follows_the_last_member_must_be_another(codec: str, garbage: bytes) -> None:
    assert refusal(compressed(codec, ROWS) + garbage) == (
        f"x.jsonl: what follows the {codec} data is not {codec}, rows read so far: 200; "
        f"cut the file at the end of its {codec} data"
    )


@both
def test_a_bomb_is_refused_as_it_unpacks_stating_the_ratio(codec: str) -> None:
    message = refusal(compressed(codec, (ROW % (0, 0)).encode() + b"\n" + (b" " * 1023 + b"\n") * (256 << 10)))
    before, _, after = message.partition(" times, ")
    assert before.startswith(f"x.jsonl: the {codec} data expands ")
    most = decompress.BOMB_RATIOS[codec]
    assert int(before.rpartition(" ")[2]) > most
    assert after == f"over {most} is refused past 16 MiB, rows read so far: 1; decompress it first if it is meant"


@both
def test_no_step_of_a_bomb_unpacks_more_than_it_may(codec: str) -> None:
    bomb = compressed(codec, bytes(256 << 20))
    unpacked = {"gzip": decompress.gunzip, "zstd": decompress.unzstd, "xz": decompress.unxz}[codec]([bomb])
    sizes: list[int] = []
    with pytest.raises(decompress.BrokenStreamError, match="expands"):
        sizes.extend(map(len, unpacked))
    assert 0 < sum(sizes) <= decompress.BOMB_BYTES


@both
def test_a_small_file_may_be_as_repetitive_as_it_likes(codec: str) -> None:
    row = (ROW % (0, 0)).encode() + b"\n"
    content = compressed(codec, row * 100_000)
    assert len(content) * decompress.BOMB_RATIOS[codec] < len(row) * 100_000 < decompress.BOMB_BYTES
    assert read(content).requests == 100_000


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.jsonl", ROWS)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bz2.compress(ROWS), "bzip2-compressed: not supported, decompress it first"),
        (zipped(), "zip-compressed: not supported, decompress it first"),
        (b"\x04\x22\x4d\x18" + ROWS, "lz4-compressed: not supported, decompress it first"),
        (ROWS.decode().encode("utf-16"), "UTF-16 text: not supported, convert it to UTF-8 first"),
    ],
    ids=["bzip2", "zip", "lz4", "utf-16"],
)
def test_what_is_recognised_but_not_read_is_refused_by_name(content: bytes, message: str) -> None:
    assert refusal(content) == f"x.jsonl: {message}"


def test_a_line_of_16_mib_is_read_and_a_longer_one_refused() -> None:
    row = (ROW % (0, 0)).encode()
    padded = row + b" " * ((16 << 20) - len(row))
    assert read(b"\n" + padded + b"\n").requests == 1
    assert read(padded).requests == 1
    for long in (b"\n" + padded + b" \n", b"\n" + padded + b" "):
        assert refusal(long, lenient=True) == (
            "x.jsonl: line 2 is longer than 16 MiB, rows read so far: 0; a trace has one request a line: split the line"
        )


def test_a_byte_order_mark_carriage_returns_and_blank_lines_are_accepted() -> None:
    content = b"\xef\xbb\xbf" + ROWS.replace(b"\n", b"\r\n \r\n\r\n")
    assert read(content).t_us == read(ROWS).t_us


def test_line_numbers_are_physical_and_offsets_count_every_byte_before_the_line() -> None:
    content = b"\xef\xbb\xbf" + (ROW % (0, 0)).encode() + b"\r\n\r\n# here\r\n"
    assert refusal(content) == (
        f"x.jsonl:3: not JSON (byte {content.index(b'#')}). Fix the line, or pass --lenient to leave it out."
    )


@pytest.mark.parametrize("piece_bytes", [1, 2, 7, 68, 1000])
def test_where_the_pieces_of_a_file_end_makes_no_difference(piece_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read(ROWS)
    monkeypatch.setattr("harness.readers.opening.PIECE_BYTES", max(piece_bytes, 8))
    monkeypatch.setattr("harness.readers.decompress.PIECE_BYTES", piece_bytes)
    monkeypatch.setattr("harness.readers.decompress._ZSTD_FEED_BYTES", piece_bytes)
    monkeypatch.setattr("harness.readers.decompress._GZIP_FEED_BYTES", piece_bytes)
    monkeypatch.setattr("harness.readers.decompress._XZ_FEED_BYTES", piece_bytes)
    for content in (ROWS, *(compressed(codec, ROWS) for codec in ("gzip", "zstd", "xz"))):
        assert read(content) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"timestamp":1,"a":"\0"}', "NUL bytes"),
        (b'{"timestamp":1,"a":"\xff"}', "not UTF-8"),
        (b'{"timestamp":1', "not JSON"),
        (b'{"timestamp":1,"a":"\\ud800"}', "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"1" * 10_000, "not JSON"),
        (b'{"timestamp":-Infinity}', "timestamp -Infinity is not a finite number"),
        (b'{"timestamp":1e999}', "timestamp Infinity is not a finite number"),
        (b"[NaN]", "not JSON"),
        (b"null", "null where an object is needed"),
        (b"[" * 900 + b"]" * 900, "a list where an object is needed"),
        (b'"%s"' % (b"a" * 100), f'"{"a" * 40}" where an object is needed'),
    ],
    ids=range(13),
)
def test_a_line_that_is_no_record_is_refused_for_its_true_reason(line: bytes, reason: str) -> None:
    first = (ROW % (0, 0)).encode() + b"\n"
    assert refusal(first + line + b"\n") == (
        f"x.jsonl:2: {reason} (byte 68). Fix the line, or pass --lenient to leave it out."
    )


@pytest.mark.parametrize("tail", [b'{"timestamp":1', '{"timestamp":1,"a":"é'.encode()[:-1]])
def test_a_last_line_that_was_cut_is_its_own_kind(tail: bytes) -> None:
    first = (ROW % (0, 0)).encode() + b"\n"
    assert refusal(first + tail) == (
        "x.jsonl:2: the last line is cut short (byte 68). Fix the line, or pass --lenient to leave it out."
    )
    assert read(first + tail, lenient=True).notices == {"truncated_tail": 1}
    assert read(first + b"\xff", lenient=True).notices == {"not_utf8": 1}
    assert read(first + b"\0", lenient=True).notices == {"nul_bytes": 1}


def test_a_last_line_without_a_newline_is_read() -> None:
    assert read(ROWS.removesuffix(b"\n")).t_us == read(ROWS).t_us
