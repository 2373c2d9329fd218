"""The views of a report, whole: what is printed, to the last character, and what data may not do to it."""

from __future__ import annotations

from builders import BLOCK_BYTES, Ask, engine_of, report_of, trace_of

from harness.render.registry import RENDERERS
from harness.render.text import printable

SECOND_US = 1_000_000
ENGINE = engine_of({"hbm": BLOCK_BYTES, "dram": 4 * BLOCK_BYTES}, prefill_ns_per_token=100_000)
TRACE = trace_of(Ask("a"), Ask("b", SECOND_US), Ask("a", 2 * SECOND_US, tail=1), name="two <b>")

TABLE = """\
two <b>: 3 requests, 13 input tokens, 2 s
machine test, model test

tiered against blind-lru: PAYS: what is loaded costs less than what need not be computed
    4 tokens and 0.000 s of prefill saved; net 0.000 s = 30.77 % of the time, 100.00 % of what is possible
The ceiling (infinite): at most 0.000 s = 30.77 % of the time of blind-lru can be saved

What was saved
 arm       | re-prefilled | tokens saved | net s saved |   saved | of possible | TTFT p50 ms | p99 ms
-----------+--------------+--------------+-------------+---------+-------------+-------------+--------
 tiered    |            0 |            4 |       0.000 | 30.77 % |    100.00 % |       0.400 |  0.400
 blind-lru |            4 |            - |           - |       - |           - |       0.400 |  0.500
 infinite  |            0 |            4 |       0.000 | 30.77 % |    100.00 % |       0.400 |  0.400
"""


def test_the_tables_are_these_characters() -> None:
    text = RENDERERS["table"](report_of(TRACE, ENGINE))
    assert text[: len(TABLE)] == TABLE
    titles = [line for line in text.splitlines() if line[:1].isupper() and " " in line and ":" not in line]
    assert titles == [
        "What was saved",
        "Where the time goes",
        "Hit tokens by tier",
        "Why tokens were re-prefilled",
        "What moved",
        "How full and how busy",
    ]
    ends = text.splitlines()[-2:]
    assert ends[0] == (
        "warning: this trace states no identity (model, tokenizer, adapter, salt, tenant): its reuse is an upper bound"
    )
    assert text.endswith(
        "audit: balanced (tokens, used_bytes, capacity, flow, one_tier, cold_equal, cold_refused, ceiling)\n"
    )


def test_markdown_escapes_what_data_says() -> None:
    text = RENDERERS["markdown"](report_of(TRACE, ENGINE))
    assert text.startswith("* two \\<b\\>\\: 3 requests, 13 input tokens, 2 s\n* machine test, model test\n* tiered")
    assert "### What was saved\n\n| arm | re-prefilled |" in text
    assert "| --- | ---: |" in text


def test_markdown_lets_no_name_become_a_link_a_mention_a_formula_or_a_list() -> None:
    report = report_of(TRACE, ENGINE)
    report["trace"]["name"] = "1. https://a.example www.b.example @c $d$ :e:"
    line = RENDERERS["markdown"](report).splitlines()[0]
    assert line.startswith("* 1\\. https\\://a\\.example www\\.b\\.example \\@c \\$d\\$ \\:e\\:\\: 3 requests")


def test_every_form_ends_with_one_newline() -> None:
    report = report_of(TRACE, ENGINE)
    for render in RENDERERS.values():
        assert render(report).endswith("\n")
        assert not render(report).endswith("\n\n")


def test_a_failed_audit_is_shown_with_its_figures() -> None:
    report = report_of(TRACE, ENGINE)
    report["audit"] = {"balanced": False, "checks": [{"name": "flow", "ok": False, "detail": "dram: 1 in, 2 held"}]}
    assert RENDERERS["table"](report).endswith("audit: FAILED: flow (dram: 1 in, 2 held)\n")


def test_control_and_format_characters_are_shown_and_never_sent() -> None:
    assert printable("a\x1b[31m\u202e\x9b\n\tb") == "a\ufffd[31m\ufffd\ufffd\ufffd\ufffdb"
    assert printable("a\u2028b\u2029") == "a\ufffdb\ufffd"
    assert printable("caf\u00e9 \u2192 100 %") == "caf\u00e9 \u2192 100 %"
