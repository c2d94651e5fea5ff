"""The language server: it translates between the protocol and the functions of this package."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from pddlego import __version__
from pddlego.editor import features
from pddlego.editor.document import MAX_TEXT, Document
from pddlego.editor.files import Files
from pddlego.editor.worker import Worker
from pddlego.pddl.sexpr import LINE_BREAK

_PAUSE = 0.05
"""Seconds without an edit after which a document is checked."""

_CHECK_SECONDS = 10.0
"""The maximum time of a check or a repair, with the start of its process."""

_MAX_SHOWN = 30
"""The maximum number of steps of a plan in a message."""

_ITEM_KINDS = {
    "type": types.CompletionItemKind.Class,
    "predicate": types.CompletionItemKind.Function,
    "object": types.CompletionItemKind.Constant,
    "variable": types.CompletionItemKind.Variable,
}
_SYMBOL_KINDS = {
    "file": types.SymbolKind.File,
    "section": types.SymbolKind.Namespace,
    "action": types.SymbolKind.Method,
    "type": types.SymbolKind.Class,
    "predicate": types.SymbolKind.Function,
    "object": types.SymbolKind.Constant,
}


class EditorServer(LanguageServer):
    """The state of a connection: documents, the process that checks, and what is still to be checked."""

    def __init__(self, seconds: float, memory: int) -> None:
        super().__init__("pddlego", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.seconds, self.memory = seconds, memory
        self.files, self.checker = Files(), Worker(memory)
        self.waiting: set[str] = set()
        self.checking: dict[str, asyncio.Task[None]] = {}
        self.repaired: tuple[tuple[str, str, str], dict[str, Any]] = ("", "", ""), {}

    def changed(self, uri: str, text: str) -> None:
        """Store the newest text of a document, and check it and what depends on it."""
        self.files.open[uri] = document = Document(uri, text)
        self.check(uri)
        if not document.is_problem:
            for other in list(self.files.open.values()):
                if other.is_problem and self.files.domain_of(other) is document:
                    self.check(other.uri)

    def check(self, uri: str) -> None:
        self.waiting.add(uri)
        if uri not in self.checking:
            self.checking[uri] = asyncio.ensure_future(self._check(uri))

    async def _check(self, uri: str) -> None:
        """Check a document until its findings are those of the newest text."""
        try:
            while uri in self.waiting:
                self.waiting.discard(uri)
                await asyncio.sleep(_PAUSE)
                document = self.files.open.get(uri)
                if document is None or uri in self.waiting:
                    continue
                findings = await self._findings(document)
                if uri not in self.waiting and uri in self.files.open:
                    self.publish(uri, findings)
        finally:
            del self.checking[uri]

    def publish(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    async def _findings(self, document: Document) -> list[types.Diagnostic]:
        if not document.text.strip():
            return []
        if len(document.text) > MAX_TEXT:
            return [self._whole(f"The file is not checked: it has more than {MAX_TEXT:,} characters.")]
        domain = self.files.domain_of(document) if document.is_problem else document
        arguments = {"domain": domain.text if domain else ""}
        if document.is_problem:
            arguments["problem"] = document.text
        result = await self.checker.ask("check", _CHECK_SECONDS, **arguments)
        if "error" in result:
            return [self._whole(f"The file could not be checked: {result['error']}.")]
        part = "problem" if document.is_problem else "domain"
        found = [self._diagnostic(document, item) for item in result["findings"] if item["file"] == part]
        if domain is None:
            name = document.names.get(":domain", "")
            message = f"No domain {name} in this folder: only the syntax is checked. Open the domain's file beside it."
            found.append(self._whole(message))
        return found

    def _whole(self, message: str) -> types.Diagnostic:
        start = types.Position(0, 0)
        return types.Diagnostic(
            types.Range(start, start), message, severity=types.DiagnosticSeverity.Information, source="pddlego"
        )

    def _diagnostic(self, document: Document, finding: dict[str, Any]) -> types.Diagnostic:
        line = finding["line"]
        start, end = (document.source.offset((line, finding[name])) for name in ("column", "end_column"))
        error = finding["severity"] == "error"
        return types.Diagnostic(
            self.range(document, start, max(start, end)),
            "\n".join(filter(None, (finding["message"], finding["advice"]))),
            severity=types.DiagnosticSeverity.Error if error else types.DiagnosticSeverity.Warning,
            code=finding["rule"],
            source="pddlego",
        )

    def position(self, document: Document, offset: int) -> types.Position:
        line, column = document.source.position(offset)
        start = offset - column + 1
        if self.workspace.position_encoding == types.PositionEncodingKind.Utf16 or document.text.isascii():
            wide = bisect_left(document.wide, offset) - bisect_left(document.wide, start)
            return types.Position(line - 1, column - 1 + wide)
        return types.Position(line - 1, self.workspace.position_codec.client_num_units(document.text[start:offset]))

    def range(self, document: Document, start: int, end: int) -> types.Range:
        return types.Range(self.position(document, start), self.position(document, end))

    def offset(self, document: Document, position: types.Position) -> int:
        """The offset of a position; one beyond the end of its line is the end of the line."""
        start = document.source.offset((position.line + 1, 1))
        end = LINE_BREAK.search(document.text, start)
        line = document.text[start : end.start() if end else None]
        here = self.workspace.position_codec.position_from_client_units([line], types.Position(0, position.character))
        return start + min(here.character, len(line))

    def at(self, params: Any) -> tuple[Document, int, list[Document]]:
        """The document and the offset of a request, and the related documents."""
        uri = params.text_document.uri
        document = self.files.open.get(uri) or Document(uri, "")
        return document, self.offset(document, params.position), self.files.related(document)

    def locations(self, places: Iterable[features.Place]) -> list[types.Location]:
        return [types.Location(place.document.uri, self.range(*_three(place))) for place in places]

    async def repair(self, document: Document) -> dict[str, Any]:
        """The answer to `repair` for the newest text; empty if it cannot be repaired."""
        domain = self.files.domain_of(document) if document.is_problem else None
        key = document.uri, document.text, domain.text if domain else ""
        if self.repaired[0] != key:
            result = {"error": ""}
            for known in dict.fromkeys((key[2], "")):  # a domain with errors is no help
                if "error" in result:
                    result = await self.checker.ask("repair", _CHECK_SECONDS, text=key[1], domain=known or None)
            self.repaired = key, {} if "error" in result else result
        return self.repaired[1]


def _three(place: features.Place) -> tuple[Document, int, int]:
    return place.document, place.start, place.end


def make_editor_server(seconds: float, memory: int) -> EditorServer:
    """A server whose plans take at most `seconds`, and whose processes have `memory` MiB each."""
    server = EditorServer(seconds, memory)
    _add_documents(server)
    _add_names(server)
    _add_text(server)
    _add_planning(server)
    return server


def _add_documents(server: EditorServer) -> None:
    """Add what editors say about documents."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        paths = (uris.to_fs_path(uri) for uri in folders if uri)
        server.files.roots = tuple(Path(path) for path in paths if path)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        if params.content_changes:
            server.changed(params.text_document.uri, params.content_changes[-1].text)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.files.open.pop(params.text_document.uri, None)
        server.publish(params.text_document.uri, [])


