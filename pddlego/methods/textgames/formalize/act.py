"""Methods that propose commands: a model (Action-gen), chance, or a person."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any

from pddlego.methods.textgames.formalize import (
    MOST_COMMANDS,
    SEPARATOR,
    CommandProposal,
    Observations,
    PromptContext,
)
from pddlego.models import Message, Request
from pddlego.models.base import THINKING, Feedback, cut_off, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl.nearly_json import EditSyntaxError, last_object
from pddlego.util.answers import spoken, spoken_lines
from pddlego.util.text import writable


class ActionGen:
    """Asks the model for the next command, in a conversation with all earlier commands and observations (Action-gen).

    The last turn has the valid commands, and so has each earlier one whose exchange has them. If not `checked`, the
    command is chosen as in the paper's scripts. With `plain_requests` the rules of the game are the first user message,
    and the model replies that it is ready. With `sequences` an answer may have several commands, which are one turn. If
    the model `thinks`, it reasons before each command, and its last line that is a command counts.
    """

    def __init__(
        self,
        prompts: Prompts,
        checked: bool = True,
        plain_requests: bool = False,
        sequences: bool = False,
        thinks: bool = False,
    ) -> None:
        self._prompts, self._checked, self._plain_requests, self._thinks = prompts, checked, plain_requests, thinks
        self._sequences = sequences

    def request(self, situation: PromptContext) -> Request:
        rules = self._prompts.render("act", task=situation.task, thinks=self._thinks, sequences=self._sequences)
        if self._plain_requests:
            messages = [Message("user", rules), Message("assistant", self._prompts.render("act-ready"))]
        else:
            messages = [Message("system", rules)]
        for number, exchange in enumerate(situation.seen.history):
            is_last = number == len(situation.seen.history) - 1
            turn = situation.seen if is_last else exchange
            possible = {"valid_commands": turn.valid_commands, "kinds": turn.kinds, "things": turn.things}
            notes = situation.notes if is_last else ()
            text = self._prompts.render("act-turn", exchange=exchange, thinks=self._thinks, notes=notes, **possible)
            command = exchange.command
            if exchange.continues and number:  # an answer with several commands is one turn
                command, text = f"{messages[-2].content}{SEPARATOR}{command}", f"{messages[-1].content}\n{text}"
                del messages[-2:]
            messages += [] if command is None else [Message("assistant", command)]
            messages.append(Message("user", text))
        if situation.retry.feedback is not None:
            messages.append(Message("assistant", shortened(situation.retry.rejected)))
            retry = situation.retry
            shown = {"feedback": retry.feedback, "repeated": retry.repeated, "thinks": self._thinks}
            again = self._prompts.render("act-again", **shown)
            messages.append(Message("user", again))
        return Request("act", tuple(messages), replace(situation, offered=self._sequences), longest=THINKING)

    def read(self, answer: str, situation: PromptContext) -> CommandProposal:
        """The first valid command among those of a JSON object or tool call, in boxes, and the lines of the answer.

        Case, punctuation, the numbers of a list and labels such as `Action:` are ignored. With `sequences`, the rest is
        what follows the command on its line, and on the lines below it without a gap. If not checked, it is the
        alphabetically first valid command that occurs anywhere in the answer, or else an empty command, which the game
        refuses.
        """
        text = spoken(answer)
        if not self._checked and situation.seen.valid_commands:
            labelled = _LABELLED.findall(text) if self._thinks else ()
            part, valid = labelled[-1] if labelled else answer, sorted(situation.seen.valid_commands)
            return CommandProposal(next((command for command in valid if command in part), ""))
        said = spoken_lines(text)
        named = [
            _called(text, self._sequences),
            *reversed(_BOXED.findall(text)),
            *(reversed(said) if self._thinks else said),
        ]
        by_words = {_bare(command): command for command in situation.seen.valid_commands}
        below = len(named) - len(said) if self._sequences and not self._thinks else len(named)
        for place, line in enumerate(named):
            for form, rest in self._forms(line):
                if command := _valid(form, by_words, situation.seen):
                    following = takewhile(_bare, said[place - below + 1 :] if place >= below else ())
                    rest = [*rest, *(part for text in following for part in _SEPARATORS.split(text))]
                    later = takewhile(_may_be_command, (part.strip() for part in rest if _bare(part)))
                    return CommandProposal(command, rest=tuple(islice(later, MOST_COMMANDS - 1)))
        if not self._checked:
            return CommandProposal("")
        first = next((form.strip() for line in named for form, _ in self._forms(line)[-1:] if form.strip()), "")
        if answer.strip() and not first:
            return CommandProposal("", cut_off())
        listed = "of a kind that the game takes" if situation.seen.kinds else "in the list"
        message = f"'{first[:100]}' is not {listed}." if first else "the answer was empty."
        return CommandProposal("", Feedback("invalid command", message))

    def _forms(self, line: str) -> list[tuple[str, list[str]]]:
        """The commands that a line may begin with, each with the rest of the line; a command may have a semicolon."""
        first, *rest = _SEPARATORS.split(line) if self._sequences else [line]
        return [(line, []), (first, rest)] if rest else [(line, [])]


_SEPARATORS = re.compile(r"[;\n]")


_LONGEST_COMMAND, _LONGEST_SENTENCE = 12, 4
"""The words of the longest command, and of the longest one with a full stop: longer texts explain the commands."""


def _may_be_command(text: str) -> bool:
    longest = _LONGEST_SENTENCE if text.endswith((".", "!", "?", ":")) else _LONGEST_COMMAND
    return len(text.split(maxsplit=longest + 1)) <= longest


def _valid(line: str, by_words: Mapping[str, str], seen: Observations) -> str:
    """The valid command that a line states, in the game's spelling; otherwise empty."""
    forms = (line, _ITEM.sub("", line))
    named = (by_words.get(_bare(form)) or (_of_kind(form, seen) if seen.kinds else "") for form in forms)
    return next(filter(None, named), "")


