"""Attackers as a job file describes them; the kinds have the names of `celosia.Attacker`'s makers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from celosia.job.sections.part import Fault, JobPart
from celosia.job.sections.selection import Bounds, OwnLevels
from celosia.risk.attacker import Attacker, Closeness, Known
from celosia.risk.risk import LEVELS
from celosia.table.table import Table

_OWN = {"factor": "factor", "percentage": "percent"}


class AttackerPart(JobPart):
    """``[[attackers]]``: an attacker, and what he knows beforehand.

    Parameters
    ----------
    attacker
        ``external`` knows that values are not negative, where that is so; ``factor`` that they lie between zero and so
        many times the truth; ``percentage`` knows them within so many percent. ``respondents`` are all contributors,
        each with what he contributes: as the p% and prior-posterior rules of the job say, all of them; by frequency and
        dominance rules none may compute another's contribution exactly.
    name
        How reports call him.
    factor
        How many times the truth, for ``factor``.
    percent
        How many percent, for ``percentage``.
    knows
        Further bounds that he knows for some cells.
    levels
        Cells with levels of his own: he is kept from these, as far as the levels say, and from no others; by default
        he is judged by the rules. Each may have ``lower``, ``upper`` and ``sliding``.
    """

    attacker: Literal["external", "factor", "percentage", "respondents"] = "external"
    name: Annotated[str, Field(min_length=1)] | None = None
    factor: Annotated[int, Field(ge=1)] | None = None
    percent: Annotated[float, Field(ge=0)] | None = None
    knows: Bounds | None = None
    levels: OwnLevels | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        kind = written.get("attacker", "external")
        if kind == "respondents":
            for option in ("name", "knows", "levels"):
                if option in written:
                    yield Fault((option,), "belongs to a single attacker.", "Respondents are all contributors.")
        for owner, option in _OWN.items():
            if kind == owner and option not in written:
                yield Fault((option,), "is missing.", f"An attacker {owner!r} needs it.")
            if kind != owner and option in written:
                yield Fault(
                    (option,), f"belongs to the attacker {owner!r}.", f'Write attacker = "{owner}", or drop it.'
                )

    def build(self, table: Table, place: str) -> Attacker:
        """Return the attacker on a table; `place` is where he stands in the job file.

        Raises
        ------
        CelosiaError
            What he knows is not true of the table, or about cells that it does not have.
        """
        if self.attacker == "factor":
            made = Attacker.factor(table, self.factor or 1, self.name or "factor")
        elif self.attacker == "percentage":
            made = Attacker.percentage(table, repr(self.percent), self.name)
        else:
            made = Attacker.external(table, self.name or "external")
        known: dict[int, Known] = {}
        if self.knows is not None:
            for cells, said in self.knows.places(table, f"{place}.knows"):
                ends = tuple(repr(said[side]) if side in said else None for side in ("lower", "upper"))
                known |= dict.fromkeys(cells.tolist(), (ends[0], ends[1]))
        made = made.with_knowledge(table, known) if known else made
        if self.levels is None:
            return made
        own: dict[int, Closeness] = {}
        for cells, said in self.levels.places(table, f"{place}.levels"):
            lower, upper, sliding = (repr(said.get(kind, 0)) for kind in LEVELS)
            own |= dict.fromkeys(cells.tolist(), (lower, upper, sliding))
        return made.with_levels(table, own)
