"""The formalizer of mode `learn-facts`: the model states the facts of single sentences, which are lifted to rules."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace

from pddlego.methods.textgames.formalize import Exchange, Observations, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.completing import as_exit, completed_facts
from pddlego.methods.textgames.formalize.learn import LearnRules, next_placeholder, sentences_with_rules, uncovered
from pddlego.methods.textgames.formalize.lifting import (
    AskedSentence,
    Stated,
    lift,
    name_spans,
    other_meaning,
    with_exception,
    with_rule,
)
from pddlego.methods.textgames.formalize.opinions import OpinionQuestion, open_opinions, opinion_schema
from pddlego.methods.textgames.formalize.question import ANSWER_SCHEMA, KEYS, narrow_schema, question_messages
from pddlego.methods.textgames.formalize.refuted import (
    is_same_exit,
    refused_directions,
    refuted_exits,
    states_exit,
    was_taken,
    without_meaning,
)
from pddlego.methods.textgames.options import LEARN_FACTS, MOST_SENTENCES
from pddlego.methods.textgames.reading.engine import matching, sentences_of, with_present_names
from pddlego.methods.textgames.reading.rules import LearnedRules, Pattern, ReadingRule
from pddlego.models import Request
from pddlego.models.base import THINKING
from pddlego.pddl import Atom, Edit, EditSyntaxError, Problem, SectionEdit, apply_edit, parse_edit
from pddlego.pddl.domain import Domain
from pddlego.pddl.nearly_json import last_object
from pddlego.util.answers import spoken

_MOST_AGAIN = 5
"""The maximum number of sentences that are asked about again if no feedback quotes a sentence."""

_LONGEST_ANSWER = 500
"""Tokens of an answer: about 20 facts."""


def parse_facts(answer: str, domain: Domain) -> Stated:
    """The facts of an answer, read like those of an edit. Raises `EditSyntaxError` if they cannot be read."""
    value = last_object(spoken(answer), (*KEYS, "objects", "init")).value
    value.pop("unused", None)  # as it was asked for in earlier versions
    edit = parse_edit(json.dumps(value if value.keys() & {"objects", "init"} else {"init": value}))
    typed = tuple(line for line in edit.init.add if " - " in line and "(" not in line)
    true = tuple(line for line in edit.init.add if line not in typed)
    true += tuple(new for _, new in edit.init.replace if new)
    false = (*edit.init.delete, *(old for old, _ in edit.init.replace))
    objects, empty = SectionEdit((*edit.objects.add, *typed)), Problem("", domain.name)
    reports = [apply_edit(empty, Edit(objects, SectionEdit(lines)), domain.constants) for lines in (true, false)]
    if refused := [entry for report in reports for entry in report.refused]:
        raise EditSyntaxError(str(refused[0]))
    add, delete = (tuple(report.problem.sorted_facts()) for report in reports)
    return Stated(add, delete, {one.name: one.type for one in reports[0].problem.sorted_objects()})


@dataclass(frozen=True)
class _Doubt:
    """A sentence of an exchange with the rules that read an exit from it, which the refused `command` refutes."""

    sentence: str
    index: int
    rules: list[ReadingRule]
    exits: tuple[Atom, ...]
    command: str

    def has(self, fact: Atom) -> bool:
        """Whether a fact is one of the exits, perhaps to a room with another placeholder."""
        return any(is_same_exit(fact, one) for one in self.exits)


_Waiting = tuple[OpinionQuestion | tuple[str, int], ...]


@dataclass(frozen=True)
class _Progress:
    """The rules after the answers about the sentences `asked`, and the next question, or None.

    `waiting` are the open opinions and the sentences after it, these with the numbers of their exchanges, and `later`
    those that follow if the rules stay as they were; `again` if the sentences have rules already. `refused` is the
    first answer to the question and its fault, if it is asked a second time. `doubt` is about the only sentence if its
    exit was refuted.
    """

    learned: LearnedRules
    waiting: _Waiting
    again: bool
    asked: tuple[str, ...] = ()
    question: AskedSentence | OpinionQuestion | None = None
    refused: tuple[str, str] | None = None
    doubt: _Doubt | None = None
    later: _Waiting = ()


class LearnFacts(LearnRules):
    """Asks for the facts of each sentence without a rule, one by one, and lifts them to rules."""

    _last: tuple[PromptContext, _Progress] | None = None
    _declare = 'declare it in "add", such as "NAME - TYPE"'

    def request(self, situation: PromptContext) -> Request | None:
        """Ask about the next sentence after the earlier answers to this question, or return None."""
        progress = self._after(situation, situation.answers)
        question = progress.question
        if question is None:
            return None
        longest = THINKING + _LONGEST_ANSWER
        if isinstance(question, OpinionQuestion):
            problem = self._read(replace(progress.learned, opinions=()), situation).problem  # they are stated anew
            seen, knowledge = Observations((), situation.seen.history), situation.knowledge.with_problem(problem)
            asked = replace(situation, knowledge=knowledge, task="", seen=seen)
            wide, messages = opinion_schema({"type": "string"}), question.messages(self._prompts)
            return Request(LEARN_FACTS, messages, asked, wide, question.schema, longest=longest)
        messages = question_messages(self._prompts, question, progress.refused)
        news = (Exchange(question.command or None, question.sentence),)
        seen, next_one = Observations(news, news), question.placeholder
        asked = replace(situation, knowledge=question.knowledge, task="", seen=seen, placeholder=next_one)
        return Request(LEARN_FACTS, messages, asked, ANSWER_SCHEMA, narrow_schema(question), longest=longest)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Lift the facts of all answers to this question, and read the game with the rules."""
        progress = self._after(situation, (*situation.answers, answer))
        return self._judged(progress.learned, [], situation, progress.asked)

    def _after(self, situation: PromptContext, answers: tuple[str, ...]) -> _Progress:
        """The progress after the answers to the questions of this attempt, in turn; the last one is remembered."""
        about = replace(situation, answers=answers)
        if self._last is None or self._last[0] != about:
            if answers:
                progress = self._with_answer(answers[-1], self._after(situation, answers[:-1]), situation)
            else:
                learned = situation.knowledge.learned
                new = tuple(uncovered(situation, learned).items())
                doubt = None if new or situation.retry.attempt else self._doubt(situation)
                again = (((doubt.sentence, doubt.index),), ()) if doubt else self._again(situation)
                progress = _Progress(learned, new or again[0], not new, doubt=doubt, later=() if new else again[1])
            self._last = about, progress if progress.refused else self._with_question(progress, situation)
        return self._last[1]

    def _with_question(self, progress: _Progress, situation: PromptContext) -> _Progress:
        """The progress with the question about the next waiting sentence that no rule of an earlier answer covers."""
        if not progress.waiting and progress.learned == situation.knowledge.learned:
            progress = replace(progress, waiting=progress.later, later=())
        rules = progress.learned.rules
        for place, item in enumerate(progress.waiting if len(progress.asked) < MOST_SENTENCES else (), 1):
            left = progress.waiting[place:]
            if isinstance(item, OpinionQuestion):
                return replace(progress, question=item, refused=None, waiting=left)
            sentence, index = item
            covering = (
                rules[number] for number, _ in matching(rules, sentence, situation.seen.history[index].command or "")
            )
            if progress.again or not any(any(rule.templates[0].literals) for rule in covering):  # not a bare name
                question = self._question(index, sentence, progress.learned, situation)
                refused = self._refused(question, index, progress, situation) if progress.again else None
                return replace(progress, question=question, refused=refused, waiting=left)
        return replace(progress, question=None, waiting=())

    def _again(self, situation: PromptContext) -> tuple[_Waiting, _Waiting]:
        """The open opinions and the sentences to ask about again: those that the feedback quotes or has the names of.

        Then some of those that are ignored, to ask about if the others changed nothing; others in each attempt.
        """
        retry = situation.retry
        if retry.feedback is None and not retry.attempt:
            return (), ()
        found = sentences_with_rules(situation.seen.history, situation.knowledge.learned, situation.task)
        given = situation.reader.given
        known = {
            sentence: (index, rules)
            for index, sentence, rules in found
            if not rules or any(rule not in given for rule in rules)
        }
        lines = retry.feedback.evidence if retry.feedback else ()
        again = [sentence for sentence in known if any(sentence in line for line in lines)]
        opinions, later = self._open_opinions(situation) if not again else (), list[str]()
        if not again and not opinions:
            places, quoted = situation.reader.map, re.findall(r"\(([^()]*)\)", " ".join(lines))
            names = {obj.name for obj in situation.knowledge.problem.objects}
            doubtful = names.intersection(re.findall(r"[\w-]+", " ".join(lines)))
            doubtful |= {*(places.directions if places else ())}.intersection(" ".join(quoted).split())
            doubtful |= {name for name in names if any(name.endswith(f"_{other}") for other in names)}  # "raw potato"
            about = [sentence for sentence in reversed(known) if name_spans(sentence, doubtful)]
            ignored = [sentence for sentence in reversed(known) if all(rule.ignore for rule in known[sentence][1])]
            left = [sentence for sentence in dict.fromkeys(ignored) if sentence not in about]
            start = (retry.attempt - 1) * _MOST_AGAIN % max(1, len(left))
            again, later = about[:_MOST_AGAIN], left[start : start + _MOST_AGAIN]
        first, then = (tuple((sentence, known[sentence][0]) for sentence in part) for part in (again, later))
        return (*opinions, *first), then

    def _open_opinions(self, situation: PromptContext) -> tuple[OpinionQuestion, ...]:
        problem = self._read(situation.knowledge.learned, situation).problem
        return () if self._opinion else tuple(open_opinions(problem, situation))

    def _question(self, index: int, sentence: str, learned: LearnedRules, situation: PromptContext) -> AskedSentence:
        """The question about a sentence of an exchange, with the problem as it was read before it."""
        exchange, task, places = situation.seen.history[index], situation.task, situation.reader.map
        seen = Observations((), (*situation.seen.history[:index], self._cut(exchange, sentence, task)))
        before = replace(situation, task=task if index else "", seen=seen)
        knowledge = situation.knowledge.with_problem(self._read(learned, before).problem)
        placeholder = next_placeholder(knowledge.problem, situation)
        effects = AskedSentence.effects
        if sentence == sentences_of(exchange, task)[0]:
            exits = [fact.args for fact in knowledge.problem.facts if places and fact.predicate == places.exit]
            effects = with_present_names(exchange, exits, knowledge).effects
        asked = AskedSentence(
            exchange.command or "",
            sentence,
            knowledge,
            placeholder,
            places,
            effects=effects,
            speaks_directions=self._prompts.has_own("facts-example"),
        )
        return replace(asked, refused=refused_directions(asked.here, situation))

    def _doubt(self, situation: PromptContext) -> _Doubt | None:
        """The last sentence from which an exit is read that the last command refutes, unless others like it hold."""
        learned, history, given = situation.knowledge.learned, situation.seen.history, situation.reader.given
        refuted = refuted_exits(self._read(learned, situation).problem, situation)
        found = [*sentences_with_rules(history, learned, situation.task)] if refuted else []
        own = dict[tuple[int, str], list[ReadingRule]]()
        for index, sentence, rules in found:
            stating = [rule for rule in rules if rule not in given and states_exit(rule, situation)]
            own |= {(index, sentence): stating} if stating else {}
        exits = {said: self._exits(*said, situation) for said in own}
        taken = [rule for said in own if any(was_taken(one, situation) for one in exits[said]) for rule in own[said]]
        for (index, sentence), rules in reversed(own.items()):
            wrong = [one for one in exits[index, sentence] if any(is_same_exit(one, other) for other in refuted)]
            if wrong and not any(rule in taken for rule in rules):
                return _Doubt(sentence, index, rules, tuple(wrong), history[-1].command or "")
        return None

    def _exits(self, index: int, sentence: str, situation: PromptContext) -> list[Atom]:
        """The exits that the rules read in a sentence of an exchange."""
        places, learned = situation.reader.map, situation.knowledge.learned
        read = self._meaning(self._question(index, sentence, learned, situation), index, learned, situation)
        return [fact for fact in read.add if places and fact.predicate == places.exit]

    def _refused(
        self, question: AskedSentence, index: int, progress: _Progress, situation: PromptContext
    ) -> tuple[str, str] | None:
        """What the rules read in a sentence that is asked about again, as an answer, and the reason to doubt it."""
        read = self._meaning(question, index, progress.learned, situation)
        answer = {"add": sorted(map(str, read.add)), "delete": sorted(map(str, read.delete))}
        if doubt := progress.doubt:
            wrong = " ".join(map(str, doubt.exits))
            return json.dumps(answer), f"the game refused '{doubt.command}': leave out {wrong}"
        evidence = situation.retry.feedback.evidence if situation.retry.feedback else ()
        names = {name for fact in (*read.add, *read.delete) for name in fact.args} - {question.here}
        about = (line for line in evidence if question.sentence in line or name_spans(line.replace("_", " "), names))
        if (reason := next(about, None)) is None:
            return None  # without a reason, a small model changes right answers, too
        return json.dumps(answer), reason

    def _meaning(self, question: AskedSentence, index: int, learned: LearnedRules, situation: PromptContext) -> Stated:
        """What the rules read in the sentence of a question about an exchange."""
        history, before = situation.seen.history, question.knowledge.problem.facts
        exchange = Exchange(question.command or None, question.sentence)
        seen = Observations(
            (), (*history[:index], self._cut(history[index], question.sentence, situation.task), exchange)
        )
        after = self._read(learned, replace(situation, task="", seen=seen)).problem.facts
        return completed_facts(Stated(tuple(after - before), tuple(before - after)), question)

    @staticmethod
    def _cut(exchange: Exchange, sentence: str, task: str) -> Exchange:
        """The exchange up to a sentence."""
        sentences = sentences_of(exchange, task)
        return Exchange(exchange.command, "\n".join(sentences[: sentences.index(sentence)]))

    def _with_answer(self, answer: str, progress: _Progress, situation: PromptContext) -> _Progress:
        """The progress after an answer: with a rule, or with its fault if the question was not asked a second time."""
        question, learned = progress.question, progress.learned
        if question is None:
            return progress
        if isinstance(question, OpinionQuestion):
            signed = [Pattern(fact.predicate, fact.args, "!") for fact in question.refuted]
            with suppress(EditSyntaxError):  # it is asked again if no plan can do without it
                if (chosen := question.chosen(answer)) is not None:
                    signed.append(Pattern(chosen.predicate, chosen.args))
            return replace(progress, learned=learned.with_rules((), signed))
        is_first = progress.refused is None
        if doubt := progress.doubt:  # if the answer is the same, sentences of this form are ignored
            learned = without_meaning(learned, doubt.rules, question.sentence)
        try:
            stated = parse_facts(answer, question.knowledge.domain)
            is_same = doubt is not None and any(map(doubt.has, completed_facts(stated, question).add))
            learned = learned if is_same else self._learned(stated, question, learned, situation, is_first)
        except ValueError as error:
            if is_first and self._checked:
                return replace(progress, refused=(answer, str(error)))
            learned = learned.with_unread([question.sentence])
        return replace(progress, learned=learned, asked=(*progress.asked, question.sentence), refused=None)

    def _learned(
        self, stated: Stated, question: AskedSentence, learned: LearnedRules, situation: PromptContext, is_first: bool
    ) -> LearnedRules:
        """The rules with that of the stated facts. Raises `ValueError` if the facts cannot be lifted.

        Those of the first answer may also not differ from what a sentence of the same form means.
        """
        read = completed_facts(stated, question) if self._checked else stated
        if self._checked and is_first and (exit_ := as_exit(read if read.add else stated, question)):
            raise ValueError(f"'{exit_.args[-1]}' is a direction: if a way leads there, answer {exit_}")
        rule, terms = lift(read if read.add or read.delete else stated, question)
        if not (read.add or read.delete) and (stated.add or stated.delete):
            raise ValueError("the sentence does not say this: answer with empty lists if it says nothing else")
        if rule.ignore and (excepted := with_exception(learned, question)):
            return excepted
        for reason in self._faulty([rule], learned, situation).values() if self._checked else ():
            for name, term in terms.items():
                reason = reason.replace(term, name) if term[:1] in ("{", "?") else reason
            raise ValueError(reason)
        if self._checked and is_first and (doubt := other_meaning(rule, terms, learned.rules)):
            raise ValueError(doubt)
        return with_rule(learned, rule)
