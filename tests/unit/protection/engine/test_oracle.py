"""Searches that are asked for more while they run find what those find that were told everything before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.oracles.examples import first_few
from tests.unit.protection.conftest import make_risk

from celosia import Attacker, OutOfTimeError, Pattern, Risk, Suppress, audit
from celosia.attack.findings import MET
from celosia.pattern.entries import SHOWN
from celosia.protection.engine.capacity import CutBuilder
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import Extension, problem_of
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.run import Ask, Run, ViolatedRequirements
from celosia.protection.state.warm_start import WarmStart
from celosia.protection.suppression.solve import solve as suppress
from celosia.risk.risk import SAFE
from celosia.solve.clock import Clock
from celosia.solve.registry import backend, backends
from celosia.table.fixed import Fixed

SIDE = 6
SOLVERS = [one.name for one in backends()]


def drawn(seed: int, *, cube: bool = False) -> Risk:
    """Return a table with margins, a network or a cube, and sensitive cells with levels up and down."""
    rng = np.random.default_rng(seed)
    shape = (3, 3, 4) if cube else (SIDE, SIDE)
    inner = rng.integers(5, 60, size=tuple(n - 1 for n in shape))
    for axis in range(len(shape)):
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
    places = np.arange(inner.size).reshape(shape)
    rows = []
    for axis in range(len(shape)):
        for line in np.moveaxis(places, axis, -1).reshape(-1, shape[axis]):
            row = np.zeros(inner.size, dtype=int)
            row[line] = [1] * (shape[axis] - 1) + [-1]
            rows.append(row.tolist())
    values = inner.ravel().tolist()
    chosen = rng.choice(np.flatnonzero(inner.ravel() < 60), size=5, replace=False).tolist()
    levels = {cell: (values[cell] // 4 + 1, values[cell] // 5 + 1, 0) for cell in chosen}
    return make_risk(rows, values, levels, cost=rng.integers(1, 9, size=inner.size).tolist())


class Reluctant:
    """Tells of one sensitive cell after the other, where a pattern misses its levels."""

    def __init__(self, everything: Risk, *, last: bool = False, necessary: bool = True) -> None:
        self.everything = everything
        self._known = np.flatnonzero(everything.sensitive)[:1].tolist()
        self.told = 0
        self._last, self._necessary = last, necessary

    @property
    def risk(self) -> Risk:
        """The problem as far as it was told."""
        unknown = np.setdiff1d(np.flatnonzero(self.everything.sensitive), self._known)
        status = self.everything.status.copy()
        status[unknown] = SAFE
        levels = self.everything.levels
        counts = {name: getattr(levels, name).counts.copy() for name in ("lower", "upper", "sliding")}
        for own in counts.values():
            own[unknown] = 0
        return replace(
            self.everything, status=status, levels=replace(levels, **{name: Fixed(own) for name, own in counts.items()})
        )

    def violated(self, pattern: Pattern, ask: Ask = "exactly") -> ViolatedRequirements | None:  # noqa: ARG002
        """Attack a pattern."""
        hidden = pattern.status != SHOWN
        cells = np.union1d(np.flatnonzero(hidden), np.flatnonzero(self.everything.sensitive))
        found = audit(Pattern.hide(self.everything.table, cells), self.everything)
        missed = {one.requirement.cell for one in found.verdicts if one.result != MET}
        missed |= set(np.flatnonzero(self.everything.sensitive & ~hidden).tolist())
        missed -= set(self._known)
        if not missed:
            return None
        if self._last and self.told:
            raise TimeUpError
        self.told += 1
        self._known.append(min(missed))
        return ViolatedRequirements(self.risk, necessary=self._necessary)


def run_with(solver: str, **options: object) -> Run:
    return replace(Run(Clock(None), 0.0, backend(solver), 0, integer=False), **options)  # type: ignore[arg-type]


TREE = EngineParameters(most_rounds=0, round_points=False)
"""One tree at once where the solver can; patterns come from it alone."""


@pytest.mark.parametrize("parameters", [PARAMETERS, TREE], ids=["rounds", "tree"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cube", [False, True], ids=["network", "cube"])
@pytest.mark.parametrize("seed", first_few(1, [1, 0, *range(2, 20)]))
def test_what_is_told_bit_by_bit_costs_the_same(
    seed: int,
    cube: bool,  # noqa: FBT001
    solver: str,
    parameters: EngineParameters,
) -> None:
    everything = drawn(seed, cube=cube)
    teller = Reluctant(everything)
    found = suppress(teller.risk, Suppress(), run_with(solver, oracle=teller), parameters)
    assert teller.told > 0
    assert audit(found.pattern, everything).safe
    assert found.optimal
    assert found.cost == suppress(everything, Suppress(), run_with(solver)).cost


def test_some_requirements_are_added_inside_the_tree() -> None:
    """A tree whose last pattern the oracle refuses ends without any: so all it says here was said inside."""
    if "scip" not in SOLVERS:
        pytest.skip("SCIP is not installed (pip install celosia[scip])")
    teller = Reluctant(drawn(0))
    assert suppress(teller.risk, Suppress(), run_with("scip", oracle=teller), TREE).optimal
    assert teller.told > 0


def test_a_pattern_for_whose_attack_there_is_no_time_is_not_kept() -> None:
    teller = Reluctant(drawn(1), last=True)
    with pytest.raises(OutOfTimeError):
        suppress(teller.risk, Suppress(), run_with("highs", oracle=teller))


def test_no_bound_rests_on_what_is_not_needed() -> None:
    everything = drawn(2)
    teller = Reluctant(everything, necessary=False)
    found = suppress(teller.risk, Suppress(), run_with("highs", oracle=teller))
    assert audit(found.pattern, everything).safe
    first = suppress(Reluctant(everything).risk, Suppress(), run_with("highs"))
    assert found.bound <= first.cost < found.cost


def test_a_task_that_gets_other_columns_begins_anew() -> None:
    """The first attacker knows some cells: nobody thinks of hiding them until somebody comes who does not."""
    risk = drawn(3)
    attackers = [knowing(risk, place) for place in (0, 1)]
    first, both = (replace(risk, attackers=tuple(some)) for some in (attackers[:1], attackers))
    told = []

    class Oracle:
        def violated(self, pattern: Pattern, ask: Ask = "exactly") -> ViolatedRequirements | None:  # noqa: ARG002
            told.append(not audit(pattern, both).safe)
            return ViolatedRequirements(both, necessary=True) if told[-1] else None

    assert len(problem_of(first, integer=False)) < len(problem_of(both, integer=False))
    found = suppress(first, Suppress(), run_with("highs", oracle=Oracle(), warm_start=WarmStart()))
    assert sum(told) == 1
    assert audit(found.pattern, both).safe
    assert found.cost == suppress(both, Suppress(), run_with("highs")).cost


def knowing(risk: Risk, place: int) -> Attacker:
    """Return an attacker who knows every fifth cell, beginning at a place, unless it is sensitive."""
    known = (np.arange(len(risk)) % 5 == place) & ~risk.sensitive
    counts, outsider = risk.table.amounts.counts, risk.attackers[0]
    ends = (Fixed(np.where(known, counts, end.counts)) for end in (outsider.lower, outsider.upper))
    return Attacker(f"knows {place}", *ends)


def test_capacities_lie_in_memory_as_compiled_code_expects() -> None:
    risk = drawn(4)
    problem = problem_of(replace(risk, attackers=(risk.attackers[0],) * 3), integer=False)
    part = problem.part(np.arange(0, len(problem), 2), np.zeros(0, dtype=np.int64))
    for room in (part.up, part.down, *CutBuilder.of(problem).capacities(np.arange(5))):
        assert room.flags.c_contiguous


def test_a_pattern_is_kept_with_all_that_is_forced_since_it_was_made() -> None:
    """It is attacked with that hidden, so it must cost that, too."""
    risk = drawn(5)
    problem = problem_of(risk, integer=False)
    cell = int(np.flatnonzero(~problem.forced)[0])
    forced = problem.forced.copy()
    forced[cell] = True
    told = [Extension(replace(problem, forced=forced), necessary=True, before=np.arange(len(problem.requirements)))]
    solver = backends()[0]
    own = PatternSearch(problem, solver, solver, Clock(None), extend=lambda _: told.pop() if told else None)
    without = np.ones(len(problem), dtype=bool)
    without[cell] = False
    assert not own.requirements.accept(without)
    assert own.requirements.accept(without)
    assert own.incumbent.pattern is not None
    assert own.incumbent.pattern.all()
    assert own.incumbent.cost == problem.cost.sum()
