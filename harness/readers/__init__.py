"""Trace readers: a file in, a `Trace` out, and nothing else in the package touches the file's format."""

from harness.readers.read import read_trace

__all__ = ["read_trace"]
