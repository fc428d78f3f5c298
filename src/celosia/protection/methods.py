"""All methods, by the names that the command line and the job file give them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from celosia.protection.adjustment.method import Adjust
from celosia.protection.combined.method import Combined
from celosia.protection.intervals.method import Intervals
from celosia.protection.mixed.method import Mixed
from celosia.protection.perturbation.method import Perturb
from celosia.protection.random_rounding.method import RandomRound
from celosia.protection.rounding.method import Round
from celosia.protection.suppression.method import Suppress

METHODS: Mapping[str, type[Any]] = MappingProxyType(
    {kind.name: kind for kind in (Suppress, Intervals, Combined, Mixed, Round, Perturb, Adjust, RandomRound)}
)
"""The methods by their names. To add one: write its package, and put it here."""
