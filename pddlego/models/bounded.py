"""Replies that have an end: what an endpoint sends is read up to a limit, and no further."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import httpx2

MAX_REPLY = 16 * 2**20
"""Bytes of a reply. The longest useful one has some hundred thousand; without a limit memory would be the limit."""


MAX_LINE = 2**20
"""Bytes of one line of a stream: a few words, as a rule."""


class TooLongError(httpx2.ReadError):
    """A reply is longer than `MAX_REPLY`, or a line of it than `MAX_LINE`, or nobody can tell how long it is."""


class _Bounded(httpx2.SyncByteStream):
    """A stream whose bytes are counted as they are sent and, if they are packed, as what they become."""

    def __init__(self, stream: httpx2.SyncByteStream, packed: bool, in_lines: bool) -> None:
        self._stream = stream
        self._in_lines, self._line = in_lines and not packed, 0
        self._unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if packed else None
        self._left = MAX_REPLY

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            self._left -= self._length(part)
            if self._left < 0:
                raise TooLongError(f"The reply is longer than {MAX_REPLY // 2**20} MiB")
            if self._in_lines:
                self._count_lines(part)
            yield part

    def _count_lines(self, part: bytes) -> None:
        last = part.rfind(b"\n")
        self._line = self._line + len(part) if last < 0 else len(part) - last - 1
        if max(self._line, *(len(line) for line in part.split(b"\n"))) > MAX_LINE:
            raise TooLongError(f"A line of the stream is longer than {MAX_LINE // 2**20} MiB")

    def close(self) -> None:
        self._stream.close()

    def _length(self, part: bytes) -> int:
        if self._unpacker is None:
            return len(part)
        try:
            return len(self._unpacker.decompress(part))
        except zlib.error:  # whoever reads the reply will say so
            return len(part)


def bound(response: httpx2.Response) -> None:
    """A response hook for an `httpx2` client: reading more than the limit raises `TooLongError`."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "deflate"):
        raise TooLongError(f"The reply is packed as {packing[:20]}, and nobody asked for that")
    if isinstance(response.stream, httpx2.SyncByteStream):
        in_lines = "event-stream" in response.headers.get("content-type", "")
        response.stream = _Bounded(response.stream, packing != "identity", in_lines)
