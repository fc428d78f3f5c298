"""``celosia audit``: what attackers can conclude from a release, and whether that is too much."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from celosia.attack.audit import audit as audited
from celosia.attack.findings import MET, MISSED, OPEN, Verdict
from celosia.attack.guesses import COLUMNS, KINDS, Guesses, guesses
from celosia.attack.result import Audit
from celosia.certificate.certificate import certify
from celosia.cli.bars import show_progress
from celosia.cli.exit_codes import ExitCode
from celosia.cli.explanations import MOST_HIDDEN, explain_briefly, explain_cells, explain_fully, write_explanation
from celosia.cli.options import PATH, print_options, source_argument
from celosia.cli.output import (
    all_or_nothing,
    describe_respondents,
    print_json,
    refuse_problems,
    say,
    say_how_to_verify,
    show,
)
from celosia.errors import pluralise
from celosia.job.pipeline import assess_source, require_for_release
from celosia.job.secret import find_secret
from celosia.job.source import JobSource, read_source
from celosia.pattern.csv.file import read_release
from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.solve.registry import backends
from celosia.table.cell_names import find_cells
from celosia.table.fixed import Fixed

_COLUMNS = (
    "cell",
    "attacker",
    "lower",
    "upper",
    "required_lower",
    "required_upper",
    "required_width",
    "protected",
)
_MOST_NAMED = 20  # cells that are named one by one
_MOST_EXPLAINED = 3  # of them


@click.command()
@source_argument
@click.option(
    "--release",
    "published",
    metavar="OUT.csv",
    type=PATH,
    required=True,
    help="What is to be published, or was: by celosia or by another program.",
)
@click.option(
    "--intervals",
    metavar="INTERVALS.csv",
    type=PATH,
    help="Write what every attacker can conclude about every cell that is not shown (confidential).",
)
@click.option(
    "--guesses",
    "guessed",
    metavar="GUESSES.csv",
    type=PATH,
    help="Write what readers may take for the truth of every cell that is not shown, and whether they are right "
    "(confidential).",
)
@click.option(
    "--certificate",
    metavar="PROOF.json",
    type=PATH,
    help="Write the proof, if the release is safe (confidential).",
)
@click.option(
    "--explain",
    "explained",
    metavar="CELL",
    multiple=True,
    help="Say by which relations and bounds the interval of a cell follows, with all numbers (confidential). "
    "A number or a label; may be repeated.",
)
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=float,
    help="Seconds after which the audit ends: what is not judged by then is not shown to be safe.",
)
@print_options
def audit(
    source: Path,
    published: Path,
    intervals: Path | None,
    guessed: Path | None,
    certificate: Path | None,
    explained: tuple[str, ...],
    time_limit: float | None,
    *,
    quiet: bool,
    as_json: bool,
) -> int:
    """Find out what attackers can conclude from a release, and whether that is too much.

    JOB.toml or PROBLEM.jj says what is true and what must be protected, OUT.csv what is published. Exit code 0 means
    that every requirement is met, 1 that one is not, or is not shown to be.
    """
    began = time.monotonic()
    job = read_source(source)
    refuse_problems(job, ((intervals, (".csv",)), (guessed, (".csv",)), (certificate, (".json",))), published)
    with show_progress(quiet=quiet) as progress:
        risk = assess_source(job, progress)
        release = read_release(published, risk.table)
        risk = require_for_release(job, risk, release)
        cells = [int(cell) for called in find_cells(risk.table, explained, "--explain") for cell in called]
        progress.start("auditing")
        asked = intervals is not None
        found = audited(release, risk, intervals=asked, time_limit=time_limit, progress=progress)
        proof = certify(found, progress=progress) if certificate is not None and found.safe else None
        taken = None if guessed is None else _guess(job, release, risk)
        texts = {certificate: proof.text()} if certificate is not None and proof is not None and proof.safe else {}
        written = [*(path for path in (intervals, guessed) if path is not None), *texts]
        with all_or_nothing(written) as stand_ins:
            if intervals is not None:
                _write(found, stand_ins[intervals])
            if guessed is not None and taken is not None:
                _write_guesses(taken, stand_ins[guessed])
            for path, text in texts.items():
                stand_ins[path].write_text(text, encoding="ascii", newline="\n")
        said = explain_cells(found, cells)
        progress.done()
    if as_json:
        seconds = round(time.monotonic() - began, 3)
        more: dict[str, object] = {"explanations": [write_explanation(known) for known in said]} if cells else {}
        more |= {} if taken is None else {"guessed": _count_guesses(taken)}
        print_json(_summary(found) | more | {"seconds": seconds, "files": [str(path) for path in written]})
    else:
        show(_words(found))
        if taken is not None:
            show(Text(f"Guesses: {taken.sentence}"))
        if cells:
            show(Group(Text("Explained (confidential):", style="bold"), *map(Text, explain_fully(found, said))))
    for path in written:
        say(f"Written: {path} (confidential)", quiet=quiet or as_json)
    if certificate in written:
        say_how_to_verify(certificate, source, [published], quiet=quiet or as_json)
    elif certificate is not None:
        say(f"Not written: {certificate}. There is no proof that the release is safe.", quiet=quiet or as_json)
    return ExitCode.DONE if found.safe else ExitCode.NOT_SAFE


def _summary(found: Audit) -> dict[str, object]:
    """Return the audit in numbers, and which cells are disclosed; no value and no interval among them."""
    table = found.risk.table
    return {
        "safe": found.safe,
        "criterion": found.release.criterion,
        "cells": len(table),
        "sensitive": int(found.risk.sensitive.sum()),
        "not_published": int((found.release.status != "shown").sum()),
        "attackers": [attacker.name for attacker in found.risk.attackers],
        "integer": bool(found.whole.all()),
        "whole_cells": int(found.whole.sum()),
        "requirements": len(found.verdicts),
        "met": len(found.of_result(MET)),
        "missed": len(found.of_result(MISSED)),
        "not_shown": len(found.of_result(OPEN)),
        "cells_missed": sorted({verdict.requirement.cell for verdict in found.of_result(MISSED)}),
        "cells_not_shown": sorted({verdict.requirement.cell for verdict in found.of_result(OPEN)}),
        "solver": backends()[0].name,
        "respondents": describe_respondents(found.risk),
        **({"respondents_exposed": found.exposed} if found.exposed else {}),
        **({"respondents_not_attacked": found.unjudged} if found.unjudged else {}),
        **({"notes": list(found.notes)} if found.notes else {}),
    }


def _words(found: Audit) -> RenderableType:
    """Return the result in plain words: the verdict, then the cells that are not protected."""
    missed, open_ = found.of_result(MISSED), found.of_result(OPEN)
    lines = [_verdict(found)]
    for said, verdicts in (("Disclosed:", missed), ("Not shown to be protected:", open_)):
        if verdicts:
            lines += [Text(said, style="bold"), *map(Text, _name_cells(found, verdicts))]
    if found.release.criterion == "distance":
        note = "Note: adjusted values are protected by their distance from the truth, which no interval shows."
        lines.append(Text(note))
    if found.risk.respondents:
        lines.append(Text(f"Respondents attacked, too: {'; '.join(rule.words for rule in found.risk.respondents)}."))
    return Group(*lines, *(Text(f"Note: {note}") for note in found.notes))


def _verdict(found: Audit) -> Text:
    total = pluralise(len(found.verdicts), "requirement")
    sensitive = pluralise(int(found.risk.sensitive.sum()), "sensitive cell")
    if found.safe:
        return Text(f"Safe: all of {total} met ({sensitive}).", style="bold")
    missed, open_ = len(found.of_result(MISSED)), len(found.of_result(OPEN))
    said = "Not safe" if missed or found.exposed else "Not shown safe"
    parts = [f"{missed:,} missed"] * bool(missed) + [f"{open_:,} not shown to be met"] * bool(open_)
    parts += [f"{pluralise(found.exposed, 'contributor')} to linked tables exposed"] * bool(found.exposed)
    parts += [f"{pluralise(found.unjudged, 'contributor')} not attacked in time"] * bool(found.unjudged)
    return Text(f"{said}: of {total} ({sensitive}) {' and '.join(parts)}.", style="bold dark_orange")


def _name_cells(found: Audit, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the cells by their labels, with how much of what is required is there; never a value or an end."""
    several = len(found.risk.attackers) > 1
    small = int((found.release.status != "shown").sum()) <= MOST_HIDDEN
    most_explained = _MOST_EXPLAINED if small else 0
    for place, verdict in enumerate(verdicts[:_MOST_NAMED]):
        label = found.risk.table.label(verdict.requirement.cell)
        who = f" (attacker {found.risk.attackers[verdict.requirement.attacker].name})" if several else ""
        missing = ", ".join(_shortfalls(found, verdict)) or "no interval shows that it is protected"
        yield f"  {label}{who}: {missing}"
        if verdict.result == MISSED and place < most_explained:
            yield from (f"    {line}" for line in explain_briefly(found, verdict))
    if len(verdicts) > _MOST_NAMED:
        yield f"  ... and {len(verdicts) - _MOST_NAMED:,} more"


