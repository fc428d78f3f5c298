"""The back ends that are installed."""

from __future__ import annotations

from celosia.errors import SolverError, nearest
from celosia.solve.backend import Backend, Capability
from celosia.solve.highs.backend import HighsBackend

_INSTALLED: list[Backend] = [HighsBackend()]

try:
    from celosia.solve.scip.backend import ScipBackend
except ModuleNotFoundError as missing:  # a broken installation is not an absent one: that is an error
    if missing.name != "pyscipopt":
        raise
else:
    _INSTALLED.append(ScipBackend())


def backends(needed: Capability = Capability.LP) -> tuple[Backend, ...]:
    """Return the installed back ends that can do what is needed, best first."""
    return tuple(backend for backend in _INSTALLED if needed in backend.capabilities)


def backend(name: str) -> Backend:
    """Return an installed back end by its name."""
    for installed in _INSTALLED:
        if installed.name == name:
            return installed
    raise SolverError.one("solver", f"{name!r} is not installed.", nearest(name, (one.name for one in _INSTALLED)))
