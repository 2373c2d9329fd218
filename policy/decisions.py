"""The words of a decision as integer codes: actions, directives, reasons, outcomes, and why bytes were lost.

The first six actions are the planner's; the others are what a replay does with a span beside planning.
"""

KEEP = 0
PROMOTE = 1
DEMOTE = 2
SPILL = 3
COMPRESS_DEMOTE = 4
EVICT = 5
FILL = 6
RESTORED = 7
STREAM = 8
ATTEND = 9
DROP = 10
# Between a host and a pool that it shares: a staged copy of what the pool keeps, and letting go of what it has already.
COPY = 11
DEDUPE = 12

ACTION_NAMES = (
    "keep",
    "promote",
    "demote",
    "spill",
    "compress_demote",
    "evict",
    "fill",
    "restore",
    "stream",
    "attend",
    "drop",
    "copy",
    "dedupe",
)

NO_DIRECTIVE = 0
OFFLOAD = 1
RESTORE = 2
ROUTE = 3
MIGRATE = 4

DIRECTIVE_NAMES = ("", "offload", "restore", "route", "migrate")

OK = 0
MISSED = 1
FAULT = 2

OUTCOME_NAMES = ("ok", "missed", "fault")

FRESH_AND_ROOM = 0
HOT_ENTRY_PROMOTED = 1
DEMOTE_BEATS_RECOMPUTE = 2
SPILL_BEATS_RECOMPUTE = 3
COMPRESS_DEMOTE_BEATS_RECOMPUTE = 4
EXPIRED_NO_DEMOTE = 5
NO_COLDER_TIER_WITH_ROOM = 6
RECOMPUTE_CHEAPER_THAN_RETAIN = 7

REASON_NAMES = (
    "fresh_and_room",
    "hot_entry_promoted",
    "demote_beats_recompute",
    "spill_beats_recompute",
    "compress_demote_beats_recompute",
    "expired_no_demote",
    "no_colder_tier_with_room",
    "recompute_cheaper_than_retain",
)

# Why a token was computed. COLD: never computed before. The others had been computed and were lost, or not used.
COLD = 0
PRESSURE = 1
COST = 2
EXPIRED_CAUSE = 3
CLEARED = 4
FAULT_CAUSE = 5
LOAD_REFUSED = 6
STRANDED = 7
BYPASSED = 8
# In a fleet: another replica computed it, and this one cannot reach its copy.
ELSEWHERE = 9
# A copy that is lossy where the gate wants exact KV.
APPROXIMATE_FAULT_CAUSE = 10

CAUSE_NAMES = (
    "cold",
    "pressure",
    "cost",
    "expired",
    "cleared",
    "fault",
    "load_refused",
    "stranded",
    "bypassed",
    "elsewhere",
    "approximate_fault",
)
REPREFILL_CAUSES = CAUSE_NAMES[1:]

# Beside the planner's reasons: nobody asked the planner.
NO_REASON = -1
