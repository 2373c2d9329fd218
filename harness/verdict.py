"""What the figures of two arms mean: what was saved, how near to the best possible, and whether it pays.

An honest "no" is an answer, with its reason. Nothing here is measured again: it reads the arms of a report.
"""

from __future__ import annotations

from typing import Any

from harness.trace import Trace
from policy.cost import PPM

# A net saving or loss below this share of the baseline's time is too close to call.
NOISE_PPM = 10_000


def ratio_ppm(part: int, whole: int) -> int:
    """`part / whole` in parts per million, rounded toward zero; 0 of nothing."""
    if whole == 0:
        return 0
    ppm = abs(part) * PPM // abs(whole)
    return -ppm if (part < 0) != (whole < 0) else ppm


def computed_tokens(arm: dict[str, Any]) -> int:
    """Tokens an arm prefilled, for whatever reason."""
    tokens = arm["tokens"]
    reprefilled = sum(tokens["reprefilled"].values())
    return int(tokens["cold"] + tokens["obligatory"] + tokens["unidentified"] + reprefilled)


def waited_ns(arm: dict[str, Any]) -> int:
    """Time that requests of an arm needed: prefill, staging and slower reads. Offloads run beside them."""
    time = arm["time_ns"]
    return int(time["prefill"] + time["stage"] + time["attend"])


def compare_arm(arm: dict[str, Any], baseline: dict[str, Any], ceiling: dict[str, Any]) -> dict[str, Any]:
    """One arm held against the baseline, and both against the ceiling."""
    tokens_saved = computed_tokens(baseline) - computed_tokens(arm)
    net_ns_saved = waited_ns(baseline) - waited_ns(arm)
    possible_ns = waited_ns(baseline) - waited_ns(ceiling)
    saved_ppm = ratio_ppm(net_ns_saved, waited_ns(baseline))
    verdict, reason = _verdict(arm, baseline, ceiling, net_ns_saved, saved_ppm)
    return {
        "tokens_saved": tokens_saved,
        "prefill_ns_saved": baseline["time_ns"]["prefill"] - arm["time_ns"]["prefill"],
        "net_ns_saved": net_ns_saved,
        "saved_ppm": saved_ppm,
        "of_possible_ppm": ratio_ppm(net_ns_saved, possible_ns),
        "verdict": verdict,
        "reason": reason,
    }


def _verdict(
    arm: dict[str, Any], baseline: dict[str, Any], ceiling: dict[str, Any], net_ns_saved: int, saved_ppm: int
) -> tuple[str, str]:
    if computed_tokens(ceiling) == ceiling["tokens"]["input"]:
        return "does_not_pay", "no_reuse"
    if sum(baseline["tokens"]["reprefilled"].values()) == 0:
        return "does_not_pay", "baseline_keeps_everything"
    if overloaded(arm):
        return "does_not_fit", "bandwidth_exceeded"
    if saved_ppm >= NOISE_PPM:
        return "pays", "saves_time"
    if saved_ppm <= -NOISE_PPM:
        return "does_not_pay", "loads_cost_more_than_they_save"
    if net_ns_saved == 0:
        return "does_not_pay", "nothing_saved"
    return "too_close", "within_noise"


def overloaded(arm: dict[str, Any]) -> dict[str, int]:
    """Tiers and links of an arm that would have to be busy for longer than the trace lasts."""
    busy = {**arm["utilisation_ppm"], **arm["link_utilisation_ppm"]}
    return {name: ppm for name, ppm in busy.items() if ppm > PPM}


def warnings(arms: dict[str, dict[str, Any]], trace: Trace) -> list[dict[str, Any]]:
    """What a reader must know before believing the figures, in a fixed order."""
    found: list[dict[str, Any]] = []
    for name, arm in arms.items():
        for place, ppm in overloaded(arm).items():
            found.append({"code": "plan_does_not_fit_the_hardware", "arm": name, "where": place, "ppm": ppm})
    unknown = trace.notices.get("rows_without_ids", 0)
    if unknown:
        found.append({"code": "reuse_unknown", "requests": unknown})
    return found
