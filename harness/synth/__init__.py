"""Synthetic traces: workloads with the shapes of published ones, drawn from a recipe and a seed."""
