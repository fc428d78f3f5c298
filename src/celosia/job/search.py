"""The one place where a job meets the engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from celosia.job.method import LimitsPart, Wishes
from celosia.progress import Progress
from celosia.protect.methods import protect
from celosia.protect.protection import Protection
from celosia.protect.suppress import Suppress
from celosia.risk.risk import Risk


def searched(risk: Risk, wishes: Wishes, limits: LimitsPart, progress: Progress) -> Protection:
    """Return the protection that the engine finds.

    Parameters
    ----------
    risk
        What to protect.
    wishes
        What is asked of single cells.
    limits
        When the search ends.
    progress
        Hears how far it has come.
    """
    method = Suppress(
        cost=wishes.cost,
        must_show=wishes.must_show,
        must_hide=wishes.must_hide,
        at_most=wishes.at_most,
        width_if_hidden=wishes.width_if_hidden,
        zeros_known=wishes.zeros_known,
    )
    given = {name: value for name in type(limits).model_fields if (value := getattr(limits, name)) is not None}
    found = protect(risk, method, progress=progress, **given)
    return replace(found, risk=_as_assessed(found.risk, risk))


def _as_assessed(found: Risk, risk: Risk) -> Risk:
    """Return what was protected without cells that count as sensitive only because hidden they must keep a width.

    The office's copy and the page tell what the rules found from what is hidden to protect it.
    """
    conditional = found.sensitive & ~risk.sensitive
    return replace(found, status=np.where(conditional, risk.status, found.status), levels=risk.levels)
