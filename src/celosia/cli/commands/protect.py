"""``celosia protect``: a safe pattern, what it costs, and the files of it."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from celosia.cli.bars import show_progress
from celosia.cli.exit_codes import ExitCode
from celosia.cli.interrupt import answer_to_the_end, tidy_when_terminated
from celosia.cli.method_options import MethodCommand
from celosia.cli.options import LIMITS, PATH, by_section, limit_options, print_options, source_argument
from celosia.cli.output import describe_respondents, print_json, say, say_how_to_verify, show
from celosia.job.methods.sections import SECTIONS
from celosia.job.pipeline import assess_source
from celosia.job.plan import make_plan
from celosia.job.protection import prepare_outputs, protect_risk, write_outputs
from celosia.job.run import StateFiles
from celosia.job.source import read_source
from celosia.library import OnFirstUse
from celosia.pattern.entries import ADJUSTED, INTERVAL, PERTURBED, ROUNDED, SHOWN
from celosia.pattern.midpoint import midpoints
from celosia.presses import shield_from_presses
from celosia.protection.result import Protection
from celosia.report.loss import loss
from celosia.report.terminal.protection import protection_panel
from celosia.table.cell_names import find_cells

if TYPE_CHECKING:
    from celosia.job import modular_pattern
    from celosia.protection import why as reasons
    from celosia.protection.why import Why
else:
    modular_pattern = OnFirstUse("celosia.job.modular_pattern")
    reasons = OnFirstUse("celosia.protection.why")

_SECTIONS = {"limits": tuple(LIMITS), "output": ("release", "public", "certificate", "report")}
_SLIDING = 'Levels are sliding by option: audit and verify judge by the job, so write levels = "sliding" there, too.'
_MOVED = (INTERVAL, ROUNDED, PERTURBED, ADJUSTED)


@click.command(cls=MethodCommand)
@source_argument
@click.option("--method", "name", type=click.Choice(list(SECTIONS)), help="How to protect.  [default: suppress]")
@click.option(
    "--output",
    "release",
    metavar="OUT.csv|.parquet|.xlsx",
    type=PATH,
    help="Write the release, the office's copy: it says which cells are sensitive.",
)
@click.option("--public", metavar="PUBLIC.csv|.parquet|.xlsx", type=PATH, help="Write the release for the public.")
@click.option("--certificate", metavar="PROOF.json", type=PATH, help="Write the proof (confidential).")
@click.option("--report", metavar="REPORT.html", type=PATH, help="Write a page to look at (confidential).")
@limit_options
@click.option(
    "--state",
    metavar="FILE",
    type=PATH,
    help="Keep what the search finds in this file, so that it can go on later (confidential).",
)
@click.option("--resume", metavar="FILE", type=PATH, help="Go on from such a file; the result is never worse.")
@click.option(
    "--why",
    "asked_why",
    metavar="CELL",
    multiple=True,
    help="Say whom this cell protects, and what it would cost to show it: a label or a number; may be repeated.",
)
@click.option(
    "--against-modular",
    is_flag=True,
    help="Say what hiding cells sub-table by sub-table costs, and what it leaves open; takes half of the limit more.",
)
@print_options
def protect(
    source: Path,
    state: Path | None,
    resume: Path | None,
    *,
    asked_why: tuple[str, ...],
    against_modular: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401  (click's)
) -> int:
    """Protect a table by one of eight methods: hide, widen, round or adjust cells.

    JOB.toml says what to protect and what to write; options here come first. PROBLEM.jj is a table whose sensitive
    cells are known. What the search finds is checked by exact arithmetic before it is written. Ctrl-C ends the search
    with the best safe pattern so far; with --state another run can go on from there. Exit codes: 0 done and safe, 1
    cannot be protected, 2 bad input, 3 out of time with nothing safe to show. Files are written with 0 only.
    """
    began = time.monotonic()
    plan = make_plan(read_source(source), by_section(given, _SECTIONS))
    if against_modular:
        modular_pattern.check_method(plan)
    with show_progress(quiet=quiet) as progress:
        risk = assess_source(plan.source, progress)
    cells = [int(cell) for called in find_cells(risk.table, asked_why, "--why") for cell in called]
    with answer_to_the_end():
        with show_progress(quiet=quiet) as progress:
            result = protect_risk(risk, plan, progress, StateFiles(state, resume))
            if against_modular:
                result = modular_pattern.compare(result, risk, plan, progress)
            whys = [reasons.why(result, cell) for cell in cells]
            written = []
            if result.safe:
                with shield_from_presses():
                    outputs = prepare_outputs(result, plan, progress, whys=whys)
                    with tidy_when_terminated():
                        written = write_outputs(outputs, progress)
        if as_json:
            seconds = round(time.monotonic() - began, 3)
            said = summary_of(result) | ({"why": [_reasons(one) for one in whys]} if whys else {})
            print_json(said | {"seconds": seconds, "files": list(map(str, written))})
        else:
            show(protection_panel(result))
            for one in whys:
                show(f"* {one}")
        if not result.safe and plan.outputs:
            say("Nothing is written: this is not safe.", quiet=quiet or as_json)
        if given.get("levels") == "sliding" and written:
            say(_SLIDING, quiet=quiet or as_json)
        for name, path in plan.outputs.items():
            secret = "" if name == "public" else " (confidential)"
            say(f"Written: {path}{secret}", quiet=quiet or as_json or not written)
        if "certificate" in plan.outputs:
            releases = [plan.outputs[name] for name in ("public", "release") if name in plan.outputs]
            proof = plan.outputs["certificate"]
            say_how_to_verify(proof, source, releases, quiet=quiet or as_json or not written)
    return ExitCode.DONE if result.safe else ExitCode.NOT_SAFE


def summary_of(result: Protection) -> dict[str, Any]:
    """Return a protection in numbers, for the office: no value of a cell is among them, but a secret seed is.

    Where true values lie in ranges, and what the search cost, must not be published either.
    """
    hidden = np.asarray(result.pattern.status != SHOWN)
    sensitive = result.risk.sensitive
    lost = loss(result.pattern, result.risk.table)
    kinds = {f"{kind}s" if kind == INTERVAL else kind: int((result.pattern.status == kind).sum()) for kind in _MOVED}
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
        **_against_hiding_everything(result),
        **({"first_cost": number(result.first_cost)} if result.first_cost is not None else {}),
        **_against_modular(result),
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
        **_say_secret(result),
        **_respondents(result),
    }


def _say_secret(result: Protection) -> dict[str, Any]:
    """Return the secret seed, or where it is kept: what is kept in a file or variable is told nowhere else."""
    if result.secret_place:
        return {"secret_place": result.secret_place}
    secret = getattr(result.method, "secret", None)
    return {} if secret is None else {"secret": secret}


def _against_hiding_everything(result: Protection) -> dict[str, Any]:
    """Return what hiding everything would cost, and which part of that the result costs, where cells may be hidden."""
    everything = result.cost_of_hiding_everything
    if everything is None:
        return {}
    return {"cost_of_hiding_everything": number(everything), "cost_share": result.cost_share}


def _against_modular(result: Protection) -> dict[str, Any]:
    """Return what the modular pattern costs and leaves open, where it was asked for."""
    found = result.modular
    if found is None:
        return {}
    said = {"cost": number(found.cost), "hidden": found.hidden, "safe": found.safe, "open": found.open}
    return {"modular": said | {"requirements": len(found.audit.verdicts), "sub_tables": found.sub_tables}}


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
    said, closing = describe_respondents(result.risk), result.closing
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
