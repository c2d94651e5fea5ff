"""The built-in reader with simulated errors of language models. All displays of its results call it a simulation.

Its purpose is to measure which errors are detected, which are corrected, and at what cost. Its results do not show how
often a certain model errs, and do not cover kinds of errors that are not in the list.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pddlego.methods.base import BuiltIn, parse_variant
from pddlego.methods.textgames.formalize import SEPARATOR
from pddlego.methods.textgames.formalize.full import take_apart
from pddlego.methods.textgames.loading import without_parts
from pddlego.methods.textgames.options import LEARN, LEARN_FACTS, MODES
from pddlego.methods.textgames.reader import ReaderModel, check_reader, check_sentence, situation_of
from pddlego.methods.textgames.reading.mutants import mutants
from pddlego.methods.textgames.reading.rules import ReadingRule
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.base import Completion, Mistake, Request
from pddlego.pddl import PddlSyntaxError, Problem, apply_edit, parse_edit, parse_problem
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show
from pddlego.runs.cells import Cell


@dataclass(frozen=True)
class InDomain:
    """An error in the domain file. An answer without a domain, or without a place for the error, is not changed."""

    change: Callable[[list[Sexpr], random.Random], None]

    def __call__(self, answer: str, rng: random.Random) -> str:
        domain = take_apart(answer).domain
        whole = next(
            (expression for expression in read_sexprs(domain).expressions if isinstance(expression, tuple)), ()
        )
        parts = list(whole[1:])
        self.change(parts, rng)
        if not parts or tuple(parts) == whole[1:]:
            return answer
        wrong = "(define " + "\n  ".join(map(show, parts)) + ")"
        return answer.replace(domain, wrong)


@dataclass(frozen=True)
class InGoals:
    """An error in the goals. An answer without a place for the error is not changed."""

    change: Callable[[Problem, random.Random], str]

    def __call__(self, answer: str, rng: random.Random) -> str:
        try:
            problem = parse_problem(take_apart(answer).problem)
        except PddlSyntaxError:
            return answer
        goal = self.change(problem, rng)
        return re.sub(r"<goals>.*?</goals>", f"<goals>\n{goal}\n</goals>", answer, flags=re.DOTALL) if goal else answer


def lose(field: str, parts: list[Sexpr], rng: random.Random) -> None:
    """Remove one conjunct from the precondition or the effect of an action; `field` is the keyword of the one."""
    places = [
        (number, place + 1, index)
        for number, part in _actions(parts)
        for place, word in enumerate(part)
        if word == field and part[place + 1][:1] == ("and",)
        for index in range(1, len(part[place + 1]))
    ]
    if places:
        number, place, index = rng.choice(places)
        part = parts[number]
        condition = part[place]
        parts[number] = (*part[:place], (*condition[:index], *condition[index + 1 :]), *part[place + 1 :])


def without_types(parts: list[Sexpr], rng: random.Random) -> None:
    """Remove the section of types."""
    parts[:] = [part for part in parts if part[:1] != (":types",)]


def _undeclared_predicate(parts: list[Sexpr], rng: random.Random) -> None:
    """Remove the declaration of one predicate."""
    for number, part in enumerate(parts):
        if part[:1] == (":predicates",) and len(part) > 1:
            lost = rng.randrange(1, len(part))
            parts[number] = (*part[:lost], *part[lost + 1 :])


def replace_variable(new: Callable[[str], str], parts: list[Sexpr], rng: random.Random) -> None:
    """Replace one variable in a condition or an effect by `new`: an undeclared variable, or nothing."""
    actions = [(number, part) for number, part in _actions(parts) if "?" in show(part[4:])]
    if not actions:
        return
    number, part = rng.choice(actions)
    head, body = show(part[:4])[1:-1], show(part[4:])[1:-1]
    places = list(re.finditer(r"\?[\w-]+", body))
    match = rng.choice(places)
    changed = f"({head} {body[: match.start()]}{new(match.group())}{body[match.end() :]})"
    parts[number] = read_sexprs(changed).expressions[0]


def _misspelt_section(parts: list[Sexpr], rng: random.Random) -> None:
    """Write `:preconditions` and `:effects` in an action."""
    number, part = rng.choice([*_actions(parts)] or [(0, parts[0] if parts else ())])
    if not isinstance(part, tuple) or not part:
        return
    parts[number] = tuple(f"{word}s" if word in (":precondition", ":effect") else word for word in part)


def _own_subtype(parts: list[Sexpr], rng: random.Random) -> None:
    """Declare a type as its own subtype."""
    for number, part in enumerate(parts):
        if part[:1] == (":types",) and len(part) > 1 and isinstance(part[1], str):
            parts[number] = (*part, part[1], "-", part[1]) if "-" in part else (*part, "-", part[1])


def _actions(parts: list[Sexpr]) -> Iterator[tuple[int, tuple[Sexpr, ...]]]:
    for number, part in enumerate(parts):
        if isinstance(part, tuple) and part[:1] == (":action",):
            yield number, part


def _goal_true(problem: Problem, rng: random.Random) -> str:
    """A goal that is true in the initial state."""
    facts = [str(fact) for fact in problem.sorted_facts()]
    return rng.choice(facts) if facts else ""


def _goal_variable(problem: Problem, rng: random.Random) -> str:
    """A goal with a variable that is not bound."""
    facts = [fact for fact in problem.sorted_facts() if fact.args]
    return f"({rng.choice(facts).predicate} ?x)" if facts else ""


AnswerParts = dict[str, Any]
"""An edit in the JSON format of the paper, by section and kind of change."""

Make = Callable[[str, random.Random], str]
"""A function that makes an error in the text of an answer."""

_SAME_AGAIN = 0.23
"""In the corpus, 23 % of the retries were byte for byte equal to the rejected answer."""

_STILL_WRONG = 0.46
"""In the corpus, 46 % of the retries had another error: 31 % led to a plan, and 23 % were equal to the rejected answer.

