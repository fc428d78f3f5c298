"""``celosia verify``: whether a certificate proves that a release is safe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from celosia.certificate.canonical import ALL_REACHED, SOME_REACHED
from celosia.certificate.verify import Verification
from celosia.certificate.verify import verify as verified
from celosia.cli.bars import show_progress
from celosia.cli.exit_codes import ExitCode
from celosia.cli.options import PATH, print_options
from celosia.cli.output import print_json
from celosia.errors import pluralise
from celosia.job.pipeline import assess_source, require_for_release
from celosia.job.source import read_source
from celosia.pattern.csv.file import read_release


@click.command()
@click.argument("proof", metavar="PROOF.json", type=PATH)
@click.option(
    "--problem",
    metavar="PROBLEM.jj|JOB.toml",
    type=PATH,
    help="The problem that the certificate must be about, every requirement of it; without it nothing is proved.",
)
@click.option(
    "--release",
    metavar="OUT.csv",
    type=PATH,
    help="The release that the certificate must be about, .csv or .parquet; without it nothing is proved.",
)
@click.option(
    "--integer/--no-integer",
    default=None,
    help="Do attackers know that values are whole numbers? By default they know it of variables that count.",
)
@print_options
def verify(
    proof: Path, problem: Path | None, release: Path | None, *, integer: bool | None, quiet: bool, as_json: bool
) -> int:
    """Check in exact arithmetic that a certificate proves a release to be safe.

    That takes --problem and --release: a certificate that is not compared with both is checked in itself only, and
    proves nothing about them. No solver is asked, and nothing is taken on trust. Where contributors of the problem
    attack each other, they do so again. Exit codes: 0 proved, 1 not proved, 2 unreadable.
    """
    with show_progress(quiet=quiet) as progress:
        source = None if problem is None else read_source(problem)
        risk = None if source is None else assess_source(source, progress)
        published = None if release is None else read_release(release)
        if source is not None and risk is not None and published is not None:
            risk = require_for_release(source, risk, published)
        progress.start(f"verifying {proof.name}")
        result = verified(proof, risk, published, integer=integer)
        progress.done()
    if as_json:
        print_json(_as_dict(result))
    else:
        for line in _words(result, proof):
            click.echo(line)
    return ExitCode.DONE if result.proved else ExitCode.NOT_SAFE


def _as_dict(result: Verification) -> dict[str, object]:
    return {
        "proved": result.proved,
        "verdict": result.verdict,
        "consistent": result.consistent,
        "problems": [str(problem) for problem in result.problems],
        **result.counts,
        "ranges_claim": result.ranges,
        "whole_numbers": result.whole_numbers,
        "whole_variables": list(result.whole_variables),
        "compared": list(result.compared),
        "respondents": {"rules": list(result.respondents)} if result.unasked is None else {"reason": result.unasked},
        "seconds": round(float(result.seconds), 3),
    }


def _words(result: Verification, proof: Path) -> Iterator[str]:
    """Yield the result in plain words, first of all what was verified."""
    counts = result.counts
    yield f"{result.verdict}."
    if not result.consistent:
        yield f"What is wrong with {proof}:"
        yield from (f"  {' '.join(str(problem).split())}" for problem in result.problems)
        return
    required = pluralise(counts["requirements"], "requirement")
    kind = "tables of whole numbers" if result.whole_numbers else "tables"
    if result.whole_variables and not result.whole_numbers:
        kind = f"tables with whole numbers of {' and '.join(result.whole_variables)}"
    whose = required if "problem" in result.compared else f"{required} of its own"
    yield f"{whose} met, each shown by two {kind} ({counts['tables']:,} in all),"
    yield f"checked in exact arithmetic over {pluralise(counts['cells'], 'cell')}, in {result.seconds:.2f} s."
    if result.ranges == ALL_REACHED:
        yield f"Both ends of each of {pluralise(counts['ranges'], 'published range')} are reached, too."
    elif result.ranges == SOME_REACHED:
        yield f"Not every published range is as wide as it looks: {counts['ranges_reached']} of {counts['ranges']} are."
    if "respondents" in result.compared:
        rules = "; ".join(result.respondents)
        yield f"Tables show that no contributor of the problem comes too close to another ({rules})."
    if result.unasked is not None:
        yield result.unasked
    yield from (f"It is about this {name}." for name in result.compared if name in _NOT_COMPARED)
    yield from (_NOT_COMPARED[name] for name in result.missing)


_NOT_COMPARED = {
    "problem": "Give --problem: the certificate may leave out requirements, attackers and relations of your problem.",
    "release": "Give --release: what the certificate calls the release may not be what is published.",
}
