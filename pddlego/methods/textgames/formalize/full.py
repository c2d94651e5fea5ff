"""The model writes the domain, too (PDDLego+): predicates, preconditions, effects, the problem, and the goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pddlego.methods.textgames.formalize.base import ProblemProposal
from pddlego.methods.textgames.formalize.full_answer import FullAnswer, take_apart
from pddlego.methods.textgames.formalize.requests import full_request
from pddlego.methods.textgames.situation import Situation
from pddlego.methods.textgames.written import MOST_GOALS, Written
from pddlego.models import Request
from pddlego.models.feedback import Feedback, cut_off
from pddlego.models.prompts import Prompts
from pddlego.pddl import Defect, DefectKind, Domain, Sexpr, check, same_name
from pddlego.pddl.sexpr import read_sexprs
from pddlego.pddl.tolerant import is_cut_off, read_pair
from pddlego.util.answers import spoken
from pddlego.util.text import names_in

REQUIREMENTS = "requirements "
"""In a repair: what is missing there harms nobody, so that it is none even where nothing is repaired."""

NOTHING = Feedback(
    "invalid answer",
    "there is neither a domain file nor a problem file in it: write (define (domain …) …) and (define (problem …) …)",
)
"""What is said of an answer without PDDL."""


class FullFormalizer:
    """Asks for a domain and a problem file. A file that an answer leaves out stays as it was."""

    def __init__(self, prompts: Prompts, tolerant: bool = True) -> None:
        self._prompts, self._tolerant = prompts, tolerant

    def request(self, situation: Situation) -> Request:
        return full_request(self._prompts, "full", situation)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """The files in an answer, repaired where that has one meaning; without tolerance they must need no repair."""
        said = spoken(answer)
        parts = take_apart(said)
        if parts.is_empty:
            unfinished = bool(answer.strip()) and not said.strip()
            return ProblemProposal(situation.problem, cut_off() if unfinished else NOTHING)
        return self.read_parts(parts, situation)

    def read_parts(self, parts: FullAnswer, situation: Situation) -> ProblemProposal:
        """The proposal that the texts of two files are."""
        if any(is_cut_off(text, kind) for text, kind in ((parts.domain, "domain"), (parts.problem, "problem")) if text):
            return ProblemProposal(situation.problem, cut_off())
        if not situation.domain.text and not parts.domain.strip():
            return ProblemProposal(situation.problem, NO_DOMAIN)
        goals, unread = read_goals(parts.goals)
        if not goals and not parts.problem and situation.written is not None:
            goals = situation.written.goals  # they stand until another answer changes them
        needed = not (situation.goals or goals)
        reading = read_pair(parts.domain or situation.domain.text, parts.problem or str(situation.problem), needed)
        mended = tuple(
            Defect(
                DefectKind.REPAIRED, each.kind.value, str(each), not self._tolerant and REQUIREMENTS not in each.what
            )
            for each in reading.files.repairs
        )
        in_problem = [*reading.in_problem, *unread]
        if reading.domain is None:
            return ProblemProposal(
                situation.problem, _feedback(reading.in_domain, ()), None, reading.in_domain + mended
            )
        in_domain = (*reading.in_domain, *_of_actions(reading.domain, parts.commands, situation))
        wanted = tuple(goal for text in situation.goals for goal in read_sexprs(text).expressions) or goals
        for goal in wanted if not reading.defects else ():
            stated = reading.problem.with_goal(goal)
            in_problem += [each for each in check(reading.domain, stated) if each.blocking and each not in in_problem]
        problem = replace(reading.problem, domain=reading.domain.name)
        if situation.goals or goals:
            problem = problem.with_goal(wanted[0])
        defects = (*in_domain, *in_problem, *mended)
        blocking = tuple(each for each in mended if each.blocking)
        commands = _commands(reading.domain, parts.commands, situation)
        written = Written(reading.domain, () if situation.goals else goals, commands)
        feedback = _feedback((*in_domain, *blocking), in_problem)
        return ProblemProposal(problem, feedback, None, defects, written)


NO_DOMAIN = Feedback("invalid answer", "there is no domain file in it: write (define (domain …) …)")


def read_goals(text: str) -> tuple[tuple[Sexpr, ...], tuple[Defect, ...]]:
    """The goals of an answer, one expression each, and what of it is none."""
    reading = read_sexprs(text)
    found = dict.fromkeys(each for each in reading.expressions if isinstance(each, tuple) and each)
    goals = tuple(goal[1] if goal[0] == ":goal" and len(goal) == 2 else goal for goal in found)[:MOST_GOALS]
    faults = tuple(Defect(DefectKind.SYNTAX, fault, f"goals: {fault}") for fault in reading.faults)
    return goals, faults


def _of_actions(domain: Domain, commands: Mapping[str, str], situation: Situation) -> Iterator[Defect]:
    """Actions that nobody could carry out in the game."""
    if not domain.actions:
        message = "the domain has no action: write one for each thing that the agent can do"
        yield Defect(DefectKind.NO_ACTIONS, domain.name, message)
    heads = {schema.partition(" ")[0]: schema for schema in situation.schemas}
    for action in domain.actions:
        if situation.schemas:
            name = next((each for each in heads if same_name(each, action.name)), None)
            if name is None:
                message = f"action {action.name} is none of the game's; they are {', '.join(heads)}"
                yield Defect(DefectKind.SYNTAX, action.name, message)
            elif heads[name].count("?") != len(action.parameters):
                message = f"action {action.name} has other parameters than the game's: write {heads[name]}"
                yield Defect(DefectKind.ARITY, action.name, message)
            continue
        command = commands.get(action.name) or _last_commands(situation).get(action.name)
        if command is None:
            message = f"action {action.name} has no command: add a line '{action.name}: COMMAND' to <commands>"
            yield Defect(DefectKind.SYNTAX, action.name, message)
            continue
        unknown = names_in(command) - {each.name.lstrip("?").replace("-", "_") for each in action.parameters}
        if unknown:
            message = f"the command of {action.name} names {', '.join(sorted(unknown))}, which is no parameter of it"
            yield Defect(DefectKind.VARIABLE, action.name, message)


def _last_commands(situation: Situation) -> Mapping[str, str]:
    return situation.written.commands if situation.written is not None else {}


def _commands(domain: Domain, commands: Mapping[str, str], situation: Situation) -> dict[str, str]:
    """The commands of the domain's actions, as far as the model gives them itself."""
    if situation.schemas:
        return {}
    given = {**_last_commands(situation), **commands}
    return {each.name: given[each.name] for each in domain.actions if each.name in given}


def _feedback(in_domain: tuple[Defect, ...], in_problem: list[Defect] | tuple[Defect, ...]) -> Feedback | None:
    """What to tell the model of defects that make planning impossible; None if there are none."""
    if not in_domain and not in_problem:
        return None
    lines = [f"domain: {each.message}" for each in in_domain] + [f"problem: {each.message}" for each in in_problem]
    where = "the domain file has" if not in_problem else "the problem file has" if not in_domain else "the files have"
    return Feedback("defects", f"{where} these defects:", tuple(lines))
