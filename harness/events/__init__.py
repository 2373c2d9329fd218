"""KV events: what engines publish of their own caches: recorded, put in order, and asked what tiering would do."""
