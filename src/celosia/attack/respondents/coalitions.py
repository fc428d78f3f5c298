"""Coalitions that come too close to a target: few of them are judged by a program.

A table that proves a target safe from one coalition proves him safe from all that take no more than it leaves, and of
those who contribute to one leaf only the largest matter (`celosia.attack.respondents.audit`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.attack.respondents.targets import CellTarget, Target, largest_others
from celosia.solve.deadline import DeadlineError

if TYPE_CHECKING:
    from celosia.attack.respondents.judgement import Coalition, Judgement, Proof
    from celosia.attack.respondents.problem import RespondentProblem

_FEW = 2  # suspects that are judged one by one


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A coalition that comes too close to a target. Confidential.

    Parameters
    ----------
    attackers
        Who attacks, as places in `RespondentAudit.respondents`. Where they are fewer than the coalition could be,
        any respondent may join them; without attackers every respondent comes too close.
    target
        Who is attacked.
    cells
        Where: leaf cells.
    reach, level
        How far his cell moves, and how far it must, as shares of what he contributes; None where he contributes to
        several cells.
    implied
        Another open pair is worse: larger contributions to the same cells. A pattern that closes it closes this one.
    signs
        Where he contributes to several cells: a combination of more (1) and less (-1) that is not possible.
    """

    attackers: tuple[int, ...]
    target: int
    cells: tuple[int, ...]
    implied: bool = False
    signs: tuple[int, ...] = ()
    reach: float | None = None
    level: float | None = None


