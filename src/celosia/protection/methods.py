"""All methods, by the names that the command line and the job file give them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from celosia.library import EachOnFirstUse

_CLASSES = {
    "suppress": "suppression.method.Suppress",
    "interval": "intervals.method.Intervals",
    "combined": "combined.method.Combined",
    "mixed": "mixed.method.Mixed",
    "round": "rounding.method.Round",
    "perturb": "perturbation.method.Perturb",
    "adjust": "adjustment.method.Adjust",
    "random-round": "random_rounding.method.RandomRound",
}


def _load(name: str) -> type[Any]:
    module, _, kind = _CLASSES[name].rpartition(".")
    loaded: type[Any] = getattr(import_module(f"celosia.protection.{module}"), kind)
    return loaded


METHODS: Mapping[str, type[Any]] = EachOnFirstUse(tuple(_CLASSES), _load)
"""The methods by their names, each loaded when it is asked for. To add one: write its package, and put it above."""
