"""``celosia init``: a commented job file for a data file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from celosia.cli.bars import show_progress
from celosia.cli.options import PATH, print_options
from celosia.cli.output import all_or_nothing, print_json, say
from celosia.errors import Problems, SpecError
from celosia.files import problems_with
from celosia.job.draft.microdata import draft
from celosia.job.schema import job_schema


@click.command()
@click.argument("data", metavar="[DATA.parquet|DATA.csv]", required=False, type=PATH)
@click.option(
    "--output",
    metavar="JOB.toml",
    type=PATH,
    default="job.toml",
    show_default=True,
    help="Where to write the job file.",
)
@click.option(
    "--schema",
    metavar="SCHEMA.json",
    type=PATH,
    help="Write the JSON schema of job files, for editors; the job file refers to it.",
)
@click.option("--force", is_flag=True, help="Write over files that are there.")
@print_options
def init(data: Path | None, output: Path, schema: Path | None, *, force: bool, quiet: bool, as_json: bool) -> None:
    """Write a commented job file for the columns of a data file.

    Dimensions, values and respondents are guessed from names, types and counts; no entry of microdata is shown. Of a
    ready-made table with its totals it writes down the codes, and how they add up. The job runs as it stands, but for
    lines that say DECIDE: look at every line, then run celosia assess.
    """
    if data is None and schema is None:
        raise click.UsageError("Give a data file, or --schema.")
    wanted = {output: ".toml"} if data is not None else {}
    wanted |= {schema: ".json"} if schema is not None else {}
    _check(wanted, [data] if data is not None else [], force=force)
    found: dict[str, object] = {}
    with show_progress(quiet=quiet) as progress, all_or_nothing(list(wanted)) as stand_ins:
        if data is not None:
            progress.start(f"looking at {data.name}")
            text, guessed = draft(data, output, _beside(schema, output))
            stand_ins[output].write_text(text, encoding="utf-8")
            found = guessed.describe()
        if schema is not None:
            stand_ins[schema].write_text(json.dumps(job_schema(), indent=2) + "\n", encoding="utf-8")
        progress.done()
    if as_json:
        print_json(found | {"files": [str(path) for path in wanted]})
        return
    for path in wanted:
        click.echo(f"Written: {path}")
    if found.get("cells"):
        say(
            "The rows are ready-made cells: each has another combination of codes, and totals are among them.",
            quiet=quiet,
        )
    if data is not None:
        say(f"Look at every line of {output}, then run: celosia assess {output}", quiet=quiet)


def _check(wanted: dict[Path, str], inputs: list[Path], *, force: bool) -> None:
    found = Problems()
    for path, ending in wanted.items():
        found.extend(problems_with(path, [ending], inputs))
        if path.is_file() and not force:
            found.add(str(path), "is there already.", "Name another with an option, or write over it with --force.")
    found.raise_as(SpecError)


def _beside(schema: Path | None, job: Path) -> str | None:
    """Return how the job file refers to the schema: by its name where it lies beside."""
    if schema is None:
        return None
    same = schema.absolute().parent == job.absolute().parent
    return f"./{schema.name}" if same else schema.absolute().as_posix()
