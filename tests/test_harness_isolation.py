"""Isolation: blocks split by class, exact counts at every level, and not a byte changed where nothing is separated."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import orjson
import pytest
from builders import BLOCK_BYTES, Access, Ask, Row, engine_of, options_of, report_of, trace_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import engines, moderate, run_options, traces

from harness.arguments import Arguments
from harness.comparison import compare
from harness.documents import canonical_bytes
from harness.engine import Engine
from harness.errors import SetupError
from harness.isolation import isolate, parse_isolation
from harness.render.isolation import level_rows, refusal_rows
from harness.report import build_report
from harness.trace import Trace
from policy.identity import AXIS_NAMES, Identity, reuse_verdict, scope_for

ROOMY = engine_of({"hbm": 100 * BLOCK_BYTES})
M1, M2 = Identity(model="m", tenant="1"), Identity(model="m", tenant="2")
N1, N2 = Identity(model="n", tenant="1"), Identity(model="n", tenant="2")
ALL = parse_isolation("all")
isolations = st.lists(st.sampled_from(AXIS_NAMES), unique=True).map(tuple)


def refused(arm: dict[str, Any]) -> dict[str, int]:
    """The reasons that are not zero."""
    return {reason: tokens for reason, tokens in arm["tokens"]["cold_refused"].items() if tokens}


# --- what is given ---


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("none", ()),
        ("all", ("model", "tokenizer", "adapter", "salt", "tenant")),
        ("tenant", ("tenant",)),
        ("tenant+adapter", ("tenant", "adapter")),
        ("session+model", ("session", "model")),
    ],
)
def test_isolation_is_none_all_or_axes_in_the_order_that_is_given(text: str, axes: tuple[str, ...]) -> None:
    assert Arguments(isolation=text).replay_options().isolation == axes
    assert Arguments().replay_options().isolation == ALL


CHOICE = "give none, all, or axes joined with +, of model, tokenizer, adapter, salt, tenant, session"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour", f"--isolation colour: colour is no axis; {CHOICE}"),
        ("tenant+Model", f"--isolation tenant+Model: Model is no axis; {CHOICE}"),
        ("", f"--isolation : an empty name is no axis; {CHOICE}"),
        ("tenant+", f"--isolation tenant+: an empty name is no axis; {CHOICE}"),
        ("tenant+salt+tenant", "--isolation tenant+salt+tenant: tenant is given twice; keep one"),
        ("none+tenant", "--isolation none+tenant: none stands alone; leave it out, or the others"),
        ("tenant+all", "--isolation tenant+all: all stands alone; leave it out, or the others"),
    ],
)
def test_what_is_no_isolation_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(SetupError) as caught:
        Arguments(isolation=text).replay_options()
    assert str(caught.value) == sentence


# --- classes ---


@moderate(80)
@given(trace=traces(identities=True), axes=isolations)
def test_blocks_are_split_by_class_and_remember_what_they_were(trace: Trace, axes: tuple[str, ...]) -> None:
    isolated = isolate(trace, axes)
    if not isolated.separates:
        assert isolated.trace is trace
        return
    split = isolated.trace
    assert len(dict.fromkeys(zip(isolated.content, isolated.owner, strict=True))) == len(split.block_parent)
    for request in range(trace.requests):
        path = split.blocks_of(request)
        assert [isolated.content[block] for block in path] == list(trace.blocks_of(request))
        assert [split.block_parent[block] for block in path] == [-1, *path][: len(path)]
        session = trace.session[request]
        who = replace(
            trace.identities[trace.identity[request]], session=trace.sessions[session] if session >= 0 else ""
        )
        assert all(isolated.classes[isolated.owner[block]] == who.only(axes) for block in path)
    for column in ("block_size_tokens", "block_size_bytes", "block_names"):
        assert list(getattr(split, column)) == [getattr(trace, column)[block] for block in isolated.content]


@moderate(60)
@given(trace=traces(identities=True), axes=isolations)
def test_two_requests_are_in_one_class_exactly_where_the_gate_says_hit(trace: Trace, axes: tuple[str, ...]) -> None:
    classes = isolate(trace, axes).classes
    for one, stored in enumerate(classes):
        for other, wanted in enumerate(classes):
            assert reuse_verdict(stored, wanted, scope_for(axes)).can_serve() == (one == other)


# --- counts ---

FIVE = (Ask("ab", 0, who=M1), Ask("ab", 1, who=M2), Ask("ab", 2, who=N1), Ask("abc", 3, who=M1), Ask("ab", 4, who=N2))


def test_every_level_has_the_counts_that_one_finds_by_hand() -> None:
    """44 tokens. Without isolation a, b and c are computed once; with models apart a and b twice; then four times."""
    report = report_of(trace_of(*FIVE), ROOMY)
    figures = {"reprefilled_tokens": 0}
    expected = [
        {"axes": [], "classes": 1, "hit_tokens": 29, "hit_ppm": 659_090, "cold_tokens": 12},
        {"axes": ["model"], "classes": 2, "hit_tokens": 22, "hit_ppm": 500_000, "cold_tokens": 20},
        {"axes": ["model", "tenant"], "classes": 4, "hit_tokens": 8, "hit_ppm": 181_818, "cold_tokens": 36},
    ]
    assert report["isolation"] == {
        "axes": ["model", "tokenizer", "adapter", "salt", "tenant"],
        "identities": 4,
        "classes": 4,
        "levels": [
            {
                "axes": level.pop("axes"),
                "classes": level.pop("classes"),
                "arms": dict.fromkeys(("tiered", "blind-lru", "infinite"), level | figures),
            }
            for level in expected
        ],
    }


def test_of_several_copies_the_narrowest_refusal_counts() -> None:
    """What N1 asks for M1 and M2 hold, who differ in the model; of what N2 asks N1 has the model too."""
    for arm in report_of(trace_of(*FIVE), ROOMY)["arms"].values():
        assert refused(arm) == {"model_mismatch": 8, "scope_denied": 16}
        assert arm["tokens"]["cold"] == 36


def test_levels_come_in_the_order_that_is_chosen_and_only_of_axes_that_differ() -> None:
    report = report_of(trace_of(*FIVE), ROOMY, isolation=("tenant", "salt", "model"))
    assert [level["axes"] for level in report["isolation"]["levels"]] == [[], ["tenant"], ["tenant", "model"]]
    assert report["isolation"]["axes"] == report["parameters"]["isolation"] == ["tenant", "salt", "model"]
    assert level_rows(report) == (
        ["isolation", "classes", "tiered hit", "blind-lru hit", "infinite hit"],
        [
            ["none", "1", "65.91 %", "65.91 %", "65.91 %"],
            ["+ tenant", "2", "50.00 %", "50.00 %", "50.00 %"],
            ["+ model", "4", "18.18 %", "18.18 %", "18.18 %"],
        ],
    )
    assert refusal_rows(report)[1] == [[name, "8", "16"] for name in ("tiered", "blind-lru", "infinite")]


def test_sessions_are_kept_apart_only_where_asked_for_and_no_session_is_one_of_its_own() -> None:
    rows = [Ask("ab", 0, session="s"), Ask("ab", 1, session="t"), Ask("ab", 2), Ask("ab", 3), Ask("ab", 4, session="s")]
    assert "isolation" not in report_of(trace_of(*rows), ROOMY)
    report = report_of(trace_of(*rows), ROOMY, isolation=("session",))
    arm = report["arms"]["tiered"]
    assert (arm["tokens"]["hit"]["hbm"], arm["tokens"]["cold"], refused(arm)) == (14, 24, {"scope_denied": 16})
    assert (report["isolation"]["identities"], report["isolation"]["classes"]) == (0, 3)


def test_the_spans_of_an_access_are_kept_apart_too() -> None:
    report = report_of(trace_of(Access("x", 40, 99, who=M1), Access("x", 40, 99, 1, who=M2)), ROOMY)
    assert refused(report["arms"]["tiered"]) == {"scope_denied": 40}
    assert report["arms"]["tiered"]["occupancy_bytes"]["hbm"]["end"] == 198


def test_a_copy_is_refused_only_while_it_is_held_somewhere() -> None:
    """b pushes a out of HBM: to DRAM in one arm, to nowhere in the other."""
    rows = [Ask("a", 0, who=M1), Ask("b", 1, who=M1), Ask("a", 2, who=M2)]
    arms = report_of(trace_of(*rows), engine_of({"hbm": BLOCK_BYTES, "dram": 4 * BLOCK_BYTES}))["arms"]
    assert refused(arms["tiered"]) == refused(arms["infinite"]) == {"scope_denied": 4}
    assert refused(arms["blind-lru"]) == {}


def test_a_copy_that_was_found_lost_is_found_again_once_it_is_computed_again() -> None:
    third = Identity(model="m", tenant="3")
    whose = [("a", M1), ("b", M1), ("a", M2), ("a", M1), ("a", third)]
    rows = [Ask(path, at, who=who) for at, (path, who) in enumerate(whose)]
    arms = report_of(trace_of(*rows), engine_of({"hbm": BLOCK_BYTES}), "blind-lru", against=("infinite",))["arms"]
    assert refused(arms["blind-lru"]) == {"scope_denied": 4}
    assert refused(arms["infinite"]) == {"scope_denied": 8}


def test_a_copy_too_lossy_for_its_own_class_is_refused_to_nobody() -> None:
    """a is held compressed when the other tenant asks for it."""
    engine = engine_of({"hbm": BLOCK_BYTES, "dram": 4 * BLOCK_BYTES}, prefill_ns_per_token=24)
    rows = [Ask("a", 0, who=M1), Ask("b", 1, who=M1), Ask("a", 2, who=M2)]
    lossy = {"compress_ppm": 250_000, "compress_measured": 1, "compress_delta_ppm": 5, "compress_bound_ppm": 10}
    for exact_view, expected in ((0, {"scope_denied": 4}), (1, {})):
        report = report_of(trace_of(*rows), engine, settings={**lossy, "exact_view": exact_view})
        assert refused(report["arms"]["tiered"]) == expected


@moderate(60)
@given(trace=traces(identities=True), engine=engines, options=run_options, axes=isolations)
def test_more_axes_never_give_the_ceiling_more_hits(
    trace: Trace, engine: Engine, options: dict[str, Any], axes: tuple[str, ...]
) -> None:
    report = report_of(trace, engine, isolation=axes, **options)
    for arm in report["arms"].values():
        assert 0 <= sum(arm["tokens"]["cold_refused"].values()) <= arm["tokens"]["cold"]
    if "isolation" not in report:
        return
    levels = report["isolation"]["levels"]
    for wider, narrower in pairwise(levels):
        assert wider["classes"] <= narrower["classes"]
        assert wider["arms"]["infinite"]["hit_tokens"] >= narrower["arms"]["infinite"]["hit_tokens"]
    for name, arm in report["arms"].items():
        assert levels[-1]["arms"][name]["hit_tokens"] == sum(arm["tokens"]["hit"].values())
        # What the ceiling computes for want of permission is what its classes hold and may not give.
        assert levels[-1]["arms"][name]["cold_tokens"] == arm["tokens"]["cold"]
    ceiling = report["arms"]["infinite"]["tokens"]
    extra = ceiling["cold"] - levels[0]["arms"]["infinite"]["cold_tokens"]
    assert sum(ceiling["cold_refused"].values()) == extra


@moderate(20)
@given(trace=traces(identities=True), engine=engines, options=run_options, axes=isolations)
def test_every_level_is_the_run_that_has_its_isolation(
    trace: Trace, engine: Engine, options: dict[str, Any], axes: tuple[str, ...]
) -> None:
    report = report_of(trace, engine, isolation=axes, **options)
    for level in report.get("isolation", {"levels": []})["levels"]:
        alone = report_of(trace, engine, isolation=tuple(level["axes"]), **options)
        for name, arm in level["arms"].items():
            tokens = alone["arms"][name]["tokens"]
            assert arm["hit_tokens"] == sum(tokens["hit"].values())
            assert arm["reprefilled_tokens"] == sum(tokens["reprefilled"].values())
            assert arm["cold_tokens"] == tokens["cold"]


# --- nothing separated, nothing changed ---


def run(trace: Trace, engine: Engine, **options: Any) -> tuple[dict[str, Any], bytes]:
    """The report, but for what it says of isolation itself, and the directive stream."""
    stream = io.BytesIO()
    report = build_report(compare(trace, engine, options_of(**options), stream))
    report["warnings"] = []
    del report["parameters"]["isolation"]
    return report, stream.getvalue()


@moderate(40)
@given(trace=traces(), engine=engines, options=run_options)
def test_where_nothing_is_separated_no_byte_changes(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    expected, stream = run(trace, engine, isolation=(), **options)
    alike = replace(trace, identities=[Identity("m", "t", "a", "s", "x")])
    for other, axes in ((trace, ALL), (alike, ALL), (trace, ("session", "tenant"))):
        report, directives = run(other, engine, isolation=axes, **options)
        assert (canonical_bytes(report), directives) == (canonical_bytes(expected), stream)


def test_classes_that_share_no_block_replay_as_without_isolation() -> None:
    trace = trace_of(Ask("ab", 0, who=M1), Ask("c", 1, who=M2), Ask("ab", 2, who=M1))
    engine = engine_of({"hbm": BLOCK_BYTES, "dram": 4 * BLOCK_BYTES})
    expected, _ = run(trace, engine, isolation=())
    report, _ = run(trace, engine)
    assert report.pop("isolation")["classes"] == 2
    for arm in (*report["arms"].values(), *expected["arms"].values()):
        del arm["directives_sha256"]
    assert report == expected


def test_blocks_of_the_report_are_those_of_the_trace_and_directives_say_whose_a_span_is() -> None:
    rows: list[Row] = [Ask("ab", 0, who=M1), Ask("ab", 1, who=N1)]
    report, stream = run(trace_of(*rows), ROOMY, span_tokens=4096, isolation=("model", "salt"))
    assert (report["trace"]["blocks"], report["trace"]["distinct_blocks"], report["trace"]["spans"]) == (4, 2, 2)
    spans = [line for line in map(orjson.loads, stream.splitlines()) if line.get("kind") == "span"]
    assert [(line["blocks"], line["identity"]) for line in spans] == [
        (["a", "b"], {"model": "m", "salt": ""}),
        (["a", "b"], {"model": "n", "salt": ""}),
    ]


def test_a_trace_whose_format_states_no_identity_has_one_class() -> None:
    trace = trace_of(Ask("ab"), Ask("ab", 1))
    trace.identity = trace.identity[:0]
    trace.identities = []
    report = report_of(trace, ROOMY)
    assert {"code": "identity_unknown", "requests": 2, "of": 2} in report["warnings"]
    assert report["arms"]["tiered"]["tokens"]["cold"] == 8
