"""Parameters of mixed releases, on top of those of combined suppression."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges
from celosia.protection.combined.parameters import CombinedParameters


@dataclass(frozen=True, slots=True)
class MixedParameters(CombinedParameters):
    """How mixed releases are searched for.

    Parameters
    ----------
    numberless_share
        Share of the time, 0 to 1, for a release without rounded and perturbed cells, from which the search starts.
    refused_choices
        Choices that the audit refuses and that are excluded before that is an error, 1 or more.
    completion_factor
        Where cells form no network, completions lie as far from the truth as so many times all moves together, 1 or
        more: they need a finite bound.
    """

    numberless_share: float = 0.5
    refused_choices: int = 20
    completion_factor: float = 10.0

    def __post_init__(self) -> None:
        CombinedParameters.__post_init__(self)
        check_ranges(self, numberless_share=(0.0, 1.0), refused_choices=(1, None), completion_factor=(1, None))


MIXED = MixedParameters()
"""The parameters of mixed releases that suit all tables known so far."""
