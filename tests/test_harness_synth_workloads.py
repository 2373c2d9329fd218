"""Every workload gives a prefix forest in time order; each has the sharing it is for, and no other."""

from __future__ import annotations

import itertools
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.readers import read_trace
from harness.synth.load import default_recipe
from harness.synth.prompts import EMPTY, Blocks, Shared
from harness.synth.recipe import MAX_T_MS, Recipe, RecipeError
from harness.synth.records import Request
from harness.synth.registry import WORKLOADS
from harness.synth.write import trace_lines
from harness.trace import NO_BLOCK
from policy.identity import NOT_STATED

# Small prompts and few requests, whatever else is drawn.
SMALL: dict[str, dict[str, int]] = {
    "multi-turn-chat": {"system_tokens": 90, "first_tokens": 300, "later_tokens": 60, "limit_tokens": 2000},
    "agent-loop": {
        "prefix_tokens": 150,
        "first_tokens": 200,
        "steps": 9,
        "step_tokens": 50,
        "output_tokens": 20,
        "limit_tokens": 900,
        "summary_tokens": 100,
        "subagent_ppm": 200_000,
        "subagent_tokens": 40,
        "subagent_steps": 3,
    },
    "few-shot": {"system_tokens": 90, "examples_tokens": 100, "question_tokens": 50},
    "rag": {"documents": 12, "top_k": 3, "system_tokens": 30, "document_tokens": 40, "question_tokens": 20},
    "multi-tenant-rag": {
        "documents": 12,
        "top_k": 3,
        "system_tokens": 30,
        "document_tokens": 40,
        "question_tokens": 20,
    },
    "batch": {"input_tokens": 300},
}


def small(workload: str, seed: int = 1, **knobs: int) -> Recipe:
    count = {"sessions" if workload in ("multi-turn-chat", "agent-loop") else "requests": knobs.pop("count", 12)}
    return msgspec.structs.replace(default_recipe(workload, seed), **{**SMALL[workload], **count, **knobs})


def requests(recipe: Recipe) -> list[Request]:
    return [record for record in WORKLOADS[recipe.workload].generate(recipe) if isinstance(record, Request)]


def by_session(records: list[Request]) -> dict[str, list[Request]]:
    sessions: dict[str, list[Request]] = {}
    for record in records:
        sessions.setdefault(record.session, []).append(record)
    return sessions


def shared_blocks(one: Request, other: Request) -> int:
    count = 0
    for a, b in zip(one.blocks, other.blocks, strict=False):
        if a != b:
            break
        count += 1
    return count


recipes = st.builds(
    small,
    st.sampled_from(sorted(SMALL)),
    st.integers(0, 2**53 - 1),
    count=st.integers(1, 25),
    block_tokens=st.sampled_from([1, 7, 16, 64, 512]),
    mean_gap_ms=st.sampled_from([0, 1, 700]),
    burst=st.integers(1, 5),
)


