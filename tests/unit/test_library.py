"""What is loaded or made on first use is what it would have been."""

from __future__ import annotations

import inspect
import pickle
import sys
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from celosia.library import load_late, methods_on_first_use


def define() -> tuple[type[Any], type[Any], type[Any]]:
    """Return a frozen dataclass with slots, one that inherits from it, and one that changes and is ordered."""

    @dataclass(frozen=True, slots=True)
    class Noun:
        """A noun."""

        word: str
        forms: tuple[str, ...] = ()
        count: int = field(default=1, compare=False)

    @dataclass(frozen=True, slots=True)
    class Name(Noun):
        """A noun that begins with a capital."""

        of: type | None = None

        def __repr__(self) -> str:
            return f"<{self.word}>"

    @dataclass(order=True)
    class Number:
        value: int
        words: list[str] = field(default_factory=list)

        def __post_init__(self) -> None:
            self.value += 1

    return Noun, Name, Number


@pytest.fixture
def late() -> tuple[type[Any], type[Any], type[Any]]:
    with methods_on_first_use():
        return define()


def test_methods_of_dataclasses_do_what_they_always_do(late: tuple[type[Any], type[Any], type[Any]]) -> None:
    said = []
    for noun, name, number in (define(), late):
        city = name("city", of=noun)
        one = noun("cell", ("cells",))
        said.append(
            (
                repr(one),
                repr(city),
                repr(number(3)),
                one == noun("cell", ("cells",), 5),
                one == noun("row"),
                one == city,
                hash(one),
                number(1) < number(2),
                number(1) == number(1),
                number.__hash__,
                replace(one, word="table"),
                [each.name for each in fields(city)],
                [str(inspect.signature(kind)) for kind in (noun, name, number)],
                noun.__init__.__qualname__,
                noun.__eq__.__qualname__,
                number.__doc__,
            ).__repr__()
        )
        for frozen in (one, city):
            with pytest.raises(FrozenInstanceError, match="cannot assign to field 'word'"):
                frozen.word = "row"
            with pytest.raises(FrozenInstanceError, match="cannot delete field 'word'"):
                del frozen.word
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'word'"):
            noun()
    assert said[0] == said[1]


def test_a_method_is_made_once_it_is_used_and_then_stays(late: tuple[type[Any], type[Any], type[Any]]) -> None:
    noun, name, _ = late
    assert not any(isinstance(vars(noun)[one], FunctionType) for one in ("__init__", "__eq__", "__setattr__"))
    name("city")
    assert not isinstance(vars(noun)["__init__"], FunctionType)
    assert isinstance(vars(name)["__init__"], FunctionType)
    assert noun("cell") == noun("cell")
    assert all(isinstance(vars(noun)[one], FunctionType) for one in ("__init__", "__eq__"))
    assert not isinstance(vars(noun)["__setattr__"], FunctionType)


def test_methods_are_made_at_once_afterwards() -> None:
    with methods_on_first_use():
        pass
    assert isinstance(vars(define()[0])["__init__"], FunctionType)


with methods_on_first_use():

    @dataclass(frozen=True, slots=True)
    class Kept:
        """Something that is handed to another process."""

        value: int


def test_instances_go_to_other_processes_and_come_back() -> None:
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)  # noqa: S301 - we have written it


def test_a_late_module_is_run_when_something_is_taken_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "slow_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('nobody needs the package')")
    (package / "part.py").write_text("from slow_module import VALUE")
    (tmp_path / "slow_module.py").write_text("import sys\nsys.has_run = True\nVALUE = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "has_run", False, raising=False)
    for name in ("slow_module", "slow_package.part"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    load_late(
        "slow_module", "slow_package.part", "slow_module_that_is_not_there", "slow_package.nor_is_this", "no.such"
    )
    import slow_module  # type: ignore[import-not-found]  # noqa: PLC0415

    assert {"slow_module", "slow_package.part"} <= set(sys.modules)
    assert sys.modules.keys().isdisjoint({"slow_package", "slow_module_that_is_not_there", "slow_package.nor_is_this"})
    assert not sys.has_run  # type: ignore[attr-defined]
    assert sys.modules["slow_package.part"].VALUE == 7
    assert sys.has_run  # type: ignore[attr-defined]
    assert slow_module.VALUE == 7
    assert sys.modules["slow_module"] is slow_module
    with pytest.raises(AttributeError, match="module 'slow_module' has no attribute 'nothing'"):
        _ = slow_module.nothing


def test_what_is_loaded_stays_so() -> None:
    before = sys.modules["inspect"]
    load_late("inspect")
    assert sys.modules["inspect"] is before
    assert vars(before)["signature"] is inspect.signature
