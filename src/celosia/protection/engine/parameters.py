"""Parameters of the search for a suppression pattern: shares of time, numbers of attempts, thresholds of effort.

None of them decides what is safe or what a bound is worth; they decide how soon a good pattern is found. What counts as
zero, reached or violated stands in `celosia.tolerance`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class HeuristicParameters:
    """Effort of the primal heuristics.

    Parameters
    ----------
    most_built
        Columns up to which patterns are constructed by linear programs; larger ones would take too long each.
    small_part
        Columns of a component up to which reverse delete is quick even where it is no network.
    restarts, later_restarts
        Reverse deletes with perturbed weights in a row without a better pattern that end the restarts, at the root and
        later.
    spread
        Standard deviation of the logarithm of perturbed weights.
    dear
        A column whose reduced cost exceeds this part of the bound is left out of constructions.
    constructions, later_constructions
        Constructed patterns in a row that are no better, which end the construction, at the root and later.
    construction_share
        Share of the time that is left for constructing patterns; 0 to 1.
    cleaning_share
        Share of the time that is left for reverse delete of a pattern that was extended in haste; 0 to 1.
    """

    most_built: int = 4000
    small_part: int = 40
    restarts: int = 3
    later_restarts: int = 2
    spread: float = 0.3
    dear: float = 0.1
    constructions: int = 25
    later_constructions: int = 4
    construction_share: float = 0.2
    cleaning_share: float = 0.5

    def __post_init__(self) -> None:
        _check_shares(self, "dear", "construction_share", "cleaning_share")
        _check_least(self, restarts=1, later_restarts=1, constructions=1, later_constructions=1)


@dataclass(frozen=True, slots=True)
class EngineParameters:
    """Effort of branch and cut.

    Parameters
    ----------
    purge_every
        Rounds of cutting planes after which slack cuts leave the master; 1 or more. Deleting rows costs a
        factorisation, so not after every round.
    least_rise, rounds_without_rise
        Cutting planes end when the bound has risen by less than this part of itself (0 to 1) in so many rounds (1 or
        more): it is tailing off, and heuristics or a tree are worth more.
    cutting_share, cutting_share_without_pattern
        Share of the time that is left for one run of cutting planes, once a safe pattern is known and before; 0 to 1.
    presolve_share, presolve_seconds
        Share of the time that is left, or seconds, whichever is more, for dropping requirements that the forced cells
        meet by themselves.
    grace
        How far on the way from the time limit to the last moment a first pattern may still be found; 0 to 1.
    many_subproblems
        Columns times subproblems from which cutting takes long, so that a first pattern comes before it.
    rounds_share, most_rounds
        Share of the time (0 to 1), and number, of integer masters that are solved one after another before a tree with
        lazy cuts takes the rest.
    first_rounds
        Integer masters that go to the solver of the linear master, which opens faster than the tree's.
    round_points
        Whether points of the relaxation are turned into patterns; without it patterns come from the tree alone.
    heuristics
        Effort of the primal heuristics.
    """

    purge_every: int = 5
    least_rise: float = 1e-4
    rounds_without_rise: int = 6
    cutting_share: float = 0.1
    cutting_share_without_pattern: float = 0.25
    presolve_share: float = 0.1
    presolve_seconds: float = 0.5
    grace: float = 0.5
    many_subproblems: int = 1_000_000
    rounds_share: float = 0.5
    most_rounds: int = 40
    first_rounds: int = 5
    round_points: bool = True
    heuristics: HeuristicParameters = field(default_factory=HeuristicParameters)

    def __post_init__(self) -> None:
        _check_shares(
            self,
            "least_rise",
            "cutting_share",
            "cutting_share_without_pattern",
            "presolve_share",
            "grace",
            "rounds_share",
        )
        _check_least(self, purge_every=1, rounds_without_rise=1)


def _check_shares(parameters: object, *names: str) -> None:
    """Refuse parameters that are no share, 0 to 1."""
    for name in names:
        value = getattr(parameters, name)
        if not 0 <= value <= 1:
            message = f"{name} must be between 0 and 1, not {value}"
            raise ValueError(message)


def _check_least(parameters: object, **least: float) -> None:
    """Refuse parameters that are smaller than makes sense; all others that are numbers may not be negative."""
    for one in fields(parameters):  # type: ignore[arg-type]
        value = getattr(parameters, one.name)
        if isinstance(value, int | float) and value < least.get(one.name, 0):
            message = f"{one.name} must be {least.get(one.name, 0)} or more, not {value}"
            raise ValueError(message)


PARAMETERS = EngineParameters()
