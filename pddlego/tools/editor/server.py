"""The language server: it translates between the protocol and the functions of this package."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from pddlego import __version__
from pddlego.errors import EngineError, PddlegoError
from pddlego.pddl.sexpr import LINE_BREAK
from pddlego.tools.client import ToolProcess
from pddlego.tools.editor import features
from pddlego.tools.editor.document import MAX_TEXT, Document
from pddlego.tools.editor.files import Files

_PAUSE = 0.05
"""Seconds without an edit after which a document is checked."""

_CHECK_SECONDS = 10.0
"""The maximum time of a check or a repair, with the start of its process."""

_WHY_SECONDS = 5.0
"""Seconds of the search for the reasons why there is no plan."""

_MOST_HEADER = 1000
"""The maximum length of a line before a message, in bytes."""

_MAX_SHOWN = 30
"""The maximum number of steps of a plan in a message."""

_ICONS = {
    "file": "File",
    "section": "Namespace",
    "keyword": "Keyword",
    "action": "Method",
    "type": "Class",
    "predicate": "Function",
    "object": "Constant",
    "variable": "Variable",
}
"""The kinds of the protocol that look like ours."""


class _Protocol(LanguageServerProtocol):
    """Answers requests whose parameters are not valid, such as a position beyond 2^31, with an error."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class EditorServer(LanguageServer):
    """A connection to an editor: its documents, and the newest check of each."""

    def __init__(self, seconds: float, memory: int) -> None:
        super().__init__("pddlego", __version__, types.TextDocumentSyncKind.Full, protocol_cls=_Protocol)
        self.seconds, self.memory, self.files = seconds, memory, Files()
        self.checker, self.one_question = ToolProcess(memory), asyncio.Lock()
        self.checks: dict[str, asyncio.Task[None]] = {}

    def changed(self, uri: str, text: str, version: int) -> None:
        """Store the newest text of a document, and check it and what depends on it."""
        is_too_long = len(text) > MAX_TEXT
        self.files.open[uri] = document = Document(uri, "" if is_too_long else text, is_too_long, version)
        self.checks[uri] = asyncio.ensure_future(self._check(uri))
        self.check_problems(document)

    def check_problems(self, domain: Document) -> None:
        """Check the open problems that may belong to a domain."""
        for other in [] if domain.is_problem else list(self.files.open.values()):
            if other.is_problem and domain.uri in (file.uri for file in self.files.domains_of(other)):
                self.checks[other.uri] = asyncio.ensure_future(self._check(other.uri))

    async def _check(self, uri: str) -> None:
        """Publish the findings of a document, unless a newer check of it begins or it is closed."""
        await asyncio.sleep(_PAUSE)
        async with self.one_question:
            if self.checks.get(uri) is asyncio.current_task():
                document = self.files.open[uri]
                findings = await self._findings(document)
                if self.checks.get(uri) is asyncio.current_task():
                    self.publish(uri, findings, document.version)

    def publish(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None = None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    async def _findings(self, document: Document) -> list[types.Diagnostic]:
        if document.is_too_long:
            return [_note(f"The file is not checked: it has more than {MAX_TEXT:,} characters.")]
        if not document.text.strip():
            return []
        domains = self.files.domains_of(document) if document.is_problem else [document]
        domain = domains[0] if domains else None
        part, texts = "domain", {"domain": domain.text if domain else ""}
        if document.is_problem:
            part, texts["problem"] = "problem", document.text
        try:
            result = await self.checker.ask("check", _CHECK_SECONDS, **texts)
        except PddlegoError as error:
            return [_note(f"The file could not be checked: {error.what}.")]
        found = [self._diagnostic(document, finding) for finding in result["findings"] if finding["file"] == part]
        if domain is not None and len(domains) > 1:
            others = ", ".join(other.name for other in domains[1:4]) + ", …" * (len(domains) > 4)
            message = f"Checked with {domain.name}. Other files have a domain of this name: {others}."
            found.append(_note(f"{message} Open the file that you mean."))
        if domain is None:
            missing = f"No domain {document.names.get(':domain', '')} in this folder"
            found.append(_note(f"{missing}: only the syntax is checked. Open the domain's file beside it."))
        return found

    def _diagnostic(self, document: Document, finding: dict[str, Any]) -> types.Diagnostic:
        start, end = (document.source.offset((finding["line"], finding[name])) for name in ("column", "end_column"))
        return types.Diagnostic(
            self.range(document, start, max(start, end)),
            f"{finding['message']}\n{finding['advice']}",
            severity=types.DiagnosticSeverity.Error
            if finding["severity"] == "error"
            else types.DiagnosticSeverity.Warning,
            code=finding["rule"],
            source="pddlego",
            data=finding["meant"] or None,
        )

    def position(self, document: Document, offset: int) -> types.Position:
        """The position of an offset, in the units of the client."""
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

    def document(self, params: Any) -> Document:
        """The document of a request; an empty one if it is not open."""
        uri = params.text_document.uri
        return self.files.open.get(uri) or Document(uri, "")

    def at(self, params: Any) -> tuple[Document, int, list[Document]]:
        """The document and the offset of a request, and the related documents."""
        document = self.document(params)
        return document, self.offset(document, params.position), self.files.related(document)

    def locations(self, uses: Iterable[features.Use]) -> list[types.Location]:
        return [types.Location(file.uri, self.range(file, symbol.start, symbol.end)) for file, symbol in uses]


def _note(message: str) -> types.Diagnostic:
    """A message about a whole file."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    return types.Diagnostic(start, message, severity=types.DiagnosticSeverity.Information, source="pddlego")


def _initialize(server: EditorServer, params: types.InitializeParams) -> None:
    folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
    server.files.roots = tuple(Path(path) for path in map(to_fs_path, folders) if path)


def _opened(server: EditorServer, params: types.DidOpenTextDocumentParams) -> None:
    server.changed(params.text_document.uri, params.text_document.text, params.text_document.version)


def _edited(server: EditorServer, params: types.DidChangeTextDocumentParams) -> None:
    if params.content_changes:
        server.changed(params.text_document.uri, params.content_changes[-1].text, params.text_document.version)


def _closed(server: EditorServer, params: types.DidCloseTextDocumentParams) -> None:
    closed = server.files.open.pop(params.text_document.uri, None)
    server.checks.pop(params.text_document.uri, None)
    server.publish(params.text_document.uri, [])
    if closed is not None:
        server.check_problems(closed)


def _hover(server: EditorServer, params: types.HoverParams) -> types.Hover | None:
    text = features.hover(*server.at(params))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None


def _definition(server: EditorServer, params: types.DefinitionParams) -> list[types.Location]:
    return server.locations(use for use in features.occurrences(*server.at(params)) if use[1].signature)


def _references(server: EditorServer, params: types.ReferenceParams) -> list[types.Location]:
    uses = features.occurrences(*server.at(params))
    return server.locations(use for use in uses if params.context.include_declaration or not use[1].signature)


def _rename(server: EditorServer, params: types.RenameParams) -> types.WorkspaceEdit:
    renamed = features.rename_all(*server.at(params), params.new_name)
    if isinstance(renamed, str):
        raise JsonRpcInvalidParams(renamed)
    name, uses = renamed
    edits: dict[str, list[types.TextEdit]] = {}
    for location in server.locations(uses):
        edits.setdefault(location.uri, []).append(types.TextEdit(location.range, name))
    return types.WorkspaceEdit(edits)


def _complete(server: EditorServer, params: types.CompletionParams) -> list[types.CompletionItem]:
    document, offset, related = server.at(params)
    start = offset
    while start and document.text[start - 1] not in " \t\r\n()":
        start -= 1
    place = server.range(document, start, offset)
    return [
        types.CompletionItem(
            name,
            kind=types.CompletionItemKind[_ICONS[kind]],
            detail=detail or None,
            text_edit=types.TextEdit(place, name),
        )
        for name, kind, detail in features.complete(document, offset, related)
    ]


def _outline(server: EditorServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    document = server.document(params)

    def symbol(item: features.Item) -> types.DocumentSymbol:
        place, children = server.range(document, item.start, item.end), [symbol(child) for child in item.children]
        return types.DocumentSymbol(item.name, types.SymbolKind[_ICONS[item.kind]], place, place, children=children)

    item = features.document_outline(document)
    return [symbol(item)] if item else []


def _formatting(server: EditorServer, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    document = server.document(params)
    text = features.formatted(document.text, min(8, max(1, params.options.tab_size)))
    whole = server.range(document, 0, len(document.text))
    return [types.TextEdit(whole, text)] if text != document.text else []


async def _fixes(server: EditorServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Each group of lines that a repair changes, as a fix of its own, and all of them together."""
    document, place = server.document(params), params.range
    if not (params.context.diagnostics and document.text.strip()):
        return []
    domain = server.files.domain_of(document) if document.is_problem else None
    result: dict[str, Any] = {}
    for known in dict.fromkeys((domain.text if domain else None, None)):  # a domain with errors is no help
        with contextlib.suppress(PddlegoError):
            async with server.one_question:
                result = await server.checker.ask("repair", _CHECK_SECONDS, text=document.text, domain=known)
            break
    groups = features.changed_lines(document.text, result.get("text") or document.text)

    def fix(title: str, chosen: Sequence[tuple[int, int, str]]) -> types.CodeAction:
        lines = ((types.Range(types.Position(first, 0), types.Position(end, 0)), text) for first, end, text in chosen)
        edit = types.WorkspaceEdit({document.uri: [types.TextEdit(*line) for line in lines]})
        return types.CodeAction(title[:200], kind=types.CodeActionKind.QuickFix, edit=edit)

    fixes = [
        fix(f"Repair line {first + 1}: {' '.join(text.split())[:80] or 'remove it'}", [(first, end, text)])
        for first, end, text in groups
        if len(groups) > 1 and first <= place.end.line and place.start.line <= max(first, end - 1)
    ]
    whole = fix(f"Repair{' all' if len(groups) > 1 else ''}: {'; '.join(result.get('repairs', ()))}", groups)
    return [*_replacements(server, document, params), *fixes, *([whole] if groups else ())]


def _replacements(
    server: EditorServer, document: Document, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    """The fixes for the diagnostics that have the text that is meant at their place."""
    for diagnostic in params.context.diagnostics:
        place = diagnostic.range
        word = document.text[server.offset(document, place.start) : server.offset(document, place.end)]
        meant = diagnostic.data
        if isinstance(meant, str) and word:
            edit = types.WorkspaceEdit({document.uri: [types.TextEdit(place, meant)]})
            title = f"Replace {word[:80]} by {meant[:80]}"
            kind = types.CodeActionKind.QuickFix
            yield types.CodeAction(title, kind=kind, diagnostics=[diagnostic], edit=edit)


def _lenses(server: EditorServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    document = server.document(params)
    start = server.position(document, document.define.spans[0][0])
    solve = types.Command("Solve", "pddlego.solve", arguments=[document.uri])
    return [types.CodeLens(types.Range(start, start), solve)] if document.is_problem else []


async def _solve(server: EditorServer, uri: str) -> dict[str, Any]:
    problem = server.files.open.get(uri)
    domain = server.files.domain_of(problem) if problem else None
    result: dict[str, Any] = {"error": "No domain of this problem was found in its folder."}
    if problem is not None and domain is not None:
        limits = {"seconds": server.seconds, "memory": server.memory, "why_seconds": _WHY_SECONDS}
        try:
            async with aclosing(ToolProcess(server.memory)) as process:  # another one, so that checks go on
                limit = server.seconds + _WHY_SECONDS + _CHECK_SECONDS
                result = await process.ask("solve", limit, domain=domain.text, problem=problem.text, **limits)
        except PddlegoError as error:
            result = {"error": error.what}
    steps = result.get("plan")
    if steps is not None:
        more = f" … ({len(steps) - _MAX_SHOWN} more)" if len(steps) > _MAX_SHOWN else ""
        text = f"Plan of {len(steps)} steps, cost {result['cost']}: {' '.join(steps[:_MAX_SHOWN])}{more}"
    else:
        why = result.get("why") or {"chain": (), "cures": ()}
        reasons = [*why["chain"][-1:], *(f"{cure}, there is a plan" for cure in why["cures"][:1])]
        text = result.get("error") or ". ".join([f"No plan: {result['status']}", result["message"], *reasons])
    kind = types.MessageType.Warning if steps is None else types.MessageType.Info
    server.window_show_message(types.ShowMessageParams(kind, text))
    return result


_HANDLERS: dict[str, Callable[..., Any]] = {
    types.INITIALIZE: _initialize,
    types.TEXT_DOCUMENT_DID_OPEN: _opened,
    types.TEXT_DOCUMENT_DID_CHANGE: _edited,
    types.TEXT_DOCUMENT_DID_CLOSE: _closed,
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_DEFINITION: _definition,
    types.TEXT_DOCUMENT_REFERENCES: _references,
    types.TEXT_DOCUMENT_RENAME: _rename,
    types.TEXT_DOCUMENT_COMPLETION: _complete,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _outline,
    types.TEXT_DOCUMENT_FORMATTING: _formatting,
    types.TEXT_DOCUMENT_CODE_ACTION: _fixes,
    types.TEXT_DOCUMENT_CODE_LENS: _lenses,
}
_OPTIONS = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=["(", " ", "?", ":"]),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix]),
}


class _Input(io.BufferedReader):
    """A stream of messages whose headers are short: Python reads no number of thousands of digits."""

    def readline(self, size: int | None = -1) -> bytes:
        if len(line := super().readline(_MOST_HEADER)) == _MOST_HEADER:
            raise OverflowError
        return line


def serve_editor(seconds: float, memory: int) -> None:
    """Serve an editor over standard input and output, until it disconnects.

    Plans take at most `seconds`, and each process has `memory` MiB.
    """
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = EditorServer(seconds, memory)
    for method, handler in _HANDLERS.items():
        server.feature(method, _OPTIONS.get(method))(handler)
    server.command("pddlego.solve")(_solve)
    try:
        server.start_io(_Input(io.FileIO(0, closefd=False)))
    except (MemoryError, OverflowError) as error:
        reason = "A message says that it is larger than the memory."
        raise EngineError("The editor cannot be served", reason, "Start the language server again.") from error
    finally:
        server.checker.kill()
