"""Integer cost functions, in nanoseconds, rounded down once per operation.

The policy decides with these and the ledger charges with these, so belief and charge cannot drift apart.
Source: the original plane's cost model; the roofline follows the usual 2 * parameters FLOP per token plus the
attention term that grows with the context in front (see docs/costs.md).
"""

# What a move over a link of no bandwidth costs: more than any recompute, so it is never cheap.
NEVER_NS = 2**62

PPM = 1_000_000


def stage_ns(size_bytes: int, latency_ns: int, bandwidth_mb_s: int) -> int:
    """Time to move `size_bytes` through a tier: its latency plus the transfer. 1 MB is 10**6 bytes.

    The division truncates toward zero, which matters only for a negative size. No bandwidth is never cheap.
    """
    if bandwidth_mb_s <= 0:
        return NEVER_NS
    scaled = size_bytes * 1000
    if scaled < 0:
        return latency_ns - (-scaled) // bandwidth_mb_s
    return latency_ns + scaled // bandwidth_mb_s


def recompute_ns(tokens: int, prefill_ns_per_token: int) -> int:
    """Time to prefill `tokens` again at a flat rate; nothing where either is not positive."""
    if tokens <= 0 or prefill_ns_per_token <= 0:
        return 0
    return tokens * prefill_ns_per_token


def retain_pays(stage_cost_ns: int, recompute_cost_ns: int) -> bool:
    """Keeping a span pays where staging is strictly cheaper than recompute; a tie drops it."""
    return stage_cost_ns < recompute_cost_ns


def roofline_prefill_ns(
    new_tokens: int, context_tokens: int, linear_flop_per_token: int, attention_flop_per_pair: int, mflop_per_s: int
) -> int:
    """Time to prefill `new_tokens` behind `context_tokens` cached ones at `mflop_per_s` achieved.

    Large models make its products pass 64 bits: it needs Python's own integers, and is asked once for each span.

    Each new token costs `linear_flop_per_token` (2 * active parameters) and `attention_flop_per_pair`
    (4 * layers * query heads * head dimension) for each token it attends to: the context, and half of its own run.
    """
    linear = linear_flop_per_token * new_tokens
    pairs_twice = new_tokens * (2 * context_tokens + new_tokens)
    return (2 * linear + attention_flop_per_pair * pairs_twice) * 1000 // (2 * mflop_per_s)


def attend_extra_ns(read_ns: int, hbm_read_ns: int, output_tokens: int) -> int:
    """Extra time of using a span where it is: one slower read for the prefill and one for each output token."""
    extra = read_ns - hbm_read_ns
    if extra <= 0:
        return 0
    return (1 + output_tokens) * extra
