"""Which function answers which kind of conformance vector. A new kind is one row."""

from __future__ import annotations

from collections.abc import Callable

import conformance_entries as entries
import conformance_events as events
import conformance_gate as gate
import conformance_lifecycle as lifecycle
import conformance_radix as prefix_tree
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
    "cache_events": events.cache_events,
    "digest_bytes": entries.bytes_digest,
    "digest_token_ids": entries.token_digest,
    "kv_prefix_entry": entries.prefix_entry,
    "radix": prefix_tree.radix,
    "bound_lookup": prefix_tree.bound_lookup,
    "key_matches": gate.key_matches,
    "quality_acceptable": gate.quality_acceptable,
    "view": gate.view,
    "materialize_verdict": gate.materialize,
    "pool_profile": gate.pool_profile,
    "plan_fleet_reuse": gate.fleet_reuse,
    "pool_reuse_verdict": gate.pool_reuse,
}
