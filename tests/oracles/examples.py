"""How often a property is tried: on few examples whenever tests run, on many where there is time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy


def first_few(few: int, cases: Iterable[object]) -> list[object]:
    """Return cases of which the first few are tried whenever tests run, the others among the slow tests."""
    every = list(cases)
    return [*every[:few], *(pytest.param(case, marks=pytest.mark.slow) for case in every[few:])]


def few_and_many(
    few: int, many: int, *drawn: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a property on a few examples, and on many among the slow tests (``make test-slow``).

    Parameters
    ----------
    few, many
        How many examples hypothesis draws.
    drawn
        What it draws, for the last parameters of the property; those before are pytest's.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        left = list(inspect.signature(given(*drawn)(check)).parameters.values())

        def test(examples: int, **others: object) -> None:
            settings(max_examples=examples, deadline=None)(given(*drawn)(check))(**others)

        first = inspect.Parameter("examples", inspect.Parameter.KEYWORD_ONLY)
        others = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in left]
        test.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
        test.__doc__, test.__name__, test.__module__ = check.__doc__, check.__name__, check.__module__
        test.pytestmark = list(getattr(check, "pytestmark", []))  # type: ignore[attr-defined]
        numbers = [few, pytest.param(many, marks=pytest.mark.slow)]
        return pytest.mark.parametrize("examples", numbers)(test)

    return decorate
