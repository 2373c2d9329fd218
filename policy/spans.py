"""What is known of every span before a replay: its size in tokens and bytes, and what computing it costs."""

from array import array


class Spans:
    """Columns by span id: `tokens`, `size_bytes`, `recompute_ns`, and `last_token_ns` (its last token alone)."""

    def __init__(
        self,
        tokens: "array[int]",
        size_bytes: "array[int]",
        recompute_ns: "array[int]",
        last_token_ns: "array[int]",
    ) -> None:
        self.tokens = tokens
        self.size_bytes = size_bytes
        self.recompute_ns = recompute_ns
        self.last_token_ns = last_token_ns

    def __len__(self) -> int:
        return len(self.tokens)
