"""The command ``celosia``."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from celosia.cli.exit_codes import ExitCode
from celosia.cli.interrupt import Terminated, listen, remember_presses, was_pressed
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, Problem, nearest
from celosia.library import without_late_names
from celosia.version import __version__

COMMANDS = {
    "assess": "Find the sensitive cells of a job or problem, and how much protection they need.",
    "audit": "Find out what attackers can conclude from a release, and whether that is too much.",
    "compare": "Protect one table by several methods, and measure risk and loss in the same way.",
    "compile": "Compile what celosia needs, once per installation, so that later commands need not wait.",
    "demo": "Go the whole way on generated data, and write a report to look at.",
    "init": "Write a commented job file for the columns of a data file.",
    "protect": "Protect a table by one of eight methods: hide, widen, round or adjust cells.",
    "verify": "Check in exact arithmetic that a certificate proves a release to be safe.",
}
"""The commands, each a function of its name in the module of its name, with what help says about it."""

AS_JSON = "--json"


_CODES: dict[type[CelosiaError], ExitCode] = {
    InfeasibleError: ExitCode.NOT_SAFE,
    OutOfTimeError: ExitCode.OUT_OF_TIME,
}
"""The exit codes of errors that do not mean bad input."""


class Ended(Exception):  # noqa: N818  (nothing is wrong with the input)
    """Ctrl-C or a closed pipe, on its way past click, which has words and exit codes of its own for them."""


class Commands(click.Group):
    """A group whose commands are imported when they are called.

    The rooms behind a command load numpy, DuckDB and numba, which takes seconds on a cold disk; help, the version and
    a mistyped command need none of that, so the group knows names and help texts by itself.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return a command, importing its module."""
        if cmd_name not in COMMANDS:
            ctx.fail(f"There is no command {cmd_name!r}. {nearest(cmd_name, COMMANDS)}")
        with without_late_names("numpy"):
            command: click.Command = getattr(import_module(f"celosia.cli.commands.{cmd_name}"), cmd_name)
        if not gc.isenabled():  # `run` has it wait until all is loaded; in what is, there never is any garbage
            gc.freeze()
            gc.enable()
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        with remember_presses():
            try:
                return super().invoke(ctx)
            except BrokenPipeError as end:
                raise Ended from end
            except (KeyboardInterrupt, Exception) as error:
                if (
                    isinstance(error, KeyboardInterrupt) or was_pressed()
                ):  # libraries wrap Ctrl-C in errors of their own
                    raise Ended from KeyboardInterrupt()
                raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="celosia")
@click.pass_context
def celosia(context: click.Context) -> None:
    """Protect statistical tables: find the sensitive cells, publish as much as is safe, and prove it.

    Start with `celosia demo`. Every command explains itself with --help.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run() -> NoReturn:
    """Run the command line and end the process: 0 done, 2 bad input, each problem on a line of its own.

    A third of a warm start would go into looking for garbage in modules, again and again while they are loaded, and
    into tidying them up at the end: nobody looks before the command is loaded (`Commands`), and the process ends when
    all is written and said. Nor does pydantic look through all that is installed for plugins, of which we have none.
    Linear algebra has one thread unless the user says otherwise: ours is of small matrices, and further threads wait
    for work by spinning.
    """
    listen()
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ended = status(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody listens
            stream.flush()
    os._exit(ended)


def status(arguments: list[str]) -> int:
    """Return the exit code of a command line, having said what is wrong on standard error; as JSON where asked."""
    try:
        ended = celosia.main(arguments, prog_name="celosia", standalone_mode=False)
        sys.stdout.flush()
        return ended if isinstance(ended, int) else 0
    except (Ended, KeyboardInterrupt, Terminated, BrokenPipeError) as end:
        code, problems = _describe_end(end, arguments)
    except Exception as error:
        if not isinstance(error, CelosiaError | click.ClickException) and os.environ.get("CELOSIA_TRACEBACK"):
            raise
        code, problems = _describe_failure(error)
    for problem in problems:
        click.echo(f"error: {' '.join(str(problem).split())}", err=True)
    if problems and AS_JSON in arguments:
        said = [{"place": one.place, "message": one.message, "remedy": one.remedy} for one in problems]
        click.echo(json.dumps({"exit_code": code, "problems": said}, ensure_ascii=False, indent=2))
    return code


def _describe_failure(error: Exception) -> tuple[int, list[Problem]]:
    """Return the exit code of an error, and what to say about it."""
    if isinstance(error, CelosiaError):
        code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), ExitCode.BAD_INPUT)
        return code, list(error.problems)
    if isinstance(error, click.ClickException):
        return ExitCode.BAD_INPUT, [_usage(error)]
    # a fault of ours; its text may hold data and is not shown
    remedy = "Set CELOSIA_TRACEBACK=1 to see where, and please report it."
    return ExitCode.BROKEN, [Problem("", f"celosia itself is at fault ({type(error).__name__}).", remedy)]


def _describe_end(end: BaseException, arguments: list[str]) -> tuple[int, list[Problem]]:
    """Return the exit code of an end from outside, and what to say about it.

    Protecting answers Ctrl-C with the best that it knows; where it is interrupted all the same it knows nothing.
    """
    if isinstance(end, BrokenPipeError) or isinstance(end.__cause__, BrokenPipeError):
        # The reader of our output has gone: nothing left to say, and Python must not try while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.PIPE_CLOSED, []
    code, said = (
        (ExitCode.TERMINATED, "terminated") if isinstance(end, Terminated) else (ExitCode.INTERRUPTED, "interrupted")
    )
    if code == ExitCode.INTERRUPTED and arguments[:1] == ["protect"]:
        return ExitCode.OUT_OF_TIME, [Problem("", "interrupted with no safe pattern to show; nothing was written.")]
    return code, [Problem("", f"{said}; no file was left half-written.")]


def _usage(error: click.ClickException) -> Problem:
    message = " ".join(error.format_message().split())
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    return Problem("", message, f"See '{command} --help'." if command else "")
