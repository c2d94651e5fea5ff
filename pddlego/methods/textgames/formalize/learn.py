"""The formalizer of mode `learn`: the model writes the rules by which the machine reads the game.

The problem is what the rules read from all observations. The model is asked only about sentences that no rule covers,
and again if its rules lead to no plan, or to other facts than the plan expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pddlego.episode.loop import Retry
from pddlego.methods.textgames.formalize import Exchange, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.problems import brief_feedback, without_planned
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.reading.checks import RuleChecker
from pddlego.methods.textgames.reading.engine import HistoryReader, ReadResult, matching, sentences_of
from pddlego.methods.textgames.reading.rules import (
    MOST_RULES,
    LearnedRules,
    Pattern,
    ReadingRule,
    leaf_types,
    parse_pattern,
    parse_rule,
)
from pddlego.methods.textgames.reading.template import LONGEST
from pddlego.models import Message, Request
from pddlego.models.base import THINKING, Feedback, cut_off, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import EditSyntaxError, Problem, from_name
from pddlego.pddl.domain import outline
from pddlego.pddl.exclusive import one_way
from pddlego.pddl.names import is_name
from pddlego.pddl.nearly_json import last_object
from pddlego.util.answers import spoken

_ASKED_AGAIN = 2
"""How often faulty rules and uncovered sentences go back to the model; then the good rules are used as they are."""

_SHOWN = 40
"""The maximum number of sentences and of rules in a request."""

_LONGEST_ANSWER = 3_000
"""Tokens of an answer: about 40 rules."""


Opinion = Callable[[Problem, PromptContext], Problem]
"""Adds to a problem what no sentence states, such as where a thing belongs."""


class LearnRules:
    """Asks for reading rules. `start` is the knowledge at the beginning of an episode; `checked` checks the rules.

    With `opinion`, the model is not asked for opinions.
    """

    _declare = "declare it with `objects`, such as {slot} - TYPE"

    def __init__(
        self, prompts: Prompts, start: Knowledge, checked: bool = True, opinion: Opinion | None = None
    ) -> None:
        self._prompts, self._start, self._checked, self._opinion = prompts, start, checked, opinion
        self._reader = HistoryReader()

    def request(self, situation: PromptContext) -> Request | None:
        """Ask about sentences that no rule covers, or about the rules if they failed; None if neither is needed."""
        knowledge, retry = situation.knowledge, situation.retry
        learned, domain = knowledge.learned, knowledge.domain
        result = self._read(learned, situation)
        asked = _unread(result, situation, learned)
        if not asked and retry.feedback is None and not retry.attempt:
            return None
        opinions = () if self._opinion else tuple(opinions_of(situation).values())
        found = sentences_with_rules(situation.seen.history, learned)
        ignored = (sentence for _, sentence, rules in found if all(rule.ignore for rule in rules))
        commands = dict.fromkeys(rule.command for rule in knowledge.actions.values() if rule.command)
        system = self._prompts.render(
            "textgames/learn",
            task=situation.task,
            outline=f"{outline(domain, (*knowledge.only_planned, *knowledge.unused))}\nCommands: {'; '.join(commands)}",
            directions=tuple(situation.reader.map.directions) if situation.reader.map else (),
            placeholder=situation.knowledge.placeholder,
            opinions=opinions,
        )
        user = self._prompts.render(
            "textgames/learn-turn",
            problem=str(result.problem),
            asked=asked[:_SHOWN],
            left=[*dict.fromkeys(ignored)][-_SHOWN:] if not asked else (),
            rules=[_shown(rule) for rule in _near(learned.rules, [sentence for _, sentence in asked])],
            feedback=brief_feedback(retry.feedback),
            opinions=() if asked else opinions,
            rejected=shortened(retry.rejected) if retry.rejected.strip() else "",
            attempt=retry.attempt,
            repeated=retry.repeated,
        )
        longest = THINKING + _LONGEST_ANSWER
        return Request("learn", (Message("system", system), Message("user", user)), situation, {}, longest=longest)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Read rules, leave out the faulty ones, and read the game with the others. An empty answer has no rules."""
        learned, faults = situation.knowledge.learned, list[str]()
        retry = situation.retry
        if answer.strip():
            try:
                rules, opinions, faults = parse_rules(answer)
            except EditSyntaxError as error:
                invalid = cut_off() if error.cut_off else Feedback("invalid answer", f"{error}.")
                return ProblemProposal(situation.knowledge, invalid)
            if self._checked:
                faulty = self._faulty(rules, learned, situation)
                faults += [f"{reason}; in the rule {_shown(rules[number])}" for number, reason in faulty.items()]
                rules = [rule for number, rule in enumerate(rules) if number not in faulty]
            learned = learned.with_rules(rules, self._fitting_opinions(opinions, situation))
        ignored = self._ignored_names(learned, situation) if not retry.attempt and answer.strip() else ()
        return self._judged(learned, faults, situation, None if answer.strip() else (), ignored)

    def _judged(
        self,
        learned: LearnedRules,
        faults: list[str],
        situation: PromptContext,
        asked: Collection[str] | None,
        ignored: Iterable[str] = (),
    ) -> ProblemProposal:
        """What the rules read from the game, with feedback if they have `faults` or read it wrongly.

        The model was `asked` about these sentences; None: about all without a rule.
        """
        result = self._read(learned, situation)
        left = [pair for pair in _unread(result, situation, learned) if asked is None or pair[1] in asked]
        if self._asks_again(situation.retry):
            found = "no rule covers", "a fact of `find` is missing in all rules for"
            faults += [f'{found[bool(matching(learned.rules, text, command))]} "{text}"' for command, text in left]
            faults += ignored
            faults += self._contradicted(result, situation)
            invariants = situation.knowledge.invariants
            known = {*one_way(situation.knowledge.problem, invariants)}
            faults += [message for message in one_way(result.problem, invariants) if message not in known]
        else:
            faults = []
            learned = learned.with_unread(sentence for _, sentence in left)
        read = self._opinion(result.problem, situation) if self._opinion else result.problem
        problem, removed = without_planned(read, situation.knowledge.only_planned)
        knowledge = replace(situation.knowledge.with_problem(problem), learned=learned)
        feedback = Feedback("reading rules", "the game cannot be read with these rules:", tuple(faults))
        return ProblemProposal(knowledge, feedback if faults else None, None, removed)

    def _asks_again(self, retry: Retry) -> bool:
        """Whether faulty rules and uncovered sentences go back to the model."""
        return self._checked and retry.attempt < min(_ASKED_AGAIN, (retry.attempts or _ASKED_AGAIN + 1) - 1)

    def _read(self, learned: LearnedRules, situation: PromptContext) -> ReadResult:
        """What the rules read from all observations of the episode, beginning with the problem at its start."""
        return self._reader.read(situation, self._start, learned.rules, learned.opinions)

    def _fitting_opinions(self, opinions: Iterable[Pattern], situation: PromptContext) -> Iterator[Pattern]:
        """The opinions that the setting takes as opinions, with names only."""
        wanted = opinions_of(situation)
        for opinion in opinions:
            arity = wanted.get(opinion.predicate, "").count("?")
            if opinion.predicate in wanted and len(opinion.terms) == arity and all(map(is_name, opinion.terms)):
                yield opinion

    def _faulty(self, rules: Sequence[ReadingRule], known: LearnedRules, situation: PromptContext) -> Mapping[int, str]:
        """The numbers of the faulty rules, in order, each with the reason."""
        domain, map_rule = situation.knowledge.domain, situation.reader.map
        kept = known.with_rules(rules).rules[: -len(rules)] if rules else known.rules
        has_placeholders = bool(situation.knowledge.placeholder)
        checker = RuleChecker(domain, situation.knowledge.problem, map_rule, has_placeholders)
        faulty = dict(checker.faults(rules, kept))
        good = [number for number in range(len(rules)) if number not in faulty]
        result = self._read(LearnedRules((*kept, *(rules[number] for number in good))), situation)
        for name, place in result.untyped.items():
            if place >= len(kept):
                types = ", ".join(leaf_types(domain))
                reason = f"the type of {name} is open: {self._declare}, one of {types}"
                faulty.setdefault(good[place - len(kept)], reason)
        return dict(sorted(faulty.items()))

    def _ignored_names(self, learned: LearnedRules, situation: PromptContext) -> Iterator[str]:
        """Messages about new sentences that are ignored although they name an object or a constant."""
        knowledge = situation.knowledge
        names = sorted(from_name(obj.name) for obj in (*knowledge.problem.objects, *knowledge.domain.constants))
        for _, sentence, rules in sentences_with_rules(situation.seen.news, learned):
            named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", sentence, re.IGNORECASE)]
            if named and rules and all(rule.ignore and rule not in knowledge.learned.rules for rule in rules):
                yield f'"{sentence}" is ignored, and names {named[0]}: write what it says, or ignore it again'

    def _contradicted(self, result: ReadResult, situation: PromptContext) -> Iterator[str]:
        """Messages about effects of the plan's steps that the game confirmed, and that the rules do not read."""
        seen, hidden = situation.seen, situation.knowledge.only_planned
        for index, fact, holds in result.unmet:
            if index >= len(seen.history) - len(seen.news) and fact.predicate not in hidden:
                exchange = seen.history[index]
                change = f"make {fact} {'true' if holds else 'false'}, as the plan does"
                yield f"after '{exchange.command}' the rules must {change}: \"{exchange.text[:LONGEST]}\""


