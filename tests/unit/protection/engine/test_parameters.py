"""Parameters of the engine: those that make no sense are refused."""

from __future__ import annotations

from dataclasses import fields

import pytest

from celosia.protection.engine.parameters import CutParameters, EngineParameters, HeuristicParameters
from celosia.protection.fallback import FallbackParameters

WRONG = [
    (EngineParameters, {"cutting_share": 1.5}, "cutting_share must be between 0 and 1"),
    (EngineParameters, {"purge_every": 0}, "purge_every must be 1 or more"),
    (EngineParameters, {"most_rounds": -1}, "most_rounds must be 0 or more"),
    (CutParameters, {"least_share": -0.1}, "least_share must be between 0 and 1"),
    (CutParameters, {"patience": 0}, "patience must be 1 or more"),
    (HeuristicParameters, {"forgotten": (0.1, 2.0)}, "forgotten must be between 0 and 1"),
    (HeuristicParameters, {"restarts": 0}, "restarts must be 1 or more"),
    (FallbackParameters, {"most_kept": 2.0}, "between 0 and 1"),
    (FallbackParameters, {"pause": 0.5}, "1 or more"),
]


@pytest.mark.parametrize(("kind", "given", "message"), WRONG)
def test_what_makes_no_sense_is_refused(kind: type, given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**given)


@pytest.mark.parametrize("kind", [EngineParameters, CutParameters, HeuristicParameters, FallbackParameters])
def test_every_parameter_is_described(kind: type) -> None:
    described = (kind.__doc__ or "").replace(",", " ").split()
    assert [field.name for field in fields(kind) if field.name not in described] == []
