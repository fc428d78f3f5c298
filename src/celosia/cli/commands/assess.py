"""``celosia assess``: which cells are sensitive, why, and how much protection they need."""

from __future__ import annotations

import time
from pathlib import Path

import click

from celosia.cli.bars import show_progress
from celosia.cli.options import PATH, print_options, source_argument
from celosia.cli.output import all_or_nothing, print_json, refuse_problems, say, show, write_columns
from celosia.job.pipeline import assess_source
from celosia.job.source import read_source
from celosia.report.pages.assessment import write_page
from celosia.report.summary import summary
from celosia.report.terminal.assessment import panel


@click.command()
@source_argument
@click.option(
    "--output",
    metavar="RISK.csv|.parquet",
    type=PATH,
    help="Write every cell with its risk (confidential).",
)
@click.option("--report", metavar="REPORT.html", type=PATH, help="Write a page to look at (confidential).")
@click.option(
    "--evidence", is_flag=True, help="Write the numbers behind each decision too, single contributions among them."
)
@print_options
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
    job = read_source(source)
    refuse_problems(job, ((output, (".csv", ".parquet")), (report, (".html",))))
    with show_progress(quiet=quiet) as progress:
        risk = assess_source(job, progress)
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