_LABELLED = re.compile(r"^\W*action\s*:(.*)$", re.IGNORECASE | re.MULTILINE)
"""A line with a command after a chain of thought."""


_ITEM = re.compile(
    r"^\W{0,9}(?:(?:action|answer|command|step)\b(?:\s{0,9}:\W{0,9}|\s{1,9}))?(?:\d{1,3}|[a-z](?=[.):\]]))[\W_]{1,9}(?=\w)",
    re.IGNORECASE,
)
"""The number or letter of an item of a list: `1.`, `(2)`, `a)`, `**3.**`."""

_BOXED = re.compile(r"\\boxed\s{0,9}\{(?:\s{0,9}\\(?:text\w{0,9}|mathrm|mathbf)\{)?([^{}\n]{1,200})\}")
"""A command as models write the result of a calculation."""


class RandomActions:
    """Any valid command with equal probability, from a seed. Asks no model."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def request(self, situation: PromptContext) -> Request | None:
        return None

    def read(self, answer: str, situation: PromptContext) -> CommandProposal:
        commands = situation.seen.valid_commands or situation.seen.every_command()
        if not commands:
            return CommandProposal("", Feedback("no valid command", "the game lists no valid commands."))
        return CommandProposal(self._random.choice(commands))


def _of_kind(line: str, seen: Observations) -> str:
    """The command of `line` in the game's spelling if it fits a valid kind and visible things; otherwise empty."""
    things = {_bare(thing): thing for thing in seen.things}
    any_thing = "|".join(map(re.escape, sorted(things, key=len, reverse=True)))
    for kind in seen.kinds:
        parts = kind.split("OBJ")
        match = re.fullmatch(f"({any_thing})".join(re.escape(part.lower()) for part in parts), _bare(line))
        if match:
            named = [*(things[name] for name in match.groups()), ""]
            return "".join(part + thing for part, thing in zip(parts, named, strict=True))
    return ""


_CALLING = ("arguments", "parameters", "input", "function", "tool_call", "tool_calls")
_NAMED = ("action", "command", "actions", "commands", "answer", *_CALLING)
"""Keys of a command, or of the arguments of a tool call, in a JSON object; the most reliable keys come first."""

_CALL = re.compile(
    r"""^[^\w\n]{0,9} \w{1,50} \([ ]{0,9} (?: \w{1,50} [ ]{0,9} [=:] [ ]{0,9} )?
        (?P<quote>["']) (?P<command>[^\n]{1,200}?) (?P=quote) [ ]{0,9}\) [^\w\n]{0,9}$""",
    re.MULTILINE | re.VERBOSE,
)
"""A tool call as a line of code with one argument: `act("look around")`."""


def _called(text: str, several: bool) -> str:
    """The command, or a line for each of `several`, in the last JSON object or tool call with one argument."""
    try:
        value: Any = last_object(text, _NAMED, _NAMED).value
    except EditSyntaxError:
        calls = [*_CALL.finditer(text)]
        return calls[-1]["command"] if calls else ""
    while isinstance(value, (dict, list)):
        if several and isinstance(value, list) and all(isinstance(item, str) for item in value):
            return "\n".join(value)
        values = dict(enumerate(value)) if isinstance(value, list) else value
        named = [values[key] for key in _NAMED if key in values]
        value = named[0] if named else next(iter(values.values())) if len(values) == 1 else None
        if isinstance(value, str) and value.lstrip().startswith(
            "{"
        ):  # endpoints send arguments as the text of an object
            return _called(value, several)
    return value if isinstance(value, str) else ""


def _bare(line: str) -> str:
    without_tags = re.sub(r"</?\w[\w =\"'-]{0,50}>", "", line)
    without_label = re.sub(r"^\W*(action|answer|command)\s*:\s*", "", without_tags.strip(), flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9 ]+", "", without_label.lower()).strip()


Person = Callable[[tuple[str, ...]], str]
"""A function that returns the next command, given the valid ones. Raises `KeyboardInterrupt` to stop."""


class HumanActions:
    """Sends the commands that a person types, including invalid ones. Asks no model."""

    def __init__(self, person: Person) -> None:
        self._person = person

    def request(self, situation: PromptContext) -> Request | None:
        return None

    def read(self, answer: str, situation: PromptContext) -> CommandProposal:
        command = " ".join(writable(self._person(situation.seen.valid_commands)).split())
        return CommandProposal(command, None if command else Feedback("no command", "nothing was typed."))


def typed_before(commands: Iterable[str]) -> Person:
    """A person who types the recorded commands in their order, and then empty ones."""
    remaining = iter(commands)
    return lambda valid_commands: next(remaining, "")