The share applies to retries without feedback, which repeat the kind of error. A retry with feedback errs with the
probability of any other answer. The benefit of feedback in a simulation follows from this assumption, and is not a
result.
"""


@dataclass(frozen=True)
class Misreading:
    """A kind of error. `share` is its weight among the kinds that an answer has a place for.

    `purposes` are the purposes of the requests whose answers can have the error.
    """

    share: float
    purposes: tuple[str, ...]
    make: Make


@dataclass(frozen=True)
class Edited:
    """An error in an edit. An answer without a place for the error is not changed.

    The same error can be made in a whole file. With `anywhere` it is made in any line, because a model writes all lines
    of the file again (paper, section 2). Otherwise the file is the result of the wrong edit.
    """

    change: Callable[[AnswerParts, random.Random], None]
    anywhere: bool = False

    def __call__(self, text: str, rng: random.Random) -> str:
        parts = json.loads(text)
        self.change(parts, rng)
        return json.dumps(parts, indent=1)


def _forgotten_rename(parts: AnswerParts, rng: random.Random) -> None:
    """Use the old name of a renamed room in one of the new facts."""
    renames = parts["objects"]["replace"]
    names = {pair["old"].split()[0]: pair["new"].split()[0] for pair in renames if pair["new"]}
    added = parts["init"]["add"]
    places = [(n, old, new) for n, fact in enumerate(added) for old, new in names.items() if new in _words(fact)]
    if places:
        number, old, new = rng.choice(places)
        added[number] = re.sub(rf"(?<![\w-]){re.escape(new)}(?![\w-])", old, added[number])


def _missing_reverse(parts: AnswerParts, rng: random.Random) -> None:
    """Remove one new `connected` fact, which is one direction of a way."""
    ways = [line for line in parts["init"]["add"] if line.startswith("(connected ")]
    if ways:
        parts["init"]["add"].remove(rng.choice(ways))


def _undeclared(parts: AnswerParts, rng: random.Random) -> None:
    """Remove the declaration of a new object."""
    if parts["objects"]["add"]:
        parts["objects"]["add"].remove(rng.choice(parts["objects"]["add"]))


def _duplicate(parts: AnswerParts, rng: random.Random) -> None:
    """Add a fact twice."""
    if parts["init"]["add"]:
        parts["init"]["add"].append(rng.choice(parts["init"]["add"]))


def _stale(parts: AnswerParts, rng: random.Random) -> None:
    """Keep the agent's old position."""
    parts["init"]["delete"] = [line for line in parts["init"]["delete"] if not line.startswith("(at ")]


