"""`python -m harness` is `fakbench`."""

from harness.cli import app

app()