def _shortfalls(found: Audit, verdict: Verdict) -> Iterator[str]:
    """Yield what is missing to a requirement, in percent of what it asks for."""
    wanted, finding = verdict.requirement, verdict.finding
    truth = found.risk.table.amounts.fraction(wanted.cell)
    if finding.lower == finding.upper == truth and finding.exact:
        yield "the value is known exactly"
        return
    up = None if finding.upper is None else finding.upper - truth
    down = None if finding.lower is None else truth - finding.lower
    wide = None if up is None or down is None else up + down
    for reach, level, what in (
        (down, wanted.lower, "lower level"),
        (up, wanted.upper, "upper level"),
        (wide, wanted.sliding, "width"),
    ):
        if reach is not None and reach < level:
            yield f"{_percent(reach / level)} of the {what} that is required"


def _percent(share: Fraction) -> str:
    """Return a share in whole percent, rounded down: what is missing is never said to be there."""
    return f"{int(share * 100)}%"


def _write(found: Audit, path: Path) -> None:
    """Write the intervals of all attackers, exact where a decimal can be."""
    required = {(verdict.requirement.cell, verdict.requirement.attacker): verdict for verdict in found.verdicts}
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(_COLUMNS)
        for finding in found.intervals:
            verdict = required.get((finding.cell, finding.attacker))
            who = found.risk.attackers[finding.attacker].name
            ends = (_text(finding.lower), _text(finding.upper))
            lines.writerow([finding.cell, who, *ends, *_write_required(found, verdict)])


