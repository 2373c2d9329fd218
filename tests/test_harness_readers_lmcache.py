"""LMCache's three kinds of file: lookups of chunks, recorded calls and events, and texts of agents."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from reading import joined, paths, read, refusal


def lookup(t: float, tokens: int, hashes: list[str], **more: Any) -> str:
    row = {"timestamp": t, "request_id": "r", "model_name": "m", "chunk_size": 256, "seq_len": tokens}
    return json.dumps(row | {"dtypes": [], "shapes": [], "chunk_hashes": hashes} | more)


def test_a_lookup_is_a_request_whose_last_partial_chunk_has_no_hash() -> None:
    trace = read(
        joined([lookup(1711929600.123, 600, ["0xab", "0xcd"]), lookup(1711929600, 256, ["0xab"], model_name="k")])
    )
    assert (trace.format, list(trace.t_us)) == ("lmcache-lookups", [1711929600123000, 1711929600000000])
    assert (paths(trace), list(trace.unidentified_tokens)) == ([["0xab", "0xcd"], ["0xab"]], [88, 0])
    assert (trace.namespaces, len(trace.block_names)) == (["m", "k"], 3)
    assert trace.conventions["block_tokens"] == "256 (declared)"
    assert trace.conventions["id_scope"] == "global (format)"


def test_the_older_form_ends_with_its_last_chunk() -> None:
    rows = joined(['{"timestamp":1,"lookup_id":"a","chunk_hashes":["0x1","0x2"]}'])
    assert list(read(rows).input_tokens) == [512]
    assert list(read(rows, block_tokens=16).input_tokens) == [32]
    assert "chunk_size 16 here but 256 before" in refusal(
        joined([lookup(1, 256, ["0x1"]), lookup(1, 256, ["0x1"], chunk_size=16)])
    )


def lct(level: str, *records: dict[str, Any], **header: Any) -> bytes:
    head = {"type": "header", "magic": b"LMCT", "format_version": 1, "level": level, "trace_schema_version": 1}
    head |= {"t_mono_start": 0.0, "t_wall_start": 0.0, "sm_config_json": "", "sm_config_digest": ""} | header
    frames = [msgspec.msgpack.encode(frame) for frame in (head, *records)]
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)


def record(t: float, qualname: str, **args: Any) -> dict[str, Any]:
    return {"type": "record", "t_mono": t, "t_wall": 0.0, "qualname": qualname, "args": args}


MANAGER = "lmcache.v1.distributed.storage_manager.StorageManager."


def prefetch(t: float, *hashes: bytes, model: str = "m") -> dict[str, Any]:
    def group(rank: int) -> dict[str, Any]:
        keys = [
            {"__t__": "ObjectKey", "v": {"chunk_hash": h, "model_name": model, "kv_rank": rank, "object_group_id": 0}}
            for h in hashes
        ]
        return {"__t__": "GroupedObjectKeys", "v": {"keys": keys, "object_group_id": 0, "sliding_window_size": -1}}

    spec = {"__t__": "PrefetchTaskSpec", "v": {"key_groups": [group(0), group(1)], "num_kv_readers": 1}}
    return record(t, MANAGER + "submit_prefetch_task", spec=spec, external_request_id="r", skip_l2=False)


def test_at_the_storage_level_a_prefetch_is_a_request() -> None:
    trace = read(
        lct("storage", prefetch(0.5, b"\1", b"\2"), record(0.6, MANAGER + "reserve_write", keys=[]), prefetch(1, b"\1"))
    )
    assert (trace.format, list(trace.t_us), paths(trace)) == ("lct", [500_000, 1_000_000], [["01", "02"], ["01"]])
    assert (list(trace.input_tokens), trace.namespaces) == ([512, 256], ["m"])
    assert trace.notices == {"calls_not_replayed": 1}
    assert trace.conventions["level"] == "storage (declared)"


def batch(t: float, kind: str, *entries: tuple[str, int]) -> dict[str, Any]:
    listed = [
        {"key": {"chunk_hash_hex": name, "model_name": "m", "kv_rank": 0, "object_group_id": 0}, "size_bytes": size}
        for name, size in entries
    ]
    return record(t, "events.batch", event_type=kind, tier="l1", backend="cxl", seq=1, entries=listed)


def test_at_the_events_level_what_is_stored_or_accessed_is_a_request_of_that_chunk() -> None:
    trace = read(
        lct(
            "events",
            batch(0, "config"),
            batch(1, "store", ("ab", 4096), ("cd", 8192)),
            batch(2, "access", ("ab", 0)),
            batch(3, "delete", ("ab", 4096)),
            record(4, "events.lifecycle", phase="stop"),
        )
    )
    assert (list(trace.t_us), list(trace.path)) == ([10**6, 10**6, 2 * 10**6], [0, 1, 0])
    assert (list(trace.block_size_bytes), list(trace.block_size_tokens)) == ([4096, 8192], [256, 256])
    assert trace.notices == {"events_not_replayed": 2, "calls_not_replayed": 1}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lct("storage", format_version=2), "format_version 2 is not supported: this version reads 1"),
        (lct("mq"), 'level "mq" is not storage or events'),
        (lct("storage", type="record"), "is not an LMCache trace: its first record is no header"),
        (lct("storage"), "holds no requests"),
        (lct("storage") + b"\x7f\xff\xff\xff", "record 2 says that it has 2147483647 bytes, over 16 MiB"),
    ],
)
def test_a_head_that_cannot_be_is_refused(content: bytes, sentence: str) -> None:
    assert sentence in refusal(content, format="lct", lenient=True)


def test_records_that_cannot_be_are_named_and_a_cut_last_one_is_its_own_kind() -> None:
    content = lct(
        "storage", prefetch(1, b"\1"), record(1, MANAGER + "submit_prefetch_task", spec=b"x"), prefetch(2, b"\2")
    )
    assert refusal(content[:-3]) == (
        'x.jsonl: 2 of 4 records cannot be read: record 3: "bytes" where a map is needed; '
        "record 4: the last record is cut short. Fix the records, or pass --lenient to leave them out."
    )
    assert read(content[:-3], lenient=True).notices == {"bad_field": 1, "truncated_tail": 1}


def test_the_tokens_of_an_agents_text_are_estimated_and_that_is_said() -> None:
    trace = read(joined(['{"timestamp":1760587779519310,"input":"hello","output":"é","session_id":"x"}']))
    assert (trace.format, list(trace.input_tokens), list(trace.output_tokens)) == ("lmcache-agent", [2], [1])
    assert trace.conventions["tokens"] == "estimated from text: 4 bytes each (default)"
    assert trace.conventions["reuse"] == "unknown: no request has block ids"
    assert "input is missing" in refusal(joined(['{"timestamp":1,"input":null,"output":"","session_id":"x"}']))
