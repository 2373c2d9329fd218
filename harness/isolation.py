"""Isolation: whose requests may use whose blocks. A block is split by class, before spans are cut.

Requests whose identities agree in the chosen axes are a class. A pure function from a trace to a trace whose blocks are
pairs of block and class, in order of first appearance, each of which remembers the block it was. Namespaces stay as
they are: ids of two namespaces are different blocks already.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.errors import SetupError
from harness.trace import IDENTITY_AXES, NO_BLOCK, Trace
from policy.identity import AXIS_NAMES, NOT_STATED, Identity

NONE = "none"
ALL = "all"


@dataclass(frozen=True, slots=True)
class Isolated:
    """A trace whose classes share no block, and what that was made of.

    `content[block]` is the block of the original trace, and `owner[block]` indexes `classes`. Where there is one class
    `trace` is the original itself, and both columns are empty.
    """

    source: Trace
    trace: Trace
    axes: tuple[str, ...]
    classes: tuple[Identity, ...]
    content: array[int]
    owner: array[int]

    @property
    def separates(self) -> bool:
        """Whether there are at least two classes."""
        return len(self.classes) > 1


def parse_isolation(text: str) -> tuple[str, ...]:
    """`--isolation`: `none`, `all`, or axes joined with `+`. What is no axis is found by `check_axes`."""
    if text == NONE:
        return ()
    return IDENTITY_AXES if text == ALL else tuple(text.split("+"))


def check_axes(axes: Sequence[str]) -> None:
    """Raise `SetupError` for what is no axis, or is one twice."""
    asked = f"--isolation {'+'.join(axes)}"
    for at, axis in enumerate(axes):
        if axis in (NONE, ALL):
            raise SetupError(f"{asked}: {axis} stands alone; leave it out, or the others")
        if axis not in AXIS_NAMES:
            raise SetupError(
                f"{asked}: {axis or 'an empty name'} is no axis; give {NONE}, {ALL}, or axes joined with +, of"
                f" {', '.join(AXIS_NAMES)}"
            )
        if axis in axes[:at]:
            raise SetupError(f"{asked}: {axis} is given twice; keep one")


def axis_values(trace: Trace, axis: str) -> list[str]:
    """What requests of the trace say of an axis, each once; "" is said by those that do not state it."""
    if axis == "session":
        return list(dict.fromkeys(_session(trace, session) for session in dict.fromkeys(trace.session)))
    return list(dict.fromkeys(getattr(trace.identities[index], axis) for index in dict.fromkeys(trace.identity)))


def separating_axes(trace: Trace, axes: Sequence[str]) -> tuple[str, ...]:
    """Those of `axes` in which requests of the trace differ."""
    return tuple(axis for axis in axes if len(axis_values(trace, axis)) > 1)


def mixed_axes(trace: Trace, axes: Sequence[str]) -> tuple[str, ...]:
    """The axes that are not among `axes` and in which requests of one class differ: hits across them are counted."""
    if len(trace.identities) < 2:
        return ()
    class_of, classes = _classes(trace, axes)
    told = dict.fromkeys(zip(class_of, trace.identity, strict=True))
    return tuple(
        axis
        for axis in IDENTITY_AXES
        if axis not in axes
        and len({(number, getattr(trace.identities[index], axis)) for number, index in told}) > len(classes)
    )


def isolate(trace: Trace, axes: tuple[str, ...]) -> Isolated:
    """Split the blocks of `trace` by class. Where there is one class nothing is copied."""
    if not separating_axes(trace, axes):
        return Isolated(trace, trace, axes, (NOT_STATED,), array("q"), array("q"))
    class_of, classes = _classes(trace, axes)
    split: dict[tuple[int, int], int] = {}
    content, owner, parents, path = array("q"), array("q"), array("q"), array("q")
    for request, number in enumerate(class_of):
        parent = NO_BLOCK
        for block in trace.blocks_of(request):
            part = split.setdefault((block, number), len(content))
            if part == len(content):
                content.append(block)
                owner.append(number)
                parents.append(parent)
            path.append(part)
            parent = part
    separated = replace(
        trace,
        path=path,
        block_parent=parents,
        block_size_tokens=array("q", [trace.block_size_tokens[block] for block in content]),
        block_size_bytes=array("q", [trace.block_size_bytes[block] for block in content]),
        block_names=[trace.block_names[block] for block in content],
    )
    return Isolated(trace, separated, axes, classes, content, owner)


def _classes(trace: Trace, axes: Sequence[str]) -> tuple[list[int], tuple[Identity, ...]]:
    """The class of every request, and what each is, in order of first appearance."""
    stated = [identity.only([axis for axis in axes if axis != "session"]) for identity in trace.identities]
    numbers: dict[Identity, int] = {}
    known: dict[tuple[int, int], int] = {}
    class_of = []
    for request in range(trace.requests):
        index = trace.identity[request] if trace.identity else -1
        session = trace.session[request] if "session" in axes else -1
        if (index, session) not in known:
            identity = replace(stated[index] if stated else NOT_STATED, session=_session(trace, session))
            known[index, session] = numbers.setdefault(identity, len(numbers))
        class_of.append(known[index, session])
    return class_of, tuple(numbers)


def _session(trace: Trace, session: int) -> str:
    return trace.sessions[session] if session >= 0 else ""
