"""Text from outside, as it can be written down."""

from __future__ import annotations


def writable(text: str) -> str:
    """The text without lone surrogates: JSON and keyboards give them, and they can be neither written nor shown."""
    return text.encode(errors="replace").decode()
