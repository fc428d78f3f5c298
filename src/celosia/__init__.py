"""celosia protects statistical tables: it finds the sensitive cells, publishes as much as is safe, and proves it.

The way through the package::

    microdata --tabulate--> Table --assess--> Risk <--read_jj-- problem.jj
    cells     --cells-----> Table             Risk --protect--> Protection --publish--> Release
                                              Risk, Release --audit--> Audit --certify--> Certificate

    import celosia as cz
    table = cz.tabulate("firms.parquet", by=["industry", "region"], value="turnover", respondent="firm",
                        holding="group", hierarchies={"industry": cz.Hierarchy.from_hrc("nace.hrc")})
    risk = cz.assess(table, cz.PPercent(10), cz.MinFrequency(3))
    result = cz.protect(risk, cz.Suppress(cost="value"))        # confidential: pattern, cost, bound, audit
    release = cz.publish(result)                                # public
    audit = cz.audit(release, risk)                             # also for a release that somebody else made
    cz.certify(result).write("proof.json")                      # for those who believe neither it nor the solver

The rooms:

table
    The mathematical object: `Hierarchy`, `Digits`, `Table`, its relations, `link`. No idea of secrecy.
source
    Microdata or ready-made cells in, `Table` out: `tabulate`, `cells`. The only room that sees microdata.
risk
    `Table` in, `Risk` out: `assess`, the rules, `LevelShape`, `Cost`, `Requirement`, `Attacker`.
pattern
    What is published about each cell, and what that gives away: `Pattern`, `Release`, `publish`.
attack
    What can be computed from a release: `audit`, by contributors `audit_respondents`; and how: `explain`.
protection
    What to publish: `protect`, `Suppress`, `Intervals`, `Combined`, `Mixed`, `Round`, `Perturb`, `Adjust`,
    `RandomRound`, `Protection`.
certificate
    Proofs that anybody can check without a solver: `certify`, `verify`.
solve
    One small door to solvers.
formats
    Files of this and other programs: `write`, `read_jj`, `write_jj`.
comparison
    Methods side by side: `compare`.
report
    Summaries, measures of `loss`, and pages: what is shown is computed before.
job
    The job file, and the pipeline of verbs that it describes.
cli
    The command line: ``celosia --help``.
errors, files, progress, tolerance
    What all of them share.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from celosia.late import offer
from celosia.version import __version__ as __version__

if TYPE_CHECKING:
    from celosia.attack.aggregations.worst import worst_aggregation as worst_aggregation
    from celosia.attack.audit import audit as audit
    from celosia.attack.explain import Explanation as Explanation
    from celosia.attack.explain import explain as explain
    from celosia.attack.guesses import Guesses as Guesses
    from celosia.attack.guesses import guesses as guesses
    from celosia.attack.respondents.audit import RespondentAudit as RespondentAudit
    from celosia.attack.respondents.audit import audit_respondents as audit_respondents
    from celosia.certificate.certificate import certify as certify
    from celosia.certificate.verify import verify as verify
    from celosia.comparison.compare import Comparison as Comparison
    from celosia.comparison.compare import compare as compare
    from celosia.errors import CelosiaError as CelosiaError
    from celosia.errors import DataError as DataError
    from celosia.errors import InfeasibleError as InfeasibleError
    from celosia.errors import MidpointWarning as MidpointWarning
    from celosia.errors import OutOfTimeError as OutOfTimeError
    from celosia.errors import Problem as Problem
    from celosia.errors import SolverError as SolverError
    from celosia.errors import SpecError as SpecError
    from celosia.formats.jj import read_jj as read_jj
    from celosia.formats.jj import write_jj as write_jj
    from celosia.formats.release import write as write
    from celosia.pattern.csv.file import read_release as read_release
    from celosia.pattern.csv.file import write_release as write_release
    from celosia.pattern.pattern import Pattern as Pattern
    from celosia.pattern.release import Release as Release
    from celosia.pattern.release import publish as publish
    from celosia.protection.adjustment.method import Adjust as Adjust
    from celosia.protection.combined.method import Combined as Combined
    from celosia.protection.intervals.method import Intervals as Intervals
    from celosia.protection.mixed.method import Mixed as Mixed
    from celosia.protection.modular.modular import modular as modular
    from celosia.protection.perturbation.method import Perturb as Perturb
    from celosia.protection.protect import protect as protect
    from celosia.protection.random_rounding.method import RandomRound as RandomRound
    from celosia.protection.result import ModularPattern as ModularPattern
    from celosia.protection.result import Protection as Protection
    from celosia.protection.rounding.method import Round as Round
    from celosia.protection.suppression.method import Suppress as Suppress
    from celosia.protection.trade_off import trade_off as trade_off
    from celosia.protection.why import Why as Why
    from celosia.protection.why import why as why
    from celosia.protection.why import whys as whys
    from celosia.report.loss import loss as loss
    from celosia.risk.assess import LevelShape as LevelShape
    from celosia.risk.assess import assess as assess
    from celosia.risk.attacker import Attacker as Attacker
    from celosia.risk.cost import Cost as Cost
    from celosia.risk.requirement import Requirement as Requirement
    from celosia.risk.respondents.contributions import contributors as contributors
    from celosia.risk.respondents.given import with_contributions as with_contributions
    from celosia.risk.risk import Risk as Risk
    from celosia.risk.rules.cell_rules import GivenStatus as GivenStatus
    from celosia.risk.rules.cell_rules import OwnRule as OwnRule
    from celosia.risk.rules.cell_rules import Requests as Requests
    from celosia.risk.rules.cell_rules import ZeroCells as ZeroCells
    from celosia.risk.rules.contributor_rules import Dominance as Dominance
    from celosia.risk.rules.contributor_rules import MinFrequency as MinFrequency
    from celosia.risk.rules.contributor_rules import PPercent as PPercent
    from celosia.risk.rules.contributor_rules import PriorPosterior as PriorPosterior
    from celosia.risk.rules.finding import Finding as Finding
    from celosia.source.cells.cells import cells as cells
    from celosia.source.tabulate import tabulate as tabulate
    from celosia.table.hierarchy import Digits as Digits
    from celosia.table.hierarchy import Hierarchy as Hierarchy
    from celosia.table.links.link import link as link
    from celosia.table.table import Table as Table

_ROOMS = {
    "celosia.attack.audit": ("audit",),
    "celosia.attack.explain": ("Explanation", "explain"),
    "celosia.attack.guesses": ("Guesses", "guesses"),
    "celosia.attack.respondents.audit": ("RespondentAudit", "audit_respondents"),
    "celosia.attack.aggregations.worst": ("worst_aggregation",),
    "celosia.certificate.certificate": ("certify",),
    "celosia.certificate.verify": ("verify",),
    "celosia.comparison.compare": ("Comparison", "compare"),
    "celosia.errors": (
        "CelosiaError",
        "DataError",
        "InfeasibleError",
        "MidpointWarning",
        "OutOfTimeError",
        "Problem",
        "SolverError",
        "SpecError",
    ),
    "celosia.formats.jj": ("read_jj", "write_jj"),
    "celosia.formats.release": ("write",),
    "celosia.pattern.pattern": ("Pattern",),
    "celosia.pattern.release": ("Release", "publish"),
    "celosia.pattern.csv.file": ("read_release", "write_release"),
    "celosia.protection.adjustment.method": ("Adjust",),
    "celosia.protection.combined.method": ("Combined",),
    "celosia.protection.intervals.method": ("Intervals",),
    "celosia.protection.mixed.method": ("Mixed",),
    "celosia.protection.perturbation.method": ("Perturb",),
    "celosia.protection.protect": ("protect",),
    "celosia.protection.modular.modular": ("modular",),
    "celosia.protection.result": ("ModularPattern", "Protection"),
    "celosia.protection.random_rounding.method": ("RandomRound",),
    "celosia.protection.rounding.method": ("Round",),
    "celosia.protection.suppression.method": ("Suppress",),
    "celosia.protection.trade_off": ("trade_off",),
    "celosia.protection.why": ("Why", "why", "whys"),
    "celosia.report.loss": ("loss",),
    "celosia.risk.assess": ("LevelShape", "assess"),
    "celosia.risk.attacker": ("Attacker",),
    "celosia.risk.respondents.contributions": ("contributors",),
    "celosia.risk.rules.cell_rules": ("GivenStatus", "OwnRule", "Requests", "ZeroCells"),
    "celosia.risk.cost": ("Cost",),
    "celosia.risk.rules.finding": ("Finding",),
    "celosia.risk.respondents.given": ("with_contributions",),
    "celosia.risk.requirement": ("Requirement",),
    "celosia.risk.risk": ("Risk",),
    "celosia.risk.rules.contributor_rules": ("Dominance", "MinFrequency", "PPercent", "PriorPosterior"),
    "celosia.source.cells.cells": ("cells",),
    "celosia.source.tabulate": ("tabulate",),
    "celosia.table.hierarchy": ("Digits", "Hierarchy"),
    "celosia.table.links.link": ("link",),
    "celosia.table.table": ("Table",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = ["__version__", *sorted(_ROOM_OF)]  # noqa: PLE0604

if not TYPE_CHECKING:  # a type checker that saw this would believe in every name
    offer("write_result_page", "celosia.job.page")  # result.report("page.html")

    def __getattr__(name: str) -> object:
        """Return a public name, importing its module on the way."""
        if name not in _ROOM_OF:
            raise AttributeError(f"module 'celosia' has no attribute {name!r}")
        value = getattr(import_module(_ROOM_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
