"""The native format: its header, its five kinds of event, and a message for everything else."""

from __future__ import annotations

import pytest
from reading import NATIVE_HEADER, joined, native, read, refusal

from harness.trace import IDENTITY_AXES, Control
from policy.identity import NOT_STATED, Identity

REQUEST = '{"kind":"request","t_ms":0,"input_tokens":16,"blocks":[1]}'


def header(**changes: str) -> str:
    fields = {"kind": '"trace"', "schema": '"fakbench.trace/1"', "block_tokens": "16", **changes}
    return "{" + ",".join(f'"{field}":{value}' for field, value in fields.items()) + "}"


def test_the_header_gives_block_size_name_and_notes() -> None:
    trace = read(joined([header(block_tokens="32", name='"monday"', notes='"cut at noon"'), REQUEST]))
    assert (trace.block_tokens, trace.name, trace.notes, trace.format) == (32, "monday", "cut at noon", "native")


def test_a_header_without_a_name_leaves_the_file_name() -> None:
    assert read(native(REQUEST)).name == "x.jsonl"
    assert read(joined([header(name="null", notes="null"), REQUEST])).name == "x.jsonl"
    assert read(joined([header(name='""'), REQUEST])).name == ""


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            header(schema='"fakbench.trace/2"'),
            'schema "fakbench.trace/2" is not supported: this version reads fakbench.trace/1',
        ),
        (header(schema="1"), "schema 1 is not supported: this version reads fakbench.trace/1"),
        ('{"kind":"trace"}', "schema null is not supported: this version reads fakbench.trace/1"),
        ('{"kind":"trace","schema":"fakbench.trace/1"}', "the header's block_tokens is missing"),
        (header(block_tokens="0"), "the header's block_tokens 0 is not an integer from 1 to 1048576"),
        (header(block_tokens=str(2**63)), f"the header's block_tokens {2**63} is not an integer from 1 to 1048576"),
        (header(name="5"), "the header's name 5 is not text"),
        (header(notes="[]"), "the header's notes a list is not text"),
        (header(model='"m"'), 'the header\'s field "model" is not known'),
    ],
)
def test_a_wrong_header_is_refused_even_leniently(line: str, sentence: str) -> None:
    assert refusal(joined([line, REQUEST]), lenient=True) == f"x.jsonl:1: {sentence}"


def test_events_without_a_header_are_refused_with_the_header_to_write() -> None:
    example = 'a native trace starts with {"kind":"trace","schema":"fakbench.trace/1","block_tokens":16}'
    assert refusal(joined([REQUEST])) == f"x.jsonl:1: no header before this line: {example}"
    assert refusal(joined([header()[:-1], REQUEST]), lenient=True) == (
        f"x.jsonl:2: no header before this line (line 1: not JSON): {example}"
    )


def test_a_second_header_is_a_second_trace() -> None:
    assert refusal(native(REQUEST, NATIVE_HEADER)) == (
        "x.jsonl:3: a second header: a file is one trace (byte 122). Fix the line, or pass --lenient to leave it out."
    )


def test_a_block_size_that_contradicts_the_header_is_refused() -> None:
    assert read(native(REQUEST), block_tokens=16).block_tokens == 16
    assert refusal(native(REQUEST), block_tokens=32, lenient=True) == (
        "x.jsonl:1: --block-tokens 32 contradicts the header's block_tokens 16: leave the option out"
    )


def test_a_request_has_a_path_or_none() -> None:
    trace = read(
        native(
            '{"kind":"request","t_ms":0.25,"input_tokens":20,"output_tokens":5,"blocks":[1,"b"],"session":"s","namespace":"n"}',
            '{"kind":"request","t_ms":1,"input_tokens":20}',
            '{"kind":"request","t_ms":1,"input_tokens":1,"output_tokens":null,"blocks":null,"session":null,"namespace":null}',
        )
    )
    assert list(trace.t_us) == [250, 1000, 1000]
    assert list(trace.input_tokens) == [20, 20, 1]
    assert list(trace.output_tokens) == [5, 0, 0]
    assert list(trace.unidentified_tokens) == [0, 20, 1]
    assert (list(trace.session), trace.sessions) == ([0, -1, -1], ["s"])
    assert (list(trace.namespace), trace.namespaces) == ([0, 1, 1], ["n", ""])
    assert trace.block_names == [1, "b"]


