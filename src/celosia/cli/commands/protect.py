"""``celosia protect``: a safe pattern, what it costs, and the files of it."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from celosia.cli.bars import progress_shown
from celosia.cli.interrupt import answered_to_the_end, tidy_when_terminated
from celosia.cli.method_options import NAMES, method_options
from celosia.cli.output import print_json, respondents_asked, say, say_how_to_verify, show
from celosia.job.methods.choice import PARTS
from celosia.job.pipeline import assess_file
from celosia.job.protection import plan, protect_risk, write_outputs
from celosia.pattern.entries import ADJUSTED, INTERVAL, PERTURBED, ROUNDED, SHOWN
from celosia.pattern.midpoint import midpoints
from celosia.presses import shielded
from celosia.protection.result import Protection
from celosia.protection.why import Why, why
from celosia.report.loss import loss
from celosia.report.terminal.protection import protection_panel
from celosia.table.naming import find_cells

NOT_SAFE = 1
"""The exit code of a pattern that is not shown to be safe."""

_SECTIONS = {
    "method": NAMES,
    "limits": ("time_limit", "gap", "solver", "seed"),
    "output": ("release", "public", "certificate", "report"),
}
_SLIDING = 'Levels are sliding by option: audit and verify judge by the job, so write levels = "sliding" there, too.'
_FILE = click.Path(path_type=Path)
_MOVED = (INTERVAL, ROUNDED, PERTURBED, ADJUSTED)


@click.command()
@click.argument("source", metavar="JOB.toml|PROBLEM.jj", type=_FILE)
@click.option("--method", "name", type=click.Choice(list(PARTS)), help="How to protect.  [default: suppress]")
@click.option(
    "--output",
    "release",
    metavar="OUT.csv|.parquet|.xlsx",
    type=_FILE,
    help="Write the release, the office's copy: it says which cells are sensitive.",
)
@click.option("--public", metavar="PUBLIC.csv|.parquet|.xlsx", type=_FILE, help="Write the release for the public.")
@click.option("--certificate", metavar="PROOF.json", type=_FILE, help="Write the proof (confidential).")
@click.option("--report", metavar="REPORT.html", type=_FILE, help="Write a page to look at (confidential).")
@click.option("--time-limit", metavar="SECONDS", type=float, help="Take the best safe pattern after so long.")
@click.option("--gap", metavar="SHARE", type=float, help="Stop when the cost is within this share of the bound.")
@click.option("--solver", metavar="NAME", help="highs or scip.  [default: the best that is installed]")
@click.option("--seed", metavar="N", type=int, help="Another seed, another path through the search.")
@method_options
@click.option(
    "--why",
    "asked_why",
    metavar="CELL",
    multiple=True,
    help="Say whom this cell protects, and what it would cost to show it: a label or a number; may be repeated.",
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def protect(source: Path, *, asked_why: tuple[str, ...], quiet: bool, as_json: bool, **given: Any) -> int:  # noqa: ANN401  (click's)
    """Protect a table by one of eight methods: hide, widen, round or adjust cells.

    JOB.toml says what to protect and what to write; options here come first. PROBLEM.jj is a table whose sensitive
    cells are known. What the search finds is checked by exact arithmetic before it is written. Ctrl-C ends the search
    with the best safe pattern so far. Exit codes: 0 done and safe, 1 cannot be protected, 2 bad input, 3 out of time
    with nothing safe to show. Files are written with 0 only.
    """
    began = time.monotonic()
    what = plan(source, _options(given))
    with progress_shown(quiet=quiet) as progress:
        risk = assess_file(what.source, progress)
    cells = [int(cell) for called in find_cells(risk.table, asked_why, "--why") for cell in called]
    with answered_to_the_end():
        with progress_shown(quiet=quiet) as progress:
            result = protect_risk(risk, what, progress)
            told = [why(result, cell) for cell in cells]
            with shielded(), tidy_when_terminated():
                written = write_outputs(result, what, progress, whys=told) if result.safe else []
        if as_json:
            seconds = round(time.monotonic() - began, 3)
            said = summary_of(result) | ({"why": [_reasons(one) for one in told]} if told else {})
            print_json(said | {"seconds": seconds, "files": list(map(str, written))})
        else:
            show(protection_panel(result))
            for one in told:
                show(f"* {one}")
        if not result.safe and what.outputs:
            say("Nothing is written: this is not safe.", quiet=quiet or as_json)
        if given.get("levels") == "sliding" and written:
            say(_SLIDING, quiet=quiet or as_json)
        for name, path in what.outputs.items():
            secret = "" if name == "public" else " (confidential)"
            say(f"Written: {path}{secret}", quiet=quiet or as_json or not written)
        if "certificate" in what.outputs:
            releases = [what.outputs[name] for name in ("public", "release") if name in what.outputs]
            proof = what.outputs["certificate"]
            say_how_to_verify(proof, what.source, releases, quiet=quiet or as_json or not written)
    return 0 if result.safe else NOT_SAFE


def _options(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options that were given, by section, as a job file would write them."""
    said = {
        name: str(value) if isinstance(value, Path) else value for name, value in given.items() if value is not None
    }
    return {section: {name: said[name] for name in names if name in said} for section, names in _SECTIONS.items()}


