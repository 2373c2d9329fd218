"""One curve and a thousand capacity vectors answered from it, against a thousand replays of blind LRU.

.venv/bin/python benchmarks/curve.py [TRACE] [--vectors N] [--replays N] [--rounds N]

Replays are timed at `--replays` capacities spread evenly over the vectors' and multiplied up; every one timed is also
held against the curve, to the token, where the curve says that it is exact. Reading and span building, which both
need once, are not timed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from main_job import OWN, REAL, ROOT

from harness.catalog.lookup import load_catalog
from harness.comparison import ReplayOptions
from harness.curve.sweep import sweep
from harness.readers import read_trace
from harness.replay import replay_arm, route
from harness.resolve import EngineOptions, resolve_engine
from harness.workload import prepare
from policy.cost import PPM
from policy.policies.registry import POLICIES
from policy.tiers import HBM


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", nargs="?", type=Path, default=REAL if REAL.exists() else OWN)
    parser.add_argument("--vectors", type=int, default=1_000)
    parser.add_argument("--replays", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    catalog = load_catalog(ROOT / "catalog.json")
    trace = read_trace(given.trace)
    engine = resolve_engine(catalog, EngineOptions())
    workload = prepare(trace, engine, 4096, 0)
    step = sum(workload.spans.size_bytes) // given.vectors + 1
    capacities = [step * (number + 1) for number in range(given.vectors)]

    seconds = []
    for _ in range(given.rounds):
        start = time.perf_counter()
        found = sweep(workload, PPM, 0)
        answers = [found.cuts([capacity, capacity, capacity])[0].hit_tokens for capacity in capacities]
        seconds.append(time.perf_counter() - start)
    curve_s = statistics.median(seconds)

    options = ReplayOptions(policy="blind-lru")
    replays = []
    for number in range(0, given.vectors, max(1, given.vectors // given.replays)):
        smaller = resolve_engine(catalog, EngineOptions(capacity_bytes={HBM: capacities[number]}))
        routing = route(workload, options.fleet)
        start = time.perf_counter()
        arm = replay_arm(workload, smaller, POLICIES["blind-lru"], {}, options.ttls(), routing)
        replays.append(time.perf_counter() - start)
        hit_tokens = sum(arm.books().hit_tokens)
        if capacities[number] >= found.exact_from_bytes and hit_tokens != answers[number]:
            raise SystemExit(f"{capacities[number]} bytes: the replay hits {hit_tokens}, the curve {answers[number]}")
    replays_s = statistics.mean(replays) * given.vectors
    print(f"{trace.name}: {given.vectors} vectors of three tiers")
    print(f"curve, and every vector answered   {curve_s:10.3f} s")
    timed = f"replays, {len(replays)} of them timed"
    print(f"{timed:<34} {replays_s:10.3f} s   {replays_s / curve_s:8.0f} x the curve")


if __name__ == "__main__":
    main()