def _look_anywhere(parts: AnswerParts, rng: random.Random) -> None:
    """Ask to look at any name of the new facts, which may be visited or not a place, or at a name that is not there."""
    names = [word for line in parts["init"]["add"] for word in _words(line)[1:3]]
    parts["look"] = [rng.choice([*names, "nowhere"])]


def _words(fact: str) -> list[str]:
    return re.findall(r"[^\s()]+", fact)


def _missing_parenthesis(text: str, rng: random.Random) -> str:
    places = [match.start() for match in re.finditer(r"\)", text)]
    place = rng.choice(places) if places else len(text)
    return text[:place] + text[place + 1 :]


def _fenced(text: str, rng: random.Random) -> str:
    return f"Here is the updated problem (see below):\n```\n{text}\n```\nLet me know if you need anything else."


def _cut_off(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) // 3, max(len(text) // 3 + 1, len(text) * 9 // 10))]


@dataclass(frozen=True)
class InCommand:
    """An error in the choice of a command among the valid ones."""

    change: Callable[[str, Sequence[str], random.Random], str]

    def __call__(self, text: str, rng: random.Random) -> str:
        return self.change(text, (), rng)


def _other_command(command: str, possible: Sequence[str], rng: random.Random) -> str:
    """Another valid command."""
    others = [other for other in possible if other != command]
    return rng.choice(others) if others else command


def _wrong_rule(answer: str, rng: random.Random) -> str:
    """An answer of mode `learn` with a typical fault in one of its rules."""
    value = json.loads(answer)
    rules = [ReadingRule.model_validate(table) for table in value["rules"]]
    changed = [(place, mutant) for place, rule in enumerate(rules) for _, mutant in mutants(rule, "kitchen")]
    if not changed:
        return answer
    place, mutant = rng.choice(changed)
    value["rules"][place] = mutant.as_table()
    return json.dumps(value, indent=1)


def _wrong_facts(answer: str, rng: random.Random) -> str:
    """An answer of mode `learn-facts` with a fact left out, two arguments swapped, or a name of another sentence."""
    value = json.loads(answer)
    number = rng.randrange(len(value["add"]) or 1)
    facts, (predicate, *args) = value["add"], _words((value["add"] or ["()"])[number]) or [""]
    if not args or "(" not in facts[number]:
        return answer
    swapped, other = [*args[1:], args[0]], [*args[:-1], "loc9"]
    changes = ([], *([f"({' '.join((predicate, *changed))})"] for changed in (swapped, other)))
    value["add"] = [*facts[:number], *rng.choice(changes), *facts[number + 1 :]]
    return json.dumps(value)


def _impossible_command(command: str, possible: Sequence[str], rng: random.Random) -> str:
    """The verb of the command without its object, which is not a valid command."""
    verb = command.partition(" ")[0]
    return command if verb in possible else verb


BOTH = ("edit", "gen")
_ALSO_FULL = (*BOTH, "full")
FULL = ("full",)
DOMAIN = ("domain",)
COMMAND = ("act",)

