"""The identities of bytes and of token runs: sha256, in lowercase hexadecimal.

Source: the original plane's digests. A token id enters as 8 bytes, big-endian, two's complement: fixed width, so two
runs of different ids never give the same bytes.
"""

from collections.abc import Iterable
from hashlib import sha256

_TOKEN_BYTES = 8
_TOKEN_BOUND = 2 ** (8 * _TOKEN_BYTES - 1)


def digest_bytes(data: bytes) -> str:
    """The digest of `data`."""
    return sha256(data).hexdigest()


def digest_token_ids(token_ids: Iterable[int]) -> str:
    """The digest of a run of token ids, each a signed 64-bit integer.

    Raises:
        ValueError: An id does not fit; the message names it.
    """
    state = sha256()
    for token_id in token_ids:
        if not -_TOKEN_BOUND <= token_id < _TOKEN_BOUND:
            raise ValueError(f"token id {token_id} does not fit 64 bits")
        state.update(token_id.to_bytes(_TOKEN_BYTES, "big", signed=True))
    return state.hexdigest()
