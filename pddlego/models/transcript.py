"""Recorded answers: of a journal, and of conversations that others recorded."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pddlego.errors import ModelError, RecordEndedError, UsageError
from pddlego.models.base import Completion, Message, Request
from pddlego.util.text import count


@dataclass(frozen=True)
class RecordedCall:
    """One question with its answer, as a journal holds it."""

    purpose: str
    messages: tuple[Message, ...]
    completion: Completion


class TranscriptModel:
    """Answers from recorded calls, in their order."""

    def __init__(self, calls: Sequence[RecordedCall], source: str, name: str = "transcript") -> None:
        self._name = name
        self._calls = tuple(calls)
        self._next = 0
        self._source = source

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> Mapping[str, Any]:
        return {"source": self._source, "calls": len(self._calls)}

    def complete(self, request: Request) -> Completion:
        """The recorded answer. Raises `ModelError` with the first difference if the question is another one."""
        if self._next >= len(self._calls):
            raise RecordEndedError(
                "The transcript is at its end",
                f"{self._source} holds {len(self._calls)} answers, and one more was asked for ({request.purpose}).",
                "Play with the settings and the seed of the recorded run.",
            )
        call = self._calls[self._next]
        difference = _difference(call, request)
        if difference:
            raise ModelError(
                f"Request {self._next + 1} differs from the transcript",
                difference,
                "Play with the settings, prompts and seed of the recorded run.",
            )
        self._next += 1
        return call.completion


def _difference(call: RecordedCall, request: Request) -> str:
    if call.purpose != request.purpose:
        return f"It was recorded for '{call.purpose}' and is asked for '{request.purpose}'."
    for number, (old, new) in enumerate(zip(call.messages, request.messages, strict=False), start=1):
        if old.role != new.role:
            return f"Message {number} was from {old.role} and is from {new.role}."
        for line, (before, after) in enumerate(zip(_lines(old), _lines(new), strict=False), start=1):
            if before != after:
                return f"Message {number} ({old.role}), line {line}: recorded '{before[:80]}', now '{after[:80]}'."
        if old.content != new.content:
            return (
                f"Message {number} ({old.role}) has {len(_lines(old))} lines in the record and {len(_lines(new))} now."
            )
    if len(call.messages) != len(request.messages):
        return f"It was recorded with {len(call.messages)} messages and has {len(request.messages)} now."
    return ""


def _lines(message: Message) -> list[str]:
    return message.content.split("\n")


_GZIP = b"\x1f\x8b"
FORM = "It takes rows of 'pddlego export', or JSON lines with model, domain, seed, variant, turns (docs/programs.md)."
DIFFERS = "recorded for another prompt"

_UNASKED = frozenset({"debug"})
"""Parts that change no question, and so have no variant of their own."""

_OPTION = re.compile(r",(model|variant|domain)=([^,]*)\Z")


class Turn(BaseModel):
    """One question with its answer. `purpose` may be missing."""

    answer: str
    prompt: str = ""
    purpose: str = ""


class Conversation(BaseModel):
    """One recorded conversation: with which `model`, about which `domain` and `seed`, in which `variant`."""

    model: str
    domain: str
    turns: tuple[Turn, ...]
    seed: int | None = None
    variant: str = ""
    id: str = ""


class ChatRow(BaseModel):
    """A row of `pddlego export --format chat`: an answer of an episode."""

    messages: tuple[Message, ...]
    game: str
    mode: str
    model: str
    seed: int
    repeat: int
    call: int
    purpose: str


@dataclass(frozen=True)
class TranscriptName:
    """Which conversation to play: as the `model`'s name says, else as what is played.

    `domains` are the names under which it may have been recorded, `parts` what the mode leaves out; `variants` are
    names that the variant may have besides.
    """

    place: str
    model: str = ""
    variant: str = ""
    domains: tuple[str, ...] = ()
    seed: int = 0
    parts: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()


def parse_place(text: str) -> TranscriptName:
    """`FILE`, or `FILE,model=NAME,variant=NAME,domain=NAME`."""
    options: dict[str, str] = {}
    while match := _OPTION.search(text):
        options[match.group(1)] = match.group(2)
        text = text[: match.start()]
    domains = (options["domain"],) if "domain" in options else ()
    return TranscriptName(text, options.get("model", ""), options.get("variant", ""), domains)


def is_conversations(path: Path) -> bool:
    """Whether a file holds conversations, and no journal: journals name the type of each event."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            first = gzip.GzipFile(fileobj=file).readline(1_000_000) if packed else file.readline(1_000_000)
    except (OSError, EOFError, zlib.error):
        return False
    return (b'"turns"' in first or b'"prompt_id"' in first[:100]) and b'"type"' not in first[:100]


def read_conversations(path: Path) -> tuple[Conversation, ...]:
    """Every conversation of a file, compressed or not. Raises `UsageError`."""
    try:
        return _read(str(path.resolve()), path.stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror or error}.", "Check the name.") from error


