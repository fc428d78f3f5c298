"""``celosia demo``: the whole way on generated data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pyarrow.parquet

from celosia.cli.bars import progress_shown
from celosia.cli.output import all_or_nothing, print_json, say, show
from celosia.errors import SpecError
from celosia.job.demo_data import firms, industry, region
from celosia.job.pipeline import assess_job
from celosia.job.spec import Job, read_job
from celosia.report.page import write_page
from celosia.report.summary import summary
from celosia.report.terminal import panel
from celosia.risk.assess import assess
from celosia.risk.risk import Risk
from celosia.table.hierarchy import Hierarchy

DATA, JOB, REPORT = "firms.parquet", "job.toml", "report.html"
HIERARCHIES = {"industry.hrc": industry, "region.hrc": region}

_MARK = "# Written by `celosia demo`"
_TEXT = f"""{_MARK} --rows {{rows}} --seed {{seed}}. Run it again with: celosia assess job.toml
# Paths are relative to this file.

[data]                          # microdata: one record a firm
file = "{DATA}"
respondent = "firm"             # who reports
holding = "group"               # who owns the firm: firms of one holding share what they know
request = "request"             # firms that asked for protection
waiver = "waiver"               # firms that do without it

[dimensions.industry]           # the column has the dimension's name, or say: column = "nace"
hierarchy = {{{{ hrc = "industry.hrc" }}}}   # also: digits, levels, pairs, tree, flat

[dimensions.region]
hierarchy = {{{{ hrc = "region.hrc" }}}}

[[tables]]                      # several tables are linked
by = ["industry", "region"]
value = "turnover"              # leave it out to count firms

[[rules]]                       # nobody may come within 10 percent of another contributor
rule = "p-percent"
p = 10

[[rules]]                       # at least three contributors in every cell
rule = "min-frequency"
n = 3

[[rules]]                       # and whoever asked for protection gets it where he dominates
rule = "requests"
share = 50

[assess]
cost = "value"                  # what hiding a cell loses; also: unity, frequency, log
levels = "symmetric"            # how far protection reaches; also: sliding
"""


@click.command()
@click.option(
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default="celosia-demo",
    show_default=True,
    help="Where to write.",
)
@click.option(
    "--rows", type=click.IntRange(min=1), default=20_000, show_default=True, help="How many firms to generate."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, another economy.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def demo(output: Path, rows: int, seed: int, *, quiet: bool, as_json: bool) -> None:
    """Go the whole way on generated data, and write a report to look at.

    Into DIR go generated firms, their classifications, a commented job file, and the report of that job.
    """
    began = time.monotonic()
    _make_room(output)
    with progress_shown(quiet=quiet) as progress:
        progress.start(f"generating {rows:,} firms")
        _write_inputs(output, rows, seed)
        job = read_job(output / JOB)
        risk = assess_job(job, progress)
        progress.start("writing the report")
        with all_or_nothing([output / REPORT]) as stand_ins:
            write_page(risk, stand_ins[output / REPORT], title="celosia demo")
        progress.done()
        found, facts = summary(risk), list(_facts(job, risk))
    files = [str(output / name) for name in (JOB, DATA, *HIERARCHIES, REPORT)]
    if as_json:
        seconds = round(time.monotonic() - began, 3)
        print_json(found.as_dict() | {"facts": facts, "rows": rows, "seed": seed, "files": files, "seconds": seconds})
        return
    show(panel(found))
    for fact in facts:
        show(f"* {fact}")
    say(f"\nLook at {output / REPORT}. Change {output / JOB} and run: celosia assess {output / JOB}", quiet=quiet)


def _make_room(folder: Path) -> None:
    """Make the folder; refuse one that holds files of the same names which no demo wrote."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError.one(
            str(folder), f"cannot be made: {error.strerror}.", "Name another folder with --output."
        ) from error
    names = (JOB, DATA, *HIERARCHIES, REPORT)
    there = [name for name in names if (folder / name).exists()]
    job = folder / JOB
    if there and not (job.is_file() and job.read_bytes().startswith(_MARK.encode())):
        raise SpecError.one(
            str(folder / there[0]), "is there already, and no demo wrote it.", "Name another folder with --output."
        )


def _write_inputs(folder: Path, rows: int, seed: int) -> None:
    paths = [folder / name for name in (DATA, *HIERARCHIES, JOB)]
    with all_or_nothing(paths) as stand_ins:
        pyarrow.parquet.write_table(firms(rows, seed), stand_ins[folder / DATA])
        for name, hierarchy in HIERARCHIES.items():
            stand_ins[folder / name].write_text(_hrc(hierarchy()), encoding="utf-8")
        stand_ins[folder / JOB].write_text(_TEXT.format(rows=rows, seed=seed), encoding="utf-8")


def _hrc(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as a ``.hrc`` file says it: a code a line, deeper ones behind more leads."""
    return "".join(f"{'@' * (len(path) - 1)}{path[-1]}\n" for path in hierarchy.paths()[1:])


def _facts(job: Job, risk: Risk) -> Iterator[str]:
    """Yield three things about the demo that a look at the figures does not show at once."""
    table, sensitive = risk.table, risk.sensitive
    firm_by_firm = [
        rule.model_copy(update={"by": "respondent"}) if "by" in type(rule).model_fields else rule for rule in job.rules
    ]
    naive = assess(table, *(rule.build() for rule in firm_by_firm))
    missed, all_of_them = int((sensitive & ~naive.sensitive).sum()), int(sensitive.sum())
    yield f"Holdings matter: counted firm by firm, {missed:,} of {all_of_them:,} sensitive cells would pass for safe."
    if sensitive.any():
        largest = int(np.flatnonzero(sensitive)[np.argmax(table.values[sensitive])])
        rank = int((table.values > table.values[largest]).sum()) + 1
        yield (
            f"Large is not safe: {table.label(largest)} is number {rank:,} of {len(table):,} cells by turnover,"
            f" and sensitive by the {' and the '.join(risk.reason(largest))}."
        )
    top = table.levels.max(axis=1) <= 1
    yield (
        f"Detail is what costs: {sensitive[top].mean():.1%} of the cells of sections by regions are sensitive,"
        f" {sensitive[~top].mean():.1%} of those below."
    )
