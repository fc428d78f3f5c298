"""SCIP, where PySCIPOpt is installed (``pip install celosia[scip]``): MIPs with lazy rows in one tree, and LPs."""

from __future__ import annotations

import pyscipopt

from celosia.solve.backend import Capability, Model, refuse_unless_capable
from celosia.solve.problem import LinearProgram
from celosia.solve.scip.simplex import ScipSimplex
from celosia.solve.scip.tree import ScipTree


class ScipBackend:
    """SCIP; see `celosia.solve.backend.Backend`."""

    name = "scip"
    capabilities = Capability.LP | Capability.MIP | Capability.LAZY

    @property
    def version(self) -> str:
        """The version of SCIP."""
        scip = pyscipopt.Model(defaultPlugins=False)
        return f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"

    def open(self, problem: LinearProgram) -> Model:
        """Return a model of the problem."""
        refuse_unless_capable(self, problem)
        return ScipTree(problem) if problem.has_integers else ScipSimplex(problem)
