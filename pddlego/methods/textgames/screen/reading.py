"""The tab that shows each sentence of the game with the new facts that probably come from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import with_words
from pddlego.episode.events import Accepted
from pddlego.episode.trace import Step
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.screen.view import GameView
from pddlego.pddl import from_name
from pddlego.util.text import clean, shown_command


def reading_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The sentences of the observations, each with the new facts that probably come from it.

    Facts about the same things are assigned to the sentence that has most of their words.
    """
    shown = [event.step for event in step.events if isinstance(event, Observed)]
    sources: dict[tuple[int, int], list[str]] = {}
    for source, facts in _sources(step):
        sources.setdefault(source, []).extend(facts)
    lines: list[Text] = []
    for event in GameView(step.after).log:
        if event.step in shown or any(step == event.step for step, _ in sources):
            command = shown_command(with_words(event, step.after).command, "the game begins")
            lines.append(Text(clean(f"{event.step} {command}"), "bold"))
            for number, sentence in enumerate(_sentences(event)):
                facts = sources.get((event.step, number), [])
                lines.append(Text(clean(sentence), "bold cyan" if facts else ""))
                lines += [_added(fact, glyphs) for fact in facts]
    unnamed = sources.get(_NOWHERE, [])
    lines += [Text("facts about things that no response names", "bold")] if unnamed else []
    return [*lines, *(_added(fact, glyphs) for fact in unnamed)]


_NOWHERE = (-1, -1)


def _sources(step: Step) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """The new facts of a step in groups about the same things, each with its source: a step and a sentence's number."""
    rule = GameView(step.after).map_rule
    directions = frozenset(rule.directions if rule is not None else ())
    groups: dict[frozenset[str], list[str]] = {}
    for event in step.events:
        if isinstance(event, Accepted) and event.kind == "problem":
            for fact in event.added:
                groups.setdefault(frozenset(_things(fact)) - directions, []).append(fact)
    words = {group: {from_name(word) for fact in facts for word in _words(fact)} for group, facts in groups.items()}
    frequency = Counter(word for group in words.values() for word in group)
    said = [
        ((event.step, number), sentence)
        for event in GameView(step.after).log[::-1]
        for number, sentence in enumerate(_sentences(event))
    ]
    taken: Counter[tuple[int, int]] = Counter()  # of equally good sentences, the one with the fewest facts is chosen
    for group, facts in groups.items():
        best, source = (0.0, 0), _NOWHERE
        for place, sentence in said:
            score = sum(1 / frequency[word] for word in words[group] if _has(sentence, word))
            if score and (score, -taken[place]) > best:
                best, source = (score, -taken[place]), place
        taken[source] += 1
        yield source, facts


def _things(fact: str) -> list[str]:
    """The objects and constants in a fact or an object."""
    name, *args = re.findall(r"[\w-]+", fact.partition(" - ")[0])
    return args if fact.startswith("(") else [name]


def _words(fact: str) -> list[str]:
    """The names in a fact or an object, and the words of its predicate."""
    predicate = re.findall(r"[\w-]+", fact)[0] if fact.startswith("(") else ""
    return [*filter(None, predicate.split("_")), *_things(fact)]


def _sentences(event: Observed) -> list[str]:
    parts = (part.strip() for part in re.split(r"(?<=[.!?:])\s+|\n+", event.read or event.text))
    return [part for part in parts if part]


def _has(sentence: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", sentence, re.IGNORECASE) is not None


def _added(fact: str, glyphs: Glyphs) -> Text:
    return Text(f"    {glyphs.added} {clean(fact)}", "green")
