"""`fakbench demo`: what the ladder is, how the planner decides, and what that saves on a small trace."""

from __future__ import annotations

from harness.commands.saying import write


def demo() -> None:
    """Show the ladder, the planner's decisions, and eight turns on a shared prefix really replayed."""
    from harness.demo import demo_text

    write([demo_text().encode()])
