"""Whether the gate serves what an arm's compression made, asked once: all of it went through the same loss.

The ladder compresses only where the loss was measured and keeps to a bound, of which 0 is "none may be lost". To the
gate a bound of 0 is no bound at all, so a measured loss of 0 is put to it as what it is: exact, and never marked.
"""

from policy.entry import SCOPE_FLEET
from policy.gate import materialization_verdict
from policy.gate_key import key_of
from policy.gate_view import COMPRESSED_KV, KV_PREFIX, Quality, mark_lossy
from policy.identity import NOT_STATED, entry_of
from policy.rules import Rules


def lossy_serves(rules: Rules) -> int:
    """1 where a span that was compressed under `rules` may serve a request; 0 where it is an approximate fault."""
    entry = entry_of(NOT_STATED, SCOPE_FLEET)
    want = key_of(entry)
    measured = bool(rules.compress_measured)
    if measured and rules.compress_delta_ppm == 0:
        return int(materialization_verdict(KV_PREFIX, entry, want).can_serve())
    view = KV_PREFIX if rules.exact_view else COMPRESSED_KV
    quality = Quality(measured, rules.compress_delta_ppm, rules.compress_bound_ppm)
    return int(materialization_verdict(view, mark_lossy()(entry), want, quality).can_serve())
