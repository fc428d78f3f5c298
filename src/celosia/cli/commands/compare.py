"""``celosia compare``: all methods on one table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from celosia.cli.bars import show_progress
from celosia.cli.exit_codes import ExitCode
from celosia.cli.method_options import MethodCommand
from celosia.cli.options import LIMITS, PATH, by_section, limit_options, print_options, source_argument
from celosia.cli.output import all_or_nothing, print_json, refuse_problems, say, show
from celosia.job.comparison import compare_methods, problems_with_methods
from celosia.job.methods.sections import SECTIONS
from celosia.job.pipeline import assess_source
from celosia.job.source import read_source
from celosia.presses import answer_presses
from celosia.report.measures import OUT_OF_TIME
from celosia.report.pages.comparison import write_comparison_page
from celosia.report.terminal.comparison import comparison_table

_SECTIONS = {"limits": tuple(LIMITS)}


@click.command(cls=MethodCommand)
@source_argument
@click.option(
    "--methods",
    metavar="NAME,NAME,...",
    default=",".join(SECTIONS),
    show_default=True,
    help="Which methods, in this order.",
)
@click.option("--report", metavar="REPORT.html", type=PATH, help="Write a page with plots (confidential).")
@limit_options
@print_options
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
    method that has it. A base or a reach that is not given is chosen, in round figures. A method that cannot protect
    this table is shown with the reason: a parameter is missing, it does not apply, it is impossible, it is out of time,
    or it failed. Nothing is published. Exit codes: 0 at least one method protects the table, 1 none does, 2 bad input,
    3 none does, and one ran out of time.
    """
    began = time.monotonic()
    names = [name.strip() for name in methods.split(",") if name.strip()]
    said = {name: value for name, value in given.items() if value is not None}
    options = by_section(given, _SECTIONS)
    job = read_source(source)
    refuse_problems(job, [(report, (".html",))], more=problems_with_methods(names, options["method"]))
    with show_progress(quiet=quiet) as progress:
        risk = assess_source(job, progress)
        with answer_presses():
            compared = compare_methods(risk, job, names, options, progress)
        if report is not None:
            asked = {"Input": source.name, **{name: _format_option(value) for name, value in said.items()}}
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
        return ExitCode.DONE
    late = any(one.failure == OUT_OF_TIME for one in compared)
    return ExitCode.OUT_OF_TIME if late else ExitCode.NOT_SAFE


def _format_option(value: object) -> str:
    return f"{value:,.12g}" if isinstance(value, float) else str(value)
