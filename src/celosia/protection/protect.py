"""The verb: from a risk to what may be published, by any method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import kind_error, takes
from celosia.attack.subproblems.dispatch import list_unused_kernels
from celosia.errors import InfeasibleError, OutOfTimeError, SolverError, SpecError
from celosia.kernels import compile_kernels
from celosia.pattern.midpoint import warn_of_midpoints
from celosia.presses import answer_presses
from celosia.progress import SILENT, Progress
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS as JOINT
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.fallback import Fallback
from celosia.protection.intervals.publish.concealed_levels import Aim, restore_levels, take_aim
from celosia.protection.method import Method
from celosia.protection.methods import METHODS
from celosia.protection.named_cells import resolve_names
from celosia.protection.result import Protection
from celosia.protection.resume import Session
from celosia.protection.run import Run
from celosia.protection.suppression.method import Suppress
from celosia.risk.respondents.joint import joint_cells_of
from celosia.risk.respondents.rules import as_rules
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.solve import deadline
from celosia.solve.backend import Backend, Capability
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.product.structure import may_be_product, may_have_more_dimensions
from celosia.table.table import Table, simplify_integer, whole_cells

Engine = Callable[[Risk, Any, Run], Protection]
"""Solves a risk to which the wishes of the method were applied; `solve` in the package of the method."""

MOVE_KERNELS, JOINT_KERNELS = "celosia.protection.engine.heuristics.moves", "celosia.protection.engine.heuristics.joint"
TABLEAU_KERNELS = "celosia.protection.engine.cuts.tableau"
NEARBY_KERNELS = "celosia.protection.engine.first_order.hybrid_gradient", "celosia.protection.engine.cuts.relation_sums"
SPLITTING_KERNELS = "celosia.protection.intervals.admm"
"""Packages whose compiled functions only large product tables need, only other large tables, the largest of those, and
only ranges of tables that may have three dimensions: a good part of what a first run compiles."""

_FIRST_MOVES, _JOINT_MOVES = f"{MOVE_KERNELS}.start", (f"{JOINT_KERNELS}.heuristic", *NEARBY_KERNELS)
"""Heuristics and masters that few tables need."""

_DISTANT = "adjusted values protect by their distance from the truth, and leave nobody an interval"


@takes(risk=Risk)
def protect(
    risk: Risk,
    method: Method | None = None,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    solver: str | None = None,
    seed: int = 0,
    integer: bool | None = None,
    executor: Executor | None = None,
    progress: Progress = SILENT,
    respondents: RespondentRule | Sequence[RespondentRule] | None = None,
    state: str | Path | None = None,
    resume: str | Path | None = None,
) -> Protection:
    """Return a safe pattern with its cost and a bound on what any safe pattern costs.

    Guarantee: a pattern whose criterion is ``intervals`` has passed `celosia.audit`, whatever the search believes;
    without one that has, an error is raised, unless levels were relaxed on request. Ctrl-C and the time limit end the
    search with the best safe pattern so far: soon after Ctrl-C, and no later than the limit, a tenth of it, and two
    seconds. Unless they do, the same risk, method, seed and versions give the same
    pattern, with any number of workers.

    Parameters
    ----------
    risk
        The table with its sensitive cells, who attacks, and what hiding costs.
    method
        How to protect: `celosia.Suppress`, the default, or another method.
    time_limit
        Seconds for all of it, audits included.
    gap
        End when the cost is within this share of the bound.
    solver
        ``scip`` or ``highs``; by default the best that is installed.
    seed
        Another seed, another path through the search.
    integer
        Attackers know that values are whole numbers: True for all cells, False for none; by default for the cells of
        variables that count.
    executor
        Shares out the components of the problem, parts of the table that nothing connects; not with rules for
        respondents, and not for `celosia.Adjust` and `celosia.RandomRound`, which have no such search.
    progress
        Hears of every better pattern and bound.
    respondents
        Also keep every contributor from coming too close to another as this rule says, or all of these, on top of the
        rules of the risk: the table must know single contributions (`celosia.audit_respondents`). A risk has such rules
        where contributions are known and one says how close they may come (`celosia.assess`). Methods that protect by
        distance ask no respondents. Wherever they are not asked, the notes of the result say why.
    state
        A file in which what the search has found is kept while it goes on, so that a later run can go on from there.
        Confidential. `celosia.Adjust` and `celosia.RandomRound` have no such search.
    resume
        Such a file, of the same table, rules, levels, costs and method, from which to go on; the result is never worse
        than what it holds. Its pattern is audited anew; its bound is taken over, and a note says so.

    Raises
    ------
    SpecError
        The wishes contradict themselves or each other; a state is of another problem, or broken.
    InfeasibleError
        No safe pattern exists, with the cells that stand in the way.
    OutOfTimeError
        Time was up before a safe pattern was known.
    """
    _check(time_limit, gap)
    how = method or Suppress()
    if METHODS.get(getattr(how, "name", "")) is not type(how):
        raise kind_error(how, "method", *sorted(kind.__name__ for kind in METHODS.values()))
    if respondents is not None and how.criterion == "distance":
        raise SpecError.one("respondents", f"cannot be protected by {how.name!r}, which moves values.", "Hide cells.")
    engine = engine_of(how.package)
    how = resolve_names(how, risk.table)
    whole = simplify_integer(risk.table, integer)
    rules = tuple(dict.fromkeys((*risk.respondents, *as_rules(respondents))))
    unasked = _find_obstacle(risk, how) if rules else ""
    if unasked:
        if respondents is not None:
            remedy = "Hide cells, or publish ranges."
            raise SpecError.one("respondents", f"cannot be protected by {how.name!r}: {unasked}.", remedy)
        rules, risk = (), replace(risk, unasked=unasked)
    # Of a method that takes no requirements the audit asks respondents: what they come too close to is refused.
    if rules and how.takes_requirements:
        engine = _against_respondents(engine)
    risk = replace(risk, respondents=rules)
    session = Session.open(risk, how, whole, state, resume)
    run = prepare_run(risk, how, time_limit=time_limit, solver=solver, seed=seed, integer=whole, progress=progress)
    run = replace(run, gap=gap, executor=executor)
    with answer_presses(run.clock.stop):
        try:
            progress.start("protecting")
            return _add_first_note(_protect_in_time(risk, run, engine, session))
        finally:
            progress.done()


def prepare_run(
    risk: Risk,
    method: Method,
    *,
    time_limit: float | None,
    solver: str | None,
    seed: int,
    integer: bool | None,
    progress: Progress,
) -> Run:
    """Return a run to the end, whose clock starts when all that it needs is loaded and compiled; see `protect`."""
    whole = simplify_integer(risk.table, integer)
    _load_heuristics(risk.table)
    compile_kernels(
        progress,
        "celosia.attack",
        "celosia.protection",
        spare=lambda: _list_unused_kernels(risk, method, whole_cells(risk.table, whole), progress),
    )
    return Run(*(Clock(time_limit), 0.0, _solver(solver), seed, whole), progress=progress, named=solver is not None)


def _list_unused_kernels(risk: Risk, method: Method, whole: NDArray[np.bool_], progress: Progress) -> tuple[str, ...]:
    """Return the packages whose kernels a run has no use for: nobody waits until they are compiled."""
    from celosia.protection.intervals.parameters import INTERVALS  # noqa: PLC0415 - where nothing is missing, nobody asks

    table = risk.table
    jointly = _may_move_jointly(table)
    used = {
        MOVE_KERNELS: _may_use_moves(table),
        JOINT_KERNELS: jointly,
        TABLEAU_KERNELS: jointly,
        **dict.fromkeys(NEARBY_KERNELS, jointly and len(table) >= PARAMETERS.columns_nearby),
        SPLITTING_KERNELS: method.wants_splitting or may_have_more_dimensions(table, INTERVALS.splitting_dimensions),
    }
    attacks = list_unused_kernels(table, whole, respondents=bool(risk.respondents), progress=progress)
    return (*attacks, *(package for package, needed in used.items() if not needed))


def _may_use_moves(table: Table) -> bool:
    return may_be_product(table) and len(table) >= PARAMETERS.moves.least_columns


def _may_move_jointly(table: Table) -> bool:
    return (not table.axes or table.links is not None) and len(table) >= JOINT.least_columns


def _load_heuristics(table: Table) -> None:
    """Load the heuristics that a table may need, so that they are compiled before the clock starts."""
    if _may_use_moves(table):
        import_module(_FIRST_MOVES)
    if _may_move_jointly(table):
        for name in _JOINT_MOVES:
            import_module(name)


def engine_of(package: str) -> Engine:
    """Return what solves a method: `solve` in its package (`Method.package`).

    It is loaded now, so that a process loads, and compiles, what it uses.
    """
    engine: Engine = import_module(f"{package}.solve").solve
    return engine


def load_engines() -> None:
    """Load the engines of all methods and all heuristics, for instance to compile what they need."""
    for name in (_FIRST_MOVES, *_JOINT_MOVES):
        import_module(name)
    for kind in METHODS.values():
        _against_respondents(engine_of(kind.__module__.rpartition(".")[0]))


def _find_obstacle(risk: Risk, method: Method) -> str:
    """Return why the search of a method cannot ask respondents, a clause; empty where it can.

    In linked tables they know joint cells: what they ask for is about cells that move together, which not all searches
    can take.
    """
    if not method.takes_requirements or method.takes_corners or joint_cells_of(risk.table) is None:
        return ""
    said = "a contribution stands in several leaf cells of linked tables, which"
    return f"{said} {method.name!r} does not know with these options; celosia.audit_respondents says what they find"


def _against_respondents(engine: Engine) -> Engine:
    """Return an engine that protects against respondents, too, by the one of a method; it is loaded now as well."""
    protect_respondents = import_module("celosia.protection.respondents.solve").protect_respondents
    return lambda risk, method, run: protect_respondents(risk, method, run, engine, risk.respondents)


def _protect_in_time(risk: Risk, run: Run, engine: Engine, session: Session) -> Protection:
    """Return what a method makes of a risk, contributors asked where they can be; a note says where they were not."""
    method = session.method
    if method.criterion == "distance":
        risk = replace(risk, respondents=(), unasked=_DISTANT)
    aim = take_aim(method.apply_to(risk), method, run)
    run = replace(run, keeper=session.keeper)
    try:
        found = _search(aim, run, engine, session)
    except (InfeasibleError, SolverError, SpecError):  # wider ranges may go beyond what options allow
        if not aim.may_do_without:
            raise
        aim = aim.without()
        session.begin_anew()  # what is known of a stricter problem is no bound of another one
        found = _search(aim, run, engine, session)
    return replace(found, notes=(*found.notes, *aim.notes, *risk.respondent_notes(run.integer)))


def _search(aim: Aim, run: Run, engine: Engine, session: Session) -> Protection:
    """Return what a search finds, as a result of the levels of the risk itself."""
    session.method = aim.method
    try:
        found = _run_in_time(
            lambda timed: session.run(lambda warm: engine(aim.aimed, aim.method, warm), aim.aimed, timed), run
        )
    except OutOfTimeError as late:
        session.leave()
        raise aim.allow_more_time(late) from None
    found = session.close(found)
    return restore_levels(found, aim.risk, aim.aimed) if aim.conceals else found


def _run_in_time(work: Callable[[Run], Protection], run: Run) -> Protection:
    """Return the result of a run, or the best that it has had audited when the last moment comes.

    Raises
    ------
    OutOfTimeError
        Nothing was shown to be safe by then.
    """
    fallback = Fallback(run.clock, keeper=run.keeper)
    try:
        with deadline.before(run.clock):
            return work(replace(run, fallback=fallback))
    except (deadline.DeadlineError, OutOfTimeError) as late:
        if fallback.best is not None:
            warn_of_midpoints(fallback.best.pattern)
            return replace(fallback.best, seconds=run.clock.seconds)
        if isinstance(late, OutOfTimeError) and not (run.clock.stopped and late.problems[0].place == "time_limit"):
            raise
        if run.clock.stopped:
            message, remedy = "was ended before a pattern was shown to be safe.", "Let it run longer."
            raise OutOfTimeError.one("protection", message, remedy) from None
        message = "was reached before a pattern was shown to be safe."
        raise OutOfTimeError.one("time_limit", message, "Allow more time.") from None


def _add_first_note(found: Protection) -> Protection:
    """Return a result whose first note says that next to nothing is shown, where that is so."""
    said = found.shares.warning
    return found if said is None else replace(found, notes=(said, *found.notes))


def _check(time_limit: float | None, gap: float) -> None:
    if time_limit is not None and not time_limit > 0:
        raise SpecError.one(
            "time_limit", f"must be above zero, not {time_limit}.", "It is in seconds; leave it out for none."
        )
    if not 0 <= gap <= 1:
        raise SpecError.one(
            "gap", f"must lie between 0 and 1, not {gap}.", "0.01 ends within one percent of the bound."
        )


def _solver(name: str | None) -> Backend:
    """Return the solver of masters with whole numbers."""
    if name is not None:
        return backend_named(name)
    lazy = backends(Capability.MIP | Capability.LAZY)
    return lazy[0] if lazy else backends(Capability.MIP)[0]
