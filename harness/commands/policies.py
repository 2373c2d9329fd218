"""`fakbench policies`: the policies, and the rules that `--set` changes."""

from __future__ import annotations

from harness.commands.saying import say


def policies() -> None:
    """List the policies, and every rule with its value in each."""
    from harness.render.table import ascii_table
    from harness.render.tables import Table
    from policy.policies.registry import POLICIES
    from policy.rules import RULE_SPECS

    names = Table("", ["policy", "what it does"], [[spec.name, spec.summary] for spec in POLICIES.values()], left=2)
    say(ascii_table(names))
    rules = {name: spec.rules({}) for name, spec in POLICIES.items()}
    rows = [
        [spec.name, spec.meaning, f"0..{spec.maximum}", *(str(getattr(rules[name], spec.name)) for name in POLICIES)]
        for spec in RULE_SPECS
    ]
    say("\nRules (--set NAME=VALUE)")
    say(ascii_table(Table("", ["rule", "meaning", "values", *POLICIES], rows, left=2)))
