"""What a policy did, in order: the directive stream as rows of integers, which the accountant reads and prices."""

# A row: now, action, directive, span, source, destination, outcome, reason, size_bytes.
# Codes are those of `policy.decisions`; `reason` is `NO_REASON` where no plan was asked for.
Row = tuple[int, int, int, int, int, int, int, int, int]


class Journal:
    """One row per thing done to a span, drained after each event."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(
        self,
        now: int,
        action: int,
        directive: int,
        span: int,
        source: int,
        destination: int,
        outcome: int,
        reason: int,
        size_bytes: int,
    ) -> None:
        """Append a row."""
        self.rows.append((now, action, directive, span, source, destination, outcome, reason, size_bytes))
