"""An editor for tests of the language server: pygls' client, and the server in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.scale import PATIENCE


class Editor:
    """A connected client. `findings` waits for the diagnostics of the newest text."""

    def __init__(self) -> None:
        self.client = LanguageClient("test", "1")
        self.messages: list[str] = []
        self.version: int | None = None
        self._found: dict[str, Sequence[types.Diagnostic]] = {}
        self._news = asyncio.Event()
        self._versions: dict[str, int] = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self._found[params.uri] = params.diagnostics
            self.version = params.version
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

    def open(self, path: Path, text: str | None = None) -> str:
        uri = path.as_uri()
        content = path.read_text(encoding="utf-8") if text is None else text
        self._found.pop(uri, None)
        item = types.TextDocumentItem(uri, "pddl", 0, content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def edit(self, uri: str, text: str) -> None:
        self._found.pop(uri, None)
        self._versions[uri] = version = self._versions.get(uri, 0) + 1
        item = types.VersionedTextDocumentIdentifier(version, uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(item, [change]))

    def close(self, uri: str) -> None:
        item = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(item))

    async def findings(self, uri: str) -> Sequence[types.Diagnostic]:
        while uri not in self._found:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)
        return self._found[uri]


@asynccontextmanager
async def editor(root: Path | None) -> AsyncIterator[Editor]:
    """An editor whose workspace is a folder."""
    made = Editor()
    await made.client.start_io(sys.executable, "-m", "pddlego", "lsp", env={**os.environ})
    uri = root.as_uri() if root else None
    params = types.InitializeParams(types.ClientCapabilities(), process_id=os.getpid(), root_uri=uri)
    try:
        await made.client.initialize_async(params)
        made.client.initialized(types.InitializedParams())
        yield made
        await made.client.shutdown_async(None)
        made.client.exit(None)
    finally:
        server = made.client._server
        if server is not None and server.returncode is None and sys.exc_info()[0]:
            server.kill()  # after a failure it would be waited for
        await made.client.stop()  # type: ignore[no-untyped-call]
