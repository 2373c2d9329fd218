"""What a policy is to the rest: a name, a sentence, and its rules."""

from dataclasses import dataclass

from policy.rules import Rules


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """One arm's policy. `changes` are the rules that differ from the defaults of `policy.rules`."""

    name: str
    summary: str
    changes: dict[str, int]

    def rules(self, settings: dict[str, int]) -> Rules:
        """The rules of an arm: the defaults, this policy's differences, then what the user set."""
        return Rules({**self.changes, **settings})
