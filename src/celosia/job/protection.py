"""From an assessed table to a safe pattern, and to the files that a plan names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import CelosiaError, SpecError
from celosia.files import all_or_nothing
from celosia.formats.release import write
from celosia.job.run import StateFiles, run_method
from celosia.job.secret import find_secret
from celosia.library import OnFirstUse
from celosia.pattern.release import publish
from celosia.progress import SILENT, Progress
from celosia.protection.result import Protection
from celosia.risk.risk import Risk

if TYPE_CHECKING:
    from celosia.certificate import certificate as proofs
    from celosia.certificate.certificate import Certificate
    from celosia.job.plan import Plan
    from celosia.protection.why import Why
    from celosia.report.pages.beside import SideBySide
    from celosia.report.pages.content import PageContent
else:
    proofs = OnFirstUse("celosia.certificate.certificate")


def protect_risk(risk: Risk, plan: Plan, progress: Progress = SILENT, files: StateFiles | None = None) -> Protection:
    """Return the protection of an assessed table that a plan asks for; nothing is written but the state, if asked for.

    Raises
    ------
    SpecError, DataError
        Something is wrong with the job or the data.
    InfeasibleError
        No safe pattern exists.
    OutOfTimeError
        None was found in time.
    """
    path = str(plan.source.path)
    try:
        method = plan.method.build(risk)
    except CelosiaError as error:
        raise error.under(path) from None
    releases = [file for name, file in plan.outputs.items() if name in ("public", "release")]
    kept = find_secret(method, getattr(plan.method, "secret_file", None), releases)
    if kept is not None and kept.new is not None and not plan.outputs:  # what is not published needs no secret to keep
        kept = None
    try:
        found = run_method(risk, method if kept is None else kept.serve(method), plan.limits, progress, files)
    except CelosiaError as error:
        wrong = isinstance(error, SpecError)  # what the table has against an option is said where the job has it
        raise plan.method.rename_places(error, f"{path}, method." if wrong else "") from None
    return found if kept is None or not found.safe else kept.close(found)


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """A protection with everything that its files say, computed and ready to be written.

    Parameters
    ----------
    plan
        Which files to write.
    result
        The protection.
    certificate, page
        The proof and the content of the page, where the plan asks for them.
    """

    plan: Plan
    result: Protection
    certificate: Certificate | None
    page: PageContent | None


def prepare_outputs(
    result: Protection,
    plan: Plan,
    progress: Progress = SILENT,
    *,
    beside: SideBySide | None = None,
    whys: Sequence[Why] = (),
) -> Outputs:
    """Return everything that the files of a plan say: all that has to be searched for is searched for here.

    Parameters
    ----------
    result, plan
        What to write, and where.
    progress
        Hears about long steps.
    beside
        A table protected in several ways, which the page shows side by side.
    whys
        Why some cells are not shown, for the page.

    Raises
    ------
    SpecError
        The protection is not safe.
    """
    if not result.safe:
        raise SpecError.one(str(plan.source.path), "is not safe yet: nothing is written.")
    certificate = page = None
    if "certificate" in plan.outputs:
        progress.start("proving the release safe")
        certificate = proofs.certify(result, progress=progress)
    if "report" in plan.outputs:
        from celosia.job.page import prepare_page  # noqa: PLC0415 - only pages need what it loads

        page = prepare_page(
            result,
            plan.source.path.name,
            plan.describe(),
            progress,
            time_limit=plan.limits.time_limit,
            gap=plan.limits.gap,
            beside=beside,
            whys=whys,
        )
    progress.done()
    return Outputs(plan, result, certificate, page)


def write_outputs(outputs: Outputs, progress: Progress = SILENT) -> list[Path]:
    """Write the files of a plan, all of them or none, and return their paths.

    Raises
    ------
    SpecError
        A file cannot be written.
    """
    release, sensitive = publish(outputs.result.pattern), outputs.result.risk.sensitive
    paths = list(outputs.plan.outputs.values())
    with all_or_nothing(paths) as stand_ins:
        for name, path in outputs.plan.outputs.items():
            progress.start(f"writing {path.name}")
            if name == "certificate" and outputs.certificate is not None:
                outputs.certificate.write(stand_ins[path])
            elif name == "report" and outputs.page is not None:
                # the plots take a second to import, which only those wait for who ask for a page
                from celosia.report.pages.protection import write_protection_page  # noqa: PLC0415

                write_protection_page(outputs.page, stand_ins[path])
            else:
                write(release, stand_ins[path], sensitive if name == "release" else None)
            progress.done()
    return paths
