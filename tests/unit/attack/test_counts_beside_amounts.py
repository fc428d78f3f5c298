"""Whole numbers belong to a variable, and not to the table: an amount beside counts makes nobody forget it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import celosia as cz
from celosia import DataError, Pattern, Protection, Release, Risk, Table, certify, verify
from celosia.attack.system.system import attacker_system
from celosia.certificate.canonical import digests
from celosia.certificate.certificate import Certificate
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.suppressed import Suppressed
from celosia.protection.method import Method
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed
from celosia.table.table import simplify_integer, whole_cells

GROUPS: list[dict[str, list[str]]] = [
    {"AB": ["A", "B"], "xC": ["C"]},
    {"BC": ["B", "C"], "xA": ["A"]},
    {"AC": ["A", "C"], "xB": ["B"]},
]
"""With the sums of any two of three numbers, whole ones leave less open than others."""

PAIRS = {"AB", "BC", "AC"}


@pytest.fixture(scope="module")
def tables() -> tuple[Table, Table]:
    """Return numbers of records, and these beside an amount with two decimals."""
    records = [{"r": code, "v": (k + 1) / 4} for code, n in (("A", 3), ("B", 3), ("C", 4)) for k in range(n)]
    data, groupings = pa.Table.from_pylist(records), [cz.Hierarchy.from_dict(tree) for tree in GROUPS]
    counts = cz.tabulate(data, by=["r"], hierarchies={"r": groupings})
    amounts = cz.tabulate(data, by=["r"], value="v", hierarchies={"r": groupings})
    return counts, cz.link([counts, amounts])


def of_counts(table: Table, labels: set[str]) -> NDArray[np.bool_]:
    return np.isin(table.labels(0), sorted(labels)) & table.is_count


def released(table: Table) -> Release:
    """Return ranges of three for the sums of two, other counts hidden, amounts shown."""
    pairs, others = of_counts(table, PAIRS), table.is_count & ~of_counts(table, PAIRS)
    cells = np.flatnonzero(pairs)
    truth, one = table.amounts.counts[cells], 10**table.decimals
    ranges = Interval(cells, Fixed(truth - one, table.decimals), Fixed(truth + one, table.decimals))
    return cz.publish(Pattern.of(table, ranges, Suppressed(np.flatnonzero(others))))


def asking(table: Table, cells: NDArray[np.bool_], levels: tuple[str, str, str]) -> Risk:
    parts = [Fixed.of_texts([level if cell else "0" for cell in cells]) for level in levels]
    status = np.where(cells, SENSITIVE, SAFE)
    return Risk(table, status, Levels(*parts), np.ones(len(table)), (cz.Attacker.external(table),))


def test_which_cells_are_whole(tables: tuple[Table, Table]) -> None:
    counts, linked = tables
    assert whole_cells(counts).all()
    assert whole_cells(linked).sum() == 7
    for integer in (False, True):
        assert (whole_cells(linked, integer) == integer).all()
        assert simplify_integer(linked, integer) is simplify_integer(counts, integer) is integer
    assert simplify_integer(counts, None) is True
    assert simplify_integer(linked, None) is None
    assert simplify_integer(replace(linked, counts=frozenset()), None) is False


def test_counts_are_no_safer_beside_an_amount(tables: tuple[Table, Table]) -> None:
    """The total of three is half the sum of its pairs: from 8.5 .. 11.5 counts leave 9 .. 11, and so 10 +- 1."""
    for table in tables:
        total = of_counts(table, {"Total"})
        for level, result in (("1", "met"), ("1.5", "missed")):
            said = cz.audit(released(table), asking(table, total, (level, level, "0")))
            assert [verdict.result for verdict in said.verdicts] == [result]
            assert said.whole.tolist() == table.is_count.tolist()
        assert cz.audit(released(table), asking(table, total, ("1.5", "1.5", "0")), integer=False).safe


def test_amounts_are_not_whole_beside_counts(tables: tuple[Table, Table]) -> None:
    """The same ranges of amounts leave everything between their ends."""
    _, linked = tables
    turned, total = replace(linked, counts=frozenset({"v"})), of_counts(linked, {"Total"})
    with pytest.raises(DataError, match="the counts are not all whole numbers"):
        cz.audit(released(linked), asking(turned, total, ("1", "1", "0")))
    both = replace(linked, counts=frozenset())
    assert cz.audit(released(linked), asking(both, total, ("1.5", "1.5", "0"))).safe


def test_whole_cells_count_in_ones_and_others_in_decimals(tables: tuple[Table, Table]) -> None:
    _, linked = tables
    knows = cz.Attacker.external(linked)
    system = attacker_system(linked, [(knows.lower, knows.upper)], names=["knows"], whole=linked.is_count)
    assert system.decimals == linked.decimals == 2
    own = system.whole
    assert (system.down[own] == linked.amounts.counts[linked.is_count] // 100).all()
    assert (system.down[~own] == linked.amounts.counts[~linked.is_count]).all()
    assert set(np.abs(system.matrix.data).tolist()) == {1}
    assert system.digits_of(np.arange(len(linked))).tolist() == np.where(linked.is_count, 0, 2).tolist()


@pytest.fixture(scope="module")
def tied() -> Table:
    """Return a table with an equation between counts and amounts: a fee of two for each record, and the rest."""
    records = [
        {"r": code, "fee": (k + 1) / 4, "all": 2 + (k + 1) / 4}
        for code, n in zip("ABC", (3, 3, 4), strict=True)
        for k in range(n)
    ]
    data = pa.Table.from_pylist(records)
    parts = [cz.tabulate(data, by=["r"]), *(cz.tabulate(data, by=["r"], value=name) for name in ("fee", "all"))]
    return cz.link(parts, relations=["all = 2 * count + fee"])


def test_an_amount_that_is_tied_to_a_count_moves_in_steps(tied: Table) -> None:
    """With the fee of A shown, what A pays in all is a multiple of two beside it; an end between them is no end."""
    a = [tied.find(name, r="A") for name in ("count", "all")]
    b = [tied.find(name, r="B") for name in ("count", "all")]
    hidden = np.zeros(len(tied), dtype=bool)
    hidden[[*a, *b]] = True
    release = cz.publish(Pattern.hide(tied, hidden))
    cells = np.zeros(len(tied), dtype=bool)
    cells[a[1]] = True
    attacker = cz.Attacker.external(tied)
    upper = attacker.upper.counts.copy()
    upper[a[1]] = tied.amounts.counts[a[1]] + 399  # 3.99 above what A pays
    knows = cz.Attacker("neighbour", attacker.lower, Fixed(upper, tied.decimals))
    for level, good in (("2", True), ("3", False)):
        risk = replace(asking(tied, cells, ("0", level, "0")), attackers=(knows,))
        assert cz.audit(release, risk).safe is good
        assert cz.audit(release, risk, integer=False).safe


METHODS: dict[str, Callable[[], Method]] = {
    "interval": lambda: cz.Intervals(secret=1),
    "combined": lambda: cz.Combined(secret=1),
    "mixed": lambda: cz.Mixed(secret=1),
    "suppress": cz.Suppress,
    "round": lambda: cz.Round(5),
    "perturb": lambda: cz.Perturb(4, secret=1),
}


def reached(result: Protection, cell: int) -> tuple[float, float]:
    """Return how far down and up a cell moves in tables of an integer program in which only counts are whole."""
    table, release = result.risk.table, cz.publish(result)
    truth, (lower, upper) = table.values, (side.floats for side in release.bounds())
    attacker = result.risk.attackers[0]
    low, high = np.maximum(lower, attacker.lower.floats), np.minimum(upper, attacker.upper.floats)
    right = table.relations.matrix @ truth
    far = []
    for sign in (1.0, -1.0):
        cost = np.zeros(len(table))
        cost[cell] = sign
        sums = LinearConstraint(table.relations.matrix, right - 1e-7, right + 1e-7)
        kinds = table.is_count.astype(int)
        solved = milp(cost, constraints=sums, bounds=Bounds(low, high), integrality=kinds)
        far.append(np.inf if solved.x is None else abs(solved.x[cell] - truth[cell]))
    return far[0], far[1]


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize(
    ("method", "levels"), list(product(METHODS, [("1.5", "1.5", "0"), ("0", "0", "2.5"), ("1", "0.5", "0")]))
)
def test_what_is_protected_beside_amounts_stands_an_integer_program(
    tables: tuple[Table, Table], method: str, levels: tuple[str, str, str], tmp_path: Path
) -> None:
    _, linked = tables
    sensitive = of_counts(linked, {"A"}) | (np.isin(linked.labels(0), ["B"]) & ~linked.is_count)
    risk = asking(linked, sensitive, levels)
    result = cz.protect(risk, METHODS[method]())
    lower, upper, sliding = map(float, levels)
    for cell in np.flatnonzero(sensitive).tolist():
        down, up = reached(result, cell)
        assert down >= lower - 1e-6
        assert up >= upper - 1e-6
        assert down + up >= sliding - 1e-6
    certificate = certify(result)
    assert certificate.safe
    certificate.write(tmp_path / "proof.json")
    found = verify(tmp_path / "proof.json", result.risk, cz.publish(result))
    assert found.proved
    assert found.whole_variables == ("count",)
    assert not found.whole_numbers


def forged(certificate: Certificate, path: Path, **parts: object) -> Path:
    content = dict(certificate.content) | parts
    content["sha256"] = digests(content)
    replace(certificate, content=content).write(path)
    return path


def test_a_certificate_that_forgets_counts_proves_nothing(tables: tuple[Table, Table], tmp_path: Path) -> None:
    counts, linked = tables
    for table in (counts, linked):
        risk = asking(table, of_counts(table, {"Total"}), ("1.5", "1.5", "0"))
        release = released(table)
        ignorant = certify(cz.audit(release, risk, integer=False))
        assert ignorant.safe  # by its own account
        path = forged(ignorant, tmp_path / "forged.json")
        for known in ((), (risk,), (risk, release)):
            found = verify(path, *known)
            assert not found.proved
            assert "attackers know better" in str(found.problems[0])
        assert verify(path, risk, release, integer=False).proved
        assert not verify(path, risk, release, integer=True).proved
        claims = forged(ignorant, tmp_path / "claims.json", whole_numbers=["count"])
        found = verify(claims, risk, release)
        assert not found.proved  # half a record is not what the attacker could believe
        assert any("does not satisfy every relation" in str(problem) for problem in found.problems)
        plain = dict(ignorant.content["table"]) | {"counts": []}
        silent = forged(ignorant, tmp_path / "plain.json", table=plain)
        assert verify(silent).consistent  # there is no word of counts in it, and that is why the problem must be given
        assert not verify(silent, risk, release).consistent


@pytest.mark.parametrize("whole", [["v", "count"], ["count", "count"], ["firms"], True, "count", None])
def test_only_variables_in_their_order_are_whole(tables: tuple[Table, Table], tmp_path: Path, whole: object) -> None:
    _, linked = tables
    assert linked.variables == ("count", "v")
    risk = asking(linked, of_counts(linked, {"Total"}), ("1", "1", "0"))
    path = forged(certify(cz.audit(released(linked), risk)), tmp_path / "odd.json", whole_numbers=whole)
    with pytest.raises(DataError, match="whole_numbers"):
        verify(path)
