"""What the naive model counts, and the parts of a report's arm that it makes of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from model_costs import TIERS, Costs

CAUSES = ("pressure", "cost", "expired", "cleared", "fault", "load_refused", "stranded", "bypassed")
# Compression is not modelled, so no copy is ever too lossy; nor is a fleet, so none is elsewhere.
UNMODELLED_CAUSES = ("elsewhere", "approximate_fault")
REFUSALS = ("model_mismatch", "tokenizer_mismatch", "adapter_mismatch", "salt_mismatch", "scope_denied")
DIRECTIVES = {
    "fill": "",
    "drop": "",
    "restore": "restore",
    "stream": "restore",
    "attend": "route",
    "demote": "offload",
    "spill": "offload",
    "evict": "offload",
}
POOLED_DIRECTIVES = {"copy": "restore", "dedupe": "offload"}


class Books:
    """Counters, and lists of whatever happened; sums are taken when somebody asks."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.tokens: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()
        self.reprefilled: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.time_ns: Counter[str] = Counter()
        self.lifecycle: Counter[str] = Counter()
        self.evictions: Counter[str] = Counter()
        self.peak_bytes: Counter[str] = Counter()
        self.ttft_ns: list[int] = []
        # (action, source, destination, outcome, bytes, tokens)
        self.moves: list[tuple[str, str, str, str, int, int]] = []
        # Every read and write of a tier as (tier, bytes), and every transfer as (source, destination, bytes).
        self.operations: list[tuple[str, int]] = []
        self.transfers: list[tuple[str, str, int]] = []

    def note(self, action: str, source: str, to: str, size_bytes: int, tokens: int, outcome: str = "ok") -> None:
        self.moves.append((action, source, to, outcome, size_bytes, tokens))

    def read(self, source: str, to: str, size_bytes: int) -> None:
        """Bytes are read from one tier and written to the other."""
        self.operations += [(source, size_bytes), (to, size_bytes)]
        self.transfers.append((source, to, size_bytes))

    def read_in_place(self, tier: str, size_bytes: int, times: int) -> None:
        """Bytes go from a tier to where they are used, that often, and are written nowhere."""
        self.operations += [(tier, size_bytes)] * times
        self.transfers += [(tier, "hbm", size_bytes)] * times

    def busy_ppm(self, tier: str, duration_us: int) -> int:
        """Reading: the time is rounded down once, for all that a tier read and wrote together."""
        profile = self.costs.profiles[tier]
        sizes = [size for name, size in self.operations if name == tier]
        ns = len(sizes) * profile.read_latency_ns
        if profile.bandwidth_mb_s:
            ns += sum(sizes) * 1000 // profile.bandwidth_mb_s
        return ns * 1_000_000 // (duration_us * 1000)

    def crossed(self, source: str, to: str) -> int:
        return sum(size for start, end, size in self.transfers if (start, end) == (source, to))

    def links_busy_ppm(self, duration_us: int) -> dict[str, int]:
        """The busier of a link's two ways, or both together where it has a figure for that."""
        busy = {}
        for link in self.costs.engine.links:
            hotter, colder = TIERS[link.hotter], TIERS[link.colder]
            down = self.crossed(hotter, colder)
            up = self.crossed(colder, hotter)
            if (hotter, colder) == ("hbm", "dram"):
                # The accelerator's own link: everything that enters or leaves HBM crosses it.
                down = sum(self.crossed("hbm", to) for to in TIERS if to != "hbm")
                up = sum(self.crossed(source, "hbm") for source in TIERS if source != "hbm")
            ns = max(down * 1000 // link.down_mb_s, up * 1000 // link.up_mb_s)
            if link.both_mb_s:
                ns = max(ns, (down + up) * 1000 // link.both_mb_s)
            busy[f"{hotter}-{colder}"] = ns * 1_000_000 // (duration_us * 1000)
        return busy

    def document(self, tiers: list[str], end_bytes: dict[str, int], duration_us: int) -> dict[str, Any]:
        kinds = sorted({move[:4] for move in self.moves})
        return {
            "tokens": {
                "input": self.tokens["input"],
                "hit": {tier: self.hits[tier] for tier in tiers},
                "cold": self.tokens["cold"],
                "cold_refused": {reason: self.refused[reason] for reason in REFUSALS},
                "obligatory": self.tokens["obligatory"],
                "unidentified": self.tokens["unidentified"],
                "reprefilled": {cause: self.reprefilled[cause] for cause in (*CAUSES, *UNMODELLED_CAUSES)},
            },
            "time_ns": {name: self.time_ns[name] for name in ("prefill", "stage", "attend", "offload", "promote")},
            "utilisation_ppm": {tier: self.busy_ppm(tier, duration_us) for tier in tiers} if duration_us else {},
            "link_utilisation_ppm": self.links_busy_ppm(duration_us) if duration_us else {},
            "ttft_ns": {f"p{percent}": nearest_rank(self.ttft_ns, percent) for percent in (50, 90, 99)},
            "moves": [self.row(*kind) for kind in kinds],
            "evictions": dict(self.evictions),
            "lifecycle": {name: self.lifecycle[name] for name in ("expiring", "expired", "revived")},
            "occupancy_bytes": {tier: {"peak": self.peak_bytes[tier], "end": end_bytes[tier]} for tier in tiers},
        }

    def row(self, action: str, source: str, to: str, outcome: str) -> dict[str, Any]:
        alike = [move for move in self.moves if move[:4] == (action, source, to, outcome)]
        return {
            "action": action,
            "directive": (DIRECTIVES | POOLED_DIRECTIVES)[action],
            "from": source,
            "to": to,
            "outcome": outcome,
            "count": len(alike),
            "bytes": sum(move[4] for move in alike),
            "tokens": sum(move[5] for move in alike),
        }


def nearest_rank(values: list[int], percent: int) -> int:
    """The smallest value with at least `percent` percent of all at or below it."""
    return min(value for value in values if 100 * sum(other <= value for other in values) >= percent * len(values))


def known_to_the_model(arm: dict[str, Any]) -> dict[str, Any]:
    """The parts of a report's arm that the model counts, its moves in an order that both can have."""
    parts = ("tokens", "time_ns", "utilisation_ppm", "link_utilisation_ppm", "ttft_ns", "evictions", "lifecycle")
    return {part: arm[part] for part in parts} | {
        "moves": in_order(arm["moves"]),
        "occupancy_bytes": {
            tier: {key: figures[key] for key in ("peak", "end")} for tier, figures in arm["occupancy_bytes"].items()
        },
    }


def in_order(moves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(moves, key=lambda row: (row["action"], row["from"], row["to"], row["outcome"]))
