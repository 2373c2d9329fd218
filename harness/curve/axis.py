"""The capacity axis of a curve: one figure in every unit that a buyer, an operator or an engine's log uses."""

from __future__ import annotations

from typing import Any

from harness.catalog.machine import Machine
from harness.curve.sweep import Sweep
from harness.engine import Engine
from harness.verdict import ratio_ppm
from policy.capacity_curve import CapacityCurve
from policy.cost import PPM

KNEES_PPM = (900_000, 950_000, 990_000)
_MOST_POINTS = 24


class Axis:
    """An engine's capacity as other quantities: its tokens and blocks, what each rank holds, and what a node does.

    A node has as many such engines as its accelerators allow, each with a cache of its own; per GPU is the node's
    total over all its GPUs, those without an engine included.
    """

    def __init__(self, engine: Engine, machine: Machine, tensor_parallel: int, block_tokens: int) -> None:
        self._kv_bytes = engine.kv_bytes_per_token
        self._ranks = tensor_parallel
        self._gpus = machine.accelerator_count
        self._block_tokens = block_tokens

    def amounts(self, capacity_bytes: int) -> dict[str, int]:
        """What an engine's capacity is in other units. Per rank and per GPU are rounded up: so much is needed."""
        node_bytes = capacity_bytes * (self._gpus // self._ranks)
        tokens = capacity_bytes // self._kv_bytes
        return {
            "capacity_bytes": capacity_bytes,
            "tokens": tokens,
            **({"blocks": tokens // self._block_tokens} if self._block_tokens else {}),
            "per_rank_bytes": -(-capacity_bytes // self._ranks),
            "per_gpu_bytes": -(-node_bytes // self._gpus),
            "per_node_bytes": node_bytes,
        }

    def point(self, sweep: Sweep, capacity_bytes: int) -> dict[str, Any]:
        """The curve at one capacity."""
        curve = sweep.curve
        hit_tokens = curve.hit_tokens(capacity_bytes)
        return {
            **self.amounts(capacity_bytes),
            "hit_tokens": hit_tokens,
            "reprefilled_tokens": curve.reprefilled_tokens(capacity_bytes),
            "of_ceiling_ppm": ratio_ppm(hit_tokens, curve.ceiling_tokens),
            "live_set_ppm": ratio_ppm(sweep.live_set_bytes, capacity_bytes),
            "exact": capacity_bytes >= sweep.exact_from_bytes,
        }

    def knees(self, sweep: Sweep) -> list[dict[str, Any]]:
        """The smallest capacities that reach 90, 95 and 99 % of the ceiling; none where there is nothing to hit."""
        return [
            {"knee_ppm": knee_ppm, **self.point(sweep, sweep.curve.knee_bytes(knee_ppm))}
            for knee_ppm in KNEES_PPM
            if sweep.curve.ceiling_tokens
        ]


def shown_capacities(curve: CapacityCurve) -> list[int]:
    """Powers of two from where the curve rises to where it is flat, the largest of them at most, ascending."""
    if not curve.distance_bytes:
        return []
    first = curve.distance_bytes[0].bit_length() - 1
    last = (curve.knee_bytes(PPM) - 1).bit_length()
    return [2**power for power in range(max(first, last - _MOST_POINTS + 1), last + 1)]
