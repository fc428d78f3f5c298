"""``celosia assess``: which cells are sensitive, why, and how much protection they need."""

from __future__ import annotations

import time
from pathlib import Path

import click

from celosia.cli.bars import progress_shown
from celosia.cli.output import all_or_nothing, print_json, problems_with, say, show, write_columns
from celosia.errors import CelosiaError, Problems, SpecError
from celosia.job.pipeline import assess_file, inputs_of
from celosia.report.pages.assessment import write_page
from celosia.report.summary import summary
from celosia.report.terminal.assessment import panel


@click.command()
@click.argument("source", metavar="JOB.toml|PROBLEM.jj", type=click.Path(path_type=Path))
@click.option(
    "--output",
    metavar="RISK.csv|.parquet",
    type=click.Path(path_type=Path),
    help="Write every cell with its risk (confidential).",
)
@click.option(
    "--report", metavar="REPORT.html", type=click.Path(path_type=Path), help="Write a page to look at (confidential)."
)
@click.option(
    "--evidence", is_flag=True, help="Write the numbers behind each decision too, single contributions among them."
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def assess(
    source: Path, output: Path | None, report: Path | None, *, evidence: bool, quiet: bool, as_json: bool
) -> None:
    """Find the sensitive cells of a job or problem, and how much protection they need.

    JOB.toml says which data, dimensions, tables and rules; PROBLEM.jj is a table whose sensitive cells are known.
    Nothing is published: the result is for the office only.
    """
    began = time.monotonic()
    if evidence and output is None:
        raise click.UsageError("--evidence belongs to --output.")
    _check(source, output, report)
    with progress_shown(quiet=quiet) as progress:
        risk = assess_file(source, progress)
        written = [path for path in (output, report) if path is not None]
        with all_or_nothing(written) as stand_ins:
            if output is not None:
                progress.start(f"writing {output.name}")
                write_columns(risk.columns(evidence=evidence), stand_ins[output])
            if report is not None:
                progress.start(f"writing {report.name}")
                write_page(risk, stand_ins[report], title=source.name)
        progress.done()
    found = summary(risk)
    if as_json:
        print_json(
            found.as_dict() | {"seconds": round(time.monotonic() - began, 3), "files": [str(path) for path in written]}
        )
    else:
        show(panel(found))
    for path in written:
        say(f"Written: {path} (confidential)", quiet=quiet or as_json)


def _check(source: Path, output: Path | None, report: Path | None) -> None:
    """Say at once what is wrong with a job and with the files that are to be written."""
    found = Problems()
    inputs: tuple[Path, ...] = (source,)
    try:
        inputs = inputs_of(source)
    except CelosiaError as error:
        found.extend(error.problems)
    for path, endings in ((output, (".csv", ".parquet")), (report, (".html",))):
        if path is not None:
            found.extend(problems_with(path, endings, inputs))
    found.raise_as(SpecError)
