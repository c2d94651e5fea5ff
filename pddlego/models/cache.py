"""The cache of answers: one SQLite file for all runs.

The key of an answer is the content of its request: model, endpoint, sampling, messages, schema, the repeat, and how
often the episode has sent the same request before. Failed requests are never stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.models.base import CacheUse, Completion, Model, Request, is_remote, window_of

FOLDER = "PDDLEGO_CACHE_DIR"
"""The environment variable that names another folder for the cache."""

_LONGEST_WAIT = 5.0
"""Seconds to wait while another process locks the file. After that, the cache is not used for this request."""

_TABLE = """CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, stored REAL NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL,
  tokens INTEGER NOT NULL, not_taken TEXT NOT NULL) WITHOUT ROWID"""


def default_path() -> Path:
    """The file of the cache: in `PDDLEGO_CACHE_DIR`, or in the user's folder for caches."""
    from platformdirs import user_cache_path

    named = os.environ.get(FOLDER)
    return (Path(named) if named else user_cache_path("pddlego", appauthor=False)) / "answers.sqlite"


@dataclass(frozen=True)
class Held:
    """The cached answers of a model: their number and tokens, and the times of the first and the last (epoch)."""

    model: str
    answers: int
    tokens: int
    first: float
    last: float


class AnswerCache:
    """The file of the cache. Every call opens it anew, so that threads and processes can share it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Create the file if it does not exist. Raises `UsageError` if it cannot be used."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with self._open() as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise sqlite3.DatabaseError("it is damaged")
                connection.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def get(self, key: str) -> Completion | None:
        """The answer with this key; None if it is not stored, or if the file cannot be read at the moment."""
        try:
            with self._open() as connection:
                row = connection.execute("SELECT text, finish, not_taken FROM answers WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None or not all(isinstance(field, str) for field in row):
            return None
        not_taken = tuple(filter(None, row[2].split(",")))
        return Completion(row[0], attempts=0, finish=row[1], from_cache=True, not_taken=not_taken)

    def put(self, key: str, model: str, answer: Completion) -> None:
        """Store an answer. Errors are ignored: the answer is requested again when it is needed."""
        if answer.finish == "content_filter":
            return
        tokens = answer.tokens_in + answer.tokens_out
        row = (key, model, time.time(), answer.text, answer.finish, tokens, ",".join(answer.not_taken))
        try:
            with self._open() as connection:
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except (sqlite3.Error, UnicodeEncodeError):
            return

    def held(self) -> list[Held]:
        """The cached answers by model; empty if the file does not exist. Raises `UsageError` if it cannot be read."""
        if not self.path.exists():
            return []
        query = "SELECT model, COUNT(*), SUM(tokens), MIN(stored), MAX(stored) FROM answers GROUP BY model ORDER BY 1"
        try:
            with self._open() as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchone():
                    return []
                return [Held(*row) for row in connection.execute(query)]
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def clear(self, model: str | None = None) -> int:
        """Delete the answers of a model, or all, and return how many. A damaged file is deleted.

        Raises `UsageError` if that fails.
        """
        if not self.path.exists():
            return 0
        try:
            with self._open() as connection:
                connection.execute(_TABLE)
                if model is None:
                    removed = connection.execute("DELETE FROM answers").rowcount
                else:
                    removed = connection.execute("DELETE FROM answers WHERE model = ?", (model,)).rowcount
                connection.execute("VACUUM")
                return removed
        except sqlite3.DatabaseError as error:
            if model is not None or isinstance(error, sqlite3.OperationalError):
                raise self._unusable(error) from error
        try:
            for tail in ("", "-wal", "-shm"):
                Path(f"{self.path}{tail}").unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error) from error
        return 0

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=_LONGEST_WAIT, isolation_level=None)) as connection:
            yield connection

    def _unusable(self, error: Exception) -> UsageError:
        reason = f"{getattr(error, 'strerror', None) or error}.".capitalize()
        return UsageError(
            f"The cache {self.path} cannot be used",
            reason,
            f"Remove what it holds with 'pddlego cache clear', or name another folder in {FOLDER}.",
        )


def _request_key(description: Mapping[str, Any], request: Request, repeat: int, before: int, address: str = "") -> str:
    """A digest of everything that determines the answer to a request.

    `address` identifies the endpoint (see `address_of`). `before` is how often the episode has sent the same request
    before, because a repeated request needs a different answer.
    """
    content = {
        "model": description,
        "address": address,
        "purpose": request.purpose,
        "messages": [asdict(message) for message in request.messages],
        "schema": request.schema,
        "temperature_increase": request.temperature_increase,
        "max_tokens": request.max_tokens,
        "repeat": repeat,
        "before": before,
    }
    text = json.dumps(content, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


class CachedModel:
    """A model whose answers are cached. One instance plays one episode."""

    def __init__(self, model: Model, cache: AnswerCache, use: CacheUse, repeat: int = 1, address: str = "") -> None:
        self._model, self._cache, self._use, self._repeat = model, cache, use, repeat
        self._address = address
        self._sent: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def description(self) -> Mapping[str, Any]:
        return self._model.description

    @property
    def is_remote(self) -> bool:
        return is_remote(self._model)

    @property
    def window(self) -> int | None:
        return window_of(self._model)

    def complete(self, request: Request) -> Completion:
        """The cached answer, or a new one. Raises `ModelError` like the model itself."""
        content = _request_key(self.description, request, self._repeat, 0, self._address)
        key = _request_key(self.description, request, self._repeat, self._sent[content], self._address)
        self._sent[content] += 1
        known = self._cache.get(key) if self._use == "use" else None
        if known is not None:
            return known
        answer = self._model.complete(request)
        self._cache.put(key, self.name, answer)
        return answer
