"""What `celosia protect` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo

from celosia.job.sections.part import Fault, JobPart, complaint, context_of


def _beside_the_job(name: str, info: ValidationInfo) -> str:
    if not Path(name).name:
        raise complaint(Fault((), "is no file name."))
    return str(Path(context_of(info).get("folder", ".")) / name)


OutputFile: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_beside_the_job)]
"""The path of a file that will be written."""


SECRET_ENDING = ".secret"  # noqa: S105  (no password)
"""What a file with a secret is called: no output of a job has this ending."""


class OutputPart(JobPart):
    """``[output]``: what `celosia protect` writes; paths are relative to the job file.

    Parameters
    ----------
    release
        The office's copy, which tells sensitive cells from the others: a ``.csv``, ``.parquet`` or ``.xlsx`` file.
    public
        The public copy, in the same formats.
    certificate
        The proof, a ``.json`` file (confidential).
    report
        A page to look at, an ``.html`` file (confidential).
    """

    release: OutputFile | None = None
    public: OutputFile | None = None
    certificate: OutputFile | None = None
    report: OutputFile | None = None
