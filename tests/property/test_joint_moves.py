"""Joint moves and cuts in kernel coordinates, judged by programs that share nothing with them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from tests.oracles.bare_tables import FLAT_2, FLAT_3, Tree, lattice, seeded
from tests.oracles.examples import first_few
from tests.unit.protection.conftest import make_risk

from celosia import Risk, Suppress, audit, protect
from celosia.attack.findings import MET
from celosia.protection.engine.cuts.kernel_separation import KernelSeparator
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.heuristics.construction import ConstructedPattern, Construction
from celosia.protection.engine.heuristics.joint.groups import _group_rows
from celosia.protection.engine.heuristics.joint.heuristic import JointHeuristic
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters
from celosia.protection.engine.heuristics.joint.proposals import propose_witnesses
from celosia.protection.engine.heuristics.joint.search import JointPattern, JointSearch
from celosia.protection.engine.heuristics.joint.targets import Targets
from celosia.protection.engine.heuristics.kernel_reduction import KernelReduction
from celosia.protection.engine.incumbent import PatternIncumbent
from celosia.protection.engine.null_space.coordinates import KernelCoordinates, find_coordinates
from celosia.protection.engine.null_space.merge import MergedProblem, merge_columns
from celosia.protection.engine.parameters import EngineParameters, HeuristicParameters
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.engine.stop import Stop
from celosia.protection.run import Run
from celosia.protection.suppression.presolve import presolve
from celosia.protection.suppression.solve import solve as suppress
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

SEEDS = first_few(2, range(40))


def drawn(seed: int, trees: tuple[Tree, ...] = (FLAT_3, FLAT_2, FLAT_2)) -> Risk:
    """Return a cube with many zeros, so that cells move together, without labels: no product is known."""
    chance = seeded(f"joint {seed}")
    rows = lattice(trees)
    n = len(rows[0])
    totals = {row.index(-1) for row in rows}
    values: list[int | None] = [None if cell in totals else chance.choice([0, 0, 3, 9, 20, 31]) for cell in range(n)]
    while None in values:
        for row in rows:
            parts = [values[cell] for cell in range(n) if row[cell] == 1]
            if None not in parts:
                values[row.index(-1)] = sum(part for part in parts if part is not None)
    known = [value for value in values if value is not None]
    small = [cell for cell in range(n) if 0 < known[cell] <= 20][:3]
    levels = {cell: (known[cell] // 3 + 1, known[cell] // 4 + 1, 0) for cell in small}
    return make_risk(rows, known, levels, cost=[chance.randint(1, 30) for _ in range(n)])


def problem_without_product(risk: Risk) -> ProtectionProblem:
    return problem_of(risk, integer=False)


def merged_of(problem: ProtectionProblem) -> MergedProblem:
    coordinates = find_coordinates(problem.matrix, 10**6)
    assert coordinates is not None
    return merge_columns(problem, coordinates)


def reach(problem: ProtectionProblem, hidden: NDArray[np.bool_], column: int, sign: int) -> float:
    """Return how far a column moves, by SciPy."""
    bounds = [
        (-float(down), float(up)) if here else (0.0, 0.0)
        for down, up, here in zip(problem.down[0], np.minimum(problem.up[0], 10**6), hidden, strict=True)
    ]
    cost = np.zeros(len(problem))
    cost[column] = -sign
    found = linprog(cost, A_eq=problem.matrix.toarray(), b_eq=np.zeros(problem.matrix.shape[0]), bounds=bounds)
    return float(-found.fun)


def is_safe(problem: ProtectionProblem, hidden: NDArray[np.bool_]) -> bool:
    asked = problem.requirements
    return all(
        reach(problem, hidden, int(column), 1) >= up - 1e-6 and reach(problem, hidden, int(column), -1) >= down - 1e-6
        for column, up, down in zip(asked.columns, asked.up, asked.down, strict=True)
    )


def joint_search(
    problem: ProtectionProblem,
    coordinates: KernelCoordinates,
    seed: int,
    parameters: JointParameters = PARAMETERS,
) -> JointSearch:
    separator = Separator.of(problem, backends()[0])
    chance = np.random.default_rng(seed)
    return JointSearch(
        separator.builder, coordinates, separator.sides, backends()[0], chance, lambda: False, parameters
    )


SOME_COORDINATES = JointParameters(most_simplex=0)
"""As if there were some hundred degrees of freedom: an interior-point method with a crossover solves programs."""

MANY_COORDINATES = JointParameters(most_simplex=0, most_crossed=0, least_common=1)
"""As if there were many degrees of freedom: few programs, solved by the interior-point method."""


@pytest.mark.parametrize("parameters", [PARAMETERS, SOME_COORDINATES, MANY_COORDINATES], ids=["few", "some", "many"])
@pytest.mark.parametrize("seed", SEEDS)
def test_joint_patterns_are_safe(seed: int, parameters: JointParameters) -> None:
    problem = problem_without_product(drawn(seed))
    merged = merged_of(problem)
    search = joint_search(merged.problem, merged.coordinates, seed, parameters)
    patterns = list(search.first_pattern())
    if patterns:
        patterns += [one for one in itertools.islice(search.search(patterns[-1], lambda: 0.0), 6) if one is not None]
        passed = iter((0.0, 0.5, 1.0))
        patterns += [one for one in search.anneal(patterns[0], passed.__next__) if one is not None]
        patterns.append(search.finish(patterns[-1]))
    for found in patterns:
        hidden = problem.forced | np.append(found.hidden, np.False_)[merged.class_of] & (merged.class_of >= 0)
        assert is_safe(problem, hidden)


@pytest.mark.parametrize(("start_seconds", "starts"), [(0.0, 3), (1e3, 1)], ids=["quick starts", "slow starts"])
def test_annealing_restarts_from_first_moves_where_these_are_quick(start_seconds: float, starts: int) -> None:
    merged = merged_of(problem_without_product(drawn(0)))
    joint = JointParameters(annealings=3, most_tableaux=2, most_idle=1)
    problem, costs = merged.problem, list[float]()
    separator = Separator.of(problem, backends()[0])
    stop = Stop(PatternIncumbent(problem), Clock(60.0))
    heuristic = JointHeuristic(
        *(separator, merged.coordinates, stop, lambda found: costs.append(float(problem.cost[found].sum()))),
        *(np.random.default_rng(0), joint),
    )
    tried: list[JointPattern | None] = []
    find = heuristic.start

    def start() -> JointPattern | None:
        tried.append(find())
        return tried[-1]

    heuristic.start = start  # type: ignore[method-assign]
    heuristic.start()
    heuristic._start_seconds = start_seconds  # what it measures
    heuristic.run(100.0)
    assert len(tried) == starts
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_constructed_patterns_that_are_reduced_in_their_kernel_are_safe_and_hide_no_group_in_vain(seed: int) -> None:
    merged = merged_of(problem_without_product(drawn(seed, (FLAT_3, FLAT_3, FLAT_2))))
    problem, everything = merged.problem, np.ones(len(merged.problem), dtype=bool)
    separator = Separator.of(problem, backends()[0])
    if not is_safe(problem, everything):
        return
    construction = Construction.of(separator.builder, separator.sides, np.arange(len(problem)), backends()[0])
    order = np.random.default_rng(seed).permutation(len(separator.sides))
    built = construction.construct(problem.forced, np.ones(len(problem)), order, lambda: False)
    assert built is not None
    reduction = KernelReduction(separator, separator.sides, merged.coordinates)
    found = reduction.reduce(built, lambda: False)
    assert found is not None
    assert bool((built.pattern | ~found).all())
    assert is_safe(problem, found)
    again = reduction.reduce(ConstructedPattern(found, built.witnesses), lambda: True)
    assert again is not None
    assert np.array_equal(again, found)
    none = KernelReduction(separator, separator.sides, merged.coordinates, JointParameters(most_reduced=0))
    assert none.reduce(built, lambda: False) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reduction_that_was_left_goes_on_where_it_was(seed: int) -> None:
    problem = merged_of(problem_without_product(drawn(seed, (FLAT_3, FLAT_3, FLAT_2))))
    everything = np.ones(len(problem.problem), dtype=bool)
    if not is_safe(problem.problem, everything):
        return
    separator = Separator.of(problem.problem, backends()[0])
    reduction, whole = (KernelReduction(separator, separator.sides, problem.coordinates) for _ in range(2))
    found = reduction.resume(everything, lambda: True)
    assert found is not None
    assert reduction.is_unfinished
    costs = [float(problem.problem.cost[found].sum())]
    while reduction.is_unfinished:
        asked = iter([False, True])
        found = reduction.resume(everything, asked.__next__)
        assert found is not None
        costs.append(float(problem.problem.cost[found].sum()))
    assert costs == sorted(costs, reverse=True)
    assert is_safe(problem.problem, found)
    at_once = whole.resume(everything, lambda: False)
    assert at_once is not None
    assert np.array_equal(found, at_once)
    assert reduction.resume(found, lambda: False) is None


def test_rows_that_only_look_proportional_are_no_group() -> None:
    weights = np.random.default_rng(0).random((3, 2)) + 0.5  # those by which rows are told from each other
    null = np.linalg.solve(weights[:2].T, -weights[2])
    alike = np.array([[1.0, 2.0, 0.0], [*(np.array([1.0, 2.0]) + null), 1.0], [2.0, 4.0, 0.0]])
    number, factor = _group_rows(alike)
    assert number[0] == number[2] != number[1]
    assert factor.tolist() == [1.0, 1.0, 2.0]


def test_targets_of_both_sides_become_one_of_each() -> None:
    problem = problem_without_product(drawn(0))
    separator = Separator.of(problem, backends()[0])
    targets = Targets.of(separator.sides, separator.builder)
    both = np.flatnonzero(targets.signs == 0)
    column = int(targets.columns[both[0]])
    split = Targets.of(separator.sides, separator.builder, [column])
    own = np.flatnonzero(split.columns == column)
    assert len(split) == len(targets) + 1
    assert split.signs[own].tolist() == [1, -1]
    assert split.levels[own].tolist() == separator.sides.levels[separator.sides.columns == column].tolist()
    assert np.array_equal(split.upper[split.boxes[own[1]]], separator.builder.up[0])
    assert np.array_equal(split.lower[split.boxes[own[1]]], separator.builder.down[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_merging_changes_no_optimum(seed: int) -> None:
    risk = drawn(seed)
    run = Run(Clock(60.0), 0.0, backends()[0], 0, integer=False)
    costs: list[float | str] = []
    for most in (0, 10**6):
        try:
            costs.append(suppress(risk, Suppress(), run, EngineParameters(most_merged=most)).cost)
        except Exception as error:  # noqa: BLE001 - whichever: both must agree
            costs.append(type(error).__name__)
    assert costs[0] == costs[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_cuts_in_kernel_coordinates_cut_no_lean_safe_pattern_off(seed: int) -> None:
    merged = merged_of(problem_without_product(drawn(seed, (FLAT_2, FLAT_2, FLAT_2))))
    problem = merged.problem
    separator = Separator.of(problem, backends()[0])
    kernel = KernelSeparator(separator, merged.coordinates)
    free = np.flatnonzero(~problem.forced)
    rng = np.random.default_rng(seed)
    cuts = []
    for _ in range(10):
        x = np.where(problem.forced, 1.0, rng.random(len(problem)) * (rng.random(len(problem)) < 0.5))
        cuts += kernel.separate(x, lambda: None)
    for _ in range(40):
        hidden = problem.forced.copy()
        hidden[free] = rng.random(len(free)) < 0.6
        if not is_safe(problem, hidden):
            continue
        for cell in rng.permutation(free).tolist():  # a pattern that hides nothing in vain
            hidden[cell] = False
            hidden[cell] = not is_safe(problem, hidden)
        assert all(cut.violation(hidden.astype(float)) <= 1e-6 for cut in cuts)


@pytest.mark.parametrize("seed", SEEDS)
def test_turns_at_cutting_planes_integer_masters_and_joint_moves_end_at_the_optimum(seed: int) -> None:
    merged = merged_of(problem_without_product(drawn(seed)))
    hasty = HeuristicParameters(joint_share=0.0, later_joint_share=0.0)
    always, never = JointParameters(least_columns=0, largest_share=1.0), JointParameters(least_columns=10**6)
    costs = set()
    for joint, most_required in (
        (always, 1.0),
        (always, 0.0),
        (never, 1.0),
    ):  # with both, with cuts alone, with neither
        search = PatternSearch(
            *(merged.problem, backends()[0], backends()[0], Clock(60.0)),
            parameters=EngineParameters(heuristics=hasty, most_required=most_required, most_freedom=1.0),
            coordinates=merged.coordinates,
            joint=joint,
        )
        search.run(0.0)
        assert search.incumbent.done
        costs.add(search.incumbent.cost)
    assert len(costs) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_witnesses_of_joint_patterns_are_exact(seed: int) -> None:
    problem = problem_without_product(drawn(seed, (FLAT_3, FLAT_3, FLAT_2)))
    for component in presolve(problem, EngineParameters()):
        if component.coordinates is None:
            continue
        for pattern in (search := joint_search(component.problem, component.coordinates, seed)).first_pattern():
            proposed = propose_witnesses(
                pattern, search.targets, component.coordinates, backends()[0], component.problem.decimals
            )
            whole = component.spread_witnesses(proposed)
            assert len(whole)
            for k in range(len(whole)):
                entries = slice(whole.starts[k], whole.starts[k + 1])
                move = np.zeros(len(problem), dtype=object)
                move[whole.moved[entries]] = whole.moves[entries]
                assert not (problem.matrix.toarray().astype(object) @ move).any()
                own = Fraction(int(move[whole.cells[k]]), int(whole.denominator[k]))
                assert (own > 0) == bool(whole.upward[k])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_protected_cube_of_classes_passes_the_audit(seed: int) -> None:
    risk = drawn(seed, (FLAT_3, FLAT_3, FLAT_2))
    result = protect(risk, Suppress(), time_limit=60)
    assert all(verdict.result == MET for verdict in audit(result).verdicts)