class CoalitionSearch:
    """The search for coalitions that come too close, which it collects."""

    def __init__(self, problem: RespondentProblem, coalition: int, enough: int | None) -> None:
        self._problem, self._coalition, self._enough = problem, coalition, enough
        self._most = coalition
        self.found: list[OpenPair] = []
        self.programs = self.pairs = 0
        self._last: tuple[Target, Coalition] | None = None
        self._taken: list[tuple[int, int]] = []

    def attack(self, group: list[Target]) -> bool:
        """Attack targets, the worst first, until one is safe; return whether there was time for it.

        Where one of a group is open and time is up, who comes too close to the next is left out: that is no worse.
        """
        first = len(self.found)
        for target in group:
            before = len(self.found)
            if self._problem.late:
                return before > first
            attackers = self._problem.count_attackers(target.place)
            self.pairs += attackers
            if not attackers:  # he is the only one who does
                continue
            self._most = min(self._coalition, attackers)
            if not self._attack_in_time(target, implied=target is not group[0]):
                return len(self.found) > first
            if len(self.found) == before:
                break
        return True

    def _attack_in_time(self, target: Target, *, implied: bool) -> bool:
        """Note who comes too close to a target; return whether there was time for all."""
        try:
            return self._attack_one(target, implied=implied)
        except DeadlineError:
            return False

    def _attack_one(self, target: Target, *, implied: bool) -> bool:
        """Note who comes too close to a target; return whether there was time for all."""
        nobody: Coalition = frozenset()
        most = largest_others(self._problem, target, nobody, self._most)
        if self._most == 1 and isinstance(target, CellTarget) and target.is_cleared_by_proposals(most):
            return True
        self.programs += 1
        if target.clears(most):
            return True
        seen: set[Coalition] = set()
        waiting: list[Coalition] = [nobody]
        smaller: set[Coalition] = set()
        proofs: list[Proof] = []
        first = len(self.found)
        while waiting and (self._enough is None or len(self.found) - first < self._enough):
            members = waiting.pop()
            if members in seen or any(other < members for other in self._open_now(target)):
                continue
            seen.add(members)
            spare = self._most - len(members)
            if spare == 0 and any(self._covers(proof, target, members) for proof in reversed(proofs)):
                continue
            if self._problem.late:
                return False
            self.programs += 1
            judged = target.judge(members, spare, self._most_taken(target, members, spare))
            if judged.late:
                return False
            proof = judged.proof
            if proof is None:
                self._note(target, members, judged, implied=implied or members in smaller)
                after = [other for other in self._smaller_coalitions(target, members) if other not in seen]
                smaller |= set(after)
                waiting += after
                continue
            proofs.append(proof)
            suspects = self._suspects(target, proof, members, spare) if spare else []
            if spare == 1:
                suspects = self._clear_in_groups(target, members, suspects)
            waiting += [members | {place} for place in suspects]
        return True

    def _most_taken(self, target: Target, members: Coalition, spare: int) -> dict[int, int]:
        """Return what members and the largest of those who may still join take of every leaf."""
        out = largest_others(self._problem, target, members, spare)
        for place in members:
            for leaf, size in self._problem.holdings[place].items():
                if leaf in out:
                    out[leaf] += size
        return out

    def _clear_in_groups(self, target: Target, members: Coalition, suspects: list[int]) -> list[int]:
        """Return who is left when suspects are cleared in groups: as if one of them took what any of them takes."""
        waiting, left = [suspects], []
        while waiting:
            group = waiting.pop()
            if len(group) <= _FEW or self._problem.late:
                left += group
                continue
            taken: dict[int, int] = {}
            for place in group:
                for leaf, sizes in self._near(target, members | {place}):
                    taken[leaf] = max(taken.get(leaf, 0), sizes)
            self.programs += 1
            if not target.clears(taken):
                half = len(group) // 2
                waiting += [group[:half], group[half:]]
        return left

    def _open_now(self, target: Target) -> Iterator[Coalition]:
        return (
            frozenset(one.attackers)
            for one in self.found
            if one.target == target.place and one.cells == self._cells(target)
        )

    def _covers(self, proof: Proof, target: Target, members: Coalition) -> bool:
        """Return whether a proof against others holds against a coalition, too."""
        level = target.level(members)
        return not any(proof.fails(leaf, taken, level) for leaf, taken in self._near(target, members))

    def _near(self, target: Target, members: Coalition) -> list[tuple[int, int]]:
        """Return what members take of their leaves, and of the target's."""
        if self._last != (target, members):
            problem, component = self._problem, int(self._problem.component[target.leaves[0]])
            near = {leaf for place in members for leaf in problem.leaves_of(place, component)} | set(target.leaves)
            self._last, self._taken = (
                (target, members),
                [(leaf, problem.contribution_of(members, leaf)) for leaf in near],
            )
        return self._taken

    def _suspects(self, target: Target, proof: Proof, members: Coalition, spare: int) -> list[int]:
        """Return whom a proof leaves suspect: who might join the members and come too close with as many others.

        Of those who contribute to one leaf only the largest is named: the next comes after him.
        """
        problem = self._problem
        more = largest_others(problem, target, members, spare)
        some = largest_others(problem, target, members, spare - 1)
        own = target.leaves[0]
        raised, most = target.level(members), target.level(members)
        if raised is not None and most is not None:
            raised, most = raised + problem.q * some[own], most + problem.q * more[own]
        inside = [place for _, place in problem.attackers_in[own] if place != target.place and place not in members]
        # Who is in the target's cell and elsewhere raises the level and uses capacity at once.
        suspects = dict.fromkeys(place for place in inside if not problem.is_single(place, own))
        for leaf in sorted({*target.leaves, *problem.leaf_of[proof.columns].tolist()} & more.keys()):
            size = more[leaf]
            taken = problem.contribution_of(members, leaf) + size
            if size and proof.fails(leaf, taken, most if leaf == own else raised):
                suspects |= dict.fromkeys(self._next_contributors(target, members, leaf))
        return list(suspects)

    def _next_contributors(self, target: Target, members: Coalition, leaf: int) -> Iterator[int]:
        """Yield who may be next to take something of a leaf: the largest who is alone in it, and all who are not."""
        single = False
        for _, place in self._problem.attackers_in[leaf]:
            if place == target.place or place in members:
                continue
            if not self._problem.is_single(place, leaf):
                yield place
            elif not single:
                single = True
                yield place

    def _smaller_coalitions(self, target: Target, members: Coalition) -> Iterator[Coalition]:
        """Yield the coalitions with the next smaller contributor to the same leaf in the place of one."""
        component = int(self._problem.component[target.leaves[0]])
        for place in members:
            leaves = self._problem.leaves_of(place, component)
            if len(leaves) != 1:
                continue
            own = [other for _, other in self._problem.attackers_in[leaves[0]]]
            for other in own[own.index(place) + 1 :]:
                if other != target.place and other not in members and self._problem.is_single(other, leaves[0]):
                    yield (members - {place}) | {other}
                    break

    def _cells(self, target: Target) -> tuple[int, ...]:
        return tuple(int(self._problem.respondents.leaves[leaf]) for leaf in target.leaves)

    def _note(self, target: Target, members: Coalition, judged: Judgement, *, implied: bool) -> None:
        problem, cells = self._problem, self._cells(target)
        shares: tuple[float | None, float | None] = (None, None)
        signs: tuple[int, ...] = ()
        if len(target.leaves) == 1:
            unit = problem.holdings[target.place][target.leaves[0]] * problem.scale * problem.knowledge.unit
            shares = (judged.reach / unit, judged.level / unit)
        else:
            excluded = dict(judged.signs)
            signs = tuple(excluded.get(leaf, 1) for leaf in target.leaves)
        self.found.append(OpenPair(tuple(sorted(members)), target.place, cells, implied, signs, *shares))
