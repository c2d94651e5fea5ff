"""The built-in reader: a model that reads observations by rules, and answers in the requested format."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Protocol

from pddlego.errors import ModelError, UsageError
from pddlego.methods.base import base_mode
from pddlego.methods.textgames.formalize import PromptContext
from pddlego.methods.textgames.formalize.constraint import CONSTRAINT, check_kept, is_pddl
from pddlego.methods.textgames.formalize.contents import CONTENTS, contents_answer
from pddlego.methods.textgames.formalize.full import PARTS
from pddlego.methods.textgames.formalize.learn import READING_RULES, uncovered
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.options import ACT_COT, LEARN, LEARN_FACTS, LEARNING, PLANNING, STEPS
from pddlego.methods.textgames.reader.experiments import ExperimentRules
from pddlego.methods.textgames.reader.houses import chain_command, coin_command, cook_command, with_opinion
from pddlego.methods.textgames.reader.laboratory import LaboratoryRules
from pddlego.methods.textgames.reader.paper_cooking import seen_in
from pddlego.methods.textgames.reader.sentences import SENTENCES, in_pddl
from pddlego.methods.textgames.reading.engine import HistoryReader, matching, read_news
from pddlego.methods.textgames.reading.rules import NOTE, ReadingRule
from pddlego.methods.textgames.settings import GameSetting, ReaderRules
from pddlego.models.base import Completion, Request
from pddlego.pddl import TRUE, Edit, Problem, apply_edit, edit_between
from pddlego.pddl.edit import as_lines, domain_edit_between
from pddlego.util.text import one_line
from pddlego.util.unexpected import located


class PatternRules:
    """Reads a game by the rules of its setting (`reading`). Stateless."""

    def edit(self, situation: PromptContext) -> Edit:
        """The edit of the problem that results from the rules, and from the reader's opinion in this game."""
        knowledge, result = situation.knowledge, read_news(situation)
        result = replace(result, problem=with_opinion(result.problem, situation))
        return result.edit_from(knowledge.problem, knowledge.domain.constants)


def _in_reference(situation: PromptContext, reference: Knowledge) -> PromptContext:
    """The situation with the setting's own domain, for which the reading rules are written."""
    problem = situation.knowledge.problem
    known = problem if problem.objects or problem.facts else reference.problem
    return replace(situation, knowledge=reference.with_problem(known))


def _full_answer(situation: PromptContext, reference: Knowledge, problem: Problem, asked: Sequence[str] = PARTS) -> str:
    """The parts of an answer that are `asked` for, as whole files."""
    same = not domain_edit_between(situation.knowledge.domain, reference.domain)
    parts = {} if same else {"domain": reference.domain.text}
    parts["problem"] = str(problem.with_goal(reference.ladder[0].goal if "goals" in asked else TRUE))
    parts["goals"] = "\n".join(_goals(reference))
    if not situation.terms.schemas:
        parts["commands"] = "\n".join(f"{name}: {text}" for name, text in _commands(reference).items())
    return "\n".join(_part(name, text) for name, text in parts.items() if name in asked)


def _full_edit(situation: PromptContext, reference: Knowledge, edit: Mapping[str, object]) -> str:
    """The answer as an edit of the domain and the problem; `edit` is the edit of the problem."""
    domain = domain_edit_between(situation.knowledge.domain, reference.domain)
    value: dict[str, object] = {"domain": as_lines(domain), **edit} if domain else dict(edit)
    written = situation.knowledge.written
    if not (written and written.goals):
        value["goals"] = _goals(reference)
    if not situation.terms.schemas:
        value["commands"] = _commands(reference)
    return json.dumps(value, indent=1)


def _goals(reference: Knowledge) -> list[str]:
    return [str(rung.goal) for rung in reference.ladder]


def _commands(reference: Knowledge) -> dict[str, str]:
    return {name: rule.command for name, rule in reference.actions.items()}


