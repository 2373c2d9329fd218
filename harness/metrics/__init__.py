"""Metrics of cache events: a recorder that counts them, Prometheus text, and what a replay writes and serves of it."""
