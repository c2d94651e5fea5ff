"""The documents of an editor: the open ones, and other PDDL files of the workspace that belong to them.

A file outside the folders of the workspace is never read, whatever links lead to it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from pygls.uris import to_fs_path

from pddlego.errors import UsageError
from pddlego.tools.editor.document import MAX_TEXT, Document
from pddlego.util.files import read_source

_MAX_ENTRIES, _MAX_FILES = 1_000, 200
"""The maximum number of entries of a folder that are looked at, and of files that are read."""


@dataclass
class Files:
    """The documents by their URIs. `roots` are the folders of the workspace."""

    roots: tuple[Path, ...] = ()
    open: dict[str, Document] = field(default_factory=dict)
    _read: dict[str, tuple[tuple[int, int], Document]] = field(default_factory=dict)

    def folder(self, uri: str) -> list[Document]:
        """The open documents and the PDDL files in the folder of a document, in the order of their URIs."""
        base = uri.rpartition("/")[0]
        found = {name: file for name, file in self.open.items() if name.rpartition("/")[0] == base}
        for path in islice(self._paths(to_fs_path(base)), _MAX_FILES):
            other = f"{base}/{path.as_uri().rpartition('/')[2]}"
            if other not in found and (file := self._file(other, path)):
                found[other] = file
        return [found[name] for name in sorted(found)]

    def domain_of(self, problem: Document) -> Document | None:
        """The domain of a problem, the first one of `domains_of`; None without one."""
        return next(iter(self.domains_of(problem)), None)

    def domains_of(self, problem: Document) -> list[Document]:
        """The domains with the name that the problem says, or the only domain in its folder.

        Open ones come first, then those that lack the fewest predicates and types of the problem, then those with the
        most similar file name.
        """
        domains = [file for file in self.folder(problem.uri) if "domain" in file.names and not file.is_problem]
        named = [file for file in domains if file.names["domain"] == problem.names.get(":domain")]
        if len(named) < 2:
            return named or domains * (len(domains) == 1)
        used = {symbol.key for symbol in problem.symbols if symbol.key[0] in ("predicate", "type")}

        def rank(domain: Document) -> tuple[bool, int, float]:
            declared = {symbol.key for symbol in domain.symbols if symbol.signature or symbol.part == ":types"}
            likeness = SequenceMatcher(None, problem.name, domain.name).ratio()
            return domain.uri not in self.open, len(used - declared), -likeness

        return sorted(named, key=rank)

    def related(self, document: Document) -> list[Document]:
        """The documents with the same domain as this one, the domain first, without this one."""
        domain = self.domain_of(document) if document.is_problem else document
        name = document.names.get(":domain" if document.is_problem else "domain")
        problems = [file for file in self.folder(document.uri) if file.names.get(":domain") == name and file.is_problem]
        return [file for file in ([domain] if domain else []) + problems if file.uri != document.uri]

    def _is_inside(self, path: Path) -> bool:
        try:
            whole = path.resolve()
            return any(whole.is_relative_to(root.resolve()) for root in self.roots)
        except (OSError, RuntimeError, ValueError):  # a circle of links, a name with a null character
            return False

    def _paths(self, folder: str | None) -> Iterator[Path]:
        if folder is not None and self._is_inside(Path(folder)):
            try:
                with os.scandir(folder) as entries:
                    names = [entry.name for entry in islice(entries, _MAX_ENTRIES)]
            except OSError:
                return
            yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(".pddl"))

    def _file(self, uri: str, path: Path) -> Document | None:
        """A file of the workspace; it is read again when it has changed."""
        if not self._is_inside(path):
            return None
        try:
            state = path.stat()
            if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_TEXT:
                return None
            mark = (state.st_mtime_ns, state.st_size)
            if uri not in self._read or self._read[uri][0] != mark:
                self._read[uri] = mark, Document(uri, read_source(path).removeprefix("\ufeff"))
        except (OSError, UsageError):
            return None
        return self._read[uri][1]
