"""Digests: the same bytes and the same token ids have the same name on every machine."""

from __future__ import annotations

from hashlib import sha256
from struct import pack

import pytest

from policy.digest import digest_bytes, digest_token_ids


def test_bytes_are_named_by_their_sha256() -> None:
    assert digest_bytes(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_bytes(b"hello world") == "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"


def test_a_token_id_is_eight_bytes_big_endian_in_twos_complement() -> None:
    ids = [0, 1, -1, 2**63 - 1, -(2**63)]
    assert digest_token_ids(ids) == sha256(pack(">5q", *ids)).hexdigest()
    assert digest_token_ids(iter(ids)) == digest_token_ids(ids)


def test_ids_do_not_run_into_each_other() -> None:
    assert digest_token_ids([1, 23]) != digest_token_ids([12, 3])


@pytest.mark.parametrize("token_id", [2**63, -(2**63) - 1])
def test_an_id_that_does_not_fit_is_refused_by_name(token_id: int) -> None:
    with pytest.raises(ValueError, match=f"^token id {token_id} does not fit 64 bits$"):
        digest_token_ids([1, token_id])
