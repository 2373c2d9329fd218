"""Capacity curves: what every LRU capacity and every split into tiers would have hit, from one pass over a trace."""
