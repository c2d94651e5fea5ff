"""Answers that were paid for, kept in one SQLite file for all runs, and given again to the same request.

A request is its content: model, endpoint, sampling, messages, schema, the repeat that is played, and how often the same
was asked in this episode before. An answer from the cache costs nothing; what failed is never kept.
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
from pddlego.models.base import CacheUse, Completion, Model, Request, is_remote

FOLDER = "PDDLEGO_CACHE_DIR"
"""The environment variable that names another folder for the cache."""

_LONGEST_WAIT = 5.0
"""Seconds for which another process may hold the file; what cannot be kept then is asked for again, that is all."""

_TABLE = """CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, stored REAL NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL,
  tokens INTEGER NOT NULL, not_taken TEXT NOT NULL) WITHOUT ROWID"""


def default_path() -> Path:
    """Where the cache is: in the user's folder for such files, or in `PDDLEGO_CACHE_DIR`."""
    from platformdirs import user_cache_path

    named = os.environ.get(FOLDER)
    return (Path(named) if named else user_cache_path("pddlego", appauthor=False)) / "answers.sqlite"


@dataclass(frozen=True)
class Held:
    """What the cache holds of a model: answers, their tokens, and when the first and the last came (seconds, epoch)."""

    model: str
    answers: int
    tokens: int
    first: float
    last: float


class AnswerCache:
    """The file. Safe for many threads and processes: every call opens it anew."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Make the file if it is not there. Raises `UsageError` if it cannot be used."""
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
        """The answer with this key. A file that cannot be read at the moment has none."""
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
        """Store an answer. Failures are ignored: it is requested again another time."""
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
        """The entries by model; empty if the file does not exist. Raises `UsageError` if it cannot be read."""
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
        """Remove the answers of a model, or all, and return how many. A damaged file is deleted.

        Raises `UsageError` if that is not possible.
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
    """The content of a request as one word: everything that determines the answer.

    `address` is where it is sent, with what a shown address leaves out (see `address_of`). `before` says how often the
    same was asked in this episode: who asks again wants another answer.
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
    """A model whose answers are kept. One instance plays one episode."""

    def __init__(self, model: Model, cache: AnswerCache, use: CacheUse, repeat: int = 1, address: str = "") -> None:
        self._model, self._cache, self._use, self._repeat = model, cache, use, repeat
        self._address = address
        self._asked: Counter[str] = Counter()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def description(self) -> Mapping[str, Any]:
        return self._model.description

    @property
    def is_remote(self) -> bool:
        return is_remote(self._model)

    def complete(self, request: Request) -> Completion:
        """The kept answer, or a new one. Raises `ModelError` like the model itself."""
        content = _request_key(self.description, request, self._repeat, 0, self._address)
        key = _request_key(self.description, request, self._repeat, self._asked[content], self._address)
        self._asked[content] += 1
        known = self._cache.get(key) if self._use == "use" else None
        if known is not None:
            return known
        answer = self._model.complete(request)
        self._cache.put(key, self.name, answer)
        return answer
