"""The cache entry of a token prefix held by this machine's own KV cache.

Source: the original plane's KV-prefix entry: computed here and therefore trusted, kept in DRAM, lent and not given,
and valid until the policy says otherwise.
"""

from collections.abc import Sequence

from policy.digest import digest_token_ids
from policy.entry import (
    ADMISSION_ALLOW,
    KV_SPAN,
    PREFIX_ALIGNED,
    SCOPE_FLEET,
    TRUSTED,
    UNIT_POSITIONS,
    Coherence,
    Derivation,
    Entry,
    EntryId,
    Security,
)
from policy.residency import Residency
from policy.tiers import DRAM, TIER_NAMES

PLANE = "kv_prefix"
DEFAULT_OWNER = "kv"
LEASE_BORROW = "borrow"
INVALIDATED_BY_POLICY = "policy"


def kv_prefix_entry(
    token_ids: Sequence[int], model_id: str, tokenizer_id: str, owner: str = "", digest: str = "", length: int = 0
) -> Entry:
    """The entry of `token_ids`. An empty `digest` is taken from them, a `length` of 0 is their count.

    Raises:
        ValueError: A token id does not fit 64 bits.
    """
    owner = owner or DEFAULT_OWNER
    return Entry(
        plane=PLANE,
        id=EntryId(digest or digest_token_ids(token_ids), KV_SPAN, length or len(token_ids), UNIT_POSITIONS),
        derivation=Derivation(
            producer=owner, model_id=model_id, tokenizer_id=tokenizer_id, position_mode=PREFIX_ALIGNED
        ),
        security=Security(TRUSTED, SCOPE_FLEET, ADMISSION_ALLOW, owner),
        residency=Residency(TIER_NAMES[DRAM], owner, LEASE_BORROW),
        coherence=Coherence(INVALIDATED_BY_POLICY),
    )
