"""Replies that have an end: what an endpoint sends is read up to a limit, and no further."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2

MAX_REPLY = 16 * 2**20
"""Bytes of a reply. The longest useful one has some hundred thousand; without a limit memory would be the limit."""

PACKED = 500
"""How many times smaller a compressed reply must be: compression makes at most about 1,000 bytes of one."""


class TooLongError(httpx2.ReadError):
    """A reply is longer than `MAX_REPLY`."""


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, limit: int) -> None:
        self._stream, self._left = stream, limit

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise TooLongError(f"The reply is longer than {MAX_REPLY // 2**20} MiB")
            yield part

    def close(self) -> None:
        self._stream.close()


def bound(response: httpx2.Response) -> None:
    """A response hook for an `httpx2` client: reading more than the limit raises `TooLongError`."""
    if isinstance(response.stream, httpx2.SyncByteStream):
        packed = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _Bounded(response.stream, MAX_REPLY // PACKED if packed else MAX_REPLY)
