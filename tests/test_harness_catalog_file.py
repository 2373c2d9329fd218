"""The catalog as a file: form, duplicates, broken JSON, and bytes that nobody meant."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from catalog_edits import ABSENT, SHIPPED, edited
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.catalog import canonical_bytes, validate
from harness.catalog.checking import check

DATA = SHIPPED.read_bytes()
EMPTY = b'{"schema":"fakbench.catalog/1","machines":{},"models":{}}'
NOT_CANONICAL = "is not in canonical form (sorted keys, two-space indent, final newline); run `fakbench catalog format`"


def said(data: bytes) -> list[str]:
    """The errors of a catalog as sentences."""
    return [str(error) for error in validate(data)[0]]


def test_writing_what_was_read_changes_no_byte() -> None:
    """The shipped file is in the one canonical form."""
    assert canonical_bytes(orjson.loads(DATA)) == DATA
    assert check(DATA).canonical


def test_canonical_form_is_sorted_indented_and_ends_in_a_newline() -> None:
    """The same bytes whatever the order of the keys."""
    assert (
        canonical_bytes({"z": "é", "a": {"c": [], "b": 1}})
        == b'{\n  "a": {\n    "b": 1,\n    "c": []\n  },\n  "z": "\xc3\xa9"\n}\n'
    )


@pytest.mark.parametrize(
    "data",
    [EMPTY, DATA[:-1], DATA + b"\n", DATA.replace(b"  ", b" ", 1), DATA.replace(b"\n", b"\r\n")],
    ids=["one line", "no final newline", "two final newlines", "one space less", "CRLF"],
)
def test_a_good_catalog_in_another_form_is_told_how_to_be_canonical(data: bytes) -> None:
    """Form is a finding of its own, and only of a catalog that is right otherwise."""
    assert said(data) == [NOT_CANONICAL]
    assert check(data).errors == []


def test_form_is_not_mentioned_beside_an_error() -> None:
    """A catalog with errors is not reformatted, so there is no point in asking for it."""
    data = edited(("schema", "fakbench.catalog/2"))[:-1]

    assert said(data) == ["schema: 'fakbench.catalog/2' is unknown; use 'fakbench.catalog/1'"]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", "line 1, column 1"),
        (b"{", "line 1, column 2"),
        (b"{}x", "line 1, column 3"),
        (b"\xff", "line 1, column 1"),
        (b'{\n  "a": NaN}', "line 2, column 8"),
        (b'{"a": 1e999}', "line 1, column 7"),
        (b'{"a": "\\ud800"}', "line 1, column 8"),
        (b"[" * 2000, "line 1, column 1026"),
        (b"\xef\xbb\xbf{}", "line 1, column 1"),
    ],
)
def test_what_is_not_json_is_located(data: bytes, place: str) -> None:
    """Line and column of the first thing that cannot be read; the words in between are the JSON reader's own."""
    [error] = said(data)

    assert error.startswith(f"is not JSON at {place}: ")
    assert error.endswith("; correct it there")


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (b"[]", ["a list is not a catalog; write an object with a schema"]),
        (b"null", ["null is not a catalog; write an object with a schema"]),
        (b"7", ["7 is not a catalog; write an object with a schema"]),
        (
            b"{}",
            [
                "schema: is missing; add 'fakbench.catalog/1'",
                "machines: is missing; add an object of entries by id",
                "models: is missing; add an object of entries by id",
            ],
        ),
        (
            edited(("machines", []), ("models", None)),
            [
                "machines: a list does not fit; write an object of entries by id",
                "models: null does not fit; write an object of entries by id",
            ],
        ),
        (edited(("machine", {})), ["machine: is not a field of a catalog; did you mean 'machines'?"]),
        (edited(("x", {})), ["x: is not a field of a catalog; remove it"]),
        (edited(("schema", 1)), ["schema: 1 is unknown; use 'fakbench.catalog/1'"]),
        (edited(("schema", ABSENT)), ["schema: is missing; add 'fakbench.catalog/1'"]),
    ],
)
def test_the_outer_shape_is_checked(data: bytes, messages: list[str]) -> None:
    """A catalog is an object with a schema, machines and models."""
    assert messages == said(data)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("H100", "H100"),
        ("", "''"),
        (".a", ".a"),
        ("a b", "a b"),
        ("é", "'\\xe9'"),
        ("a\n", "'a\\n'"),
        ("a" * 65, "'" + "a" * 59 + "..."),
    ],
)
def test_an_id_is_short_and_plain(name: str, shown: str) -> None:
    """Ids go into commands and reports, so they are lower-case letters, digits, dots and dashes."""
    advice = "use at most 64 lower-case letters, digits, '.' and '-', a letter or digit first"

    assert [f"models.{shown}: is not an id; {advice}"] == said(edited((f"models/{name}", {})))