KINDS: Mapping[str, Misreading] = {
    "forgotten-rename": Misreading(8, _ALSO_FULL, Edited(_forgotten_rename, anywhere=True)),
    "missing-reverse": Misreading(4, _ALSO_FULL, Edited(_missing_reverse, anywhere=True)),
    "undeclared-object": Misreading(4, _ALSO_FULL, Edited(_undeclared, anywhere=True)),
    "duplicate": Misreading(9, _ALSO_FULL, Edited(_duplicate, anywhere=True)),
    "stale-at": Misreading(3, _ALSO_FULL, Edited(_stale)),
    "missing-parenthesis": Misreading(3, ("gen", "full"), _missing_parenthesis),
    "fence-and-prose": Misreading(8, _ALSO_FULL, _fenced),
    "cut-off": Misreading(4, _ALSO_FULL, _cut_off),
    "look": Misreading(8, ("edit",), Edited(_look_anywhere)),
    "refusal": Misreading(1, (*_ALSO_FULL, "act"), lambda text, rng: "I'm sorry, but I can't help with that."),
    "empty": Misreading(2, (*_ALSO_FULL, "act"), lambda text, rng: ""),
    "lost-condition": Misreading(21, DOMAIN, InDomain(partial(lose, ":precondition"))),
    "lost-effect": Misreading(22, DOMAIN, InDomain(partial(lose, ":effect"))),
    "undeclared-types": Misreading(15, DOMAIN, InDomain(without_types)),
    "undeclared-predicate": Misreading(9, DOMAIN, InDomain(_undeclared_predicate)),
    "undeclared-variable": Misreading(8, DOMAIN, InDomain(partial(replace_variable, lambda word: f"{word}x"))),
    "wrong-arity": Misreading(6, DOMAIN, InDomain(partial(replace_variable, lambda word: ""))),
    "misspelt-section": Misreading(4, DOMAIN, InDomain(_misspelt_section)),
    "own-subtype": Misreading(18, DOMAIN, InDomain(_own_subtype)),
    "goal-true": Misreading(18, FULL, InGoals(_goal_true)),
    "goal-variable": Misreading(6, FULL, InGoals(_goal_variable)),
    "other-command": Misreading(8, COMMAND, InCommand(_other_command)),
    "impossible-command": Misreading(4, COMMAND, InCommand(_impossible_command)),
    "wrong-rule": Misreading(1, (LEARN,), _wrong_rule),
    "wrong-facts": Misreading(1, (LEARN_FACTS,), _wrong_facts),
}
"""The kinds of errors with their shares.

The shares of errors in edits come from the corpus of recorded edits. Of 36 edits with errors, tolerant reading fixed 25
(a rename that was not applied to all facts, an added fact that was there already), and 11 needed feedback (an
undeclared object, two `at` facts, two rooms behind one exit). Another 15 answers were not JSON (endless reasoning, cut
off, prose). The corpus does not count the kinds within these groups: we have estimated their shares, and those of wrong
commands and of `look`, which only some requests offer. The shares of errors in domains are counted (`noise_full`).
"""

IDENTICAL, BLIND = "identical-retry", "blind-retry"
"""The kinds of errors that only retries have. Their shares are `_SAME_AGAIN` and `_STILL_WRONG`."""

ALL = (*KINDS, IDENTICAL, BLIND)


class NoisyReader(ReaderModel):
    """`reader+noise:P[,seed=S][,kinds=A+B]`: each answer has an error with probability P.

    The same seed gives the same errors. If P is not 0, a share `_SAME_AGAIN` of the retries repeats the rejected
    answer, whatever P is, and retries without feedback have errors more often (`_STILL_WRONG`). The kind of an error is
    drawn from the kinds that the answer has a place for, so that P means the same in every mode. If an answer also has
    a domain file, that file has an error with the same probability, independently of the problem. Edits of a domain
    have no errors.
    """

    def __init__(self, rate: float, seed: int = 0, kinds: tuple[str, ...] = ALL, episode: int = 0) -> None:
        self.rate, self.seed, self.kinds = rate, seed, kinds
        self._random = random.Random(f"{seed}/{episode}")
        self._in_domains = random.Random(f"{seed}/{episode}/domain")
        self._last = Completion("")
        self._error: str | None = None

    @property
    def name(self) -> str:
        kinds = "" if self.kinds == ALL else f",kinds={'+'.join(self.kinds)}"
        return f"reader+noise:{self.rate:g}{f',seed={self.seed}' if self.seed else ''}{kinds}"

    @property
    def description(self) -> Mapping[str, Any]:
        noise = {"rate": self.rate, "seed": self.seed, "kinds": list(self.kinds), "simulation": True}
        return {**super().description, "noise": noise}

    def complete(self, request: Request) -> Completion:
        """The reader's answer, or that answer with an error. Raises `ModelError`."""
        answer = super().complete(request)
        situation = situation_of(request)
        is_retry = situation.retry.attempt > 0 and self.rate > 0
        if is_retry and IDENTICAL in self.kinds and self._random.random() < _SAME_AGAIN:
            return replace(self._last, text=situation.retry.rejected or self._last.text)
        blind = is_retry and situation.retry.feedback is None and BLIND in self.kinds
        error, self._error = self._error if blind else None, None
        if self._random.random() < (_STILL_WRONG / (1 - _SAME_AGAIN) if error else self.rate):
            answer = self._err(request, answer, error)
        if situation.reader.reference is not None and self._in_domains.random() < self.rate:
            answer = self._err_in_domain(answer)
        self._last = answer
        return answer

    def _kinds(self, purpose: str) -> dict[str, Misreading]:
        return {name: KINDS[name] for name in self.kinds if name in KINDS and purpose in KINDS[name].purposes}

    def _err(self, request: Request, answer: Completion, previous: str | None) -> Completion:
        """The answer with one error of the `previous` kind if it has a place for it, or else of any other kind."""
        purpose = "full" if request.purpose.startswith("full") else request.purpose
        fits = self._kinds(purpose)
        if not situation_of(request).offered:
            fits.pop("look", None)
        while fits:
            drawn = self._random.choices(list(fits), [misreading.share for misreading in fits.values()])
            name = previous if previous in fits else drawn[0]
            text = self._with(KINDS[name].make, request, answer.text)
            if text != answer.text:
                self._error = name
                finish = "length" if name == "cut-off" else answer.finish
                return replace(answer, text=text, finish=finish, mistake=Mistake(name, answer.text))
            del fits[name]
        return answer

    def _err_in_domain(self, answer: Completion) -> Completion:
        """The answer with one error in its domain file, if it has one."""
        kinds = list(self._kinds("domain").values())
        if not kinds:
            return answer
        (kind,) = self._in_domains.choices(kinds, [kind.share for kind in kinds])
        wrong = kind.make(answer.text, self._in_domains)
        return answer if wrong == answer.text else replace(answer, text=wrong, mistake=Mistake("domain", answer.text))

    def _with(self, make: Make, request: Request, text: str) -> str:
        """The text of an answer with an error."""
        if isinstance(make, InCommand):
            seen = situation_of(request).seen
            commands = text.split(SEPARATOR)
            place = self._random.randrange(len(commands)) if commands[1:] else 0
            commands[place] = make.change(commands[place], seen.valid_commands or seen.every_command(), self._random)
            return SEPARATOR.join(commands)
        if isinstance(make, InGoals):
            earlier = "\n".join((*situation_of(request).answers, ""))
            return make(earlier + text, self._random).removeprefix(earlier)
        if not isinstance(make, Edited) or request.purpose not in ("gen", "full", "full-steps"):
            return make(text, self._random)
        if request.purpose != "gen":
            return in_problem(text, make, self._random)
        edit = self._answer(replace(request, purpose="edit"))
        if make.anywhere:
            return with_any_error(parse_problem(text), make, self._random, json.loads(edit)["objects"]["replace"])
        wrong = parse_edit(make(edit, self._random))
        situation = situation_of(request)
        return str(apply_edit(situation.knowledge.problem, wrong, situation.knowledge.domain.constants).problem)


