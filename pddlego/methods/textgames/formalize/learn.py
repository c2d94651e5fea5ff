"""The formalizer of edits that teach: beside changes of the problem, the model writes rules that read the game.

The problem is what the rules read from all observations since the model's last changes. The model is asked only about
sentences that no rule covers, and again if its rules lead to no plan, or to other facts than the plan expected. Mode
`learn` asks for rules; mode `edit` asks for changes, and takes rules beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from pddlego.episode.loop import Retry
from pddlego.methods.textgames.formalize import Exchange, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.opinions import open_opinions, opinions_of
from pddlego.methods.textgames.formalize.problems import (
    PddlEdit,
    brief_feedback,
    repaired_json,
    rule_variables,
    without_planned,
)
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.memory import UNREACHABLE, Placeholders
from pddlego.methods.textgames.reading.checks import RuleChecker
from pddlego.methods.textgames.reading.engine import HistoryReader, ReadResult, matching, sentences_of
from pddlego.methods.textgames.reading.rules import (
    MOST_ENTRIES,
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
from pddlego.models.base import INVALID, THINKING, Feedback, cut_off, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import EditSyntaxError, Problem, from_name
from pddlego.pddl.conditions import atoms_of, changed_atoms
from pddlego.pddl.domain import outline
from pddlego.pddl.edit import SECTION_KEYS
from pddlego.pddl.invariants import one_way
from pddlego.pddl.names import is_name
from pddlego.pddl.nearly_json import last_object
from pddlego.util.answers import spoken

_ASKED_AGAIN = 2
"""How often faulty rules and uncovered sentences go back to the model; then the good rules are used as they are."""

_SHOWN = 40
"""The maximum number of sentences and of rules in a request."""

_LONGEST_ANSWER = 3_000
"""Tokens of an answer: about 40 rules."""

_MOST_WAITING = 8
"""The number of sentences that wait for a request in mode `edit`; then they are asked about."""

READING_RULES = "reading rules"
"""The category of feedback on rules that have a fault or leave sentences out."""

Opinion = Callable[[Problem, PromptContext], Problem]
"""Adds to a problem what no sentence states, such as where a thing belongs."""


@dataclass(frozen=True)
class Lesson:
    """The parts of an answer: rules, opinions, and changes of the problem as JSON, empty without any.

    `faults` are messages about what of the rules and opinions cannot be read, and `repairs` those of the JSON.
    """

    rules: tuple[ReadingRule, ...] = ()
    opinions: tuple[Pattern, ...] = ()
    changes: str = ""
    faults: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


class LearnRules:
    """Asks for reading rules, or for edits beside which there may be rules.

    `start` is the knowledge at the beginning of an episode, and `edit` reads changes of the problem. `checked` checks
    the rules. With `opinion`, the model is not asked for opinions.
    """

    _declare = "declare it with `objects`, such as {slot} - TYPE"

    def __init__(
        self,
        prompts: Prompts,
        start: Knowledge,
        edit: PddlEdit,
        checked: bool = True,
        opinion: Opinion | None = None,
        asks_rules: bool = True,
    ) -> None:
        self._prompts, self._start, self._edit, self._checked = prompts, start, edit, checked
        self._opinion, self._asks_rules = opinion, asks_rules
        self._reader = HistoryReader()

    def request(self, situation: PromptContext) -> Request | None:
        """Ask about sentences that no rule covers, or again if an answer failed; None if neither is needed."""
        learned, retry = situation.knowledge.learned, situation.retry
        if not (self._asks_rules or learned.rules):
            return self._edit.request(situation)
        result = self._read(learned, situation)
        asked = _unread(result, situation, learned)
        may_wait = not self._asks_rules and len(asked) < _MOST_WAITING and not [*_urgent(result, situation)]
        if (not asked or may_wait) and retry.feedback is None and not retry.attempt:
            return None
        if self._asks_rules:
            return self._rules_request(situation, result.problem, asked)
        return self._edit.request(self._left_to_read(situation, learned))

    def _left_to_read(self, situation: PromptContext, learned: LearnedRules) -> PromptContext:
        """The situation after what the rules read. In mode `edit` they stop at an urgent sentence that none covers.

        The other sentences of its observation are read, unless they may be read wrongly: an effect of the step would be
        missing, or the effects of the command are unknown. Perhaps the sentence says where the agent is.
        """
        seen, sentences, result = situation.seen, tuple[str, ...](), self._read(learned, situation)
        unread = [(index, sentence) for index, sentence in result.unread if sentence not in learned.unread]
        if unread and not self._asks_rules:
            history, hidden = seen.history, situation.knowledge.only_planned
            first = end = len(history)
            stop = next(_urgent(result, situation), None)
            if stop is None:
                first -= len(seen.news)
            else:
                missing = any(index == stop and fact.predicate not in hidden for index, fact, _ in result.unmet)
                is_read = not missing and (history[stop].command is None or any(history[stop].effects))
                first, end = stop, stop + 1 if is_read else stop
            result = self._read(learned, replace(situation, seen=replace(seen, history=history[:end])))
            left = (exchange for exchange in history[end:] if not exchange.refused)
            places = {sentence: index for index, sentence in reversed(unread)}  # where each was said first
            sentences = tuple(
                _with_opening(sentence, history[places[sentence]]) if places[sentence] < first else sentence
                for sentence in dict.fromkeys(sentence for _, sentence in unread)
                if places[sentence] < end
            )
            sentences += tuple(sentence for exchange in left for sentence in sentences_of(exchange))
            seen = replace(seen, news=history[first:])
        knowledge, name = situation.knowledge.with_problem(result.problem), next_placeholder(result.problem, situation)
        return replace(situation, knowledge=knowledge, seen=seen, placeholder=name, unread=sentences)

    def _rules_request(self, situation: PromptContext, problem: Problem, asked: Sequence[tuple[str, str]]) -> Request:
        """The request for rules for the sentences that are `asked` about, after their commands, or for better ones.

        If a plan lacks opinions only, the rules are not to blame, and the problem is shown alone.
        """
        knowledge, retry, learned = situation.knowledge, situation.retry, situation.knowledge.learned
        opinions = () if self._opinion else tuple(opinions_of(situation).values())
        lacks_opinions = retry.failed_with(UNREACHABLE) and opinions and any(open_opinions(problem, situation))
        shown = learned if asked or not lacks_opinions else LearnedRules()
        own = [rule for rule in shown.rules if rule not in situation.reader.given]
        found = sentences_with_rules(situation.seen.history, shown) if shown.rules and not asked else ()
        ignored = (sentence for _, sentence, rules in found if all(rule.ignore for rule in rules))
        commands = dict.fromkeys(rule.command for rule in knowledge.actions.values() if rule.command)
        in_short = outline(knowledge.domain, (*knowledge.only_planned, *knowledge.unused))
        system = self._prompts.render(
            "textgames/learn",
            task=situation.task,
            outline=f"{in_short}\nCommands: {'; '.join(commands)}",
            opinions=opinions,
            **rule_variables(situation),
        )
        user = self._prompts.render(
            "textgames/learn-turn",
            problem=str(problem),
            asked=asked[:_SHOWN],
            left=[*dict.fromkeys(ignored)][-_SHOWN:],
            rules=[_shown(rule) for rule in _near(own, [sentence for _, sentence in asked])],
            feedback=brief_feedback(retry.feedback),
            notes=situation.notes,
            place=situation.seen.place,
            opinions=() if asked else opinions,
            rejected=shortened(retry.rejected) if retry.rejected.strip() else "",
            attempt=retry.attempt,
            repeated=retry.repeated,
        )
        longest = THINKING + _LONGEST_ANSWER
        return Request("learn", (Message("system", system), Message("user", user)), situation, {}, longest=longest)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Read the rules and the changes of an answer. An empty one, or none, has neither; known rules read the game.

        Faulty rules are left out. Without changes, they are the reason to reject the answer; the changes hold all the
        same, and the faults are remarks.
        """
        learned = situation.knowledge.learned
        reads = self._asks_rules or bool(learned.rules)
        if reads and not answer.strip() and (self._asks_rules or self.request(situation) is None):
            return self._judged(learned, [], situation, ())
        before, lesson = self._left_to_read(situation, learned) if reads else situation, Lesson()
        try:
            lesson = parse_lesson(answer, self._asks_rules)
        except EditSyntaxError as error:
            if self._asks_rules:
                invalid = cut_off() if error.cut_off else Feedback(INVALID, f"{error}.")
                return ProblemProposal(situation.knowledge, invalid)
        if not (self._asks_rules or lesson.rules or lesson.opinions or lesson.faults):
            return self._edit.read(answer, before)
        learned, faults = self._taught(lesson, situation)
        left_out = (one for one in lesson.opinions if not _is_asked(one, situation))
        remarks = [f"the opinion {one} is left out: only those of the request are asked for" for one in left_out]
        repairs = tuple(map(repaired_json, lesson.repairs))
        if not lesson.changes:
            if not self._asks_rules:  # good rules hold, as beside changes
                faults, remarks = [], [*faults, *remarks]
            proposal = self._judged(learned, faults, situation, None, remarks)
            return replace(proposal, defects=proposal.defects + repairs)
        if self._asks_rules:
            before = self._left_to_read(situation, learned)
        proposal = self._edit.read(lesson.changes, before)
        if not self._asks_rules:  # now names are known that rules must not have
            learned, faults = self._taught(lesson, replace(situation, knowledge=proposal.knowledge))
        elif faults:
            unread = _unread(self._read(learned, situation), situation, learned)
            remarks += [f'"{sentence}" was not read: change the problem if it says anything' for _, sentence in unread]
        knowledge = replace(proposal.knowledge, learned=learned)
        return replace(proposal, knowledge=knowledge, defects=proposal.defects + repairs, remarks=(*faults, *remarks))

    def _taught(self, lesson: Lesson, situation: PromptContext) -> tuple[LearnedRules, list[str]]:
        """The known rules with those of an answer that have no fault, and the faults of the others."""
        known, rules, faults = situation.knowledge.learned, list(lesson.rules), list(lesson.faults)
        if self._checked:
            faulty = self._faulty(rules, known, situation)
            if any(len(rules[number].sentence) > 1 for number in faulty):  # only some of the sentences may have a fault
                parts = (rule.parts if number in faulty else [rule] for number, rule in enumerate(rules))
                rules = [*chain.from_iterable(parts)]
                faulty = self._faulty(rules, known, situation)
            faults += [f"{reason}; in the rule {_shown(rules[number])}" for number, reason in faulty.items()]
            rules = [rule for number, rule in enumerate(rules) if number not in faulty]
        opinions = (opinion for opinion in lesson.opinions if _is_asked(opinion, situation))
        learned = known.with_rules(rules, opinions)
        if learned.rules and not self._asks_rules:  # requests for changes show the task where it says what to change
            task = ((one, matching(learned.rules, one, "")) for one in sentences_of(Exchange(None, ""), situation.task))
            learned = learned.with_unread(sentence for sentence, covered in task if not covered)
        return learned, faults

    def _judged(
        self,
        learned: LearnedRules,
        faults: list[str],
        situation: PromptContext,
        asked: Collection[str] | None,
        remarks: Sequence[str] = (),
    ) -> ProblemProposal:
        """What the rules read from the game, with feedback if they have `faults` or read it wrongly.

        The model was `asked` about these sentences; None: about all without a rule. Faults of the last permitted answer
        are remarks, as what is no reason to reject an answer.
        """
        result = self._read(learned, situation)
        left = [pair for pair in _unread(result, situation, learned) if asked is None or pair[1] in asked]
        if self._checked:
            found, faults = ("no rule covers", "a fact of `find` is missing in all rules for"), [*faults]
            faults += [f'{found[bool(matching(learned.rules, text, command))]} "{text}"' for command, text in left]
            faults += self._ignored_names(learned, situation) if asked is None and not situation.retry.attempt else ()
            faults += self._contradicted(result, situation)
            invariants = situation.knowledge.invariants
            known = {*one_way(situation.knowledge.problem, invariants)}
            faults += [str(way) for way in one_way(result.problem, invariants) if way not in known]
        again = self._asks_again(situation.retry)
        if not again:
            learned = learned.with_unread(sentence for _, sentence in left)
        read = self._opinion(result.problem, situation) if self._opinion else result.problem
        problem, removed = without_planned(read, situation.knowledge.only_planned)
        knowledge = replace(situation.knowledge.with_problem(problem), learned=learned)
        lines = (*faults, *remarks)
        feedback = Feedback(READING_RULES, "the game cannot be read with these rules:", lines)
        rejected = feedback if faults and again else None
        return ProblemProposal(knowledge, rejected, None, removed, by_rules=True, remarks=() if rejected else lines)

    def _asks_again(self, retry: Retry) -> bool:
        """Whether faulty rules and uncovered sentences go back to the model."""
        return self._checked and retry.attempt < min(_ASKED_AGAIN, (retry.attempts or _ASKED_AGAIN + 1) - 1)

    def _read(self, learned: LearnedRules, situation: PromptContext) -> ReadResult:
        """What the rules read from the observations since the last changes of the model, or else since the start."""
        base = situation.knowledge.base
        start, first = (self._start.with_problem(base.problem), base.exchanges) if base else (self._start, 0)
        return self._reader.read(situation, start, learned.rules, learned.opinions, first)

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
                kind = next(obj.type for obj in result.problem.objects if obj.name == name)
                types = ", ".join(one for one in leaf_types(domain) if domain.is_a(one, kind))
                reason = f"the type of {name} is open: {self._declare}, one of {types}"
                faulty.setdefault(good[place - len(kept)], reason)
        return dict(sorted(faulty.items()))

    def _ignored_names(self, learned: LearnedRules, situation: PromptContext) -> Iterator[str]:
        """Messages about new sentences that are ignored although they name an object, or a constant that matters."""
        known, names = situation.knowledge.learned.rules, _known_names(situation)
        for _, sentence, rules in sentences_with_rules(situation.seen.news, learned):
            named = _first_name(sentence, names)
            if named and rules and all(rule.ignore and rule not in known for rule in rules):
                yield f'"{sentence}" is ignored, and names {named}: write what it says, or ignore it again'

    def _contradicted(self, result: ReadResult, situation: PromptContext) -> Iterator[str]:
        """Messages about effects of the plan's steps that the game confirmed, and that the rules do not read."""
        seen, hidden = situation.seen, situation.knowledge.only_planned
        for index, fact, holds in result.unmet:
            if index >= len(seen.history) - len(seen.news) and fact.predicate not in hidden:
                exchange = seen.history[index]
                change = f"make {fact} {'true' if holds else 'false'}, as the plan does"
                yield f"after '{exchange.command}' the rules must {change}: \"{exchange.text[:LONGEST]}\""


