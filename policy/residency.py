"""Where a cached span lives, who owns it, under which lease, and how it is shared.

Source: the original plane's residency record. A residency is set as a whole: setting where a span lives wipes the
share that was set before, so the share is set last. The tier is a free string, as an engine reports it.
"""

from dataclasses import dataclass, field, replace

from policy.share import ShareDescriptor


@dataclass(frozen=True)
class Residency:
    """Tier name, owner, lease and share of one span. The zero value is nowhere, owned by nobody, a copy."""

    tier: str = ""
    owner: str = ""
    lease: str = ""
    share: ShareDescriptor = field(default_factory=ShareDescriptor)

    def with_share(self, share: ShareDescriptor) -> "Residency":
        """The same residency, shared that way."""
        return replace(self, share=share)

    def zero_copy(self) -> bool:
        """Whether the span can be used where it lives without copying it."""
        return self.share.zero_copy()
