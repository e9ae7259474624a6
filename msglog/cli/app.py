"""The command line as a whole: how commands are registered, listed and helped with, and how they end."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dis import opmap
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from msglog.cli.output import complain, silence
from msglog.cli.visible import exact_line
from msglog.errors import MsgLogError

F = TypeVar("F", bound=Callable[..., None])

SECTIONS = {
    "Read": ("logs", "show", "tail", "search", "lineage", "diff", "branches", "usage"),
    "Write": ("append", "fork", "rewind", "describe", "redact", "purge"),
    "Move": ("export", "import"),
    "Ask": ("sql", "schema", "stats"),
    "Serve": ("serve", "token"),
    "Care": ("verify", "doctor", "repair", "backup", "compact", "migrate"),
}
"""The table of contents: every command, in its section, in the order in which help lists them."""

# Exit codes; 0 is done, and a shell adds 128 to the number of a signal.
NO = 1
"""The answer is no: nothing found, problems found, or a difference."""
USAGE = 2
"""The command line is wrong; Typer's own code for it."""
FAILED = 3
"""The store, a file or the system refused."""
INTERRUPTED = 130
READER_LEFT = 141


_UsageError: Any = typer.BadParameter.__base__
"""What Typer raises where a command line is wrong: its own class in newer releases, Click's in older ones."""


class Commands(TyperGroup):
    """All commands, listed by section."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands, section by section."""
        wide = max(len(name) for names in SECTIONS.values() for name in names)
        for section, names in SECTIONS.items():
            found = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
            with formatter.section(section):
                _listed(formatter, [(f"{name:{wide}}", command.get_short_help_str(100)) for name, command in found])

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of a run, which is as wide as the terminal."""
        extra.setdefault("terminal_width", max(30, min(shutil.get_terminal_size((88, 24)).columns, 88)))
        with _ending():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and end as it ended."""
        with _ending():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


class Command(TyperCommand):
    """A command whose help names arguments as one types them, and ends with examples."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line."""
        names = [str(p.metavar) for p in self.get_params(ctx) if p.param_type_name == "argument" and p.required]
        spare = [f"[{p.metavar}]" for p in self.get_params(ctx) if p.param_type_name == "argument" and not p.required]
        return [*names, *spare, "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments and options, each with what it means."""
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            params: list[Any] = [param for param in self.get_params(ctx) if param.param_type_name == kind]
            rows = [
                (param.metavar, param.help) if kind == "argument" else param.get_help_record(ctx) for param in params
            ]
            if rows:
                with formatter.section(title):
                    _listed(formatter, rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 the base's signature
        """The examples."""
        if self.epilog:
            lines = self.epilog.splitlines()
            with formatter.section("Examples" if len(lines) > 1 else "Example"):
                for line in lines:
                    formatter.write(f"{'':{formatter.current_indent}}$ {line}\n")


def _listed(formatter: Any, rows: list[Any]) -> None:
    formatter.write_dl(rows, col_max=min(30, formatter.width // 2 - 3))


@contextmanager
def _ending() -> Iterator[None]:
    """What goes wrong in a command becomes one line on standard error, and an exit code."""
    try:
        yield
    except _UsageError as error:
        error.message = exact_line(error.message)  # it may quote what was typed
        raise
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        silence()
        raise typer.Exit(READER_LEFT) from None
    except MsgLogError as error:
        from msglog.cli.advice import explained

        fail(explained(error))
    except (ValueError, TypeError) as error:
        if not _is_refusal(error):
            raise
        fail(str(error), USAGE)
    except OSError as error:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        fail(f"{where}{error.strerror or error}")


def _is_refusal(error: Exception) -> bool:
    """Whether the library refused an argument: it raised the error itself, by a `raise`. Any other one is a bug."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    package, _, module = str(trace.tb_frame.f_globals.get("__name__")).partition(".")
    raised = trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    return raised and package == "msglog" and not module.startswith("cli.")


def fail(message: str, code: int = FAILED) -> NoReturn:
    """End with a message on standard error."""
    complain(message)
    raise typer.Exit(code)


def no() -> NoReturn:
    """End with the answer no."""
    raise typer.Exit(NO)


app = typer.Typer(
    name="msglog",
    cls=Commands,
    help="See, search, move and mend the conversations of a msglog store.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(name: str, *examples: str) -> Callable[[F], F]:
    """Register a function as a command, with examples for its help. `SECTIONS` says where it is listed."""
    return app.command(name, cls=Command, epilog="\n".join(examples))


def _version(asked: bool) -> None:  # noqa: FBT001 Typer's signature of a callback
    if asked:
        from importlib.metadata import version

        sys.stdout.write(f"msglog {version('msglog')}\n")
        raise typer.Exit


@app.callback(epilog="The store is named by --store FILE, by $MSGLOG_STORE, or is agent.db here.")
def _all(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...
