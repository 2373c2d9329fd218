"""Which function of `policy` answers which kind of conformance vector. A new kind is one row."""

from __future__ import annotations

from collections.abc import Callable

import conformance_entries as entries
import conformance_lifecycle as lifecycle
import conformance_tiers as tiers
from conformance_codes import ProfileSets, Vector

# From a vector and the profile sets to (expected, got).
Adapter = Callable[[Vector, ProfileSets], tuple[object, object]]

ADAPTERS: dict[str, Adapter] = {
    "tier": tiers.tier,
    "attendable_in_place": tiers.attendable_in_place,
    "share_kind": tiers.share_kind,
    "share_descriptor": tiers.share_descriptor,
    "share_option_order": tiers.share_option_order,
    "serveable": tiers.state_serveable,
    "has_room": tiers.room,
    "probed_tier_profiles": tiers.probed,
    "stage_nanos": tiers.stage,
    "recompute_nanos": tiers.recompute,
    "retain_cheaper_than_recompute": tiers.retain,
    "lifecycle": lifecycle.lifecycle,
    "ttl_for": lifecycle.ttl_for,
    "access_rate": lifecycle.rate,
    "plan_placement": lifecycle.plan_placement,
    "kv_transfer": entries.transfer,
    "kv_residency": entries.remote_residency,
    "digest_bytes": entries.bytes_digest,
    "digest_token_ids": entries.token_digest,
    "kv_prefix_entry": entries.prefix_entry,
}