def test_a_file_that_is_too_large_is_not_read_further() -> None:
    """16 MiB are enough for any catalog."""
    assert said(b" " * (2**24 + 1)) == ["the file is larger than 16777216 bytes; split it"]


def test_duplicate_keys_are_named_where_they_stand() -> None:
    """The reader would keep the last one and say nothing."""
    data = (
        b'{"schema":"fakbench.catalog/1","models":{"a":1,"b":{"c":[{"d":1,"d":2}]},"a":{}},"machines":{},"machines":{}}'
    )

    assert said(data)[:3] == [
        "machines: is given twice; keep one of them",
        "models.a: is given twice; keep one of them",
        "models.b.c[0].d: is given twice; keep one of them",
    ]


def test_a_duplicate_alone_refuses_a_catalog() -> None:
    """A catalog that is right once the last of two equal keys is kept is still refused."""
    data = EMPTY.replace(b'"models":{}', b'"models":{},"models":{}')

    assert said(data) == ["models: is given twice; keep one of them"]


def test_duplicates_behind_too_deep_a_nest_are_not_overlooked_in_silence() -> None:
    """What cannot be searched is refused."""
    deep = b'{"a":' * 1020 + b"1" + b"}" * 1020

    assert said(deep)[0] == "cannot be searched for duplicate keys: nested too deeply, or a number is too long"


def test_the_same_bytes_give_the_same_findings() -> None:
    """Order and words do not depend on anything but the bytes."""
    data = edited(("machines/h100-sxm/title", 5), ("machines/l40s/title", 6), ("models/deepseek-v3/title", 7))

    assert said(data) == said(data)
    assert [error.path for error in validate(data)[0]] == [
        "machines.h100-sxm.title",
        "machines.l40s.title",
        "models.deepseek-v3.title",
    ]


_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text(max_size=8)
)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(below for key, part in parts for below in _paths(part, (*path, key)))]


_SMALL = {
    "schema": "fakbench.catalog/1",
    "machines": {name: orjson.loads(DATA)["machines"][name] for name in ("gh200", "reference")},
    "models": {name: orjson.loads(DATA)["models"][name] for name in ("deepseek-v3", "gpt-oss-120b")},
}
_EVERY_PATH = [path for path in _paths(_SMALL) if path]


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(_EVERY_PATH), _JSON)
def test_any_value_anywhere_is_judged_and_never_crashes(path: tuple[str | int, ...], value: object) -> None:
    """Whatever stands in a field, the answer is findings; each is one printable line."""
    document = orjson.loads(orjson.dumps(_SMALL))
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    data = json.dumps(document).encode()  # and not orjson, which writes no integer above 64 bits

    errors, warnings = validate(data)

    for finding in [*errors, *warnings]:
        assert str(finding).isprintable()
        assert len(str(finding)) < 500


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_bytes_that_were_hit_by_accident_never_crash(data: st.DataObject) -> None:
    """Bytes of a good catalog cut, repeated and overwritten: findings, and nothing else."""
    good = canonical_bytes(_SMALL)
    start = data.draw(st.integers(0, len(good)))
    stop = data.draw(st.integers(start, min(len(good), start + 40)))
    new = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from([b'"', b"}", b"{", b"1e400", b"-", b"9" * 400])))

    changed = good[:start] + new + good[stop:]

    errors, _ = validate(changed)

    assert all(str(error).isprintable() for error in errors)
    # Nothing passes that would not be written again byte by byte.
    assert errors or canonical_bytes(orjson.loads(changed)) == changed
