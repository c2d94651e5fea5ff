"""What is closed at the end of a `with` block."""

from __future__ import annotations

from typing import TypeVar

C = TypeVar("C", bound="Closeable")


class Closeable:
    """A class with a method `close`, whose objects are closed at the end of a `with` block."""

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError
