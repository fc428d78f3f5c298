"""Examples that are what they show: files that are written, commands that are run, and their output compared.

Two directives for the pages, beside those of ``sphinx.ext.doctest``::

    ```{file} job.toml
    [data]
    ...
    ```

    ```{session}
    $ celosia assess job.toml
    what it prints
    ```

and the folder in which a page's examples run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from celosia.cli.main import status

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

_PROGRESS = re.compile(r".*( \.\.\.|: \d+\.\d s)")  # of a step that takes long on this machine
_WIDTH = 96
_LANGUAGES = {".toml": "toml", ".py": "python"}
_ENVIRONMENT = {"COLUMNS": str(_WIDTH), "NO_COLOR": "1"}


class Page:
    """The folder of one page, in which its examples run and find their modules; pandas prints frames whole there."""

    root = Path(__file__).parents[2]

    def __init__(self) -> None:
        self._before = Path.cwd()
        self._folder = tempfile.TemporaryDirectory()
        self._code = 0
        self._environment = {name: os.environ.get(name) for name in _ENVIRONMENT}
        os.environ.update(_ENVIRONMENT)
        os.chdir(self._folder.name)
        sys.path.insert(0, self._folder.name)
        with contextlib.suppress(ImportError):
            import pandas as pd  # noqa: PLC0415  (the examples that use it say so themselves)

            pd.set_option("display.width", _WIDTH, "display.max_columns", None, "display.max_colwidth", 40)

    def leave(self) -> None:
        """Go back and clean up."""
        for name, value in self._environment.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        sys.path.remove(self._folder.name)
        os.chdir(self._before)
        self._folder.cleanup()

    def run(self, line: str) -> None:
        """Run a line of the shell, as far as the pages use it, and print what a terminal would show."""
        command, *arguments = shlex.split(line)
        said: dict[str, Callable[[], str]] = {
            "celosia": lambda: self._celosia(arguments),
            "echo": lambda: f"{self._code}\n" if arguments == ["$?"] else " ".join(arguments) + "\n",
            "cat": lambda: "".join(Path(name).read_text(encoding="utf-8") for name in arguments),
            "ls": lambda: "".join(f"{path.name}\n" for path in sorted(Path(*arguments).iterdir())),
        }
        print(said[command](), end="")  # noqa: T201

    def _celosia(self, arguments: list[str]) -> str:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self._code = status(arguments)
        lines = [line for line in err.getvalue().splitlines() if not _PROGRESS.fullmatch(line)]
        return out.getvalue() + "".join(f"{line}\n" for line in lines)


class Example(SphinxDirective):
    """Something that is shown, and code that only the doctest builder sees."""

    has_content = True

    def hidden(self, kind: str, text: str) -> nodes.Node:
        """Return a node for the doctest builder: ``testcode`` or ``testoutput``."""
        node = nodes.comment(text, text, testnodetype=kind, groups=["default"], options={})
        self.set_source_info(node)
        return node


class File(Example):
    """A file that is shown, and written before the examples below it run."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the block under the file's name, and the code that writes it."""
        name, text = self.arguments[0], "\n".join(self.content) + "\n"
        code = (
            f"from pathlib import Path; Path({name!r}).parent.mkdir(parents=True, exist_ok=True)\n"
            f"_ = Path({name!r}).write_text({text!r}, encoding='utf-8')"
        )
        block = nodes.literal_block(text, text, language=_LANGUAGES.get(Path(name).suffix, "text"))
        caption = nodes.caption("", "", nodes.literal("", name))
        shown = nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])
        return [shown, self.hidden("testcode", code)]


class Session(Example):
    """What a terminal shows: lines that begin with a dollar are run, and what follows each must be its output."""

    def run(self) -> list[nodes.Node]:
        """Return the block, and for every command its code and output."""
        text = "\n".join(self.content)
        out: list[nodes.Node] = [nodes.literal_block(text, text, language="console", force=True)]
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            out.append(self.hidden("testcode", f"run({command!r})"))
            if printed.strip():
                out.append(self.hidden("testoutput", printed))
        return out


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about the directives."""
    app.add_directive("file", File)
    app.add_directive("session", Session)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
