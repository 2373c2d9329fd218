"""Everything wrong with a trace in one message: problems are collected line by line, then told together.

Strictly, any problem refuses the file. Leniently, a line that cannot be read is left out and counted by kind, and a
row whose block ids contradict themselves keeps its tokens, all of them unidentified.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.errors import TraceError

# Kinds of line that cannot be read; leniently each is the name of a count in `Trace.notices`.
NUL_BYTES = "nul_bytes"
NOT_UTF8 = "not_utf8"
NOT_JSON = "not_json"
NOT_FINITE = "not_finite"
TRUNCATED_TAIL = "truncated_tail"
NOT_AN_OBJECT = "not_an_object"
BAD_TIME = "bad_time"
BAD_FIELD = "bad_field"
UNKNOWN_FIELD = "unknown_field"
UNKNOWN_KIND = "unknown_kind"
# Kinds of row whose ids are of no use; leniently all are counted as `INCONSISTENT_IDS`.
ID_TYPE = "id_type"
SPAN_SIZE = "span_size"
ID_COUNT = "id_count"
ID_IDENTITY = "id_identity"
INCONSISTENT_IDS = "rows_with_inconsistent_ids"

TOLD = 8


class BadLineError(Exception):
    """A line that cannot be used: its kind, and a sentence without a full stop."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence


class BadIdsError(BadLineError):
    """A row that could be read, but whose block ids cannot name prefixes."""


class Problem(NamedTuple):
    """`offset` is where the line starts, in bytes of the decompressed content."""

    line: int
    offset: int
    kind: str
    sentence: str


class Problems:
    """Collects the problems of one file: keeps the first few to tell, counts all.

    `lines` counts the lines that are not blank (or the records, of a file without lines), as far as they were walked.
    """

    def __init__(self, path: str, lenient: bool, notices: dict[str, int]) -> None:
        self.first: list[Problem] = []
        self.count = 0
        self.lines = 0
        self.unit = "line"
        self.kinds: dict[str, int] = {}
        self._path = path
        self._lenient = lenient
        self._notices = notices

    def add(self, line: int, offset: int, kind: str, sentence: str) -> None:
        """Book one problem; a line has at most one."""
        self.count += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if len(self.first) < TOLD:
            self.first.append(Problem(line, offset, kind, sentence))
        if self._lenient:
            self._notices[kind] = self._notices.get(kind, 0) + 1

    def refuse_any(self) -> None:
        """Raise `TraceError` for the file where there is a problem and no leniency."""
        if self._lenient or not self.count:
            return
        unit = self.unit
        if self.count == 1:
            number, offset, _, sentence = self.first[0]
            where = f"{self._path}:{number}" if unit == "line" else f"{self._path}: {unit} {number}"
            raise TraceError(f"{where}: {sentence}{self._at(offset)}. {self._advice(f'the {unit}', 'it')}")
        told = "; ".join(f"{unit} {number}{self._at(offset)}: {sentence}" for number, offset, _, sentence in self.first)
        more = f"; and {self.count - TOLD} more" if self.count > TOLD else ""
        raise TraceError(
            f"{self._path}: {self.count} of {self.lines} {unit}s cannot be read: {told}{more}. "
            f"{self._advice(f'the {unit}s', 'them')}"
        )

    def _at(self, offset: int) -> str:
        """Where a line begins; of other units the number says as much."""
        return f" (byte {offset})" if self.unit == "line" else ""

    def _advice(self, lines: str, them: str) -> str:
        """What to do: which options would read the file, by the kinds of problem it has."""
        about_ids = self.kinds.keys() & {ID_TYPE, SPAN_SIZE, ID_COUNT, ID_IDENTITY}
        ways = [f"Fix {lines}"]
        if ID_COUNT in self.kinds:
            ways.append("give the right --block-tokens")
        if ID_IDENTITY in self.kinds:
            ways.append("pass --chain-ids if an id means a block only together with the blocks before it")
        if not about_ids:
            ways.append(f"pass --lenient to leave {them} out")
        elif len(about_ids) == len(self.kinds):
            ways.append("pass --lenient to count the tokens as unidentified")
        else:
            ways.append(
                "pass --lenient to leave out what cannot be read and count the tokens of the other rows as unidentified"
            )
        return ", ".join(ways[:-1]) + f", or {ways[-1]}."