def _write_guesses(found: Guesses, path: Path) -> None:
    """Write all guesses, one line each."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(COLUMNS)
        for guess in found:
            values = (getattr(guess, name) for name in COLUMNS)
            lines.writerow([int(value) if isinstance(value, bool) else value for value in values])


def _count_guesses(found: Guesses) -> dict[str, dict[str, int]]:
    """Return how many guesses of every kind there are about sensitive cells, are right, and come too close."""
    own = {kind: found.of_kind(kind, sensitive=True) for kind in KINDS}
    return {
        kind: {
            "guesses": len(some),
            "right": sum(one.truth_hit for one in some),
            "not_kept": sum(not one.kept for one in some),
        }
        for kind, some in own.items()
        if some
    }


def _guess(source: JobSource, release: Release, risk: Risk) -> Guesses:
    """Return what readers guess who know the method of a job, and all classes where the job has their secret."""
    if source.job is None:
        return guesses(release, risk, concealed=False)
    part = source.job.method
    method = part.build(risk)
    kept = find_secret(method, getattr(part, "secret_file", None))
    secret = getattr(method, "secret", None) if kept is None or kept.new is not None else kept.number
    return guesses(release, risk, concealed=method.conceals_levels, secret=secret)


def _write_required(found: Audit, verdict: Verdict | None) -> list[str]:
    """Return the required ends, the required width, and whether they are there; nothing where nothing is required."""
    if verdict is None:
        return ["", "", "", ""]
    wanted = verdict.requirement
    truth = found.risk.table.amounts.fraction(wanted.cell)
    return [
        _text(truth - wanted.lower) if wanted.lower else "",
        _text(truth + wanted.upper) if wanted.upper else "",
        _text(wanted.sliding) if wanted.sliding else "",
        "1" if verdict.result == MET else "0",
    ]


def _text(value: Fraction | None) -> str:
    """Return a number as a decimal, exact where it is one; an end that does not exist is empty."""
    if value is None:
        return ""
    places, scale = 0, value.denominator
    while scale % 2 == 0 or scale % 5 == 0:
        scale = scale // 10 if scale % 10 == 0 else scale // 2 if scale % 2 == 0 else scale // 5
        places += 1
    if scale != 1:
        return repr(float(value))
    return Fixed.of_counts(np.array([int(value * 10**places)], dtype=object), places).texts()[0]
