"""The language server as an editor uses it: pygls' client and the server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.children import started
from tests.scale import PATIENCE, scaled
from tests.shared import COMPETITION, SHARED, SMALL_SUITES, SUITES
from tests.tools.editor.test_features import DOMAIN, PROBLEM

pytestmark = pytest.mark.lsp


def files(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    (folder / "d.pddl").write_text(domain, encoding="utf-8")
    (folder / "p.pddl").write_text(problem, encoding="utf-8")
    return folder / "d.pddl", folder / "p.pddl"


def place(uri: str, line: int, character: int) -> dict[str, Any]:
    from lsprotocol import types

    return {"text_document": types.TextDocumentIdentifier(uri), "position": types.Position(line, character)}


@pytest.mark.slow
@pytest.mark.shared("competition")
def test_right_files_have_no_errors() -> None:
    from lsprotocol import types

    from tests.tools.editor.client import editor

    async def run() -> None:
        async with editor(COMPETITION) as one:
            for name in scaled(SMALL_SUITES, SUITES):
                for kind in ("domain", "problem"):
                    uri = one.open(COMPETITION / name / f"{kind}.pddl")
                    found = [
                        item for item in await one.findings(uri) if item.severity == types.DiagnosticSeverity.Error
                    ]
                    assert not found, (name, found)

    asyncio.run(run())


def test_a_problem_is_checked_with_the_domain_that_is_open_or_fits_it_and_the_others_are_named(tmp_path: Path) -> None:
    from tests.tools.editor.client import editor

    other = DOMAIN.replace("free", "idle")
    first, problem = files(tmp_path)
    second, fits = tmp_path / "e.pddl", tmp_path / "p2.pddl"
    second.write_text(other, encoding="utf-8")
    fits.write_text(PROBLEM.replace("free", "idle"), encoding="utf-8")

    async def run() -> None:
        async with editor(tmp_path) as one:
            for path, domain in ((problem, first), (fits, second)):
                (note,) = await one.findings(one.open(path))
                assert f"Checked with {domain.name}. " in str(note.message)
            uri = one.open(first)  # an open file comes first
            one.edit(fits.as_uri(), fits.read_text(encoding="utf-8"))
            found = await one.findings(fits.as_uri())
            assert {item.code for item in found} == {"undeclared-predicate", None}
            one._found.pop(fits.as_uri())
            one.close(uri)
            assert [item.code for item in await one.findings(fits.as_uri())] == [None]

    asyncio.run(run())


def test_a_name_that_is_meant_is_a_quick_fix(tmp_path: Path) -> None:
    from lsprotocol import types

    from tests.tools.editor.client import editor

    paths = files(tmp_path, DOMAIN.replace("(free ?t - truck)", "(free ?t - trck)"), PROBLEM.replace("(free", "(fre"))

    async def run() -> None:
        async with editor(tmp_path) as one:
            for path, old, new in zip(paths, ("trck", "fre"), ("truck", "free"), strict=True):
                uri = one.open(path)
                (wrong,) = [item for item in await one.findings(uri) if "id you mean" in str(item.message)]
                params = types.CodeActionParams(
                    types.TextDocumentIdentifier(uri), wrong.range, types.CodeActionContext([wrong])
                )
                actions = await one.client.text_document_code_action_async(params)
                assert actions and isinstance(actions[0], types.CodeAction)
                assert actions[0].title == f"Replace {old} by {new}"
                assert actions[0].edit and actions[0].edit.changes
                assert [*actions[0].edit.changes[uri]] == [types.TextEdit(wrong.range, new)]

    asyncio.run(run())


MISSPELT = """(define (domain d) (:requirements :typing :durative-actions) (:types room)
  (:predicates (at ?r - room) (lit ?r - room))
  (:action go :parameters (?a ?b - room) :precondition (annd (at ?a) (lit ?a)) :effect (and (not (at ?a)) (at ?b)))
  (:durative-action burn :parameters (?a - room) :duration (= ?duration 1)
    :condition (att start (at ?a)) :effect (at end (lit ?a))))
