"""Why an answer could not be used, as the model, people and tables are told of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Feedback:
    """Why an answer could not be used: a category for statistics, a message for the model, and the evidence."""

    category: str
    message: str
    evidence: tuple[str, ...] = ()


CUT_OFF = "cut off"
"""The category of an answer that ends before it is whole."""


def cut_off() -> Feedback:
    """What is said of an answer that ends before it is whole."""
    message = "the answer was cut off before its end. Answer at once, without thinking aloud and without explanations."
    return Feedback(CUT_OFF, message)


MAX_REJECTED = 2_000
"""Characters of a rejected answer that are shown to the model again."""


def shortened(answer: str) -> str:
    """A rejected answer as it is shown again: whole, or its beginning and end."""
    if len(answer) <= MAX_REJECTED:
        return answer.strip() or "(an empty answer)"
    half = MAX_REJECTED // 2
    return f"{answer[:half]}\n[…]\n{answer[-half:]}"
