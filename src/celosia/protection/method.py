"""What every method of protection states about itself, and the wishes about cells that methods share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, list_items
from celosia.pattern.entries import HIDDEN, INTERVAL
from celosia.pattern.modes.mode import check_costs
from celosia.pattern.pattern import Pattern
from celosia.protection.named_cells import places_of
from celosia.risk.attacker import Attacker
from celosia.risk.cell_levels import CellLevels
from celosia.risk.cost import Cost
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Risk
from celosia.table.cell_names import CellNames
from celosia.table.fixed import Fixed
from celosia.table.table import Table

NO_CELLS: tuple[int, ...] = ()


class Method(Protocol):
    """A way of protecting tables, with its options and its capabilities.

    Callers ask for a capability, never for a class. The defaults are those of a method that publishes what attackers
    cannot narrow, found by a search that takes any requirement.

    Attributes
    ----------
    name
        What the command line calls it.
    statuses
        How cells that are not shown may be published, in the words of a release.
    criterion
        What protects: ``intervals`` that attackers cannot narrow, or ``distance`` from the truth.
    takes_requirements
        The search meets requirements with attackers of their own, so that respondents can be protected.
    seed_is_secret
        Published values are drawn by the seed of the run: whoever knows it knows more than the release says.
    keeps_state
        A run can go on from what another one has found: a better result may be chosen among several.
    has_fixed_costs
        A cell that is not shown costs something whatever the width of its range, and every unit of that width, too:
        there is a curve between the two (`celosia.trade_off`).
    """

    __slots__ = ()

    name: ClassVar[str]
    statuses: ClassVar[frozenset[str]]
    criterion: ClassVar[Literal["intervals", "distance"]] = "intervals"
    takes_requirements: ClassVar[bool] = True
    seed_is_secret: ClassVar[bool] = False
    keeps_state: ClassVar[bool] = True
    has_fixed_costs: ClassVar[bool] = False

    @property
    def hides(self) -> bool:
        """Whether cells may be hidden."""
        return HIDDEN in self.statuses

    @property
    def only_hides(self) -> bool:
        """Whether cells are shown or hidden: the pattern of a search is then published as it is."""
        return self.statuses == {HIDDEN}

    @property
    def only_widens(self) -> bool:
        """Whether cells are shown or ranges."""
        return self.statuses == {INTERVAL}

    @property
    def hides_everything(self) -> bool:
        """Whether all cells that may be hidden may be hidden at a time."""
        return self.hides

    @property
    def most_hidden(self) -> int | None:
        """At most so many cells may be hidden, sensitive ones included; None where there is no limit."""
        return None

    @property
    def takes_corners(self) -> bool:
        """Whether a search can ask that cells move together (`celosia.risk.corner`)."""
        return False

    @property
    def wants_splitting(self) -> bool:
        """Whether widths of ranges are to be found by the splitting method (ADMM), whatever suits the table."""
        return False

    @property
    def package(self) -> str:
        """The package whose ``solve`` runs the method: its own, or one whose formulation has what its options need."""
        return type(self).__module__.rpartition(".")[0]

    @property
    def conceals_levels(self) -> bool:
        """Whether levels are concealed, so that widths tell nothing of contributions; such a method has a secret."""
        return False

    @property
    def forbids_concealment(self) -> str:
        """Which option stands in the way of concealed levels, empty where none does."""
        return ""

    def leave_no_room(self, risk: Risk, integer: bool | None) -> NDArray[np.bool_]:  # noqa: ARG002, FBT001  (as a run says it)
        """Return of which sensitive cells options leave no room for the levels, ``(n_cells,)``.

        Parameters
        ----------
        risk
            With the wishes of the method, and levels that may be concealed ones.
        integer
            All values are whole numbers; None and False leave it to variables that count.
        """
        return np.zeros(len(risk), dtype=bool)

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method: costs, cells that must be shown or hidden, known zeros.

        `celosia.protect` does so once; `solve` of a method takes the result.

        Raises
        ------
        SpecError
            The wishes contradict themselves or the table.
        """

    def loss(self, pattern: Pattern, risk: Risk) -> float:
        """Return what a pattern costs at the prices of the method.

        Parameters
        ----------
        pattern
            How every cell is published.
        risk
            With the wishes of the method.
        """
        return pattern.loss(risk.cost)

    def may_be_hidden(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells may be hidden, ``(n_cells,)``.

        Parameters
        ----------
        risk
            With the wishes of the method.
        """
        return np.asarray((risk.status != SHOW) & self.hides)

    def cost_of_hiding_everything(self, risk: Risk) -> float | None:  # noqa: ARG002  (others hide cells)
        """Return what it would cost to hide all cells that may be hidden, at the prices of the method.

        None where the method hides nothing: widths of ranges and distances of numbers count other things.

        Parameters
        ----------
        risk
            With the wishes of the method.
        """
        return None

    def require_widths(self, risk: Risk, hidden: NDArray[np.bool_]) -> Risk:  # noqa: ARG002  (others have such wishes)
        """Return the risk in which cells are sensitive of which no narrower range than some width may be concluded.

        Parameters
        ----------
        risk
            With the wishes of the method.
        hidden
            Which cells a pattern hides, ``(n_cells,)``: some widths are required of hidden cells only.
        """
        return risk


@dataclass(frozen=True, slots=True, eq=False)
class Wishes:
    """What the office wishes of cells, whatever the method.

    Parameters
    ----------
    cost
        What a cell that is not shown, or a unit of what is changed, costs: a text like ``"value"`` (`celosia.Cost`), or
        one number per cell; None for the costs of the risk.
    must_show
        Cells that are published as they are.
    must_hide
        Cells that are hidden in any case.
    zeros_known
        Every attacker knows which cells are zero.
    show_option
        What the method calls `must_show`, for messages.
    """

    cost: str | Cost | ArrayLike | None = None
    must_show: CellNames = NO_CELLS
    must_hide: CellNames = NO_CELLS
    zeros_known: bool = False
    show_option: str = "must_show"

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes: its costs, what must be shown and hidden, who knows zeros.

        Raises
        ------
        SpecError
            A cell is not in the table, or must be both shown and hidden; costs are negative.
        """
        found = Problems()
        show = hide = np.zeros(0, dtype=np.int64)
        with found.gather():
            show = places_of(self.show_option, self.must_show, risk.table)
        with found.gather():
            hide = places_of("must_hide", self.must_hide, risk.table)
        for clash, word in ((show[risk.sensitive[show]], "sensitive"), (np.intersect1d(show, hide), "in must_hide")):
            if len(clash):
                labels = list_items([risk.table.label(int(cell)) for cell in clash])
                found.add(self.show_option, f"names cells that are {word}: {labels}.", "A cell cannot be both.")
        cost = risk.cost
        with found.gather():
            cost = costs_of("cost", self.cost, risk, some=True)
        found.raise_as(SpecError)
        status = risk.status.copy()
        status[hide] = np.where(status[hide] == SENSITIVE, SENSITIVE, HIDE)
        status[show] = SHOW
        attackers = risk.attackers
        if self.zeros_known:
            attackers = tuple(_with_known_zeros(attacker, risk.table) for attacker in attackers)
        return replace(risk, status=status, cost=cost, attackers=attackers)


def refuse_beyond_knowledge(risk: Risk, conditional: Mapping[int, CellLevels], options: Sequence[str]) -> None:
    """Refuse levels of cells that are not shown where an attacker's own bounds are narrower, whatever is published.

    Parameters
    ----------
    risk
        With the wishes of the method.
    conditional
        The levels.
    options
        What the method calls lower, upper and sliding ones.

    Raises
    ------
    SpecError
        With the cells by their labels.
    """
    found = Problems()
    for option, name in zip(options, ("lower", "upper", "sliding"), strict=True):
        narrow: list[str] = []
        for cell, levels in conditional.items():
            alone = CellLevels(**{name: getattr(levels, name)})
            who = None if risk.status[cell] == SHOW else alone.find_narrower(risk, cell)
            if who is not None:
                narrow.append(f"{risk.table.label(cell)} (attacker {who!r})")
        if narrow:
            said = f"is more than attackers' bounds leave open: {list_items(narrow)}."
            found.add(option, said, "Ask for less there, or show these cells.")
    found.raise_as(SpecError)


def costs_of(
    option: str, cost: str | Cost | ArrayLike | None, risk: Risk, *, some: bool = False
) -> NDArray[np.float64]:
    """Return the costs of all cells that an option states, ``(n_cells,)``; None for those of the risk.

    Parameters
    ----------
    option
        The name of the option, for messages.
    cost
        What it says.
    risk
        The table.
    some
        Refuse costs that are all zero.

    Raises
    ------
    SpecError
        Costs are unknown, negative, or not as many as cells.
    """
    try:
        if isinstance(cost, str | Cost):
            costs = (Cost.parse(cost) if isinstance(cost, str) else cost).of(risk.table)
        else:
            costs = check_costs(risk.cost if cost is None else cost, len(risk))
        if some and not bool((costs > 0).any()):
            raise SpecError.one("cost", "is zero for every cell.", "Say cost='unity' to hide as few cells as possible.")
    except SpecError as error:
        raise SpecError(replace(problem, place=option) for problem in error.problems) from None
    return costs


def _with_known_zeros(attacker: Attacker, table: Table) -> Attacker:
    """Return an attacker who also knows which cells are zero."""
    zero = table.amounts.counts == 0
    lower, upper = (Fixed(np.where(zero, 0, side.counts), side.decimals) for side in (attacker.lower, attacker.upper))
    return replace(attacker, lower=lower, upper=upper)
