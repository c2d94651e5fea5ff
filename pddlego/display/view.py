"""What is shown of an episode of any method, as a value folded from events and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from pddlego.episode.events import Answered, Asked, Ended, Event, Limits, Rejected, Retrying, Started, Streamed, step_of
from pddlego.models.base import RetryNotice
from pddlego.util.text import clean

_MOST_SAID, _MOST_THOUGHT = 100_000, 20_000
"""Characters of an answer that is under way which a view holds."""

V = TypeVar("V", bound="View")
T = TypeVar("T")


@dataclass(frozen=True)
class OpenRequest:
    """A request in flight: when it was sent, in seconds, and what came of its answer so far.

    `trouble` is the last one with it, and `tried_at` when that was.
    """

    purpose: str
    sent_at: float
    text: str = ""
    thought: str = ""
    trouble: RetryNotice | None = None
    tried_at: float = 0.0


@dataclass(frozen=True)
class View:
    """The state of one episode as far as it is shown; the picture of a method extends it by what only that has.

    `request` is the one in flight. `rejected` is the last answer that could not be used, until one is.
    """

    title: str = ""
    mode: str = ""
    model: str = ""
    seed: int | None = None
    limits: Limits = field(default_factory=lambda: Limits(0))
    step: int = 0
    refused: int = 0
    calls: int = 0
    from_cache: int = 0
    tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    request: OpenRequest | None = None
    rejected: Rejected | None = None
    ended: Ended | None = None


def fold_common(view: V, event: Event, seconds: float) -> V:
    """The view after a cleaned event, which happened `seconds` after the start, as far as every method has it."""
    view = replace(view, seconds=seconds)
    step = step_of(event)
    if step is not None:
        view = replace(view, step=step, refused=view.refused + bool(getattr(event, "refused", False)))
    if isinstance(event, Started):
        return replace(
            view,
            title=event.title,
            mode=event.mode,
            model=event.model,
            seed=event.seed,
            limits=event.limits,
        )
    if isinstance(event, Asked):
        return replace(view, request=OpenRequest(event.purpose, seconds), calls=event.call)
    if isinstance(event, Streamed) and view.request is not None:
        text, thought = view.request.text + event.text, view.request.thought + event.reasoning
        request = replace(view.request, text=text[:_MOST_SAID], thought=thought[-_MOST_THOUGHT:], trouble=None)
        return replace(view, request=request)
    if isinstance(event, Retrying) and view.request is not None:
        request = replace(view.request, trouble=event.trouble, tried_at=seconds, text="", thought="")
        return replace(view, request=request)
    if isinstance(event, Answered):
        answer = event.completion
        return replace(
            view,
            request=None,
            tokens=view.tokens + answer.tokens_in + answer.tokens_out,
            estimated=view.estimated or answer.estimated,
            from_cache=view.from_cache + answer.from_cache,
        )
    if isinstance(event, Rejected):
        return replace(view, rejected=event)
    if isinstance(event, Ended):
        return replace(view, request=None, ended=event)
    return view


def cleaned(value: T) -> T:
    """An event, or a part of one, with all of its texts cleaned: nothing that is drawn can steer the terminal."""
    clean_value: Any = value
    if isinstance(value, str) and not isinstance(value, Enum):
        clean_value = clean(value)
    elif isinstance(value, (tuple, list)):
        clean_value = type(value)(map(cleaned, value))
    elif isinstance(value, Mapping):
        clean_value = {cleaned(key): cleaned(item) for key, item in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        clean_value = replace(value, **{field.name: cleaned(getattr(value, field.name)) for field in fields(value)})
    return cast("T", clean_value)
