"""fakbench's edges: readers, replay, ledger, reports and the command line, over the pure `policy`."""

__version__ = "0.1.0"
