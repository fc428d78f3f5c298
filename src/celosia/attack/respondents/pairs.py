"""Which pairs of an attacker and a target an audit looks at: all, or those of a pre-defined selection.

Daalmans and de Waal (2010, section 6) have a reduced model, by which a selection of contributors is checked against a
selection of attackers. Both are given by anonymous numbers; whoever is not among the attackers still blurs what they
see, and whoever is not among the targets is not judged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import Problems, SpecError, list_items, pluralise

if TYPE_CHECKING:
    from celosia.risk.respondents.knowledge import Respondents

Numbers = int | Collection[int] | None
"""Anonymous numbers of respondents or holdings, one or several; None for all."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Who attacks whom, by anonymous numbers.

    Parameters
    ----------
    attackers, targets
        The numbers, increasing; None for all.
    """

    attackers: tuple[int, ...] | None = None
    targets: tuple[int, ...] | None = None

    @classmethod
    def of(cls, attacker: Numbers, target: Numbers) -> Pairs:
        """Return the pairs of attackers and targets that are given as one, several or none.

        Raises
        ------
        SpecError
            One of the two is empty, or holds something else than whole numbers.
        """
        found = Problems()
        said: list[tuple[int, ...] | None] = []
        for name, numbers in (("attacker", attacker), ("target", target)):
            many = numbers if numbers is None or isinstance(numbers, Collection) else [numbers]
            own = None if many is None else list(many)
            if own is not None and not own:
                found.add(name, "is empty: nothing would be looked at.", "Leave it out for all.")
            elif own is not None and any(isinstance(one, bool) or not isinstance(one, int | np.integer) for one in own):
                found.add(name, "must be anonymous numbers.", "celosia.contributors has those of a cell.")
            else:
                said.append(None if own is None else tuple(sorted({int(one) for one in own})))
        found.raise_as(SpecError)
        return cls(*said)

    @property
    def all(self) -> bool:
        """Everybody attacks everybody."""
        return self.attackers is None and self.targets is None

    def find_attackers(self, respondents: Respondents) -> frozenset[int] | None:
        """Return the places of the attackers, None for all."""
        return None if self.attackers is None else _find_places(respondents, self.attackers, "attacker")

    def find_targets(self, respondents: Respondents) -> frozenset[int] | None:
        """Return the places of the targets, None for all."""
        return None if self.targets is None else _find_places(respondents, self.targets, "target")

    def narrow(self, respondents: Respondents) -> Respondents:
        """Return the respondents, of whom only targets are to be protected.

        Raises
        ------
        SpecError
            There are no such numbers, or one respondent alone is both: nobody attacks himself.
        """
        found = Problems()
        attackers: frozenset[int] | None = None
        targets: frozenset[int] | None = None
        with found.gather():
            attackers = self.find_attackers(respondents)
        with found.gather():
            targets = self.find_targets(respondents)
        found.raise_as(SpecError)
        if attackers is not None and attackers == targets and len(attackers) == 1:
            message = f"is the target, too: no {respondents.kind} attacks himself."
            raise SpecError.one("attacker", message, "Name others, or leave one of the two out.")
        if targets is None:
            return respondents
        return respondents.protect_only(np.isin(np.arange(len(respondents)), sorted(targets)))


def _find_places(respondents: Respondents, numbers: tuple[int, ...], name: str) -> frozenset[int]:
    unknown = sorted(set(numbers) - set(respondents.numbers.tolist()))
    if unknown:
        seen = pluralise(len(respondents), respondents.kind)
        raise SpecError.one(name, f"there is no {respondents.kind} {list_items(unknown)}.", f"There are {seen}.")
    return frozenset(np.searchsorted(respondents.numbers, numbers).tolist())
