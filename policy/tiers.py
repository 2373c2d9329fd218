"""The residency ladder: the places a KV span can live, hot to cold, as small integer codes.

Source: the original plane's tier table (fak, `internal/cachemeta`). The rank of a tier, not its figures, says what
is hot: an operator may override every figure and a colder tier may then be faster than a hotter one.
"""

HBM = 0
DRAM = 1
NUMA_FAR = 2
CXL = 3
DISK = 4
REMOTE = 5
PROVIDER = 6
RECOMPUTE = 7
UNKNOWN = 8
NO_TIER = UNKNOWN

# Tiers that can hold a span, hot to cold. Everything colder than REMOTE is an answer, not a place.
TIER_COUNT = 6
# Tiers between which spans are relocated in the original plane; remote is in its table but never in its plans.
LOCAL_COUNT = 5

TIER_NAMES = ("hbm", "dram", "numa_far", "cxl", "disk", "remote", "provider", "recompute", "")
LADDER = TIER_NAMES[:TIER_COUNT]

_MEMORY_CLASSES = (
    "kv_cache",
    "ddr_cache",
    "ddr_cache",
    "ddr_cache",
    "offload",
    "offload",
    "offload",
    "unknown",
    "unknown",
)


def tier_code(name: str) -> int:
    """The code of a tier name, which is case sensitive; `UNKNOWN` for any other string."""
    return TIER_NAMES.index(name) if name in TIER_NAMES else UNKNOWN


def rank(tier: int) -> int:
    """Position from hot (0) to cold; everything unknown is coldest alike. Codes are ranks."""
    return tier if tier < UNKNOWN else UNKNOWN


def next_colder(tier: int) -> int:
    """One rung colder on the relocation ladder; `RECOMPUTE` below disk ("drop the bytes"); `NO_TIER` off the ladder."""
    if tier < DISK:
        return tier + 1
    return RECOMPUTE if tier == DISK else NO_TIER


def next_warmer(tier: int) -> int:
    """One rung warmer on the relocation ladder; `NO_TIER` above HBM and off the ladder."""
    return tier - 1 if HBM < tier <= DISK else NO_TIER


def is_local(tier: int) -> bool:
    """True for the tiers of this machine."""
    return tier <= DISK


def memory_class(tier: int) -> str:
    """The class under which events about a tier are counted: kv_cache, ddr_cache, offload or unknown."""
    return _MEMORY_CLASSES[rank(tier)]
