"""``celosia compile``: compile once per installation, so that no later command waits for it."""

from __future__ import annotations

import time

import click

from celosia.cli.bars import show_progress
from celosia.cli.output import print_json
from celosia.errors import pluralise
from celosia.kernels import compile_kernels
from celosia.protection.protect import load_engines
from celosia.source.tabulate import tabulate as tabulate


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Say nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def compile(*, quiet: bool, as_json: bool) -> None:  # noqa: A001  (what the command is called)
    """Compile what celosia needs, once per installation, so that later commands need not wait.

    Other commands compile what they miss, and say so; it never counts towards a time limit. Here it is done at once:
    when a machine, an image or a shared installation is set up. What is compiled is kept beside the package, or where
    that cannot be written to in the user's cache; NUMBA_CACHE_DIR names another folder.
    """
    began = time.monotonic()
    load_engines()
    with show_progress(quiet=quiet) as progress:
        many = compile_kernels(progress)
    seconds = round(time.monotonic() - began, 3)
    if as_json:
        print_json({"compiled": many, "seconds": seconds})
    elif not quiet:
        said = (
            f"Compiled {pluralise(many, 'function')} in {seconds:.0f} s." if many else "Everything is compiled already."
        )
        click.echo(said)
