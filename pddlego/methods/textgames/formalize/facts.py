"""The formalizer of mode `learn-facts`: the model states the facts of single sentences, which are lifted to rules."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from pddlego.methods.textgames.formalize import Exchange, Observations, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.learn import LearnRules, opinions_of, sentences_with_rules, uncovered
from pddlego.methods.textgames.formalize.lifting import (
    AskedSentence,
    Stated,
    lift,
    name_spans,
    with_exception,
    with_rule,
)
from pddlego.methods.textgames.formalize.problems import brief_feedback
from pddlego.methods.textgames.options import LEARN_FACTS
from pddlego.methods.textgames.reading.engine import matching, sentences_of
from pddlego.methods.textgames.reading.rules import LearnedRules, Pattern
from pddlego.models import Message, Request
from pddlego.models.base import THINKING
from pddlego.pddl import EDIT_SCHEMA, Edit, EditSyntaxError, Problem, SectionEdit, apply_edit, parse_edit
from pddlego.pddl.domain import Domain, outline
from pddlego.pddl.nearly_json import last_object
from pddlego.util.answers import spoken

_MOST_AGAIN = 5
"""The maximum number of sentences that are asked about again if no feedback quotes a sentence."""

_LONGEST_ANSWER = 500
"""Tokens of an answer: about 20 facts."""

_KEYS = ("add", "delete", "unused")
FACTS_SCHEMA = {
    "type": "object",
    "properties": dict.fromkeys(_KEYS, EDIT_SCHEMA["$defs"]["part"]["properties"]["add"]),
    "required": list(_KEYS),
    "additionalProperties": False,
}
"""The JSON schema of an answer: the lists of a section of an edit, and the names that no fact needs."""


def parse_facts(answer: str, domain: Domain) -> Stated:
    """The facts of an answer, read like those of an edit. Raises `EditSyntaxError` if they cannot be read."""
    value = last_object(spoken(answer), (*_KEYS, "objects", "init")).value
    unused = value.pop("unused", None) or []
    if not isinstance(unused, list):
        raise EditSyntaxError('"unused" is a list of names, such as ["table"]')
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
    types = {one.name: one.type for one in reports[0].problem.sorted_objects()}
    return Stated(add, delete, types, frozenset(str(name).lower() for name in unused))


@dataclass(frozen=True)
class _Progress:
    """The rules and the faults after the answers about the sentences `asked`, and the next question, or None.

    `waiting` are the sentences after it with the numbers of their exchanges; `again` if they have rules already.
    """

    learned: LearnedRules
    waiting: tuple[tuple[str, int], ...]
    again: bool
    faults: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    question: AskedSentence | None = None


class LearnFacts(LearnRules):
    """Asks for the facts of each sentence without a rule, one by one, and lifts them to rules."""

    _last: tuple[PromptContext, _Progress] | None = None
    _declare = 'declare it in "add", such as "NAME - TYPE"'

    def request(self, situation: PromptContext) -> Request | None:
        """Ask about the next sentence after the earlier answers to this question, or return None."""
        question = self._after(situation, situation.answers).question
        if question is None:
            return None
        knowledge, feedback = question.knowledge, brief_feedback(situation.retry.feedback)
        system = self._prompts.render(
            "textgames/learn-facts",
            outline=outline(knowledge.domain, (*knowledge.only_planned, *knowledge.unused)),
            placeholder=knowledge.placeholder,
            examples=self._prompts.render("facts-example"),
        )
        lines = feedback.evidence if feedback else ()
        user = self._prompts.render(
            "textgames/learn-facts-turn",
            question=question,
            opinions=tuple(opinions_of(situation).values()),
            problem=str(knowledge.problem),
            faults=[line for line in lines if question.sentence in line and not line.startswith("no rule covers")],
        )
        news = (Exchange(question.command or None, question.sentence),) if question.sentence else ()
        seen, next_one = Observations(news, news or situation.seen.history), question.placeholder
        asked = replace(situation, knowledge=knowledge, task="", seen=seen, placeholder=next_one)
        messages = (Message("system", system), Message("user", user))
        return Request(LEARN_FACTS, messages, asked, FACTS_SCHEMA, longest=THINKING + _LONGEST_ANSWER)

    def read(self, answer: str, situation: PromptContext) -> ProblemProposal:
        """Lift the facts of all answers to this question, and read the game with the rules."""
        progress = self._after(situation, (*situation.answers, answer))
        return self._judged(progress.learned, [*progress.faults], situation, progress.asked)

    def _after(self, situation: PromptContext, answers: tuple[str, ...]) -> _Progress:
        """The progress after the answers to the questions of this attempt, in turn; the last one is remembered."""
        about = replace(situation, answers=answers)
        if self._last is None or self._last[0] != about:
            if answers:
                progress = self._after(situation, answers[:-1])
                if (question := progress.question) is not None:
                    learned, fault = self._with_answer(answers[-1], question, progress.learned, situation)
                    faults = (*progress.faults, f'{fault}: "{question.sentence}"') if fault else progress.faults
                    asked = (*progress.asked, question.sentence)
                    progress = replace(progress, learned=learned, faults=faults, asked=asked)
            else:
                learned = situation.knowledge.learned
                new = tuple(uncovered(situation, learned).items())
                progress = _Progress(learned, new or self._again(situation), not new)
            self._last = about, self._with_question(progress, situation)
        return self._last[1]

    def _with_question(self, progress: _Progress, situation: PromptContext) -> _Progress:
        """The progress with the question about the next waiting sentence that no rule of an earlier answer covers."""
        rules = progress.learned.rules
        for place, (sentence, index) in enumerate(progress.waiting):
            command = situation.seen.history[index].command or ""
            covering = (rules[number] for number, _ in matching(rules, sentence, command))
            if progress.again or not any(any(rule.templates[0].literals) for rule in covering):  # not a bare name
                question = self._question(index, sentence, progress.learned, situation)
                return replace(progress, question=question, waiting=progress.waiting[place + 1 :])
        return replace(progress, question=None, waiting=())

    def _again(self, situation: PromptContext) -> tuple[tuple[str, int], ...]:
        """The sentences to ask about again: those that the feedback quotes, or else doubtful and ignored ones.

        An empty sentence before them asks for opinions.
        """
        retry = situation.retry
        if retry.feedback is None and not retry.attempt:
            return ()
        found = sentences_with_rules(situation.seen.history, situation.knowledge.learned, situation.task)
        known = {sentence: (index, rules) for index, sentence, rules in found}
        lines = retry.feedback.evidence if retry.feedback else ()
        again = [sentence for sentence in known if any(sentence in line for line in lines)]
        opinions = (("", 0),) if opinions_of(situation) and not self._opinion and not again else ()
        if not again and (retry.repeated or not opinions):
            names = {obj.name for obj in situation.knowledge.problem.objects}
            doubtful = names.intersection(re.findall(r"[\w-]+", " ".join(lines)))
            doubtful |= {name for name in names if any(name.endswith(f"_{other}") for other in names)}  # "raw potato"
            about = [sentence for sentence in reversed(known) if name_spans(sentence, doubtful)]
            ignored = [sentence for sentence in reversed(known) if all(rule.ignore for rule in known[sentence][1])]
            again = [*dict.fromkeys((*about, *ignored))][:_MOST_AGAIN]
        return *opinions, *((sentence, known[sentence][0]) for sentence in again)

    def _question(self, index: int, sentence: str, learned: LearnedRules, situation: PromptContext) -> AskedSentence:
        """The question about a sentence of an exchange, with the problem as it was read before it."""
        task, history, command = situation.task, situation.seen.history, ""
        if sentence:
            command, sentences = history[index].command or "", sentences_of(history[index], task)
            cut = Exchange(history[index].command, "\n".join(sentences[: sentences.index(sentence)]))
            history, task = (*history[:index], cut), task if index else ""
        else:
            learned = replace(learned, opinions=())  # to be stated anew
        before = replace(situation, task=task, seen=Observations((), history))
        knowledge = situation.knowledge.with_problem(self._read(learned, before).problem)
        names = {obj.name for obj in knowledge.problem.objects}
        first = int(re.sub(r"\D", "", situation.placeholder) or 1)
        free = (f"{knowledge.placeholder}{number}" for number in range(first, first + len(names) + 1))
        placeholder = next(name for name in free if name not in names) if knowledge.placeholder else ""
        return AskedSentence(command, sentence, knowledge, placeholder, situation.reader.map)

    def _with_answer(
        self, answer: str, question: AskedSentence, learned: LearnedRules, situation: PromptContext
    ) -> tuple[LearnedRules, str]:
        """The rules with that of an answer, and the fault of the answer; empty without one."""
        retry = situation.retry
        try:
            stated = parse_facts(answer, question.knowledge.domain)
            if not question.sentence:
                opinions = [Pattern(fact.predicate, fact.args) for fact in stated.add]
                return learned.with_rules((), self._fitting_opinions(opinions, situation)), ""
            rule, terms = lift(stated, question)
            missing = sorted(question.mentioned() - stated.names)
            if missing and self._asks_again(retry) and (stated.names or not retry.attempt):
                return learned, f'no fact names {missing[0]}: add what is said about it, or list it in "unused"'
            if rule.ignore and (excepted := with_exception(learned, question)):
                return excepted, ""
            for reason in self._faulty([rule], learned, situation).values() if self._checked else ():
                for name, term in terms.items():
                    reason = reason.replace(term, name) if term[:1] in ("{", "?") else reason
                return learned, reason
            return with_rule(learned, rule), ""
        except ValueError as error:
            return learned, str(error)
