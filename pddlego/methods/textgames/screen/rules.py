"""The tab with the reading rules that a model has written (mode `learn`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.rows import fitted
from pddlego.display.screens import Pane
from pddlego.episode.events import Accepted
from pddlego.episode.trace import Step, Trace
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.formalize import Exchange
from pddlego.methods.textgames.options import RULES
from pddlego.methods.textgames.reading.engine import matching, sentences_of
from pddlego.methods.textgames.reading.rules import LearnedRules, ReadingRule, parse_learned
from pddlego.runs.store import last_text
from pddlego.util.text import clean, count


def has_rules(trace: Trace) -> bool:
    """Whether the model has written reading rules, or the episode began with some."""
    began = trace.started is not None and bool(trace.started.details.get(RULES.kind))
    return began or trace.last(Accepted, where=lambda event: event.kind == RULES.kind) is not None


def learned_in(trace: Trace) -> LearnedRules:
    """The rules at the end of the trace; no rules if it has none or a damaged journal has an invalid text."""
    try:
        return parse_learned(last_text(trace, RULES.kind)) if has_rules(trace) else LearnedRules()
    except ValueError:
        return LearnedRules()


def rules_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """Each rule with its facts and its uses so far, those of this step first in green, and the unread sentences."""
    before, learned = learned_in(step.before), learned_in(step.after)
    uses = _uses(step.after, learned)
    lines = [Text(count(len(learned.rules), "rule"), "bold")]
    for number, rule in enumerate(learned.rules):
        new = rule not in before.rules
        mark, style = (glyphs.added, "green") if new else (" ", "")
        used = f"  used {count(uses.get(number, 0), 'time')}"
        lines += [Text(clean(f"{mark} {sentence}"), style) for sentence in rule.sentence]
        lines[-1].append(used, "dim")
        lines += [Text(clean(f"    {line}"), style or "dim") for line in _meaning(rule)]
    if learned.opinions:
        lines += [Text(), Text("opinions", "bold"), *(Text(clean(f"  {fact}")) for fact in learned.opinions)]
    if learned.unread:
        lines += [Text(), Text("no rule for", "bold"), *(Text(clean(f"  {one}")) for one in sorted(learned.unread))]
    return lines


def rules_pane(trace: Trace, glyphs: Glyphs, rows: int | None = None) -> Pane:
    """The rules with their uses so far, those of the last answer in green and at the top."""
    learned, uses = learned_in(trace), _uses(trace, learned_in(trace))
    last = trace.last(Accepted, where=lambda event: event.kind == RULES.kind)
    new, lines = last.added if last is not None else (), list[Text]()
    for number, rule in enumerate(learned.rules):
        text = rule.sentence[0] + (" …" if rule.sentence[1:] else "")
        line = Text(clean(f"rule {number + 1}: {text}"), "green" if "; ".join(rule.sentence) in new else "")
        lines.append(line.append(f"  used {count(uses.get(number, 0), 'time')}", "dim"))
    lines.sort(key=lambda line: line.style != "green")
    title = f"rules {glyphs.dot} {count(len(learned.rules), 'rule')}"
    return Pane(title, lambda width, height: fitted(lines, width, height), rows)


def _meaning(rule: ReadingRule) -> list[str]:
    """The keys of a rule besides its sentences, one a line."""
    if rule.ignore:
        return ["says nothing about the facts"]
    table = {key: value for key, value in rule.as_table().items() if key != "sentence"}
    return [
        f"{key}: {value if isinstance(value, str) else '  '.join(map(_words, value))}" for key, value in table.items()
    ]


def _words(value: object) -> str:
    return value if isinstance(value, str) else " = ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _uses(trace: Trace, learned: LearnedRules) -> Mapping[int, int]:
    """How many sentences of the episode each rule was used for, by its number."""
    uses: Counter[int] = Counter()
    score = 0.0
    for event in trace.all(Observed):
        gained, score = event.score - score, event.score
        for sentence in sentences_of(Exchange(event.command, event.read, gained=gained), event.task):
            uses.update(number for number, _ in matching(learned.rules, sentence, event.command or ""))
    return uses