def _add_names(server: EditorServer) -> None:
    """Add the features about names."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        text = features.hover(*server.at(params))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        return server.locations(features.definition(*server.at(params)))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        return server.locations(features.references(*server.at(params), params.context.include_declaration))

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def rename(params: types.RenameParams) -> types.WorkspaceEdit:
        places = features.rename_all(*server.at(params), params.new_name)
        if isinstance(places, str):
            raise JsonRpcInvalidParams(places)
        variable = any(place.document.text[place.start] == "?" for place in places)
        name = f"?{params.new_name.removeprefix('?')}" if variable else params.new_name
        edits: dict[str, list[types.TextEdit]] = {}
        for location in server.locations(places):
            edits.setdefault(location.uri, []).append(types.TextEdit(location.range, name))
        return types.WorkspaceEdit(edits)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["(", " ", "?", ":"]))
    def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        document, offset, related = server.at(params)
        items = features.complete(document, offset, related)
        start = offset
        while start and document.text[start - 1] not in " \t\r\n()":
            start -= 1
        place = server.range(document, start, offset)
        return [
            types.CompletionItem(
                name, kind=_ITEM_KINDS.get(kind, types.CompletionItemKind.Keyword), detail=detail or None,
                text_edit=types.TextEdit(place, name),
            )
            for name, kind, detail in items
        ]  # fmt: skip


def _add_text(server: EditorServer) -> None:
    """Add the outline, formatting and quick fixes."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.files.open.get(params.text_document.uri)
        item = features.document_outline(document) if document else None
        return [_symbol(server, document, item)] if document and item else []

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = server.files.open.get(params.text_document.uri)
        if document is None or len(document.text) > MAX_TEXT:
            return []
        text = features.formatted(document.text, min(8, max(1, params.options.tab_size)))
        whole = server.range(document, 0, len(document.text))
        return [types.TextEdit(whole, text)] if text != document.text else []

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix]))
    async def fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.files.open.get(params.text_document.uri)
        if document is None or len(document.text) > MAX_TEXT:
            return []
        result = await server.repair(document)
        return list(_fixes(document.uri, params.range, result.get("hunks", ()), result.get("repairs", ())))


