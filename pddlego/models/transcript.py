"""Models that replay recorded answers from a journal, or from conversations that other projects recorded."""

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


@dataclass
class TranscriptModel:
    """Gives the answers of recorded calls, each with its request, in their order."""

    calls: Sequence[tuple[Request, Completion]]
    source: str
    name: str = "transcript"
    _used: int = field(default=0)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"source": self.source, "calls": len(self.calls)}

    @property
    def window(self) -> int | None:
        """The window that the next request was shortened for; None if it was not shortened."""
        return self.calls[self._used][1].window if self._used < len(self.calls) else None

    def complete(self, request: Request) -> Completion:
        """The next answer. Raises `ModelError`, with the first difference, if the question is not the recorded one."""
        if self._used >= len(self.calls):
            raise RecordEndedError(
                "The transcript is at its end",
                f"{self.source} holds {len(self.calls)} answers, and one more was asked for ({request.purpose}).",
                "Play with the settings and the seed of the recorded run.",
            )
        recorded, completion = self.calls[self._used]
        difference = _difference(recorded, request)
        if difference:
            raise ModelError(
                f"Request {self._used + 1} differs from the transcript",
                difference,
                "Play with the settings, prompts and seed of the recorded run.",
            )
        self._used += 1
        return completion


def _difference(recorded: Request, request: Request) -> str:
    if recorded.purpose != request.purpose:
        return f"It was recorded for '{recorded.purpose}' and is asked for '{request.purpose}'."
    for number, (old, new) in enumerate(zip(recorded.messages, request.messages, strict=False), start=1):
        if old.role != new.role:
            return f"Message {number} was from {old.role} and is from {new.role}."
        for line, (before, after) in enumerate(zip(_lines(old), _lines(new), strict=False), start=1):
            if before != after:
                return f"Message {number} ({old.role}), line {line}: recorded '{before[:80]}', now '{after[:80]}'."
        if old.content != new.content:
            return (
                f"Message {number} ({old.role}) has {len(_lines(old))} lines in the record and {len(_lines(new))} now."
            )
    if len(recorded.messages) != len(request.messages):
        return f"It was recorded with {len(recorded.messages)} messages and has {len(request.messages)} now."
    return ""


def _lines(message: Message) -> list[str]:
    return message.content.split("\n")


_GZIP = b"\x1f\x8b"
_FORM = "It takes rows of 'pddlego export', or JSON lines with model, domain, seed, variant, turns (docs/programs.md)."
DIFFERS = "recorded for another prompt"

_SAME_QUESTIONS = frozenset({"debug"})
"""Parts of a mode that do not change questions, so that conversations may have no variant without them."""

_OPTION = re.compile(r",(model|variant|domain)=([^,]*)\Z")


class Turn(BaseModel):
    """One question with its answer."""

    answer: str
    prompt: str = ""
    purpose: str = ""


class Conversation(BaseModel):
    """One recorded conversation: with a `model`, about a `domain` and `seed`, in a `variant` of a mode."""

    model: str
    domain: str
    turns: tuple[Turn, ...]
    seed: int | None = None
    variant: str = ""
    id: str = ""


class _ChatRow(BaseModel):
    """One answer of an episode, as `pddlego export --format chat` writes it."""

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
    """A selection of a conversation in the file `place`, from the name of the model or else from the played cell.

    `domains` are possible names of the domain, `parts` the parts that the mode leaves out, and `variants` further
    possible names of the variant.
    """

    place: str
    model: str = ""
    variant: str = ""
    domains: tuple[str, ...] = ()
    seed: int = 0
    parts: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()


def parse_place(text: str) -> TranscriptName:
    """Parse `FILE`, or `FILE,model=NAME,variant=NAME,domain=NAME` with any of these options."""
    options: dict[str, str] = {}
    while match := _OPTION.search(text):
        options[match.group(1)] = match.group(2)
        text = text[: match.start()]
    domains = (options["domain"],) if "domain" in options else ()
    return TranscriptName(text, options.get("model", ""), options.get("variant", ""), domains)


def is_conversations(path: Path) -> bool:
    """Whether a file holds conversations; a journal does not, and its lines contain the `type` of an event."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            first = gzip.GzipFile(fileobj=file).readline(1_000_000) if packed else file.readline(1_000_000)
    except (OSError, EOFError, zlib.error):
        return False
    return (b'"turns"' in first or b'"prompt_id"' in first[:100]) and b'"type"' not in first[:100]


def read_conversations(path: Path) -> tuple[Conversation, ...]:
    """The conversations in a file, which may be compressed. Raises `UsageError`."""
    try:
        return _read(str(path.resolve()), path.stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror or error}.", "Check the name.") from error


def _take(row: _ChatRow, conversations: list[Conversation]) -> None:
    """Add a row to the last conversation, or begin a new one with it if it is of another episode."""
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
        raise UsageError(f"{place} holds no conversations", f"{error}.", _FORM) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            if line.startswith('{"prompt_id"'):
                _take(_ChatRow.model_validate_json(line), conversations)
            else:
                conversations.append(Conversation.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            reason = f"Line {number}: {'.'.join(map(str, first['loc']))} {first['msg']}."
            raise UsageError(f"{place} holds no conversations", reason, _FORM) from error
    return tuple(conversations)


def choose(conversations: Sequence[Conversation], wanted: TranscriptName) -> Conversation:
    """The conversation about a domain and seed, in the best matching variant. Raises `UsageError` if none matches.

    If the file has several models, the selection must name one. If conversations have no seeds, the seed is an index.
    A variant that leaves a part out is called `MODEL no-PART`.
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
    """Possible names of a variant: with all left-out parts, or only with the left-out parts that change a question."""
    changing = [part for part in parts if part not in _SAME_QUESTIONS]
    names = [" ".join((model, *(f"no-{part}" for part in some))) for some in (parts, changing)]
    return [*names, *([] if changing else [""])]


@dataclass
class ConversationModel:
    """Gives the answers of a conversation, in their order. Prompts may differ from the recorded ones."""

    conversation: Conversation
    source: str
    name: str
    _used: int = field(default=0)

    @property
    def description(self) -> Mapping[str, Any]:
        parts = self.conversation
        return {"source": self.source, "id": parts.id, "model": parts.model, "variant": parts.variant}

    def complete(self, request: Request) -> Completion:
        """The next answer. Raises `ModelError` if it does not exist, or if it answers another kind of question."""
        turns = self.conversation.turns
        where = f"{self.source} ({self.conversation.id or self.conversation.domain})"
        if self._used >= len(turns):
            reason = f"{where} holds {count(len(turns), 'answer')}, and one more was asked for ({request.purpose})."
            raise RecordEndedError("The conversation is at its end", reason, "Play with the tasks that it was about.")
        turn = turns[self._used]
        if turn.purpose and turn.purpose != request.purpose:
            reason = f"{where}: recorded for '{turn.purpose}', and asked for '{request.purpose}'."
            raise ModelError(
                f"Answer {self._used + 1} is to another question", reason, "Play the mode of the recording."
            )
        self._used += 1
        same = not turn.prompt or turn.prompt.strip() == request.messages[-1].content.strip()
        return Completion(turn.answer, note="" if same else DIFFERS)
