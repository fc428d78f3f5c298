"""From what a command is given to the risk: a bare problem says it, and what a job file describes is carried out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from celosia.errors import SpecError
from celosia.formats.jj import read_jj
from celosia.job.source import JobSource, read_source
from celosia.pattern.entries import SHOWN
from celosia.pattern.release import Release
from celosia.progress import SILENT, Progress
from celosia.risk.risk import Risk


def assess_file(path: str | Path, progress: Progress = SILENT) -> Risk:
    """Return the risk that a job file (``.toml``) or a bare problem (``.jj``) describes.

    Raises
    ------
    SpecError
        The file has another ending, or asks for something that makes no sense.
    DataError
        All that is wrong with the data.
    """
    return assess_source(read_source(path), progress)


def assess_source(source: JobSource, progress: Progress = SILENT) -> Risk:
    """Return the risk that a job or a bare problem describes, as `assess_file` does."""
    if source.problems:
        raise SpecError(source.problems)
    if source.job is None:
        return read_jj(source.path)
    from celosia.job.assessment import assess_job  # noqa: PLC0415 - a bare problem needs none of it

    return assess_job(source.job, progress)


def require_for_release(source: JobSource, risk: Risk, release: Release) -> Risk:
    """Return the risk with what the method of a job asks of the cells of a release: least widths, and conditions.

    Parameters
    ----------
    source
        The job or bare problem, as its file says it.
    risk
        Its risk.
    release
        What is published: some levels are asked of cells that are not shown only.
    """
    if source.job is None or not source.job.method.asks_for_levels or len(release.status) != len(risk):
        return risk
    return source.job.method.build(risk).require_widths(risk, np.asarray(release.status != SHOWN))