def _symbol(server: EditorServer, document: Document, item: features.Item) -> types.DocumentSymbol:
    place = server.range(document, item.start, item.end)
    children = [_symbol(server, document, child) for child in item.children]
    return types.DocumentSymbol(item.name, _SYMBOL_KINDS[item.kind], place, place, children=children)


def _fixes(
    uri: str, place: types.Range, hunks: Sequence[tuple[int, int, str]], repairs: Sequence[str]
) -> Iterator[types.CodeAction]:
    """Each group of lines that a repair changes, as a fix of its own, and all of them together."""

    def fix(title: str, chosen: Iterable[tuple[int, int, str]]) -> types.CodeAction:
        edits = [
            types.TextEdit(types.Range(types.Position(first, 0), types.Position(last, 0)), text)
            for first, last, text in chosen
        ]
        edit = types.WorkspaceEdit({uri: edits})
        return types.CodeAction(title[:200], kind=types.CodeActionKind.QuickFix, edit=edit)

    whole = "; ".join(repairs)
    if len(hunks) > 1:
        for first, last, text in hunks:
            if first <= place.end.line and place.start.line <= max(first, last - 1):
                shown = " ".join(text.split())
                yield fix(f"Repair line {first + 1}: {shown[:80] or 'remove it'}", [(first, last, text)])
    if hunks:
        yield fix(f"Repair all: {whole}" if len(hunks) > 1 else f"Repair: {whole}", hunks)


def _add_planning(server: EditorServer) -> None:
    """Add the lens of problems, and its command."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = server.files.open.get(params.text_document.uri)
        if document is None or not document.is_problem:
            return []
        place = server.range(document, *document.define.spans[0])
        solve = types.Command("Solve", "pddlego.solve", arguments=[document.uri])
        return [types.CodeLens(types.Range(place.start, place.start), solve)]

    @server.command("pddlego.solve")
    async def solve(uri: str) -> dict[str, Any]:
        problem = server.files.open.get(uri)
        domain = server.files.domain_of(problem) if problem else None
        if problem is None or domain is None:
            result: dict[str, Any] = {"error": "no domain of this problem was found in its folder"}
        else:
            result = await _solve(server, domain.text, problem.text)
        steps = result.get("plan")
        if steps is not None:
            more = f" … ({len(steps) - _MAX_SHOWN} more)" if len(steps) > _MAX_SHOWN else ""
            text = f"Plan of {len(steps)} steps, cost {result['cost']}: {' '.join(steps[:_MAX_SHOWN])}{more}"
        else:
            text = result.get("error") or f"No plan: {result['status']}. {result['message']}"
        kind = types.MessageType.Warning if steps is None else types.MessageType.Info
        server.window_show_message(types.ShowMessageParams(kind, text))
        return result


async def _solve(server: EditorServer, domain: str, problem: str) -> dict[str, Any]:
    """The result of `solve`, in a process of its own: checks go on."""
    worker = Worker(server.memory)
    limits = {"seconds": server.seconds, "memory": server.memory}
    try:
        return await worker.ask("solve", server.seconds + _CHECK_SECONDS, domain=domain, problem=problem, **limits)
    finally:
        worker.close()


def serve_editor(seconds: float, memory: int) -> None:
    """Serve an editor over standard input and output, until it disconnects."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = make_editor_server(seconds, memory)
    try:
        server.start_io()
    finally:
        server.checker.close()
