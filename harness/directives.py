"""The directive stream as text: one JSON line for each thing done to a span, as an engine adapter would consume it.

A stream begins with a header and one `span` line for each span (its tokens and the blocks that name it), so that an
adapter can tell which KV blocks a directive speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from harness.isolation import Isolated
from harness.workload import Workload
from policy.decisions import ACTION_NAMES, DIRECTIVE_NAMES, NO_REASON, OUTCOME_NAMES, REASON_NAMES
from policy.journal import Row
from policy.tiers import TIER_NAMES

SCHEMA = "fakbench.directives/1"


def preamble(workload: Workload, isolated: Isolated) -> bytes:
    """Header and span lines: the same in every arm, since spans are cut from the trace alone.

    Where isolation separates classes a span says whose it is: two classes have blocks of the same name.
    """
    tree = workload.tree
    names = [workload.trace.block_names[block] for block in tree.span_blocks]
    header = {"kind": "directives", "schema": SCHEMA, "trace_sha256": workload.trace.sha256}
    lines = [orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE)]
    rows = zip(tree.tokens, workload.spans.size_bytes, tree.first_block, tree.block_count, strict=True)
    owners = [_owner(isolated, number) for number in range(len(isolated.classes))]
    for span, (tokens, size_bytes, first, count) in enumerate(rows):
        blocks = orjson.dumps(names[first : first + count])
        owner = owners[isolated.owner[tree.span_blocks[first]]] if isolated.separates else b""
        line = b'{"kind":"span","span":%d,"tokens":%d,"bytes":%d,"blocks":%s%s}\n'
        lines.append(line % (span, tokens, size_bytes, blocks, owner))
    return b"".join(lines)


def _owner(isolated: Isolated, number: int) -> bytes:
    identity = isolated.classes[number]
    return b',"identity":' + orjson.dumps({axis: getattr(identity, axis) for axis in isolated.axes})


class DirectiveText:
    """Renders journal rows to lines. What does not depend on the row's numbers is rendered once.

    In a fleet every line names its replica.
    """

    def __init__(self, replica: int | None = None) -> None:
        self._start = b"{" if replica is None else b'{"replica":%d,' % replica
        self._tails: dict[tuple[int, int, int, int, int, int], bytes] = {}

    def lines(self, rows: Iterable[Row]) -> bytes:
        """The rows as lines, in order."""
        start = self._start
        tails = self._tails
        out = []
        for now, action, directive, span, source, destination, outcome, reason, size_bytes in rows:
            key = (action, directive, source, destination, outcome, reason)
            tail = tails.get(key)
            if tail is None:
                tail = tails[key] = _tail(*key)
            out.append(b'%b"t_us":%d,"span":%d,"bytes":%d%b' % (start, now, span, size_bytes, tail))
        return b"".join(out)


def _tail(action: int, directive: int, source: int, destination: int, outcome: int, reason: int) -> bytes:
    fields = {
        "action": ACTION_NAMES[action],
        "directive": DIRECTIVE_NAMES[directive],
        "from": TIER_NAMES[source],
        "to": TIER_NAMES[destination],
        "outcome": OUTCOME_NAMES[outcome],
        "reason": "" if reason == NO_REASON else REASON_NAMES[reason],
    }
    return b"," + orjson.dumps(fields)[1:] + b"\n"
