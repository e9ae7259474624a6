"""`token`: who may do what with a store that is served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from msglog.server.tokens import TokenFile, tokens_path
from tests.cli.conftest import Run


def test_a_token_is_printed_once_and_known_from_then_on(run: Run, story: Path) -> None:
    made = run("token", "create", "support", "--right", "read", "--prefix", "eu/", str(story), "--json")
    text = json.loads(made.out)["token"]
    token = TokenFile(tokens_path(str(story))).find(text)
    assert token is not None
    assert (token.name, token.rights, token.prefix) == ("support", ("read",), "eu/")
    listed = run("token", "list", str(story)).out
    assert "support" in listed
    assert text not in listed


def test_a_token_without_rights_named_reads_and_appends(run: Run, story: Path) -> None:
    made = json.loads(run("token", "create", "agent", str(story), "--json").out)
    assert made["rights"] == ["read", "append"]
    listed = json.loads(run("token", "list", str(story), "--json").out)
    assert [token["id"] for token in listed["tokens"]] == [made["id"]]


def test_an_unknown_right_is_refused(run: Run, story: Path) -> None:
    refused = run("token", "create", "agent", "--right", "root", str(story))
    assert refused.code == 2
    assert "root" in refused.err
    assert not Path(tokens_path(str(story))).exists()


def test_a_revoked_token_is_known_no_more(run: Run, story: Path) -> None:
    made = json.loads(run("token", "create", "agent", str(story), "--json").out)
    assert run("token", "revoke", made["id"], str(story)).code == 0
    assert TokenFile(tokens_path(str(story))).find(made["token"]) is None
    again = run("token", "revoke", made["id"], str(story))
    assert again.code == 3
    assert made["id"] in again.err


def test_a_store_on_an_open_address_begins_with_its_tokens(run: Run, tmp_path: Path) -> None:
    made = run("token", "create", "first", str(tmp_path / "new.db"))
    assert (made.code, made.out.count("\n")) == (0, 1)
    assert made.err.startswith(f"{tmp_path / 'new.db'}: there is no store yet")
    assert not (tmp_path / "new.db").exists()


def test_a_store_that_is_there_is_not_told_of(run: Run, story: Path) -> None:
    assert run("token", "create", "agent", str(story)).err == ""


def test_where_there_are_no_tokens_it_says_what_that_means(run: Run, story: Path) -> None:
    none = run("token", "list", str(story))
    assert (none.code, none.out) == (0, "")
    assert none.err == "no tokens; whoever is on this machine may do everything\n"
    assert json.loads(run("token", "list", str(story), "--json").out) == {"tokens": []}


def test_a_store_is_served_and_given_tokens_where_its_file_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("http://127.0.0.1:8700", "HTTPS://example.com"):
        for arguments in (["token", "create", "x"], ["token", "list"], ["token", "revoke", "x"], ["serve"]):
            ran = run(*arguments, "--store", url)
            assert (ran.code, ran.out) == (2, ""), arguments
            assert "file" in ran.err
    assert list(tmp_path.iterdir()) == []
