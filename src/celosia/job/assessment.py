"""The verbs that a job file describes, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from celosia.errors import CelosiaError, DataError, Problems, SpecError
from celosia.job.sections.attackers import AttackerPart
from celosia.job.sections.hierarchies import classification_of
from celosia.job.sections.part import place_of
from celosia.job.sections.tables import AssessPart, CellsPart, DataPart, TablePart
from celosia.job.spec import Job
from celosia.progress import SILENT, Progress
from celosia.protection.intervals.method import slide_levels
from celosia.risk.assess import assess
from celosia.risk.attacker import Attacker, Known
from celosia.risk.respondents.rules import NAMED_WITHOUT, RespondentRules, default_rules, rules_of_respondents
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.source.cells.cells import cells
from celosia.source.duckdb import RowSource, database, quote
from celosia.source.engines.address import open_address
from celosia.source.engines.rows import EngineRows
from celosia.table.hierarchy import Classification
from celosia.table.links.link import link
from celosia.table.table import Table

_FEWEST = 3  # largest contributions in the risk file, also where the rules need fewer: its readers expect them


def assess_job(job: Job, progress: Progress = SILENT) -> Risk:
    """Return the risk of the tables that a job describes.

    Raises
    ------
    CelosiaError
        All that is wrong with the data, or with what the job asks of them.
    """
    rules = [rule.build() for rule in job.rules]
    named = respondents_rules(job, rules)
    table = tabulate_job(job, progress)
    options = job.assess
    own_cost = "cost" if job.cells is not None and job.cells.cost is not None else "value"
    attackers = attackers_of(job, table)
    by_default = RespondentRules((), NAMED_WITHOUT) if job.attackers is not None else default_rules(table, rules)
    asked = RespondentRules(named) if named else by_default
    progress.start("assessing")
    try:
        found = assess(
            table,
            *rules,
            cost=options.cost or own_cost,
            levels=options.levels,
            attackers=attackers,
            exempt=options.exempt,
            respondents=asked.rules or None,
        )
        found = replace(found, unasked=asked.reason)
        # The job's method may ask for widths only; then that is what an audit of the job judges by, too.
        sliding = getattr(job.method, "levels", None) == "sliding"
        return slide_levels(found) if sliding else found
    except CelosiaError as error:
        raise _place_in_job(error, job, [rule.words for rule in rules]) from None
    finally:
        progress.done()


def attackers_of(job: Job, table: Table) -> list[Attacker] | None:
    """Return the attackers that a job describes, None for the usual one; or all that is wrong with any of them."""
    zeros_known = bool(getattr(job.method, "zeros_known", False))
    if job.attackers is None and not zeros_known:
        return None
    found = Problems()
    made = []
    zeros: dict[int, Known] = dict.fromkeys(np.flatnonzero(table.amounts.counts == 0).tolist(), 0)
    for number, part in enumerate(job.attackers or [AttackerPart()]):
        if part.attacker == "respondents":
            continue
        try:
            attacker = part.build(table, f"attackers[{number}]")
            made.append(attacker.with_knowledge(table, zeros) if zeros_known and zeros else attacker)
        except CelosiaError as error:
            found.extend(
                replace(problem, place=_place_of_attacker(problem.place, number)) for problem in error.problems
            )
    names = [attacker.name for attacker in made]
    for name in sorted({name for name in names if names.count(name) > 1}):
        found.add("attackers", f"two of them are called {name!r}.", "Give each a name.")
    if found.found:
        raise DataError(found.found).under(str(job.path))
    return made or None  # respondents come on top of an outsider


def respondents_rules(job: Job, rules: Sequence[object]) -> tuple[RespondentRule, ...]:
    """Return the rules by which respondents attack each other, none where the job does not name them.

    Raises
    ------
    SpecError
        No rule of the job says what they know, only ready-made cells are given, or the method protects by distance.
    """
    places = [number for number, part in enumerate(job.attackers or ()) if part.attacker == "respondents"]
    if not places:
        return ()
    found, place, known = Problems(), f"{job.path}, attackers[{places[0]}]", rules_of_respondents(rules)
    if not known:
        remedy = 'Add [[rules]] with rule = "p-percent", or leave the respondents out.'
        found.add(place, "respondents need a rule that says what they know.", remedy)
    if job.data is None:
        found.add(place, "respondents need contributors, and ready-made cells have none.", "Start from microdata.")
    if job.method.kind.criterion == "distance":
        said = f"respondents cannot be protected by {job.method.name!r}, which moves values."
        found.add(place, said, 'Name ["external"] alone, or hide cells or publish ranges.')
    found.raise_as(SpecError)
    return known


def _place_of_attacker(place: str, number: int) -> str:
    return place if place.startswith("attackers") else f"attackers[{number}]"


def tabulate_job(job: Job, progress: Progress = SILENT) -> Table:
    """Return the tables that a job describes, linked into one."""
    hierarchies = _hierarchies(job)
    if job.cells is not None:
        return _read_cells(job, job.cells, hierarchies)
    if job.data is None:
        raise SpecError.one(str(job.path), "has neither [data] nor [cells].")
    return _tabulate_microdata(job, job.data, hierarchies, progress)


def _place_in_job(error: CelosiaError, job: Job, words: Sequence[str]) -> CelosiaError:
    """Return an error of the assessment with the places where the job file has what is wrong."""
    problems = []
    for problem in error.problems:
        place = problem.place
        if place in words:
            place = f"rules[{words.index(place)}] ({place})"
        elif place.partition(".")[0] in AssessPart.model_fields:
            place = f"assess.{place}"
        problems.append(replace(problem, place=f"{job.path}, {place}"))
    return type(error)(problems)


def _hierarchies(job: Job) -> dict[str, Classification]:
    """Return the classifications of the dimensions in use, or everything that is wrong with any of them."""
    found = Problems()
    hierarchies = {}
    for name in dict.fromkeys(name for table in job.tables for name in table.by):
        parts = job.dimensions[name].hierarchy
        if parts:
            try:
                hierarchies[name] = classification_of(parts, place_of(("dimensions", name, "hierarchy")))
            except CelosiaError as error:
                found.extend(error.under(str(job.path)).problems)
    found.raise_as(DataError)
    return hierarchies


def _read_cells(job: Job, part: CellsPart, hierarchies: Mapping[str, Classification]) -> Table:
    """Return the table that ready-made cells make."""
    by = job.tables[0].by
    options = part.model_dump(exclude={"file"}, exclude_none=True)
    given = {name: hierarchies[name] for name in by if name in hierarchies}
    columns = {name: job.dimensions[name].column or name for name in by}
    table = cells(part.file, by=by, hierarchies=given, columns=columns, **options)
    return link([table], relations=job.links.relations) if job.links else table


def _tabulate_microdata(
    job: Job, part: DataPart, hierarchies: Mapping[str, Classification], progress: Progress
) -> Table:
    """Return the table that microdata make: tables of the same variables in one pass, all of them linked."""
    from celosia.source.tabulate import tabulate  # noqa: PLC0415 - jobs on problems and cells need none of it

    groups: dict[tuple[str, ...], list[TablePart]] = {}
    for table in job.tables:
        groups.setdefault(tuple(table.value or ()), []).append(table)
    source = _source(part)
    options = part.model_dump(exclude={"file", "database", "address", "query", "table"}, exclude_none=True)
    relations = job.links.relations if job.links else []
    tables = []
    try:
        for values, group in groups.items():
            used = dict.fromkeys(name for table in group for name in table.by)
            tables.append(
                tabulate(
                    source,
                    by=[table.by for table in group],
                    value=list(values) or None,
                    largest=job.assess.largest or max(_FEWEST, *(rule.units for rule in job.rules)),
                    contributions=_keeps_contributions(job),
                    hierarchies={name: hierarchies[name] for name in used if name in hierarchies},
                    columns={
                        name: job.dimensions[name].column or job.dimensions[name].columns or name for name in used
                    },
                    relations=relations if len(groups) == 1 else (),
                    progress=progress,
                    **options,
                )
            )
    finally:
        if isinstance(source, EngineRows):
            source.close()
    return tables[0] if len(tables) == 1 else link(tables, relations=relations)


def _keeps_contributions(job: Job) -> bool | None:
    """Return whether single contributions are kept: as the job says, or as its attackers need them."""
    if job.assess.contributions is not None or job.attackers is None:
        return job.assess.contributions
    return any(part.attacker == "respondents" for part in job.attackers)


def _source(part: DataPart) -> str | RowSource | EngineRows:
    """Return where the records are."""
    if part.address is not None:
        return open_address(part.address, part.table, part.query)
    if part.database is None:
        return str(part.file)
    query = part.query or f"SELECT * FROM {quote(part.table or '')}"
    return database(Path(part.database), query)
