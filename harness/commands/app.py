"""Every command, in the order of the help."""

from __future__ import annotations

import typer

from harness.commands import catalog as catalog_commands
from harness.commands.check import check
from harness.commands.curve import curve
from harness.commands.demo import demo
from harness.commands.head import head
from harness.commands.policies import policies
from harness.commands.probe import probe
from harness.commands.replay import replay
from harness.commands.saying import say
from harness.commands.stats import stats
from harness.commands.synth import synth

_HELP = """The what-if instrument for KV-cache tiering.

Replays recorded traffic through a hardware-aware cache policy, holds it against blind LRU on a machine of the catalog,
and says what demoting instead of evicting saves, by which tiers, how far from the best possible, and why."""


def build_app() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        result_callback=_finish,
    )
    app.callback()(_options)
    app.command()(replay)
    app.command()(curve)
    app.command()(demo)
    app.command()(policies)
    app.command()(catalog_commands.machines)
    app.command()(catalog_commands.models)
    app.command()(probe)
    app.command()(check)
    trace = typer.Typer(help="Make and inspect traces.", no_args_is_help=True, rich_markup_mode=None)
    trace.command()(synth)
    trace.command()(stats)
    trace.command()(head)
    app.add_typer(trace, name="trace")
    app.add_typer(catalog_commands.app, name="catalog")
    return app


def _options(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from harness import __version__

        say(f"fakbench {__version__}")
        raise typer.Exit


def _finish(code: int | None, **_: object) -> None:
    """A command returns its exit code."""
    if code:
        raise typer.Exit(code)