_NO_RULES = 'the answer holds no rules: answer with {"rules": [{"sentence": …}, …]}'

_RULE_KEYS, _CHANGE_KEYS = ("rules", "opinions"), ("objects", "init", "look")
"""The keys of an answer for rules, and those for changes of the problem."""

_BARE_LIST = re.compile(r"[^\[{]*\[(?=\s*\{)")
"""The beginning of an answer that is a list of rules without the object around it."""


def _end_of_list(text: str, start: int) -> int:
    """The end of the JSON list that begins at `start`; the end of the text if it is not JSON."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return len(text)


def parse_lesson(answer: str, asks_rules: bool = True) -> Lesson:
    """The rules, the opinions and the changes of an answer, and a message about each unreadable rule or opinion.

    If the request `asks_rules`, they may be the whole answer, and empty lists of changes do not count. Raises
    `EditSyntaxError` for an answer without any of them.
    """
    text = spoken(answer)
    bare = _BARE_LIST.match(text) if asks_rules else None
    if bare is not None:
        text = f'{{"rules": {text[bare.end() - 1 : _end_of_list(text, bare.end() - 1)]}}}'
    try:
        found = last_object(text, (*_RULE_KEYS, *_CHANGE_KEYS, "sentence"), SECTION_KEYS)
    except EditSyntaxError as error:
        if error.cut_off or "{" in text:
            raise
        raise EditSyntaxError(_NO_RULES) from None
    value = found.value
    if asks_rules and "sentence" in value and "rules" not in value:
        value = {"rules": [value]}
    has_rules, lists = bool(value.keys() & {*_RULE_KEYS}), [value.pop(key, []) for key in _RULE_KEYS]
    parts = [value[key] for key in _CHANGE_KEYS if key in value]
    has_changes = any(any(part.values()) if isinstance(part, dict) else part for part in parts) if asks_rules else parts
    if not (has_rules or has_changes) or not all(isinstance(one, list) for one in lists):
        raise EditSyntaxError(_NO_RULES)
    rules, opinions, faults = list[ReadingRule](), list[Pattern](), list[str]()
    if max(map(len, lists)) > MOST_RULES:
        faults.append(f"the answer has more than {MOST_RULES} rules or opinions: only the first were read")
    for fact in lists[1][:MOST_RULES]:
        try:
            opinions.append(parse_pattern(str(fact)))
        except ValueError as error:
            faults.append(f"opinion {error}")
    for table in islice(chain.from_iterable(map(_in_parts, lists[0])), MOST_RULES):
        try:
            rules.append(parse_rule(table))
        except ValueError as error:
            faults.append(f"{error}; in the rule {json.dumps(table, ensure_ascii=False)[:LONGEST]}")
    changes = json.dumps(value) if has_changes else ""
    return Lesson(tuple(rules), tuple(opinions), changes, tuple(faults), found.repairs)


def _in_parts(table: object) -> Iterator[object]:
    """A rule of an answer; one with more sentences than a rule may have as several rules."""
    sentences = table.get("sentence") if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(sentences, list) or len(sentences) <= MOST_ENTRIES:
        yield table
        return
    for start in range(0, len(sentences), MOST_ENTRIES):
        yield table | {"sentence": sentences[start : start + MOST_ENTRIES]}


def _shown(rule: ReadingRule) -> str:
    return json.dumps(rule.as_table(), ensure_ascii=False)


def sentences_with_rules(
    exchanges: Iterable[Exchange], learned: LearnedRules, task: str = ""
) -> Iterator[tuple[int, str, list[ReadingRule]]]:
    """The sentences of exchanges, each with the number of its exchange and its rules."""
    for index, exchange in enumerate(exchanges):
        for sentence in sentences_of(exchange, task) if not exchange.refused else ():
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


def _urgent(result: ReadResult, situation: PromptContext) -> Iterator[int]:
    """The numbers of the new exchanges with a sentence that no rule reads, and that cannot wait for a later request.

    A sentence can wait if the agent went to a place, the rules read that, and the sentence names nothing known before,
    or waits already.
    """
    knowledge, seen, places = situation.knowledge, situation.seen, situation.reader.map
    contradicted = {index for index, fact, _ in result.unmet if fact.predicate not in knowledge.only_planned}
    first, learned = len(seen.history) - len(seen.news), knowledge.learned
    names = _known_names(situation)
    known = learned.unread.union(sentence for index, sentence in result.unread if index < first)
    for index, sentence in result.unread:
        exchange = seen.history[index]
        if sentence in known:
            continue
        went = places is not None and any(fact.predicate == places.here for fact in exchange.effects[0])
        is_matched = bool(matching(learned.rules, sentence, exchange.command or ""))
        if not went or index in contradicted or is_matched or _first_name(sentence, names):
            yield index


def _with_opening(sentence: str, exchange: Exchange) -> str:
    """A sentence that had to wait, with the first one of its observation, which says the place."""
    return f'{sentence} (earlier, with "{sentences_of(exchange)[0]}")'


def _known_names(situation: PromptContext) -> list[str]:
    """The names of the known objects and of the constants that matter, as sentences have them."""
    objects = (obj.name for obj in situation.knowledge.problem.objects)
    return sorted(map(from_name, (*objects, *_constants_that_matter(situation))))


def _first_name(sentence: str, names: Sequence[str]) -> str:
    """The first of the names that a sentence has; empty without one."""
    found = (name for name in names if re.search(rf"\b{re.escape(name)}\b", sentence, re.IGNORECASE))
    return next(found, "")


def uncovered(situation: PromptContext, learned: LearnedRules) -> Mapping[str, int]:
    """The sentences that no rule covers and that the model was not asked about, with the numbers of their exchanges."""
    found = sentences_with_rules(situation.seen.history, learned, situation.task)
    return {sentence: index for index, sentence, rules in found if not rules and sentence not in learned.unread}


def _is_asked(opinion: Pattern, situation: PromptContext) -> bool:
    """Whether the setting takes a fact as an opinion, with names only."""
    wanted = opinions_of(situation).get(opinion.predicate)
    return wanted is not None and len(opinion.terms) == wanted.count("?") and all(map(is_name, opinion.terms))


def _constants_that_matter(situation: PromptContext) -> Iterator[str]:
    """The constants that are places or directions, and those that a goal or an action needs and no action makes."""
    domain, places = situation.knowledge.domain, situation.reader.map
    needed = [*(action.precondition for action in domain.actions), *(rule.condition for rule in domain.derived)]
    needed += (rung.goal for rung in situation.knowledge.ladder)
    sought = {arg for formula in needed for atom in atoms_of(formula) for arg in atom.args}
    sought -= {arg for action in domain.actions for atom, _ in changed_atoms(action.effect) for arg in atom.args}
    for constant in domain.constants:
        is_place = places is not None and domain.is_a(constant.type, places.room)
        if is_place or constant.name in sought or (places and constant.name in places.directions):
            yield constant.name


def next_placeholder(problem: Problem, situation: PromptContext) -> str:
    """The first placeholder that neither the episode nor the problem has used; empty for a setting without any."""
    placeholders = Placeholders(situation.knowledge.placeholder)
    placeholders.used(problem)
    number = re.compile(r"\d+\Z")
    return max(placeholders.next, situation.placeholder, key=lambda name: int((number.findall(name) or [0])[0]))


def _near(rules: Sequence[ReadingRule], sentences: Sequence[str]) -> list[ReadingRule]:
    """The rules for similar sentences, or all rules without sentences, at most `_SHOWN`."""
    beginnings = {sentence.split(" ", 1)[0].lower() for sentence in sentences}
    near = [
        rule
        for rule in rules
        if not sentences or any(one.text.split(" ", 1)[0].lower() in beginnings for one in rule.templates)
    ]
    return near[-_SHOWN:]
