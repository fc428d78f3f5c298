"""``celosia demo``: the whole way on generated data."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np
import pyarrow.parquet

from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.certificate.verify import verify
from celosia.cli.bars import show_progress
from celosia.cli.commands.protect import summary_of
from celosia.cli.interrupt import tidy_when_terminated
from celosia.cli.options import PATH, print_options
from celosia.cli.output import all_or_nothing, print_json, say, show
from celosia.errors import SpecError
from celosia.job.demo.data import firms, industry, region
from celosia.job.demo.pair import describe_pair, protect_in_two_ways
from celosia.job.pipeline import assess_source
from celosia.job.plan import make_plan
from celosia.job.protection import prepare_outputs, protect_risk, write_outputs
from celosia.job.sections.rules import RulePart
from celosia.job.source import read_source
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.presses import answer_presses, shield_from_presses
from celosia.protection.result import Protection
from celosia.report.pages.assessment import write_page
from celosia.report.summary import summary
from celosia.report.terminal.assessment import panel
from celosia.report.terminal.protection import protection_panel
from celosia.risk.assess import assess
from celosia.table.hierarchy import Hierarchy

DATA, JOB, RISK = "firms.parquet", "job.toml", "risk.html"
OUTPUTS = ("office.xlsx", "public.csv", "proof.json", "report.html")
HIERARCHIES = {"industry.hrc": industry, "region.hrc": region}

_FEW = 100
"""With fewer firms than this all may belong to one holding, which has no other to attack: the default finds out."""

_ATTACKERS = {
    True: '# attackers = ["external"]      # by default outsiders attack, and firms where there are several holdings',
    False: 'attackers = ["external", "respondents"]   # outsiders, and firms that know what they contribute',
}
"""Who attacks, by whether there are few firms."""

_MARK = "# Written by `celosia demo`"
_TEXT = f"""{_MARK} --rows {{rows}} --seed {{seed}}. Run it again with: celosia protect job.toml
# Paths are relative to this file.

{{attackers}}

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

[method]
name = "suppress"
# must_show = [{{{{ industry = "C" }}}}]   # cells that are published already: here the total of C over all regions

[limits]
gap = 0.1                       # good enough: no safe pattern costs ten percent less
time_limit = 60                 # seconds; then the best safe pattern so far is taken

[output]
release = "office.xlsx"         # with sensitive cells in another colour; also .csv, .parquet
public = "public.csv"
certificate = "proof.json"      # celosia verify proof.json --problem job.toml --release public.csv
report = "report.html"
"""


@click.command()
@click.option(
    "--output",
    metavar="DIR",
    type=PATH,
    default="celosia-demo",
    show_default=True,
    help="Where to write.",
)
@click.option(
    "--rows", type=click.IntRange(min=1), default=20_000, show_default=True, help="How many firms to generate."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, another economy.")
@print_options
def demo(output: Path, rows: int, seed: int, *, quiet: bool, as_json: bool) -> None:
    """Go the whole way on generated data, and write a report to look at.

    Into DIR go generated firms, their classifications, a commented job file, and everything that the job makes of
    them: the sensitive cells, a safe release for the office and for the public, its proof, and a report.
    """
    began = time.monotonic()
    _make_room(output)
    with show_progress(quiet=quiet) as progress:
        progress.start(f"generating {rows:,} firms")
        _write_inputs(output, rows, seed)
        source = read_source(output / JOB)
        plan, risk = make_plan(source), assess_source(source, progress)
        rules = source.job.rules if source.job is not None else []
        with answer_presses():
            result = protect_risk(risk, plan, progress)
            data = pyarrow.parquet.read_table(output / DATA)
            pair = protect_in_two_ways(data, [rule.build() for rule in rules], seed, progress)
            with shield_from_presses():
                outputs = prepare_outputs(result, plan, progress, beside=pair)
                with tidy_when_terminated():
                    written = write_outputs(outputs, progress)
        progress.start("verifying the proof")
        proved = verify(plan.outputs["certificate"], risk, plan.outputs["public"]).proved
        progress.start("writing the page of risks")
        write_page(risk, output / RISK, title="celosia demo")
        facts = [*_facts(rules, result), *([describe_pair(pair)] if pair is not None else [])]
        progress.done()
    files = [str(output / name) for name in (JOB, DATA, *HIERARCHIES, RISK)] + list(map(str, written))
    if as_json:
        seconds = round(time.monotonic() - began, 3)
        said = summary_of(result) | {"proved": proved, "facts": facts, "rows": rows, "seed": seed}
        print_json(said | {"files": files, "seconds": seconds})
        return
    show(panel(summary(risk)))
    show(protection_panel(result))
    verdict = "verified beside the job and the public file" if proved else "NOT accepted"
    say(f"The proof was {verdict}.", quiet=quiet)
    for fact in facts:
        show(f"* {fact}")
    say(
        f"\nLook at {plan.outputs['report']}. Change {output / JOB} and run: celosia protect {output / JOB}",
        quiet=quiet,
    )


def _make_room(folder: Path) -> None:
    """Make the folder; refuse one that holds files of the same names which no demo wrote."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError.one(
            str(folder), f"cannot be made: {error.strerror}.", "Name another folder with --output."
        ) from error
    names = (JOB, DATA, *HIERARCHIES, RISK, *OUTPUTS)
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
        stand_ins[folder / JOB].write_text(
            _TEXT.format(rows=rows, seed=seed, attackers=_ATTACKERS[rows < _FEW]), encoding="utf-8"
        )


def _hrc(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as a ``.hrc`` file says it: a code a line, deeper ones behind more leads."""
    return "".join(f"{'@' * (len(path) - 1)}{path[-1]}\n" for path in hierarchy.paths()[1:])


def _facts(rules: Sequence[RulePart], result: Protection) -> Iterator[str]:
    """Yield three things about the demo that a look at the figures does not show at once."""
    risk, sensitive = result.risk, result.risk.sensitive
    table, many = risk.table, int(sensitive.sum())
    alone = audit(Pattern.hide(table, sensitive), risk, attackers=risk.attackers[:1])
    betrayed = [verdict for verdict in alone.verdicts if verdict.result != MET]
    exactly = sum(verdict.finding.lower == verdict.finding.upper is not None for verdict in betrayed)
    yield (
        f"Hiding is not protecting: with the {many:,} sensitive cells hidden and nothing else, {len(betrayed):,} of"
        f" them could be worked out too closely, {exactly:,} to the last digit."
    )
    hidden = np.asarray(result.pattern.status != SHOWN)
    top = table.levels.max(axis=1) <= 1
    shown = 1 - hidden[top].mean()
    best = (
        "no safe pattern costs less"
        if result.optimal
        else f"no safe pattern costs {math.ceil(1000 * result.gap) / 1000:.1%} less"
    )
    yield (
        f"{int((hidden & ~sensitive).sum()):,} more cells make it safe, and {best}: {shown:.1%} of the cells of"
        f" sections by regions are shown, {1 - hidden[~top].mean():.1%} of those below."
    )
    firm_by_firm = [
        rule.model_copy(update={"by": "respondent"}) if "by" in type(rule).model_fields else rule for rule in rules
    ]
    naive = assess(table, *(rule.build() for rule in firm_by_firm))
    missed = int((sensitive & ~naive.sensitive).sum())
    yield f"Holdings matter: counted firm by firm, {missed:,} of {many:,} sensitive cells would pass for safe."
