"""A fleet on the command line: the same bytes everywhere, and outputs that name replicas and add up."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from conftest import ROOT
from fleet_walk import FleetWalk
from running import fakbench

CHAT = ROOT / "traces" / "multi-turn-chat.jsonl"
ENGINE = [
    *("--capacity", "hbm=2GB", "--capacity", "dram=1GB", "--capacity", "remote=4GB"),
    *("--drop-tier", "numa_far", "--drop-tier", "disk"),
]
FLEET = [*ENGINE, "--replicas", "3", "--pool", "remote=2", "--router", "prefix"]
FILES = {"--out": "report", "--directives": "directives", "--per-request": "requests", "--metrics": "metrics"}


def outputs(folder: Path, *arguments: str, **environment: str) -> dict[str, bytes]:
    files = [part for option, name in FILES.items() for part in (option, str(folder / name))]
    ran = fakbench("replay", CHAT, "--now", "0", *arguments, *files, **environment)
    assert (ran.code, ran.err) == (0, "")
    return {"table": ran.out} | {name: (folder / name).read_bytes() for name in FILES.values()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return outputs(tmp_path_factory.mktemp("fleet"), *FLEET)


@pytest.mark.parametrize("seed", ["1", "4242"])
def test_a_fleet_gives_the_same_bytes_for_every_hash_seed(seed: str, made: dict[str, bytes], tmp_path: Path) -> None:
    assert outputs(tmp_path, *FLEET, PYTHONHASHSEED=seed) == made


def test_the_directives_of_a_fleet_can_be_followed(made: dict[str, bytes]) -> None:
    report = orjson.loads(made["report"])
    capacity_bytes = {tier: about["capacity_bytes"] for tier, about in report["machine"]["tiers"].items()}
    walk = FleetWalk(capacity_bytes, [("remote", range(2))]).follow(made["directives"].splitlines())
    occupancy = report["arms"]["tiered"]["occupancy_bytes"]
    assert {tier: walk.end_bytes(tier) for tier in occupancy} == {tier: held["end"] for tier, held in occupancy.items()}
    assert report["fleet"]["arms"]["tiered"]["pools"][0]["held_bytes"]["peak"] > 0


def test_the_request_lines_of_a_fleet_add_up_to_its_replicas(made: dict[str, bytes]) -> None:
    fleet = orjson.loads(made["report"])["fleet"]
    lines = [orjson.loads(line) for line in made["requests"].splitlines()]
    for index, replica in enumerate(fleet["arms"]["tiered"]["replicas"]):
        mine = [line for line in lines if line["replica"] == index]
        assert len(mine) == fleet["requests"][index] > 0
        assert sum(line["input_tokens"] for line in mine) == fleet["input_tokens"][index]
        for tier, tokens in replica["hit"].items():
            assert sum(line["hit"].get(tier, 0) for line in mine) == tokens
        computed = sum(line[name] for line in mine for name in ("cold", "reprefilled", "obligatory", "unidentified"))
        assert computed == replica["prefill_tokens"]


def test_a_fleet_of_one_gives_the_plain_bytes(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "one").mkdir()
    one = [*ENGINE, "--replicas", "1", "--pool", "remote=8", "--router", "least-loaded"]
    assert outputs(tmp_path / "one", *one) == outputs(tmp_path / "plain", *ENGINE)
