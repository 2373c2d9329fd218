"""Cold tokens that another class's copy could have served: the misses that isolation makes, by the gate's reason.

One arm's books. When a request is matched, each of its blocks that was never computed for its class is looked up among
the copies that other classes hold. Of several the narrowest refusal counts, the last in the order of comparison. A span
is cold once, and a copy that is found lost is forgotten until it is held again, so that searching stays cheap. In a
fleet a replica's own tiers are searched.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.contest import Contest
from harness.ledger import Ledger
from policy.identity import REFUSALS, reuse_verdict, scope_for
from policy.serving import Serving


class Refusals:
    """Books what the gate refused to the requests of one arm into its ledger."""

    def __init__(self, contest: Contest, serving: Serving, ledger: Ledger) -> None:
        self._contest = contest
        self._serving = serving
        self._ledger = ledger
        self._scope = scope_for(contest.isolated.axes)
        # By block and group: the spans that were filled with it and not found lost since, the latest last.
        self._holders: dict[int, dict[int, None]] = {}
        self._held = bytearray(len(contest.owner))
        self._reasons: dict[tuple[int, int], int] = {}

    def ask(self, path: Sequence[int]) -> None:
        """A request was matched: book what of its cold spans others hold."""
        contest = self._contest
        for span in path:
            if self._ledger.ever_computed[span]:
                continue
            for at in range(contest.start[span], contest.start[span + 1]):
                holder = self._nearest(contest.content[at], contest.owner[span])
                if holder is not None:
                    self._ledger.refused(self._reason(contest.owner[holder], contest.owner[span]), contest.tokens[at])

    def held(self, path: Sequence[int]) -> None:
        """A request was served: its spans that are held can be found from now on."""
        contest = self._contest
        for span in path:
            if self._held[span] or not self._serving.usable(span):
                continue
            self._held[span] = 1
            groups = contest.groups[contest.owner[span]]
            for block in contest.content[contest.start[span] : contest.start[span + 1]]:
                for group in groups:
                    self._holders.setdefault(block * contest.group_count + group, {})[span] = None

    def _nearest(self, block: int, owner: int) -> int | None:
        """A span that could serve `block`, of the class that agrees with `owner` in most axes; None where none can."""
        contest = self._contest
        for group in contest.groups[owner]:
            holders = self._holders.get(block * contest.group_count + group)
            while holders:
                span = next(reversed(holders))
                if self._serving.usable(span):
                    return span
                del holders[span]
                self._held[span] = 0
        return None

    def _reason(self, stored: int, wanted: int) -> int:
        """The gate's reason between two classes, as an index into `REFUSALS`; it is asked once a pair."""
        pair = (stored, wanted)
        if pair not in self._reasons:
            classes = self._contest.isolated.classes
            verdict = reuse_verdict(classes[stored], classes[wanted], self._scope)
            self._reasons[pair] = REFUSALS.index(verdict.reason)
        return self._reasons[pair]
