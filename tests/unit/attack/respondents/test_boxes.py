"""A holding in many cells has as many corners as there are combinations of signs; few programs judge them all."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import polars as pl
import pytest
from tests.oracles.single_contributions import open_attacks

from celosia import Pattern, PPercent, Risk, Table, assess, audit_respondents, tabulate, worst_aggregation
from celosia.attack.respondents.programs.moves import MoveProgram
from celosia.attack.respondents.requirements import add_requirements
from celosia.risk.respondents.knowledge import respondents_of
from celosia.solve.clock import Clock

RULE = PPercent(10)


def holding_in(cells: int, room: int) -> Table:
    """Return two columns: a holding is alone in the first one's cells but for the last, whose others have some room.

    All of its cells together can be wrong by as much as the last cell can make up for, without one of its two.
    """
    lines = [(f"r{k:02}", "I", 100, f"h{k}", "h") for k in range(cells)]
    lines += [(f"r{k:02}", "II", 1000, f"s{k}{who}", f"s{k}{who}") for k in range(cells + 1) for who in range(3)]
    lines += [(f"r{cells:02}", "I", room, f"o{who}", f"o{who}") for who in range(2)]
    frame = pl.DataFrame(lines, schema=["row", "column", "v", "firm", "group"], orient="row")
    return tabulate(frame, by=["row", "column"], value="v", respondent="firm", holding="group", contributions=True)


def leaves(table: Table) -> Pattern:
    return Pattern.hide(table, respondents_of(table).leaves)


def test_sixteen_cells_have_65536_corners_and_take_a_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    solved = MoveProgram.between

    def counting(self: MoveProgram, *bounds: object) -> object:
        asked.append(1)
        return solved(self, *bounds)  # type: ignore[arg-type]

    monkeypatch.setattr(MoveProgram, "between", counting)
    table = holding_in(16, 160)
    assert audit_respondents(leaves(table), table, rule=RULE).safe
    assert len(asked) < 100


@pytest.mark.parametrize(("cells", "missing"), [(2, 0), (3, 1)])
def test_to_the_last_unit_as_the_full_audit_and_the_program_of_the_paper_say(cells: int, missing: int) -> None:
    table = holding_in(cells, 10 * cells - missing)
    found = audit_respondents(leaves(table), table, rule=RULE)
    assert found.safe is not bool(missing)
    assert bool(open_attacks(leaves(table), table, RULE)) is bool(missing)
    worst = worst_aggregation(leaves(table), table, rule=RULE)
    assert (worst is not None) is bool(missing)


def test_the_corner_that_is_excluded_is_named() -> None:
    table = holding_in(12, 119)
    found = audit_respondents(leaves(table), table, rule=RULE)
    assert not found.safe
    assert {one.target for one in found.open} == {found.open[0].target}
    assert all(abs(sum(one.signs)) == len(one.cells) == 12 for one in found.open)


class Looked(Clock):
    """A clock that is up after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__(None)
        self._looks = looks

    @property
    def left(self) -> float:
        """Nothing, after so many looks."""
        self._looks -= 1
        return 1.0 if self._looks >= 0 else 0.0


@pytest.mark.parametrize(("cells", "room"), [(3, 30), (3, 29)])
def test_whenever_time_is_up_nobody_is_called_safe_who_was_not_judged(cells: int, room: int) -> None:
    table = holding_in(cells, room)
    whole = audit_respondents(leaves(table), table, rule=RULE)
    assert not whole.unjudged
    before = whole.targets
    for looks in count():
        found = audit_respondents(leaves(table), table, rule=RULE, clock=Looked(looks))
        assert set(found.open) <= set(whole.open)
        assert not found.safe or whole.safe
        assert found.safe is (not found.unjudged and not found.open)
        assert found.unjudged <= before
        before = found.unjudged
        assert bool(found.parts[0].left) is bool(found.unjudged)
        assert audit_respondents(leaves(table), table, rule=RULE, again=found).open == whole.open
        if looks == 0:
            assert found.unjudged == whole.targets
            assert f"{whole.targets} not judged in time" in repr(found)
        if (found.unjudged, found.open) == (0, whole.open):
            break


def test_what_is_enough_for_all_corners_grows_with_the_cells_that_hang_together() -> None:
    """What was asked when fewer cells hung together is no reason to ask for nothing now."""
    table = holding_in(3, 10)
    found = audit_respondents(leaves(table), table, rule=RULE)
    pair = max(found.parts[0].open, key=lambda one: len(one.cells))
    assert len(pair.cells) == 3

    def required(risk: Risk, cells: int) -> Risk:
        short = replace(pair, cells=pair.cells[:cells], signs=pair.signs[:cells])
        part = replace(found.parts[0], open=(short,))
        return add_requirements(risk, replace(found, parts=(part,)), every_corner=True)

    few = required(assess(table, RULE), 2)
    both = required(few, 3)
    assert few.further is not None
    assert both.further is not None
    assert len(both.further) == len(few.further) + 3
    assert both.further.upper.floats.max() == pytest.approx(1.5 * few.further.upper.floats.max())
    assert required(both, 3) is both
