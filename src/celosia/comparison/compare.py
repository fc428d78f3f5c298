"""All methods on one table: the question that every office asks first."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celosia.arguments import kind_error, takes
from celosia.comparison.audit_to_ends import audit_to_ends
from celosia.comparison.round_figures import candidate_bases, candidate_reaches
from celosia.errors import (
    CelosiaError,
    DataError,
    InfeasibleError,
    MidpointWarning,
    OutOfTimeError,
    Problem,
    SpecError,
    nearest,
)
from celosia.progress import SILENT, Progress
from celosia.protection.method import Method
from celosia.protection.methods import METHODS
from celosia.protection.protect import protect
from celosia.protection.result import Protection
from celosia.report.measures import (
    FAILED,
    IMPOSSIBLE,
    MISSING,
    OUT_OF_TIME,
    UNSUITED,
    ComparedMethod,
    Measures,
    measure,
)
from celosia.risk.risk import Risk
from celosia.table.frames import frame_of

CHOSEN: Mapping[str, str] = MappingProxyType({"round": "base", "random-round": "base", "perturb": "reach"})
"""The option of a method that is chosen where it is not given."""

_MOMENT = 0.01


@dataclass(frozen=True, eq=False)
class Comparison:
    """What several methods make of a table, by the same measures. Confidential: true values are behind them.

    Parameters
    ----------
    risk
        What was to be protected.
    methods
        What each made of it, or why it could not.
    """

    risk: Risk
    methods: tuple[ComparedMethod, ...]

    def __len__(self) -> int:
        return len(self.methods)

    def __iter__(self) -> Iterator[ComparedMethod]:
        return iter(self.methods)

    def __getitem__(self, name: str) -> ComparedMethod:
        return next(one for one in self.methods if one.method == name)

    def columns(self) -> dict[str, list[Any]]:
        """Return the measures as columns, a row a method, None where there are none; and the reasons."""
        names = [field.name for field in fields(Measures)]
        found = [one.measures for one in self.methods]
        return {
            "method": [one.method for one in self.methods],
            "verdict": [one.verdict for one in self.methods],
            **{name: [None if one is None else getattr(one, name) for one in found] for name in names},
            "reason": ["; ".join(map(str, one.problems)) for one in self.methods],
        }

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the same as a data frame of the given library, by default the one that the data came in."""
        return frame_of(self.columns(), library or self.risk.table.library)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a page with plots, for the office only, and return its path."""
        # the plots take a second to import, which only those wait for who ask for a page
        from celosia.report.pages.comparison import write_comparison_page  # noqa: PLC0415

        return write_comparison_page(self.risk, self.methods, path, title=title)

    def __repr__(self) -> str:
        lines = [f"  {one.method}: {one.verdict}{_describe_result(one)}" for one in self.methods]
        return "\n".join([f"Comparison({self.risk.table!r}", *lines]) + ")"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _describe_result(one: ComparedMethod) -> str:
    found = one.measures
    if found is None:
        return f" ({one.problems[0]})" if one.problems else ""
    kinds = {"hidden": found.hidden, "ranges": found.ranges, "changed": found.changed}
    said = ", ".join(f"{many:,} {kind}" for kind, many in kinds.items() if many) or "all shown"
    return f", {said}, error {found.error_share:.2%}"


@takes(risk=Risk)
def compare(
    risk: Risk,
    *methods: Method | str,
    time_limit: float | None = None,
    gap: float = 0.0,
    solver: str | None = None,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Comparison:
    """Return what several methods make of a table, by the same measures of risk and loss; nothing is published.

    Where no base or reach is given, one is chosen that suits the protection levels, in round figures: 1, 2 or 5 times
    a power of ten.

    Parameters
    ----------
    risk
        What to protect.
    methods
        Methods with their options, ``celosia.Round(10)``, or their names, ``"round"``; by default all of them.
    time_limit
        Seconds for each of them.
    gap, solver, seed
        As in `celosia.protect`.
    progress
        Hears about long steps.

    Raises
    ------
    SpecError
        There is no such method. What a method itself has against the table is its result.
    """
    wanted = methods or tuple(METHODS)
    _check(wanted)

    call = {"gap": gap, "solver": solver, "seed": seed, "progress": progress}

    def run(one: Method | str, chosen: Mapping[str, Any], spent: float) -> Protection:
        method = METHODS[one](**chosen) if isinstance(one, str) else one
        return protect(risk, method, time_limit=seconds_left(time_limit, spent), **call)  # type: ignore[arg-type]

    found = []
    for one in wanted:
        name, option = (one, CHOSEN.get(one)) if isinstance(one, str) else (one.name, None)
        found.append(compare_method(name, partial(run, one), risk, option, progress))
    return Comparison(risk, tuple(found))


def seconds_left(time_limit: float | None, spent: float) -> float | None:
    """Return how many seconds of a limit are left, a moment at least."""
    return None if time_limit is None else max(time_limit - spent, _MOMENT)


def _check(methods: Sequence[Method | str]) -> None:
    for number, one in enumerate(methods):
        if isinstance(one, str) and one not in METHODS:
            raise SpecError.one(f"methods[{number}]", f"{one!r} is no method.", nearest(one, METHODS))
        if not isinstance(one, (str, *METHODS.values())):
            raise kind_error(one, f"methods[{number}]", "method such as Suppress()", "name")


def compare_method(
    name: str,
    run: Callable[[Mapping[str, Any], float], Protection],
    risk: Risk,
    option: str | None,
    progress: Progress = SILENT,
) -> ComparedMethod:
    """Return what a method makes of a table, or which kind of reason it has not to.

    Parameters
    ----------
    name
        The method.
    run
        Protects the table, with options that are chosen here and the seconds that earlier ones took.
    risk
        What to protect.
    option
        The option to choose, ``base`` or ``reach``; None where there is none to choose.
    progress
        Hears about long steps.
    """
    choices: list[dict[str, int | Fraction]] = [{}]
    if option is not None:
        choices = [{option: figure} for figure in (candidate_bases if option == "base" else candidate_reaches)(risk)]
    missing = Problem(option or "options", "is missing, and without sensitive cells none can be chosen.", "Give one.")
    found = ComparedMethod(name, None, (missing,), failure=MISSING)
    began = time.monotonic()
    for choice in choices:
        chosen = {
            own: str(figure) if figure.denominator == 1 else f"{float(figure):.12g}" for own, figure in choice.items()
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MidpointWarning)  # the notes say it
                result = run(choice, time.monotonic() - began)
            seen = measure(result, audit_to_ends(result, progress))
        except CelosiaError as error:
            larger = isinstance(error, InfeasibleError)  # a larger base or reach may do
            if larger or found.failure == MISSING:  # otherwise the first reason is the better one
                found = ComparedMethod(name, None, error.problems, failure=_kind(error, name), chosen=chosen)
            if larger:
                continue
            return found
        words = "was chosen, in round figures, as the protection levels need it; give your own."
        notes = (*result.notes, *result.warnings, *(f"{own} {figure} {words}" for own, figure in chosen.items()))
        return ComparedMethod(name, seen, notes=notes, chosen=chosen)
    return found


def _kind(error: CelosiaError, name: str) -> str:
    """Return which kind of reason an error is; what chance did not find may exist."""
    if isinstance(error, OutOfTimeError):
        return OUT_OF_TIME
    if isinstance(error, InfeasibleError):
        return FAILED if error.problems[0].place == name else IMPOSSIBLE
    return UNSUITED if isinstance(error, SpecError | DataError) else FAILED
