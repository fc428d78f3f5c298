"""An option of a method is described once, in the method's dataclass: job file, command line and reference follow."""

from __future__ import annotations

import re
import tomllib
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from click import Context, Option

from celosia.cli.commands.protect import protect
from celosia.job.methods.sections import SECTIONS
from celosia.job.schema import job_schema
from celosia.job.sections.part import describe_options
from celosia.protection.methods import METHODS

COMMAND = {option.name: option for option in protect.get_params(Context(protect)) if isinstance(option, Option)}
OPTIONS = [
    (name, own.name)
    for name, kind in METHODS.items()
    for own in fields(kind)
    if own.name not in SECTIONS[name].replaced
]


def test_a_method_is_known_by_its_own_name() -> None:
    assert [kind.name for kind in METHODS.values()] == list(METHODS)
    assert [section.kind for section in SECTIONS.values()] == list(METHODS.values())


def test_whatever_is_asked_for_that_is_no_name_is_no_method() -> None:
    assert METHODS.get("hide") is None
    assert METHODS.get(["suppress"]) is None  # type: ignore[call-overload]  # the name of some other object


def called(method: str, option: str) -> str:
    """Return what job files call an option."""
    return {theirs: ours for ours, theirs in SECTIONS[method].renamed.items()}.get(option, option)


schema = cache(job_schema)


@pytest.mark.parametrize(("method", "option"), OPTIONS)
def test_an_option_has_its_default_and_its_description_everywhere(method: str, option: str) -> None:
    own = next(own for own in fields(METHODS[method]) if own.name == option)
    name, section = called(method, option), SECTIONS[method]
    said = describe_options(METHODS[method])[option]
    short = describe_options(section)[name]
    assert short.endswith(".")
    assert re.sub(r" \(`celosia\.\w+`\)", "", said).startswith(short)
    plain = own.default if isinstance(own.default, bool | int | float | str) else None
    assert section.model_fields[name].default == plain
    described = schema()["$defs"][section.__name__]["properties"][name]
    assert described["description"] == short
    assert described.get("default") == plain
    helped = " ".join((COMMAND[name].help or "").split())
    assert " ".join(short.replace("`", "").split()) in helped
    if plain not in (None, False):
        assert re.search(rf"\[default: .*{re.escape(str(plain))}", helped)


@pytest.mark.parametrize("method", METHODS)
def test_the_reference_has_every_option_with_its_default_and_its_description(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[4] / "docs" / "_ext")
    rows = {row.option: row for row in import_module("option_rows").rows_of(method)}
    for name, field in SECTIONS[method].model_fields.items():
        if name != "name":
            assert rows[name].meaning == describe_options(SECTIONS[method])[name]
            if field.default is not None:
                assert tomllib.loads(f"value = {rows[name].default.strip('`')}")["value"] == field.default
    needed = {own.name for own in fields(METHODS[method]) if own.default is own.default_factory is MISSING}
    assert needed == {name for name, row in rows.items() if row.needed}
    page = (Path(__file__).parents[4] / "docs" / "reference" / "job-file.md").read_text(encoding="utf-8")
    assert f"```{{method-options}} {method}\n" in page


def test_what_a_job_says_besides_or_in_another_way_is_described_too() -> None:
    for method, section in SECTIONS.items():
        own = {called(method, field.name) for field in fields(METHODS[method])}
        more = set(section.model_fields) - own
        assert more <= {"name", "factors", "keep", "secret_file", "bases", "up", "down"}
        assert more <= set(describe_options(section))


def test_an_option_with_several_meanings_has_all_of_them_in_the_help() -> None:
    said = COMMAND["base"].help or ""
    assert "Round ends outward to multiples of it.  [interval, combined, mixed]" in said
    assert "Values are rounded to multiples of it (b).  [round, random-round]" in said
