"""``celosia compare``: all methods on one table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from celosia.cli.bars import progress_shown
from celosia.cli.method_options import NAMES, method_options
from celosia.cli.output import all_or_nothing, print_json, problems_with, say, show
from celosia.errors import Problems, SpecError
from celosia.job.comparison import check_methods, compare_methods
from celosia.job.methods.choice import PARTS
from celosia.job.pipeline import assess_file, inputs_of
from celosia.presses import answered
from celosia.report.comparison.comparison import OUT_OF_TIME
from celosia.report.pages.comparison import write_comparison_page
from celosia.report.terminal.comparison import comparison_table

NONE_PROTECTS, LATE = 1, 3
"""The exit codes where no method protects the table, and where one might have, with more time."""

_LIMITS = ("time_limit", "gap", "solver", "seed")


@click.command()
@click.argument("source", metavar="JOB.toml|PROBLEM.jj", type=click.Path(path_type=Path))
@click.option(
    "--methods",
    metavar="NAME,NAME,...",
    default=",".join(PARTS),
    show_default=True,
    help="Which methods, in this order.",
)
@click.option(
    "--report", metavar="REPORT.html", type=click.Path(path_type=Path), help="Write a page with plots (confidential)."
)
@click.option("--time-limit", metavar="SECONDS", type=float, help="For each method.")
@click.option("--gap", metavar="SHARE", type=float, help="Stop when the cost is within this share of the bound.")
@click.option("--solver", metavar="NAME", help="highs or scip.  [default: the best that is installed]")
@click.option("--seed", metavar="N", type=int, help="Another seed, another path through the search.")
@method_options
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def compare(
    source: Path,
    methods: str,
    report: Path | None,
    *,
    quiet: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401  (click's)
) -> int:
    """Protect one table by several methods, and measure risk and loss in the same way.

    JOB.toml says what to protect, its sections [methods.NAME] what each method is to do; an option here goes to every
    method that has it. A base or a reach that nobody gives is chosen, in round figures. A method that cannot protect
    this table is shown with the reason: a parameter is missing, it does not apply, it is impossible, it is out of time,
    or it failed. Nothing is published. Exit codes: 0 at least one method protects the table, 1 none does, 2 bad input,
    3 none does, and one ran out of time.
    """
    began = time.monotonic()
    names = [name.strip() for name in methods.split(",") if name.strip()]
    said = {name: value for name, value in given.items() if value is not None}
    options = {section: {name: said[name] for name in own if name in said} for section, own in _SECTIONS.items()}
    _check(source, names, options["method"], report)
    with progress_shown(quiet=quiet) as progress:
        risk = assess_file(source, progress)
        with answered():
            compared = compare_methods(risk, source, names, options, progress)
        if report is not None:
            asked = {"Input": source.name, **{name: _written(value) for name, value in said.items()}}
            with all_or_nothing([report]) as stand_ins:
                write_comparison_page(risk, compared, stand_ins[report], title=source.name, asked=asked)
    if as_json:
        found = [one.as_dict() for one in compared]
        seconds = round(time.monotonic() - began, 3)
        written = [str(report)] if report is not None else []
        print_json({"confidential": True, "methods": found, "seconds": seconds, "files": written})
    else:
        show(comparison_table(compared))
    if report is not None:
        say(f"Written: {report} (confidential)", quiet=quiet or as_json)
    if any(one.measures is not None and one.measures.safe for one in compared):
        return 0
    return LATE if any(one.failure == OUT_OF_TIME for one in compared) else NONE_PROTECTS


def _written(value: object) -> str:
    return f"{value:,.12g}" if isinstance(value, float) else str(value)


_SECTIONS = {"method": NAMES[1:], "limits": _LIMITS}


def _check(source: Path, names: list[str], options: dict[str, Any], report: Path | None) -> None:
    found = Problems()
    with found.gathering():
        check_methods(source, names, options)
    if report is not None and not found.found:
        found.extend(problems_with(report, (".html",), inputs_of(source)))
    if not names:
        found.add("--methods", "names none.", f"Known are {', '.join(PARTS)}.")
    found.raise_as(SpecError)