_NO_RULES = 'the answer holds no rules: answer with {"rules": [{"sentence": …}, …]}'

_BARE_LIST = re.compile(r"[^\[{]*\[(?=\s*\{)")
"""The beginning of an answer that is a list of rules without the object around it."""


def _end_of_list(text: str, start: int) -> int:
    """The end of the JSON list that begins at `start`; the end of the text if it is not JSON."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return len(text)


def opinions_of(situation: PromptContext) -> Mapping[str, str]:
    """The predicates about which a model has opinions, with their parameters: no sentence of the game states them."""
    predicates = situation.knowledge.domain.predicates
    return {one.name: str(one) for one in predicates if one.name in situation.reader.opinions}


def parse_rules(answer: str) -> tuple[list[ReadingRule], list[Pattern], list[str]]:
    """The readable rules and opinions of an answer, and a message about each unreadable one.

    Raises `EditSyntaxError` for an answer without rules and opinions.
    """
    text = spoken(answer)
    bare = _BARE_LIST.match(text)
    if bare is not None:
        text = f'{{"rules": {text[bare.end() - 1 : _end_of_list(text, bare.end() - 1)]}}}'
    try:
        value = last_object(text, ("rules", "opinions", "sentence")).value
    except EditSyntaxError as error:
        if error.cut_off or "{" in text:
            raise
        raise EditSyntaxError(_NO_RULES) from None
    if "sentence" in value and "rules" not in value:
        value = {"rules": [value]}
    lists = [value.get(key, []) for key in ("rules", "opinions")]
    if not value.keys() & {"rules", "opinions"} or not all(isinstance(one, list) for one in lists):
        raise EditSyntaxError(_NO_RULES)
    rules, opinions, faults = list[ReadingRule](), list[Pattern](), list[str]()
    if max(map(len, lists)) > MOST_RULES:
        faults.append(f"the answer has more than {MOST_RULES} rules or opinions: only the first were read")
    for fact in lists[1][:MOST_RULES]:
        try:
            opinions.append(parse_pattern(str(fact)))
        except ValueError as error:
            faults.append(f"opinion {error}")
    for table in lists[0][:MOST_RULES]:
        try:
            rules.append(parse_rule(table))
        except ValueError as error:
            faults.append(f"{error}; in the rule {json.dumps(table, ensure_ascii=False)[:LONGEST]}")
    return rules, opinions, faults


def _shown(rule: ReadingRule) -> str:
    return json.dumps(rule.as_table(), ensure_ascii=False)


def sentences_with_rules(
    exchanges: Iterable[Exchange], learned: LearnedRules, task: str = ""
) -> Iterator[tuple[int, str, list[ReadingRule]]]:
    """The sentences of exchanges, each with the number of its exchange and its rules."""
    for index, exchange in enumerate(exchanges):
        for sentence in sentences_of(exchange, task):
            numbers = (number for number, _ in matching(learned.rules, sentence, exchange.command or ""))
            yield index, sentence, [learned.rules[number] for number in numbers]


def _unread(result: ReadResult, situation: PromptContext, learned: LearnedRules) -> tuple[tuple[str, str], ...]:
    """The sentences that were not read and that the model was not asked about, each once, after its command."""
    history = situation.seen.history
    pairs = {
        sentence: (history[index].command or "", sentence)
        for index, sentence in result.unread
        if sentence not in learned.unread
    }
    return tuple(pairs.values())


def uncovered(situation: PromptContext, learned: LearnedRules) -> Mapping[str, int]:
    """The sentences that no rule covers and that the model was not asked about, with the numbers of their exchanges."""
    found = sentences_with_rules(situation.seen.history, learned, situation.task)
    return {sentence: index for index, sentence, rules in found if not rules and sentence not in learned.unread}


def _near(rules: Sequence[ReadingRule], sentences: Sequence[str]) -> list[ReadingRule]:
    """The rules for similar sentences, or all rules without sentences, at most `_SHOWN`."""
    beginnings = {sentence.split(" ", 1)[0].lower() for sentence in sentences}
    near = [
        rule
        for rule in rules
        if not sentences or any(one.text.split(" ", 1)[0].lower() in beginnings for one in rule.templates)
    ]
    return near[-_SHOWN:]