@given(recipe=recipes)
@settings(max_examples=60, deadline=None)
def test_a_block_has_one_parent_and_one_length_and_names_count_up(recipe: Recipe) -> None:
    """Checked here without the reader, so that both would have to be wrong alike."""
    known: dict[int, tuple[int, int]] = {}
    for record in requests(recipe):
        assert len(record.blocks) == -(-record.input_tokens // recipe.block_tokens)
        parent = NO_BLOCK
        for index, block in enumerate(record.blocks):
            length = min(recipe.block_tokens, record.input_tokens - index * recipe.block_tokens)
            if block in known:
                assert known[block] == (parent, length)
            else:
                assert block == len(known), "names count up in order of appearance"
                known[block] = (parent, length)
            parent = block


@given(recipe=recipes)
@settings(max_examples=60, deadline=None)
def test_times_never_step_back_and_every_length_is_positive(recipe: Recipe) -> None:
    records = requests(recipe)
    times = [record.t_ms for record in records]
    assert times[0] == 0
    assert times == sorted(times)
    assert all(record.input_tokens >= 1 and record.output_tokens >= 1 for record in records)


@given(recipe=recipes)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_reader_takes_a_trace_as_it_is(recipe: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(trace_lines(recipe)))
    trace = read_trace(path, tail="ceil")
    records = requests(recipe)
    assert trace.notices == {}
    assert list(trace.input_tokens) == [record.input_tokens for record in records]
    assert list(trace.output_tokens) == [record.output_tokens for record in records]
    assert list(trace.t_us) == [record.t_ms * 1000 for record in records]
    assert [list(trace.blocks_of(r)) for r in range(trace.requests)] == [record.blocks for record in records]
    assert [trace.identities[who] for who in trace.identity] == [record.identity for record in records]
    assert trace.sessions == list(by_session([record for record in records if record.session]))
    assert (trace.name, trace.block_tokens) == (f"{recipe.workload}-{recipe.seed}", recipe.block_tokens)


def test_tenants_ask_the_questions_of_rag_each_through_its_adapter() -> None:
    asked = requests(small("multi-tenant-rag", count=200, tenants=5, adapters=2))
    assert [replace(request, identity=NOT_STATED) for request in asked] == requests(small("rag", count=200))
    met = Counter((request.identity.tenant, request.identity.adapter) for request in asked)
    assert set(met) == {(f"tenant-{tenant}", f"adapter-{tenant % 2}") for tenant in range(5)}
    assert min(met.values()) >= 20


@given(workload=st.sampled_from(sorted(SMALL)), seed=st.integers(0, 2**53 - 1))
@settings(max_examples=40, deadline=None)
def test_a_recipe_gives_the_same_lines_again_and_another_seed_gives_others(workload: str, seed: int) -> None:
    lines = list(trace_lines(small(workload, seed)))
    assert lines == list(trace_lines(small(workload, seed)))
    assert lines[1:] != list(trace_lines(small(workload, seed ^ 1)))[1:]


@pytest.mark.parametrize("workload", ["few-shot", "rag", "batch"])
def test_a_longer_trace_of_single_requests_begins_like_a_shorter_one(workload: str) -> None:
    assert requests(small(workload, count=40))[:20] == requests(small(workload, count=20))


@given(seed=st.integers(0, 2**53 - 1), block_tokens=st.sampled_from([1, 16, 512]))
@settings(max_examples=30, deadline=None)
def test_no_block_of_a_batch_ever_comes_twice(seed: int, block_tokens: int) -> None:
    blocks = [block for record in requests(small("batch", seed, block_tokens=block_tokens)) for block in record.blocks]
    assert blocks == list(range(len(blocks)))


@given(seed=st.integers(0, 2**53 - 1), block_tokens=st.sampled_from([1, 7, 16, 64]))
@settings(max_examples=40, deadline=None)
def test_a_chat_turn_holds_the_turn_before_and_its_answer(seed: int, block_tokens: int) -> None:
    recipe = small("multi-turn-chat", seed, block_tokens=block_tokens, second_turn_ppm=900_000, next_turn_ppm=900_000)
    for turns in by_session(requests(recipe)).values():
        for before, after in itertools.pairwise(turns):
            assert after.t_ms > before.t_ms
            assert after.input_tokens > before.input_tokens + before.output_tokens
            # All whole blocks come again; the partial last one is another block, now that it is whole.
            assert shared_blocks(before, after) == before.input_tokens // block_tokens


def test_conversations_share_the_whole_blocks_of_their_system_prompt_and_no_more() -> None:
    recipe = small("multi-turn-chat", count=40, block_tokens=16)
    first = [turns[0] for turns in by_session(requests(recipe)).values()]
    assert {shared_blocks(first[0], other) for other in first[1:]} == {90 // 16}


def test_each_system_prompt_is_its_own() -> None:
    recipe = small("multi-turn-chat", count=60, block_tokens=16, system_prompts=3)
    roots = {record.blocks[0] for record in requests(recipe)}
    assert len(roots) == 3


def test_a_chat_stays_within_its_limit_and_ends_there() -> None:
    recipe = small("multi-turn-chat", count=30, limit_tokens=400, second_turn_ppm=1_000_000, next_turn_ppm=990_000)
    records = requests(recipe)
    assert max(record.input_tokens for record in records) == 400
    assert len(records) > 30


@given(seed=st.integers(0, 2**53 - 1), block_tokens=st.sampled_from([1, 16, 64]))
@settings(max_examples=40, deadline=None)
def test_a_subagent_begins_with_its_agents_tools_and_system_prompt(seed: int, block_tokens: int) -> None:
    sessions = by_session(requests(small("agent-loop", seed, block_tokens=block_tokens)))
    for name, turns in sessions.items():
        if "/" in name:
            agent = sessions[name.partition("/")[0]][0]
            assert agent.t_ms < turns[0].t_ms
            assert shared_blocks(agent, turns[0]) == 150 // block_tokens


def test_there_are_subagents_and_an_agent_waits_for_the_last_of_them() -> None:
    sessions = by_session(requests(small("agent-loop", count=40)))
    subagents = [name for name in sessions if "/" in name]
    assert len(subagents) > 20
    for name in subagents:
        began, ended = sessions[name][0].t_ms, sessions[name][-1].t_ms
        steps = [record.t_ms for record in sessions[name.partition("/")[0]]]
        assert not [t_ms for t_ms in steps if began <= t_ms <= ended]


def test_subagents_may_have_a_prefix_of_their_own() -> None:
    sessions = by_session(requests(small("agent-loop", count=40, products=1, subagents_share=0, block_tokens=16)))
    agents = {turns[0].blocks[0] for name, turns in sessions.items() if "/" not in name}
    subagents = {turns[0].blocks[0] for name, turns in sessions.items() if "/" in name}
    assert (len(agents), len(subagents), len(agents & subagents)) == (1, 1, 0)


def test_a_compaction_goes_back_to_tools_and_system_prompt() -> None:
    compactions = 0
    for turns in by_session(requests(small("agent-loop", count=40, block_tokens=16, steps=40))).values():
        for before, after in itertools.pairwise(turns):
            if after.input_tokens < before.input_tokens + before.output_tokens:
                compactions += 1
                assert shared_blocks(before, after) == 150 // 16
                assert before.input_tokens + before.output_tokens > 900 - 50 * 40
            assert after.input_tokens <= 900
    assert compactions > 10


def test_few_shot_prompts_share_the_system_prompt_or_their_tasks_examples() -> None:
    records = requests(small("few-shot", count=60, block_tokens=1, tasks=3))
    shared = [shared_blocks(records[0], other) for other in records[1:]]
    same_task = max(shared)
    assert set(shared) == {90, same_task}
    assert 90 + 50 <= same_task <= 90 + 150


def test_rag_prompts_share_as_many_documents_as_they_begin_with_alike() -> None:
    knobs = {"count": 200, "block_tokens": 1, "documents": 3, "top_k": 2, "hot_draws_ppm": 0}
    records = requests(small("rag", **knobs))
    # Three documents, two at a time, sorted: 01, 02, 12; so a prompt begins with 0 or with 1.
    assert len({tuple(record.blocks[30:50]) for record in records}) == 2
    as_found = requests(small("rag", sort_documents=0, **knobs))
    assert len({tuple(record.blocks[30:50]) for record in as_found}) == 3


def test_a_retrieval_holds_every_document_once_even_where_all_are_wanted() -> None:
    records = requests(small("rag", documents=4, top_k=4, hot_draws_ppm=1_000_000, block_tokens=1, count=20))
    lengths = {len(set(record.blocks) & set(records[0].blocks)) for record in records[1:]}
    assert len(lengths) == 1


def test_a_block_that_straddles_a_shared_prefix_is_each_prompts_own() -> None:
    blocks = Blocks(16)
    system = Shared(40)
    one = blocks.grow(system.prefix(blocks), 100)
    other = blocks.grow(system.prefix(blocks), 100)
    assert blocks.path(one) == [0, 1, *range(2, 8), 14]
    assert blocks.path(other) == [0, 1, *range(8, 14), 15]


def test_a_prompt_that_ends_on_a_block_boundary_has_no_partial_block() -> None:
    blocks = Blocks(16)
    assert blocks.path(blocks.grow(EMPTY, 32)) == [0, 1]


def test_a_prompt_shorter_than_a_block_is_one_partial_block() -> None:
    blocks = Blocks(512)
    short = blocks.grow(EMPTY, 5)
    assert blocks.path(short) == [0]
    assert blocks.path(blocks.grow(short, 507)) == [1]


def test_events_come_before_the_first_record_that_is_not_earlier() -> None:
    recipe = msgspec.convert(
        {
            "schema": "fakbench.recipe/1",
            "workload": "shared-prefix",
            "seed": 1,
            "turns": 2,
            "events": [
                {"kind": "clear", "t_ms": 9000},
                {"kind": "pressure", "t_ms": 1000, "tier": "dram", "fill_ppm": 5},
                {"kind": "clear", "t_ms": 1000, "tier": "hbm"},
                {"kind": "fault", "t_ms": 0, "tier": "disk", "until_ms": 7},
            ],
        },
        type=WORKLOADS["shared-prefix"].recipe,
    )
    assert [orjson.loads(line) for line in trace_lines(recipe)][1:] == [
        {"kind": "fault", "t_ms": 0, "tier": "disk", "until_ms": 7},
        {"kind": "access", "t_ms": 0, "span": "system-prompt", "tokens": 4000, "bytes": 67_108_864},
        {"kind": "pressure", "t_ms": 1000, "tier": "dram", "fill_ppm": 5},
        {"kind": "clear", "t_ms": 1000, "tier": "hbm"},
        {"kind": "access", "t_ms": 1000, "span": "tenant-1", "tokens": 4000, "bytes": 67_108_864},
        {"kind": "access", "t_ms": 2000, "span": "system-prompt", "tokens": 4000, "bytes": 67_108_864},
        {"kind": "clear", "t_ms": 9000},
    ]


def test_a_time_beyond_what_a_trace_holds_is_refused() -> None:
    recipe = msgspec.structs.replace(default_recipe("shared-prefix", 1), turns=5_000_000, gap_ms=86_400_000)
    record = next(WORKLOADS["shared-prefix"].generate(recipe))
    assert record.t_ms <= MAX_T_MS
    far = msgspec.structs.replace(recipe, turns=2, gap_ms=MAX_T_MS + 1)
    with pytest.raises(RecipeError) as caught:
        list(trace_lines(far))
    assert str(caught.value) == (
        "shared-prefix-1: a time passes 9007199254740 ms; lower `mean_gap_ms` or the number of requests"
    )


def test_a_prompt_beyond_what_a_trace_holds_is_refused() -> None:
    recipe = msgspec.structs.replace(default_recipe("batch", 1), input_tokens=2**24, block_tokens=4096)
    with pytest.raises(RecipeError) as caught:
        list(trace_lines(recipe))
    assert str(caught.value) == "batch-1: a prompt or answer passes 16777216 tokens; lower the mean lengths"


@pytest.mark.parametrize("workload", ["multi-turn-chat", "few-shot", "batch"])
def test_memory_does_not_grow_with_the_length_of_a_trace(workload: str) -> None:
    def peak_bytes(count: int) -> int:
        recipe = small(workload, count=count, mean_gap_ms=1000)
        tracemalloc.start()
        try:
            for _ in trace_lines(recipe):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak_bytes(10)
    assert peak_bytes(6000) < 2 * peak_bytes(1500) + 100_000
