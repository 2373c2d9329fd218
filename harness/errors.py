"""Errors a person can act on: one sentence that says what, where and what to do."""

EXIT_OK = 0
EXIT_DIFFERENCE = 1
EXIT_BAD_INPUT = 2


class FakbenchError(Exception):
    """Bad input or usage. `str(error)` is the whole message; the command line prints it and exits 2."""


class TraceError(FakbenchError):
    """A trace that is not what it claims to be. The message names the file and the lines."""


class CatalogError(FakbenchError):
    """A catalog that cannot be used. The message names the field, the value and what is wrong with it."""


class SetupError(FakbenchError):
    """A machine, model and options that do not make a runnable engine. The message shows the arithmetic."""