def _take(row: ChatRow, conversations: list[Conversation]) -> None:
    """Add a row to the conversation of its episode, which is the last one or begins with it."""
    *prompts, answer = row.messages
    turn = Turn(answer=answer.content, prompt=prompts[-1].content if prompts else "", purpose=row.purpose)
    name = f"{row.game}/{row.mode}/{row.seed}/{row.repeat}"
    about = (row.model, name)
    last = conversations[-1] if conversations else None
    if last is not None and row.call > 1 and (last.model, last.id) == about:
        conversations[-1] = last.model_copy(update={"turns": (*last.turns, turn)})
        return
    conversations.append(
        Conversation(model=row.model, domain=row.game, seed=row.seed, variant=row.mode, turns=(turn,), id=name)
    )


@lru_cache(maxsize=4)
def _read(place: str, changed: int) -> tuple[Conversation, ...]:
    data = Path(place).read_bytes()
    conversations: list[Conversation] = []
    try:
        text = (gzip.decompress(data) if data.startswith(_GZIP) else data).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"{place} holds no conversations", f"{error}.", FORM) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            if line.startswith('{"prompt_id"'):
                _take(ChatRow.model_validate_json(line), conversations)
            else:
                conversations.append(Conversation.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            reason = f"Line {number}: {'.'.join(map(str, first['loc']))} {first['msg']}."
            raise UsageError(f"{place} holds no conversations", reason, FORM) from error
    return tuple(conversations)


def choose(conversations: Sequence[Conversation], wanted: TranscriptName) -> Conversation:
    """The conversation about a domain and seed, in the variant that fits best. Raises `UsageError` without one.

    Of several models one must be named. Of several repetitions without a seed the one whose number the seed is, from 0,
    is played. A variant that leaves a part out is called `MODEL no-PART`; a
    part that changes no question (as debugging does) has no variant of its own.
    """
    domains = {conversation.domain for conversation in conversations}
    known = domains & set(wanted.domains)
    if not known and len(domains) > 1:
        names = ", ".join(sorted(domains))
        reason = f"It is about: {names}; and what is played is called {', '.join(wanted.domains)}."
        raise UsageError(f"{wanted.place} is about other domains", reason, "Name one: transcript:FILE,domain=NAME.")
    own = [conversation for conversation in conversations if conversation.domain in (known or domains)]
    models = list(dict.fromkeys(conversation.model for conversation in own))
    if not wanted.model and len(models) > 1:
        what = f"{wanted.place} holds conversations with {len(models)} models"
        advice = f"Name one: transcript:FILE,model={models[0]}."
        raise UsageError(what, f"The models are: {', '.join(models)}.", advice)
    model = wanted.model or next(iter(models), "")
    for variant in [wanted.variant] if wanted.variant else (*wanted.variants, *_variants(model, wanted.parts)):
        fitting = [
            conversation for conversation in own if (conversation.model, conversation.variant) == (model, variant)
        ]
        seeded = [conversation for conversation in fitting if conversation.seed == wanted.seed]
        repeated = [conversation for conversation in fitting if conversation.seed is None]
        if seeded:
            return seeded[0]
        if len(repeated) == 1 or wanted.seed in range(len(repeated)):
            return repeated[wanted.seed if len(repeated) > 1 else 0]
    variants = ", ".join(dict.fromkeys(f"{conversation.model} ({conversation.variant})" for conversation in own))
    seeds = sorted({conversation.seed for conversation in own if conversation.seed is not None})
    names = f"{seeds[0]}-{seeds[-1]}" if seeds else "none"
    what = f"{wanted.place} holds no such conversation"
    reason = f"Wanted: {model} {wanted.variant} seed {wanted.seed}; it holds {variants}, seeds {names}."
    raise UsageError(what, reason, "Choose with transcript:FILE,model=NAME,variant=NAME.")


def _variants(model: str, parts: Sequence[str]) -> list[str]:
    """The names that a variant may have: with each part that is left out, or with those that change a question."""
    asked = [part for part in parts if part not in _UNASKED]
    names = [" ".join((model, *(f"no-{part}" for part in some))) for some in (parts, asked)]
    return [*names, *([] if asked else [""])]


@dataclass
class ConversationModel:
    """Gives the answers of a conversation, in their order."""

    conversation: Conversation
    source: str
    name: str
    _given: int = field(default=0)

    @property
    def description(self) -> Mapping[str, Any]:
        parts = self.conversation
        return {"source": self.source, "id": parts.id, "model": parts.model, "variant": parts.variant}

    def complete(self, request: Request) -> Completion:
        """The next answer. Raises `ModelError` if it does not exist, or if it answers another kind of question."""
        turns = self.conversation.turns
        where = f"{self.source} ({self.conversation.id or self.conversation.domain})"
        if self._given >= len(turns):
            reason = f"{where} holds {count(len(turns), 'answer')}, and one more was asked for ({request.purpose})."
            raise RecordEndedError("The conversation is at its end", reason, "Play with the tasks that it was about.")
        turn = turns[self._given]
        if turn.purpose and turn.purpose != request.purpose:
            reason = f"{where}: recorded for '{turn.purpose}', and asked for '{request.purpose}'."
            raise ModelError(
                f"Answer {self._given + 1} is to another question", reason, "Play the mode of the recording."
            )
        self._given += 1
        same = not turn.prompt or turn.prompt.strip() == request.messages[-1].content.strip()
        return Completion(turn.answer, note="" if same else DIFFERS)
