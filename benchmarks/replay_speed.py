"""The main job as a whole process, reading included, against a bare orjson pass over the same file (the floor).

.venv/bin/python benchmarks/replay_speed.py [TRACE] [--rounds N]
"""

from __future__ import annotations

import sys

from main_job import arguments, replay_command
from timing import in_turn, print_ratios

FLOOR = "orjson pass"
_PARSE = "import orjson, sys\nfor line in open(sys.argv[1], 'rb'): orjson.loads(line)"


def main() -> None:
    given = arguments(__doc__, 5)
    replay = replay_command(given.trace)
    commands = {
        FLOOR: [sys.executable, "-c", _PARSE, str(given.trace)],
        "tiered, blind-lru, infinite": replay,
        "the same and tiered-reference": [*replay, "--against", "blind-lru", "--against", "tiered-reference"],
    }
    print(f"{given.trace.name}: whole processes, {given.rounds} rounds in turn")
    print_ratios(in_turn(commands, given.rounds), FLOOR)


if __name__ == "__main__":
    main()
