"""Whom a cached span may be served to: its taint, its admission and its scope against who asks.

Source: the checks of the original plane's cross-tenant verdict, which the gate and the pools share here. The original
has a scope for a tenant's own spans but compares no tenants; here the owner is named by a label of the entry, and an
owner that is not named is nobody.
"""

from dataclasses import dataclass

from policy.entry import QUARANTINED, SCOPE_AGENT, SCOPE_FLEET, SCOPE_TENANT, Entry
from policy.verdict import Verdict

# A verdict's kind: the span is there, named, and must be kept from everyone.
QUARANTINE = "quarantine"

TAINT_DENIED = "taint_denied"
ADMISSION_DENIED = "admission_denied"
SCOPE_DENIED = "scope_denied"

ADMISSION_QUARANTINE = "quarantine"

LABEL_TENANT = "tenant"
LABEL_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks for a span: a tenant, and an agent of it. Empty is not named, and owns nothing."""

    tenant: str = ""
    agent: str = ""


ANYONE = Reader()


def quarantined(entry: Entry) -> Verdict:
    """The refusal of an entry in quarantine: it is named so that it can be dropped."""
    return Verdict(QUARANTINE, TAINT_DENIED, entry, entry.id)


def taint_quarantined(entry: Entry) -> bool:
    """Whether the content itself is in quarantine."""
    return entry.security.taint == QUARANTINED


def admission_quarantined(entry: Entry) -> bool:
    """Whether the entry was admitted only to quarantine."""
    return entry.security.admission_verdict == ADMISSION_QUARANTINE


def scope_known(entry: Entry) -> bool:
    """Whether the scope is one of the three; codes out of range are kept as reported."""
    return entry.security.scope in (SCOPE_AGENT, SCOPE_FLEET, SCOPE_TENANT)


def belongs_to(entry: Entry, reader: Reader) -> bool:
    """Whether a span of a tenant's or an agent's own is that reader's; any other scope binds nobody.

    An agent is known only within its tenant: two tenants may name their agents alike.
    """
    scope = entry.security.scope
    tenant = entry.labels.get(LABEL_TENANT, "")
    if scope == SCOPE_TENANT:
        return tenant != "" and tenant == reader.tenant
    if scope == SCOPE_AGENT:
        agent = entry.labels.get(LABEL_AGENT, "")
        return agent != "" and agent == reader.agent and tenant == reader.tenant
    return True