"""


def test_misspelt_words_are_quick_fixes_and_the_fault_comes_first(tmp_path: Path) -> None:
    from lsprotocol import types

    from tests.tools.editor.client import editor

    async def run() -> None:
        async with editor(tmp_path) as one:
            uri = one.open(tmp_path / "d.pddl", MISSPELT)
            found = await one.findings(uri)
            assert [str(item.message).split("\n") for item in found] == [
                [
                    "(at ?a) is an argument of 'annd'. In action go, precondition: (annd (at ?a) (lit ?a))",
                    "Did you mean 'and'?",
                ],
                [
                    "(at ?a) is an argument of 'att start'. In action burn, condition: (att start (at ?a))",
                    "Did you mean 'at start'?",
                ],
            ]
            titles, lines = [], MISSPELT.splitlines()
            for item in found:
                params = types.CodeActionParams(
                    types.TextDocumentIdentifier(uri), item.range, types.CodeActionContext([item])
                )
                action = (await one.client.text_document_code_action_async(params) or [])[0]
                assert isinstance(action, types.CodeAction) and action.edit and action.edit.changes
                (edit,) = action.edit.changes[uri]
                line, start, end = edit.range.start.line, edit.range.start.character, edit.range.end.character
                lines[line] = lines[line][:start] + edit.new_text + lines[line][end:]
                titles.append(action.title)
            assert titles == ["Replace annd by and", "Replace att start by at start"]
            one.edit(uri, "\n".join(lines))
            assert not [item for item in await one.findings(uri) if item.severity == types.DiagnosticSeverity.Error]
            assert one.version == 1

    asyncio.run(run())


@pytest.mark.parametrize("position", [(2**31, 0), (0, 2**40), (-1, 0), ("first", 0)])
def test_a_request_with_an_impossible_position_is_answered(position: tuple[int | str, int]) -> None:
    params = {"textDocument": {"uri": "file:///d.pddl"}, "position": {"line": position[0], "character": position[1]}}
    request = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": params}).encode()
    message = b"Content-Length: %d\r\n\r\n%s" % (len(request), request)
    done = subprocess.run(
        [sys.executable, "-m", "pddlego", "lsp"], input=message, capture_output=True, timeout=PATIENCE
    )
    assert b'"id": 7' in done.stdout and b"Invalid Params" in done.stdout


@pytest.mark.parametrize("length", ["99999999999", str(2**63), str(2**63 - 1), "9" * 5000], ids=len)
def test_a_message_that_is_too_large_is_said_in_three_lines(length: str) -> None:
    command = [sys.executable, "-m", "pddlego", "lsp"]
    message = f"Content-Length: {length}\r\n\r\n{{}}".encode()
    done = subprocess.run(command, input=message, capture_output=True, timeout=120)
    assert done.returncode == 3
    assert done.stderr.decode().startswith("Error: The editor cannot be served")


@pytest.mark.slow
@pytest.mark.shared("cases")
def test_broken_cases_never_stop_the_server() -> None:
    from tests.tools.editor.client import editor

    async def run() -> None:
        async with editor(SHARED / "cases") as one:
            for path in sorted((SHARED / "cases").rglob("*.pddl"))[:: scaled(4, 1)]:
                uri = one.open(path)
                await one.findings(uri)
                one.close(uri)

    asyncio.run(run())


@pytest.mark.slow
def test_newest_text_wins_and_a_problem_follows_its_domain(tmp_path: Path) -> None:
    from tests.tools.editor.client import editor

    paths = files(tmp_path)

    async def run() -> None:
        async with editor(tmp_path) as one:
            domain, problem = map(one.open, paths)
            await one.findings(problem)
            for number in range(20):
                one.edit(domain, DOMAIN.replace("(free ?t - truck)", f"(free{number} ?t - truck)"))
            one.edit(problem, PROBLEM)
            found = await one.findings(domain)
            while not any("free" in item.message for item in found):
                one._found.pop(domain)
                found = await one.findings(domain)
            assert {item.code for item in found} >= {"undeclared-predicate"}
            assert any("free19" in item.message for item in found), "the advice names the newest declaration"
            assert any(item.code == "undeclared-predicate" for item in await one.findings(problem))

    asyncio.run(run())


def test_requests(tmp_path: Path) -> None:
    """Each feature once through the protocol, with a character of two UTF-16 units before the name."""
    from lsprotocol import types

    from tests.tools.editor.client import editor

    paths = files(tmp_path, "; \U0001f69a\n" + DOMAIN.replace("depot)", "depot) ; \U0001f69a\n"))

    async def run() -> None:
        async with editor(tmp_path) as one:
            domain, problem = map(one.open, paths)
            text, client = types.TextDocumentIdentifier(problem), one.client
            hover = await client.text_document_hover_async(types.HoverParams(**place(problem, 1, 11)))
            assert hover is not None and "free" in str(hover.contents)
            found = await client.text_document_definition_async(types.DefinitionParams(**place(problem, 1, 11)))
            assert isinstance(found, (list, tuple)) and found[0].uri == domain
            context = types.ReferenceContext(include_declaration=True)
            uses = await client.text_document_references_async(
                types.ReferenceParams(context=context, **place(problem, 1, 11))
            )
            assert uses is not None and len(uses) == 4
            edit = await client.text_document_rename_async(types.RenameParams(new_name="idle", **place(problem, 1, 11)))
            assert edit is not None and edit.changes is not None and {*edit.changes} == {domain, problem}
            items = await client.text_document_completion_async(types.CompletionParams(**place(problem, 1, 15)))
            assert isinstance(items, (list, tuple)) and [item.label for item in items] == ["t1"]
            outline = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text))
            assert outline and outline[0].name == "one"
            lenses = await client.text_document_code_lens_async(types.CodeLensParams(text))
            assert lenses and lenses[0].command is not None
            command = lenses[0].command
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams(command.command, arguments=command.arguments)
            )
            assert any("(board c1 t1)" in message for message in one.messages)
            one.edit(problem, PROBLEM.replace("(free t1)", "(in c2 t1)"))
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams(command.command, arguments=command.arguments)
            )
            assert any("No plan" in message and "(free t1) is never true" in message for message in one.messages)
            one.edit(problem, PROBLEM)
            with pytest.raises(Exception, match="not a PDDL name"):
                await client.text_document_rename_async(types.RenameParams(new_name="1", **place(problem, 1, 11)))

    asyncio.run(run())


@pytest.mark.slow
def test_many_names_in_one_long_line_are_renamed_in_bounded_time(tmp_path: Path) -> None:
    """Positions are not counted from the start of the line for each of the places."""
    from lsprotocol import types

    from tests.tools.editor.client import editor

    facts = "(free t1) " * 20_000
    paths = files(tmp_path, problem=f"(define (problem p) (:domain depot) ; \U0001f69a\n (:init {facts}))")

    async def run() -> None:
        async with editor(tmp_path) as one:
            problem = one.open(paths[1])
            asked = one.client.text_document_rename_async(types.RenameParams(new_name="idle", **place(problem, 1, 10)))
            edit = await asyncio.wait_for(asked, PATIENCE)
            assert edit is not None and edit.changes is not None and len(edit.changes[problem]) == 20_000

    asyncio.run(run())


def test_a_quick_fix_repairs_the_text(tmp_path: Path) -> None:
    from lsprotocol import types

    from tests.tools.editor.client import editor

    paths = files(tmp_path, problem=PROBLEM.replace("(free t1)", "(free t1"))

    async def run() -> None:
        async with editor(tmp_path) as one:
            problem = one.open(paths[1])
            found = await one.findings(problem)
            assert found
            actions = await one.client.text_document_code_action_async(
                types.CodeActionParams(
                    types.TextDocumentIdentifier(problem), found[0].range, types.CodeActionContext(found)
                )
            )
            assert actions
            edit = actions[-1].edit  # type: ignore[union-attr]
            assert edit is not None and edit.changes is not None and "(free t1)" in edit.changes[problem][0].new_text

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("link", [False, True])
def test_files_outside_the_workspace_are_not_read(tmp_path: Path, link: bool) -> None:
    """Neither the domain beside a problem that lies elsewhere, nor one that a link leads to."""
    from tests.tools.editor.client import editor

    outside = files(tmp_path / "outside")
    inside = files(tmp_path / "inside")
    inside[0].unlink()
    if link:
        inside[0].symlink_to(outside[0])

    async def run() -> None:
        async with editor(tmp_path / "inside") as one:
            for path in (outside[1], inside[1]):
                found = await one.findings(one.open(path))
                assert "No domain depot" in found[-1].message

    asyncio.run(run())


@pytest.mark.slow
def test_memory_after_many_edits_and_huge_texts(tmp_path: Path) -> None:
    from tests.tools.editor.client import editor

    paths = files(tmp_path)

    async def run() -> None:
        async with editor(tmp_path) as one:
            domain = one.open(paths[0])
            await one.findings(domain)
            server = one.client._server
            assert server is not None
            before = _resident(server.pid)
            for number in range(1_000):
                one.edit(domain, DOMAIN + f"; {number}\n")
                if number % 100 == 0:
                    await one.findings(domain)
            await one.findings(domain)
            assert _resident(server.pid) - before < 64
            for huge in ("(" * 2_000_000, "(" * 900_000, ") " * 400_000):
                one.edit(domain, huge)
                assert await one.findings(domain)

    asyncio.run(run())


def _resident(process: int) -> float:
    """The memory of a process in MiB; 0 where the system does not say it."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def test_the_server_ends_with_its_client() -> None:
    with started([sys.executable, "-m", "pddlego", "lsp"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        time.sleep(0.1)
        assert server.stdin is not None and server.stderr is not None
        server.stdin.close()
        server.wait(timeout=PATIENCE)
        assert b"Traceback" not in server.stderr.read()
