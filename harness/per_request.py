"""What a replay can write beside its report: one line for each request."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import orjson

from harness.documents import whole_file
from harness.replay import RequestAccount, RequestSink
from harness.trace import Trace
from policy.tiers import LADDER


@contextlib.contextmanager
def request_file(path: Path, trace: Trace, replicas: int) -> Iterator[RequestSink]:
    """A file with one JSON line for each request, in the order of the replay; `request` is its index in the file.

    Where there are several `replicas` a line says which served it.
    """
    with whole_file(path) as stream:

        def sink(account: RequestAccount) -> None:
            stream.write(orjson.dumps(_line(account, trace, replicas), option=orjson.OPT_APPEND_NEWLINE))

        yield sink


def _line(account: RequestAccount, trace: Trace, replicas: int) -> dict[str, object]:
    request = account.request
    return {
        "request": request,
        **({"replica": account.replica} if replicas > 1 else {}),
        "t_us": account.time_us,
        "input_tokens": trace.input_tokens[request],
        "hit": {LADDER[tier]: tokens for tier, tokens in enumerate(account.hit_tokens) if tokens},
        "reprefilled": account.reprefilled_tokens,
        "cold": account.cold_tokens,
        "obligatory": account.obligatory_tokens,
        "unidentified": trace.unidentified_tokens[request],
        "prefill_ns": account.prefill_ns,
        "stage_ns": account.stage_ns,
        "attend_ns": account.attend_ns,
    }