def _part(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>"


def situation_of(request: Request) -> PromptContext:
    """The situation from which a request was rendered. Raises `ModelError` for a request of another method."""
    if not isinstance(request.context, PromptContext):
        raise ModelError("The built-in reader cannot answer", "It reads text games only.", "Choose another --model.")
    return request.context


COMMANDS: Mapping[str, Callable[[PromptContext, HistoryReader], str]] = {
    "chain": chain_command,
    "coin": coin_command,
    "cooking": cook_command,
}
"""Functions that choose commands without a planner, by the reader's name."""


class ReadingRules(Protocol):
    """Reads a game. A new object is made for each request, because all knowledge is in the situation."""

    def edit(self, situation: PromptContext) -> Edit:
        """The edit of the problem that the new observations require."""


RULES: Mapping[str, type[ReadingRules]] = {
    "experiments": ExperimentRules,
    "laboratory": LaboratoryRules,
}
"""The built-in rules in code by name. The name in a setting is `prompts.reader`, or else the folder of its prompts."""

GROUP = "pddlego.readers"
"""The group of entry points for rules of other packages: each entry point is a class."""


def rules_of(name: str) -> type[ReadingRules] | None:
    """The rules of that name, from this package or another one; None for an unknown name."""
    if name in RULES:
        return RULES[name]
    offered = next((entry for entry in entry_points(group=GROUP) if entry.name == name), None)
    if offered is None:
        return None
    try:
        rules: type[ReadingRules] = offered.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = f"{offered.value}: {located(error)}."
        raise UsageError(f"The reader's rules '{name}' cannot be loaded", reason, "Fix their package.") from error
    return rules


_ANSWERED = (*PLANNING, "act", ACT_COT)
"""Modes that the reader plays."""


def can_answer(reader: ReaderRules, purpose: str) -> tuple[str, str] | None:
    """The reason why the reader with a setting's rules cannot answer, and advice; None if it can."""
    if purpose not in _ANSWERED:
        return f"It knows {', '.join(_ANSWERED)}.", "Choose a language model with --model."
    if not reader.rules and rules_of(reader.name) is None:
        names = ", ".join(sorted(RULES))
        advice = "Choose a language model with --model, or write [[reading]] rules in the setting."
        return f"It has no rules for '{reader.name}', only for {names}.", advice
    if purpose in LEARNING and not _learnable(reader):
        reason = "Its rules for this game are not all rules that a model may write."
        return reason, "Choose a language model with --model."
    if purpose in ("act", ACT_COT) and reader.name not in COMMANDS:
        advice = "Use --mode edit or gen, or a language model with --model."
        return "It reads what the game says, and in mode act nothing plans with that.", advice
    return None


class ReaderModel:
    """Answers `edit` with a JSON edit, `gen` with a whole problem file, and `act` with commands, all by rules.

    If it also has to write the domain, it writes the domain of the setting.
    """

    @cached_property
    def _reader(self) -> HistoryReader:
        return HistoryReader()

    @property
    def name(self) -> str:
        return "reader"

    @property
    def description(self) -> Mapping[str, Any]:
        return {"rules": sorted(RULES)}

    def complete(self, request: Request) -> Completion:
        """Answer a request. Raises `ModelError` if there are no rules for the game or the purpose."""
        started = time.perf_counter()
        text = self._answer(request)
        return Completion(text, seconds=time.perf_counter() - started)

    def _answer(self, request: Request) -> str:
        situation = situation_of(request)
        if request.purpose == CONTENTS:
            return contents_answer(seen_in(situation.seen.news[-1].text))
        if request.purpose == CONSTRAINT:
            return in_pddl(situation.task, situation.reader.map)
        reason = can_answer(situation.reader, base_mode(request.purpose))
        if reason:
            raise ModelError(f"The built-in reader cannot answer for '{request.purpose}'", *reason)
        if request.purpose == LEARN:
            return json.dumps(_learned(situation), indent=1)
        if request.purpose == LEARN_FACTS:
            return json.dumps(_facts(situation))
        if request.purpose == "act":
            return COMMANDS[situation.reader.name](situation, self._reader)
        found = None if situation.reader.rules else rules_of(situation.reader.name)
        rules = PatternRules() if found is None else found()
        reference = situation.reader.reference
        if reference is not None:
            in_reference = _in_reference(situation, reference)
            problem = in_reference.knowledge.problem
            problem = apply_edit(problem, rules.edit(in_reference), reference.domain.constants).problem
            if request.purpose == "full-edit":
                return _full_edit(
                    situation, reference, edit_as_json(edit_between(situation.knowledge.problem, problem))
                )
            if request.purpose == "full-steps":
                part = STEPS[len(situation.answers)]
                asked = (part, "commands") if part == "domain" else (part,)
                return _full_answer(situation, reference, problem, asked) or _part(part, "")
            return _full_answer(situation, reference, problem)
        edit = rules.edit(situation)
        if request.purpose == "gen":
            return str(apply_edit(situation.knowledge.problem, edit, situation.knowledge.domain.constants).problem)
        return json.dumps(edit_as_json(edit), indent=1)


def rules_for(situation: PromptContext) -> list[ReadingRule]:
    """The setting's rules for the sentences that no learned rule covers; sentences without one are ignored.

    A sentence that means something after other commands is ignored only after commands like this one. What says nothing
    but what a plan's step does needs a rule only if feedback on rules asks for it. After feedback, the setting's rules
    also replace learned rules for the same sentences that differ from them.
    """
    rules, learned = situation.reader.rules, situation.knowledge.learned.rules
    sentences = {form for rule in learned for form in rule.sentence} if situation.retry.feedback else set[str]()
    chosen = {place: rule for place, rule in enumerate(rules) if sentences & {*rule.sentence} and rule not in learned}
    for number, (sentence, index) in enumerate(uncovered(situation, situation.knowledge.learned).items()):
        exchange = situation.seen.history[index]
        if exchange.after is not None and not situation.retry.failed_with(READING_RULES):
            continue
        command = exchange.command or ""
        numbers = [place for place, _ in matching(rules, sentence, command)]
        forms = {form for place in numbers for form in rules[place].sentence}
        same = [place for place, rule in enumerate(rules) if forms & {*rule.sentence}]
        chosen |= {place: rules[place] for place in same}
        if not numbers:
            plain = sentence.replace("{", "(").replace("}", ")")
            elsewhere = any(one.match(sentence) is not None for rule in rules for one in rule.templates)
            after = f"{command.split(' ')[0]} {{what}}" if elsewhere and " " in command else ""
            chosen[len(rules) + number] = ReadingRule(sentence=(plain,), after=after, ignore=True)
    return [chosen[place] for place in sorted(chosen)]


def _learned(situation: PromptContext) -> Mapping[str, object]:
    """The answer in mode `learn`: rules, or else opinions."""
    rules = [rule.as_table() for rule in rules_for(situation)]
    return {"rules": rules, "opinions": [] if rules else _opinions(situation)}


def _opinions(situation: PromptContext) -> list[str]:
    problem = with_opinion(read_news(situation).problem, situation)
    return [str(fact) for fact in problem.sorted_facts() if fact.predicate in situation.reader.opinions]


def _facts(situation: PromptContext) -> Mapping[str, object]:
    """The answer in mode `learn-facts`: the facts that the new sentence states, or else opinions."""
    knowledge = situation.knowledge
    if not situation.seen.news:
        return {"add": _opinions(situation), "delete": []}
    rules = [  # what is said, whether or not it is news
        ReadingRule.model_validate(
            {**rule.as_table(), "find": [str(one) for one in rule.patterns["find"] if one.sign != "!"]}
        )
        for rule in situation.reader.rules
    ]
    result = read_news(situation, rules)
    add, delete = (sorted(map(str, facts)) for facts in result.stated)
    heads = knowledge.domain.predicates_by_name
    stated = {
        (arg, parameter.type)
        for fact in result.stated[0]
        for arg, parameter in zip(fact.args, heads[fact.predicate].parameters, strict=True)
    }
    named = {arg for arg, _ in stated}
    objects = result.problem.sorted_objects()
    types = [obj for obj in objects if obj.name in named and (obj.name, obj.type) not in stated]
    return {"add": [*map(str, types), *add], "delete": delete}


def _learnable(reader: ReaderRules) -> bool:
    """Whether the rules of a setting are such that a model may write them."""
    return bool(reader.rules) and all(
        rule.sentence and not any(one.predicate.startswith(NOTE) for one in rule.all_patterns())
        for rule in reader.rules
    )


def edit_as_json(edit: Edit) -> Mapping[str, object]:
    """The edit in the JSON format of the prompts (`EDIT_SCHEMA`)."""
    return as_lines({"objects": edit.objects, "init": edit.init})


def can_read(setting: GameSetting) -> bool:
    """Whether the built-in reader can read the observations of the setting's game."""
    return not can_answer(setting.reader, "edit")


def check_reader(setting: GameSetting, mode: str) -> None:
    """Raise `UsageError` if the built-in reader cannot play the setting in this mode."""
    reason = can_answer(setting.reader, base_mode(mode))
    if reason:
        raise UsageError(f"The built-in reader cannot play {setting.name} in mode {mode}", *reason)


def check_sentence(setting: GameSetting) -> None:
    """Raise `UsageError` if the built-in reader does not understand the constraint of the setting."""
    if setting.constraint and not is_pddl(setting.constraint):
        quoted = one_line(setting.constraint, 80)
        written, what = in_pddl(setting.constraint, setting.map), f"The reader cannot keep '{quoted}'"
        check_kept(
            written,
            setting.start,
            what,
            f"The reader knows: {'; '.join(SENTENCES)}. DEED is 'enter the ROOM' or 'take the THING'.",
        )
