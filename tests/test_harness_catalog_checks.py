"""What has no place in a figure or a record, word by word."""

from __future__ import annotations

import pytest
from catalog_edits import ABSENT, edited

from harness.catalog import validate

M = "machines/h100-sxm/"
L = "models/llama-3.1-8b/"
H = "machines.h100-sxm"
UNIT = "check the value and its unit"

FIGURES = [
    (
        M + "tiers/hbm/bandwidth_mb_s/value",
        0,
        f"{H}.tiers.hbm.bandwidth_mb_s.value: 0 is below 1, the least allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/read_latency_ns/value",
        -5,
        f"{H}.tiers.dram.read_latency_ns.value: -5 is below 0, the least allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/capacity_bytes/value",
        -1,
        f"{H}.tiers.dram.capacity_bytes.value: -1 is below 0, the least allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        10**9 + 1,
        f"{H}.tiers.dram.bandwidth_mb_s.value: 1000000001 is above 1000000000, the most allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/read_latency_ns/value",
        10**12 + 1,
        f"{H}.tiers.dram.read_latency_ns.value: 1000000000001 is above 1000000000000, the most allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/capacity_bytes/value",
        2**60 + 1,
        f"{H}.tiers.dram.capacity_bytes.value: 1152921504606846977 is above 1152921504606846976, "
        f"the most allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        2**63,
        f"{H}.tiers.dram.bandwidth_mb_s.value: 9223372036854775808 is above 1000000000, the most allowed; {UNIT}",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        1.5,
        f"{H}.tiers.dram.bandwidth_mb_s.value: 1.5 does not fit; write a whole number in the field's unit",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        50.0,
        f"{H}.tiers.dram.bandwidth_mb_s.value: 50.0 does not fit; write a whole number in the field's unit",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        True,
        f"{H}.tiers.dram.bandwidth_mb_s.value: true does not fit; write a whole number in the field's unit",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        "50",
        f"{H}.tiers.dram.bandwidth_mb_s.value: '50' does not fit; write a whole number in the field's unit",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/value",
        None,
        f"{H}.tiers.dram.bandwidth_mb_s.value: null does not fit; write a whole number in the field's unit",
    ),
    (M + "tiers/dram/bandwidth_mb_s/value", ABSENT, f"{H}.tiers.dram.bandwidth_mb_s.value: is missing; add it"),
    (
        M + "tiers/dram/bandwidth_mb_s",
        ABSENT,
        f"{H}.tiers.dram.bandwidth_mb_s: is missing; add a figure with its kind and source",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s",
        50,
        f"{H}.tiers.dram.bandwidth_mb_s: 50 does not fit; "
        'write an object like {"value": 1, "kind": "measured", "source": "..."}',
    ),
    (M + "tiers/dram/bandwidth_mb_s/kind", ABSENT, f"{H}.tiers.dram.bandwidth_mb_s.kind: is missing; add it"),
    (
        M + "tiers/dram/bandwidth_mb_s/kind",
        "vendor",
        f"{H}.tiers.dram.bandwidth_mb_s.kind: 'vendor' is unknown; "
        "use one of 'measured', 'datasheet', 'derived', 'assumed'",
    ),
    (M + "tiers/dram/bandwidth_mb_s/source", ABSENT, f"{H}.tiers.dram.bandwidth_mb_s.source: is missing; add it"),
    (
        M + "tiers/dram/bandwidth_mb_s/source",
        " \n",
        f"{H}.tiers.dram.bandwidth_mb_s.source: ' \\n' is blank; write something",
    ),
    (
        M + "tiers/dram/bandwidth_mb_s/source",
        "x" * 401,
        f"{H}.tiers.dram.bandwidth_mb_s.source: '{'x' * 59}... is longer than 400 characters; shorten it",
    ),
]

SHAPES = [
    (M + "tiers", ABSENT, f"{H}.tiers: is missing; add it"),
    (M + "tiers/hbm", ABSENT, f"{H}.tiers.hbm: is missing; add it"),
    (M + "tiers/hbm", None, f"{H}.tiers.hbm: null does not fit; write an object"),
    (M + "tiers/dram/coherent", 1, f"{H}.tiers.dram.coherent: 1 does not fit; write true or false"),
    (
        M + "tiers/dram/share",
        "copy",
        f"{H}.tiers.dram.share: 'copy' is unknown; use one of '', 'mmap', 'cxl_hdm', 'rdma', 'dmabuf'",
    ),
    (
        M + "tiers/dram/bandwith_mb_s",
        1,
        f"{H}.tiers.dram.bandwith_mb_s: is not a field of this record; did you mean 'bandwidth_mb_s'?",
    ),
    (M + "tiers/dram/zz", 1, f"{H}.tiers.dram.zz: is not a field of this record; remove it"),
    (
        M + "tiers/dram/\x1b[31m\u202e",
        1,
        f"{H}.tiers.dram.'\\x1b[31m\\u202e': is not a field of this record; remove it",
    ),
    (M + "links", 5, f"{H}.links: 5 does not fit; write a list"),
    (M + "links/0", "x", f"{H}.links[0]: 'x' does not fit; write an object"),
    (
        M + "links/0/a",
        "gpu",
        f"{H}.links[0].a: 'gpu' is unknown; use one of 'hbm', 'dram', 'numa_far', 'cxl', 'disk', 'remote'",
    ),
    (M + "title", 5, f"{H}.title: 5 does not fit; write a text in quotes"),
    ("machines/zz", [], "machines.zz: a list does not fit; write an object"),
    (
        L + "attention",
        "mqa",
        "models.llama-3.1-8b.attention: 'mqa' is unknown; use one of 'gqa', 'mla', 'sliding', 'hybrid'",
    ),
]


@pytest.mark.parametrize(("path", "value", "message"), FIGURES + SHAPES)
def test_one_misfit_gives_one_message(path: str, value: object, message: str) -> None:
    """The message names the field, the value, what is wrong with it and what to do; nothing else is said."""
    errors, _ = validate(edited((path, value)))

    assert [message] == [str(error) for error in errors]


def test_bounds_themselves_are_accepted() -> None:
    """The least and the most allowed are allowed."""
    dram = M + "tiers/dram/"
    for path, value in (
        (dram + "read_latency_ns/value", 0),
        (dram + "read_latency_ns/value", 10**12),
        (dram + "capacity_bytes/value", 0),
        (dram + "capacity_bytes/value", 2**30),
        (dram + "capacity_bytes/value", 2**60),
        (dram + "bandwidth_mb_s/value", 1),
        (dram + "bandwidth_mb_s/value", 10**9),
        (L + "layers/value", 16384),
        (M + "accelerators/fp8_dense_gflops/value", 989_000),
    ):
        assert validate(edited((path, value)))[0] == [], path


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    """Machines by id, then models by id, fields of an entry in declared order."""
    errors, _ = validate(
        edited(
            (L + "layers/value", "many"),
            (M + "title", ABSENT),
            (M + "zzz", 1),
            (M + "tiers/disk/share", "nfs"),
            (M + "links/0/a_to_b_mb_s/value", 0),
            ("machines/a100-sxm/tiers/disk/capacity_bytes/value", 1),
        )
    )

    assert [error.path for error in errors] == [
        "machines.a100-sxm.tiers.disk.capacity_bytes.value",
        "machines.h100-sxm.title",
        "machines.h100-sxm.tiers.disk.share",
        "machines.h100-sxm.links[0].a_to_b_mb_s.value",
        "machines.h100-sxm.zzz",
        "models.llama-3.1-8b.layers.value",
    ]
