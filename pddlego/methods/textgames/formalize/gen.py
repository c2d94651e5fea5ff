"""PDDL-gen: the model writes the whole problem file again each time (paper, equation 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pddlego.methods.textgames.formalize.base import ProblemProposal, defects_feedback, problem_request, without_planned
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Request
from pddlego.models.base import cut_off
from pddlego.models.prompts import Prompts
from pddlego.pddl import Defect, DefectKind, Problem
from pddlego.pddl.check import check_reading
from pddlego.pddl.problem import read_problem
from pddlego.pddl.tolerant import is_cut_off, repair_problem
from pddlego.util.answers import file_in, spoken


class PddlGen:
    """Asks for whole problem files. What has one possible meaning is repaired, with a note among the defects."""

    def __init__(self, prompts: Prompts, tolerant: bool = True, one_message: bool = False) -> None:
        self._prompts, self._tolerant, self._one_message = prompts, tolerant, one_message

    def request(self, situation: Situation) -> Request:
        return problem_request(self._prompts, "gen", situation, one_message=self._one_message)

    def read(self, answer: str, situation: Situation) -> ProblemProposal:
        """The file in an answer. Without tolerance the answer must be the file and nothing else."""
        if not self._tolerant:
            return read_strictly(answer, situation)
        said = spoken(answer)
        if is_cut_off(said, "problem") or (answer.strip() and not said.strip()):
            return ProblemProposal(situation.knowledge, cut_off())
        repaired = repair_problem(situation.knowledge.domain.text, said)
        mended = tuple(Defect(DefectKind.REPAIRED, each.kind.value, str(each), False) for each in repaired.repairs)
        proposal = read_file(repaired.problem, situation)
        defects = proposal.defects + old_names(repaired.declared, proposal.problem, situation.knowledge.problem)
        return replace(proposal, feedback=defects_feedback(defects), defects=defects + mended)


def old_names(undeclared: Iterable[str], problem: Problem, before: Problem) -> tuple[Defect, ...]:
    """Defects for names that are used and not declared any more, in a file that also brings new names.

    It may be that a thing got another name, and one fact kept the old one: declared by its use it would be there twice.
    """
    known, now = {each.name for each in before.objects}, {each.name: each.type for each in problem.objects}
    came: dict[str | None, list[str]] = {}
    for each in sorted(set(now) - known):
        came.setdefault(now[each], []).append(each)
    found = []
    for name in undeclared:
        new = came.get(now.get(name))
        if name in known and new:
            message = f"{name} is used and no longer among the objects. If it is called {' or '.join(new)} now, "
            message += f"write that in every fact; if it is still {name}, declare '{name} - {now[name]}'"
            found.append(Defect(DefectKind.UNDECLARED_OBJECT, name, message))
    return tuple(found)


def read_file(text: str, situation: Situation) -> ProblemProposal:
    """The problem file in a text. The goal ladder sets the goal: one that is missing or wrong does no harm."""
    return read_strictly(file_in(text), situation)


def read_strictly(text: str, situation: Situation) -> ProblemProposal:
    """The problem file that a text is, with nothing around it."""
    reading, known = read_problem(text), situation.knowledge
    problem = replace(reading.problem, domain=known.domain.name, goal=known.problem.goal)
    needed = tuple(name for name in reading.missing if name in (":objects", ":init"))
    problem, left_out = without_planned(problem, known.only_planned)
    defects = check_reading(known.domain, replace(reading, problem=problem, missing=needed)) + left_out
    return ProblemProposal(known.with_problem(problem), defects_feedback(defects), None, defects)