def test_an_access_is_a_request_for_one_span_of_its_own_size() -> None:
    trace = read(
        native(
            '{"kind":"access","t_ms":5,"span":"system","tokens":4000,"bytes":67108864}',
            '{"kind":"access","t_ms":6,"span":"system","tokens":4000,"bytes":67108864,"output_tokens":9,"session":"s"}',
            '{"kind":"access","t_ms":7,"span":7,"tokens":10}',
            '{"kind":"access","t_ms":7,"span":"system","tokens":3,"namespace":"n"}',
            '{"kind":"request","t_ms":8,"input_tokens":32,"blocks":["system",7]}',
        )
    )
    assert list(trace.path) == [0, 0, 1, 2, 3, 4]
    assert list(trace.path_start) == [0, 1, 2, 3, 4, 6]
    assert list(trace.input_tokens) == [4000, 4000, 10, 3, 32]
    assert list(trace.output_tokens) == [0, 9, 0, 0, 0]
    assert list(trace.unidentified_tokens) == [0] * 5
    assert trace.block_names == [("access", "system"), ("access", 7), ("access", "system"), "system", 7]
    assert list(trace.block_size_tokens) == [4000, 10, 3, 16, 16]
    assert list(trace.block_size_bytes) == [67108864, 0, 0, 0, 0]
    assert list(trace.block_parent) == [-1, -1, -1, -1, 3]
    assert trace.notices == {}


@pytest.mark.parametrize(
    ("second", "here"),
    [
        ('"tokens":11,"bytes":64', "11 tokens in 64 bytes"),
        ('"tokens":10,"bytes":65', "10 tokens in 65 bytes"),
        ('"tokens":10', "10 tokens"),
    ],
)
def test_a_span_has_one_size(second: str, here: str) -> None:
    content = native(
        '{"kind":"access","t_ms":0,"span":"a","tokens":10,"bytes":64}',
        f'{{"kind":"access","t_ms":0,"span":"a",{second}}}',
    )
    assert refusal(content) == (
        f'x.jsonl:3: span "a" holds {here} here but 10 tokens in 64 bytes at line 2 (byte 124). '
        "Fix the line, or pass --lenient to count the tokens as unidentified."
    )
    trace = read(content, lenient=True)
    assert list(trace.unidentified_tokens) == [0, trace.input_tokens[1]]
    assert trace.notices == {"rows_with_inconsistent_ids": 1}


def test_controls_stand_between_the_requests_of_the_file() -> None:
    trace = read(
        native(
            '{"kind":"clear","t_ms":1}',
            '{"kind":"clear","t_ms":2,"tier":"hbm"}',
            REQUEST,
            '{"kind":"fault","t_ms":3,"tier":"disk","until_ms":3.5}',
            REQUEST,
            '{"kind":"pressure","t_ms":4,"tier":"numa_far","fill_ppm":1000000}',
            '{"kind":"pressure","t_ms":5,"tier":"remote","fill_ppm":0}',
            '{"kind":"clear","t_ms":6,"tier":null}',
        )
    )
    assert trace.controls == [
        Control("clear", 1000, 0, "", 0),
        Control("clear", 2000, 0, "hbm", 0),
        Control("fault", 3000, 1, "disk", 3500),
        Control("pressure", 4000, 2, "numa_far", 1_000_000),
        Control("pressure", 5000, 2, "remote", 0),
        Control("clear", 6000, 2, "", 0),
    ]
    assert trace.notices == {"time_steps_back": 2, "largest_step_back_us": 3000}


