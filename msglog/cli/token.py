"""`token`: who may do what with a store that is served."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from msglog.cli.app import Command, app, fail
from msglog.cli.opening import chosen, is_remote
from msglog.cli.options import AsJson, StoreFile, WholeStore
from msglog.cli.output import say, show_json, tell
from msglog.cli.visible import exact_line

if TYPE_CHECKING:
    from msglog.server.tokens import TokenFile

tokens = typer.Typer(
    help="Make, list and revoke the tokens of a store that is served.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(tokens, name="token")


@tokens.command("create", cls=Command, epilog="msglog token create support --right read --prefix eu/")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, or what for.")],
    whole_store: WholeStore = None,
    *,
    right: Annotated[
        list[str] | None,
        typer.Option("--right", "-r", metavar="RIGHT", help="read, append, edit or admin; more than once for several."),
    ] = None,
    prefix: Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Only logs whose name begins so.")] = "",
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Make a token, and print it: it is kept as a hash only, so this is the one time that it can be seen.

    `read` and `append` are meant by their names; `edit` commits, forks, rewinds and redacts; `admin` may do
    everything, with the whole store too. Without a right given: read and append.
    """
    from msglog.server.tokens import RIGHTS

    rights = [known for known in RIGHTS if known in (right or ("read", "append"))]
    for given in right or ():
        if given not in RIGHTS:
            raise typer.BadParameter(f"{given!r} is no right; there are {', '.join(RIGHTS)}")
    path = chosen(store, whole_store)
    token, text = _file(path).create(name, rights, prefix)
    if not os.path.exists(path):
        say(f"{path}: there is no store yet; the token holds for the one that is made there")
    if as_json:
        show_json({"id": token.id, "token": text, "rights": list(token.rights), "prefix": prefix})
    else:
        tell(text)


@tokens.command("list", cls=Command, epilog="msglog token list")
def list_(whole_store: WholeStore = None, *, store: StoreFile = None, as_json: AsJson = False) -> None:
    """List the tokens: all but their secrets."""
    known = _file(chosen(store, whole_store)).all()
    shown = [
        {"id": t.id, "name": t.name, "rights": list(t.rights), "prefix": t.prefix, "created_at": t.created_at}
        for t in known
    ]
    if as_json:
        show_json({"tokens": shown})
        return
    for token in known:
        where = f"logs that begin with {token.prefix!r}" if token.prefix else "all logs"
        tell(exact_line(f"{token.id}  {token.created_at}  {', '.join(token.rights)}  {where}  {token.name}"))
    if not known:
        say("no tokens; whoever is on this machine may do everything")


@tokens.command("revoke", cls=Command, epilog="msglog token revoke 5f0c1a9e")
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The token's id: its second part.")],
    whole_store: WholeStore = None,
    *,
    store: StoreFile = None,
    as_json: AsJson = False,
) -> None:
    """Take a token away. A service that runs refuses it from its next request on."""
    if not _file(chosen(store, whole_store)).revoke(token_id):
        fail(f"there is no token {token_id!r}; `msglog token list` shows those that there are")
    if as_json:
        show_json({"id": token_id, "revoked": True})
    else:
        tell(f"token {token_id} is revoked")


def _file(store: str) -> TokenFile:
    """The tokens of a store, which need not be there yet: a service on an open address begins with them."""
    if is_remote(store):
        raise typer.BadParameter("tokens lie beside the file of a store: name the file, on the machine that serves it")
    from msglog.server.tokens import TokenFile, tokens_path

    return TokenFile(tokens_path(os.path.realpath(store)))
