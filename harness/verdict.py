"""What the figures of two arms mean: what was saved, how near to the best possible, and whether it pays.

An honest "no" is an answer, with its reason. Nothing here is measured again: it reads the arms of a report.
"""

from __future__ import annotations

from typing import Any

from policy.cost import PPM

# A net saving or loss below this share of the baseline's time is too close to call.
NOISE_PPM = 10_000
# With more than this share of the tokens unidentified, "no reuse" would be a guess.
UNKNOWN_PPM = 100_000


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
        "possible_ns": possible_ns,
        "of_possible_ppm": ratio_ppm(net_ns_saved, possible_ns),
        "verdict": verdict,
        "reason": reason,
    }


def _verdict(
    arm: dict[str, Any], baseline: dict[str, Any], ceiling: dict[str, Any], net_ns_saved: int, saved_ppm: int
) -> tuple[str, str]:
    """A loss is named before anything else; then what there was to save; then whether the hardware carries it."""
    if saved_ppm <= -NOISE_PPM:
        return "does_not_pay", _loss(arm, baseline)
    # Tokens that nothing identifies could be reuse: where they decide, there is nothing to say.
    unknown = arm["tokens"]["unidentified"] > UNKNOWN_PPM * arm["tokens"]["input"] // PPM
    if computed_tokens(ceiling) == ceiling["tokens"]["input"]:
        return ("unknown", "reuse_unknown") if unknown else ("does_not_pay", "no_reuse")
    reprefilled = baseline["tokens"]["reprefilled"]
    if sum(reprefilled.values()) == 0:
        return ("unknown", "reuse_unknown") if unknown else ("does_not_pay", "baseline_keeps_everything")
    if overloaded(arm):
        return "does_not_fit", "bandwidth_exceeded"
    if saved_ppm >= NOISE_PPM:
        return "pays", "saves_time"
    if net_ns_saved == 0:
        bypassed = arm["tokens"]["reprefilled"]["bypassed"] == sum(arm["tokens"]["reprefilled"].values()) > 0
        return "does_not_pay", "prompts_do_not_fit_hbm" if bypassed else "nothing_saved"
    return "too_close", "within_noise"


def _loss(arm: dict[str, Any], baseline: dict[str, Any]) -> str:
    """Why an arm is slower than the baseline: it computes more, or it loads what is cheaper to compute."""
    mine, theirs = arm["tokens"]["reprefilled"], baseline["tokens"]["reprefilled"]
    extra = {cause: mine[cause] - theirs[cause] for cause in mine}
    prefill_ns_lost = arm["time_ns"]["prefill"] - baseline["time_ns"]["prefill"]
    if prefill_ns_lost > arm["time_ns"]["stage"] + arm["time_ns"]["attend"]:
        return f"loses_more_by_{max(extra, key=lambda cause: extra[cause])}"
    return "loads_cost_more_than_they_save"


def overloaded(arm: dict[str, Any]) -> dict[str, int]:
    """Tiers and links of an arm that would have to be busy for longer than the trace lasts."""
    busy = {**arm["utilisation_ppm"], **arm["link_utilisation_ppm"]}
    return {name: ppm for name, ppm in busy.items() if ppm > PPM}