def summary_of(result: Protection) -> dict[str, Any]:
    """Return a protection in numbers, for the office: no value of a cell is among them, but a secret seed is.

    Where the true values lie in the ranges, and what the search cost, are for nobody else either.
    """
    hidden = np.asarray(result.pattern.status != SHOWN)
    sensitive = result.risk.sensitive
    lost = loss(result.pattern, result.risk.table)
    kinds = {f"{kind}s" if kind == INTERVAL else kind: int((result.pattern.status == kind).sum()) for kind in _MOVED}
    secret = getattr(result.method, "secret", None)
    return {
        "confidential": True,
        **({"notes": list(result.notes)} if result.notes else {}),
        **({"warnings": list(result.warnings)} if result.warnings else {}),
        "method": result.method.name,
        "criterion": result.criterion,
        "safe": result.safe,
        "shown_share": result.shown_share,
        "hidden_share": result.hidden_share,
        "objective": number(result.cost),
        "bound": number(result.bound),
        "gap": number(result.gap) if math.isfinite(result.bound) else None,
        "optimal": result.optimal,
        "cells": len(result.risk),
        "sensitive": int(sensitive.sum()),
        "secondary": int((hidden & ~sensitive).sum()),
        "hidden": int(hidden.sum()),
        "hidden_value_share": lost.hidden_value / lost.value if lost.value else 0.0,
        **{kind: many for kind, many in kinds.items() if many},
        **_middles(result),
        "attackers": [attacker.name for attacker in result.risk.attackers],
        "cuts": result.trace[-1][3] if len(result.trace) else 0,
        "search_seconds": round(float(result.seconds), 3),
        "solver": result.solver,
        "seed": result.seed,
        **({"secret": secret} if secret is not None else {}),
        **_respondents(result),
    }


def _middles(result: Protection) -> dict[str, Any]:
    """Return where true values lie in published ranges, nothing where there are none."""
    found = midpoints(result.pattern)
    return {"midpoint_share": found.share, "midpoints": found.shares} if len(found) else {}


def _reasons(said: Why) -> dict[str, Any]:
    """Return why a cell is not shown, for machines."""
    return {
        "cell": said.cell,
        "status": said.status,
        "unsafe": said.unsafe.tolist(),
        "possible": said.possible,
        "cost": None if said.cost is None else number(said.cost),
        "bound": number(said.bound),
        "instead": said.hidden.tolist(),
        "shown": said.shown.tolist(),
        "words": str(said),
    }


def _respondents(result: Protection) -> dict[str, Any]:
    """Return by which rules respondents are protected, and what that took; or why they were not asked."""
    said, closing = respondents_asked(result.risk), result.closing
    if closing is not None:
        said |= {
            "open_pairs_of_cells_alone": closing.pairs,
            "cost_of_cells_alone": number(closing.cost),
            "rounds": closing.rounds,
        }
    return {"respondents": said}


def number(value: float) -> int | float | None:
    """Return a number as JSON writes it: whole where it is, null where it is infinite."""
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else float(value)