TIERS = "hbm, dram, numa_far, cxl, disk, remote"
BAD_EVENTS = [
    ('{"t_ms":1}', "kind null is not one of request, access, clear, fault, pressure"),
    ('{"kind":"evict","t_ms":1}', 'kind "evict" is not one of request, access, clear, fault, pressure'),
    ('{"kind":["request"]}', "kind a list is not one of request, access, clear, fault, pressure"),
    ('{"kind":"request","t_ms":1,"input_tokens":1,"hash_ids":[1]}', 'request has no field "hash_ids"'),
    ('{"kind":"access","t_ms":1,"span":"a","tokens":1,"blocks":[1]}', 'access has no field "blocks"'),
    ('{"kind":"clear","t_ms":1,"fill_ppm":1}', 'clear has no field "fill_ppm"'),
    ('{"kind":"fault","t_ms":1,"tier":"disk","until":2}', 'fault has no field "until"'),
    ('{"kind":"pressure","t_ms":1,"tier":"disk","until_ms":2}', 'pressure has no field "until_ms"'),
    ('{"kind":"request","input_tokens":1}', "t_ms is missing"),
    ('{"kind":"request","t_ms":"1","input_tokens":1}', 't_ms "1" is not a number of milliseconds'),
    ('{"kind":"request","t_ms":NaN,"input_tokens":1}', "t_ms NaN is not a finite number"),
    (
        '{"kind":"request","t_ms":1e13,"input_tokens":1}',
        "t_ms 10000000000000.0 is out of range: at most 9007199254740 ms from zero",
    ),
    ('{"kind":"request","t_ms":1}', "input_tokens is missing"),
    ('{"kind":"request","t_ms":1,"input_tokens":-1}', "input_tokens -1 is not an integer from 0 to 16777216"),
    (
        f'{{"kind":"request","t_ms":1,"input_tokens":{2**63}}}',
        f"input_tokens {2**63} is not an integer from 0 to 16777216",
    ),
    (
        '{"kind":"request","t_ms":1,"input_tokens":1,"output_tokens":1.0}',
        "output_tokens 1.0 is not an integer from 0 to 16777216",
    ),
    ('{"kind":"request","t_ms":1,"input_tokens":1,"blocks":{}}', "blocks an object is not a list"),
    ('{"kind":"request","t_ms":1,"input_tokens":1,"session":1}', "session 1 is not text"),
    ('{"kind":"request","t_ms":1,"input_tokens":1,"namespace":true}', "namespace true is not text"),
    ('{"kind":"access","t_ms":1,"tokens":1}', "span is missing"),
    ('{"kind":"access","t_ms":1,"span":1.0,"tokens":1}', "span 1.0 is not an integer or text"),
    ('{"kind":"access","t_ms":1,"span":null,"tokens":1}', "span null is not an integer or text"),
    ('{"kind":"access","t_ms":1,"span":"a"}', "tokens is missing"),
    ('{"kind":"access","t_ms":1,"span":"a","tokens":0}', "tokens 0 is not an integer from 1 to 16777216"),
    (
        '{"kind":"access","t_ms":1,"span":"a","tokens":1,"bytes":0}',
        "bytes 0 is not an integer from 1 to 1125899906842624",
    ),
    ('{"kind":"clear"}', "t_ms is missing"),
    ('{"kind":"clear","t_ms":1,"tier":"tape"}', f'tier "tape" is not one of {TIERS}'),
    ('{"kind":"clear","t_ms":1,"tier":["hbm"]}', f"tier a list is not one of {TIERS}"),
    ('{"kind":"clear","t_ms":1,"tier":""}', f'tier "" is not one of {TIERS}'),
    ('{"kind":"fault","t_ms":1,"until_ms":2}', "tier is missing"),
    ('{"kind":"fault","t_ms":1,"tier":null,"until_ms":2}', f"tier null is not one of {TIERS}"),
    ('{"kind":"fault","t_ms":1,"tier":"recompute","until_ms":2}', f'tier "recompute" is not one of {TIERS}'),
    ('{"kind":"fault","t_ms":1,"tier":"disk"}', "until_ms is missing"),
    ('{"kind":"fault","t_ms":1,"tier":"disk","until_ms":1}', "until_ms 1 is not after t_ms 1"),
    ('{"kind":"fault","t_ms":1.5,"tier":"disk","until_ms":1}', "until_ms 1 is not after t_ms 1.5"),
    ('{"kind":"pressure","t_ms":1,"fill_ppm":1}', "tier is missing"),
    ('{"kind":"pressure","t_ms":1,"tier":"hbm"}', "fill_ppm is missing"),
    ('{"kind":"pressure","t_ms":1,"tier":"hbm","fill_ppm":-1}', "fill_ppm -1 is not an integer from 0 to 1000000"),
    (
        '{"kind":"pressure","t_ms":1,"tier":"hbm","fill_ppm":1000001}',
        "fill_ppm 1000001 is not an integer from 0 to 1000000",
    ),
]


@pytest.mark.parametrize(("event", "sentence"), BAD_EVENTS)
def test_an_event_that_cannot_be_is_refused_by_field(event: str, sentence: str) -> None:
    content = native(REQUEST, event)
    assert refusal(content) == f"x.jsonl:3: {sentence} (byte 122). Fix the line, or pass --lenient to leave it out."
    trace = read(content, lenient=True)
    assert (trace.requests, trace.controls, sum(trace.notices.values())) == (1, [], 1)


def test_a_request_and_an_access_may_state_whose_they_are_and_null_or_nothing_is_not_stated() -> None:
    trace = read(
        native(
            REQUEST,
            REQUEST[:-1] + ',"model":"m","tokenizer":"t","adapter":"a","salt":"s","tenant":"x"}',
            '{"kind":"access","t_ms":0,"span":1,"tokens":1,"tenant":"x","adapter":"","model":null}',
            REQUEST[:-1] + ',"tenant":"x"}',
        )
    )
    assert trace.identities == [NOT_STATED, Identity("m", "t", "a", "s", "x"), Identity(tenant="x")]
    assert list(trace.identity) == [0, 1, 2, 2]
    assert list(trace.path) == [0, 0, 1, 0], "reading keeps nobody apart"


@pytest.mark.parametrize("axis", IDENTITY_AXES)
def test_an_identity_that_is_not_text_is_refused(axis: str) -> None:
    for line in (REQUEST, '{"kind":"access","t_ms":0,"span":1,"tokens":1}'):
        said = refusal(native(f'{line[:-1]},"{axis}":7}}'))
        assert said.startswith(f"x.jsonl:2: {axis} 7 is not text (byte ")