def with_any_error(problem: Problem, error: Edited, rng: random.Random, renames: Sequence[Mapping[str, str]]) -> str:
    """The problem file with an error in any line, or without one if the file has no place for the error.

    `renames` are the object lines that the reader's edit replaces.
    """
    everything: AnswerParts = {
        "objects": {"add": list(map(str, problem.sorted_objects())), "replace": list(renames), "delete": []},
        "init": {"add": list(map(str, problem.sorted_facts())), "replace": [], "delete": []},
    }
    parts = json.loads(error(json.dumps(everything), rng))
    if parts == everything:
        return str(problem)
    lines = [f"(define (problem {problem.name})", f"  (:domain {problem.domain})"]
    for name in ("objects", "init"):
        lines += [f"  (:{name}", *(f"    {line}" for line in parts[name]["add"]), "  )"]
    return "\n".join([*lines, f"  (:goal {problem.goal})", ")"])


def in_problem(answer: str, error: Edited, rng: random.Random) -> str:
    """An answer of several files with an error in its problem file, or without one if that file is invalid."""
    before = take_apart(answer).problem
    try:
        wrong = with_any_error(parse_problem(before), error, rng, [])
    except PddlSyntaxError:
        return answer
    return answer.replace(before, wrong)


def builtin_model(name: str, cell: Cell, setting: GameSetting | None) -> ReaderModel | None:
    """The built-in reader of that name; None without one. Raises `UsageError` if it cannot play the cell."""
    if setting is not None:
        without_parts(setting, parse_variant(cell.mode, MODES).without)
    built_in = BuiltIn.parse(name, ALL)
    if built_in is None:
        return None
    model = ReaderModel()
    if built_in.rate is not None:
        model = NoisyReader(built_in.rate, built_in.seed, built_in.kinds or ALL, cell.model_seed)
    if setting is not None:
        check_reader(setting, cell.mode)
        check_sentence(setting)
    return model
