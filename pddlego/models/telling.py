"""Tells the words of an answer that is under way, without the secrets that an endpoint may echo."""

from __future__ import annotations

from collections.abc import Callable, Collection

from pddlego.models.base import Words
from pddlego.models.replies import Stream


class Telling:
    """Tells the words of a stream as they come, and no secret that the endpoint may echo."""

    def __init__(self, report: Callable[[Words], None], secrets: Collection[str]) -> None:
        self._report, self._secrets = report, secrets
        self._told = [0, 0]

    def of(self, stream: Stream, everything: bool = False) -> None:
        """Tell what is new."""
        new = []
        for number, text in enumerate((stream.text, stream.reasoning)):
            end = len(text) if everything else len(text) - self._held_back(text)
            new.append(masked(text[self._told[number] : end], self._secrets) if end > self._told[number] else "")
            self._told[number] = max(end, self._told[number])
        if any(new):
            self._report(Words(*new))

    def _held_back(self, text: str) -> int:
        """Characters at the end that may be the beginning of a secret."""
        beginnings = (secret[:number] for secret in self._secrets for number in range(1, len(secret)))
        return max((len(beginning) for beginning in beginnings if text.endswith(beginning)), default=0)


def masked(text: str, secrets: Collection[str]) -> str:
    """The text with `***` in place of each secret."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
