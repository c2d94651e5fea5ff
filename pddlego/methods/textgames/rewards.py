"""Rewards for answers: proved by the true facts, and withheld from answers that hedge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import cached_property

from pddlego.episode.events import Accepted, Response
from pddlego.methods.base import Reward, base_mode
from pddlego.methods.textgames.events import FactsChecked, Observed
from pddlego.methods.textgames.formalize import Formalizer, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.form import reward_fault
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.play import make_method, make_reference
from pddlego.methods.textgames.reader import can_read, situation_of
from pddlego.methods.textgames.settings import ClaimRule, GameSetting
from pddlego.methods.textgames.truth import Reference
from pddlego.methods.textgames.truth.judge import Judge
from pddlego.models import Request
from pddlego.pddl import DefectKind, Entry, EntryKind, Problem, TypedName, parse_problem
from pddlego.pddl.edit import diff
from pddlego.pddl.invariants import contradictions
from pddlego.planning import Planner
from pddlego.planning.ladder import climb


def strict_formalizer(mode: str, setting: GameSetting) -> Formalizer:
    """The formalizer of a rewarded mode without tolerance: what it refuses gets no reward."""
    return make_method(f"{base_mode(mode)}-no-tolerance", setting, 0)


@dataclass(frozen=True)
class AnsweredProblem:
    """The problem after an answer, and `before` it, the `lines` of the answer's edit, and what it `renamed`.

    `removed` are messages about facts that were taken out, because they are effects of planned actions.
    """

    problem: Problem
    before: Problem
    lines: tuple[Entry, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()

    def faults(self, checked: FactsChecked, true: Knowledge, claims: Mapping[str, ClaimRule]) -> tuple[str, ...]:
        """What is wrong with the problem, as far as the player can know, and what of the answer has no effect.

        An answer must not get more for saying more: lines that change nothing or had to be corrected, new objects
        without facts, with invented names (also by renaming) or with other types than there are, and facts that the
        player cannot know count like wrong facts. Opinions are not judged, nor are guesses and the objects of opinions.
        """
        opinions = {name for name, rule in claims.items() if rule.opinion or rule.guess}
        unknown = (fact for fact in checked.unknown if fact.strip("()").split(" ")[0] not in opinions)
        wrong = *map(str, checked.errors), *(f"unknown {fact}" for fact in unknown)
        return *wrong, *self.removed, *self._idle(true, claims)

    def _idle(self, true: Knowledge, claims: Mapping[str, ClaimRule]) -> Iterator[str]:
        symmetric = [fact for fact in self.problem.facts if (rule := claims.get(fact.predicate)) and rule.symmetric]
        both_ways = Counter((fact.predicate, *sorted(fact.args)) for fact in symmetric)
        yield from (f"({' '.join(fact)}) is there in both directions" for fact, n in both_ways.items() if n > 1)
        used, needed = ({name for fact in part.facts for name in fact.args} for part in (self.problem, true.problem))
        opinions = {name for name, rule in claims.items() if rule.opinion}
        judged = {name for fact in self.problem.facts if fact.predicate not in opinions for name in fact.args}
        objects = {obj for obj in self.problem.objects if obj.name in judged or obj.name not in used}
        new = sorted(objects - self.before.objects, key=str)
        names = {obj.name for obj in true.problem.objects}
        yield from (str(line) for line in self.lines if line.kind not in _EFFECTIVE)
        used |= names - needed  # the player can know of some objects nothing but their names
        yield from (f"object {obj} has no facts" for obj in new if obj.name not in used)
        yield from (
            f"object {obj} is invented" for obj in new if not (obj.name in names or true.is_placeholder(obj.name))
        )
        types = Counter(obj.type for obj in objects) - Counter(obj.type for obj in true.problem.objects)
        yield from (
            f"there are more objects of the type {kind} than the player can know of" for kind in types.elements()
        )
        effective = sum(line.kind in _EFFECTIVE and line.where != "look" for line in self.lines)
        changed = diff(self.before, self.problem, dict(self.renamed))
        surplus = effective - len(changed.added) - len(changed.removed) - len(self.renamed)
        yield from ["a line is undone by another one"] * surplus


_EFFECTIVE = (EntryKind.APPLIED, EntryKind.RENAMED, EntryKind.MERGED)


def agreement(checked: FactsChecked, faults: Sized) -> float:
    """The harmonic mean of precision and recall of a problem's facts; each fault counts as a wrong fact."""
    right, wrong = sum(checked.right.values()), len(faults)
    return 2 * right / (2 * right + wrong) if right else float(not wrong)


@dataclass(frozen=True)
class ExpertPrompt:
    """A prompt of an expert episode, and the expert's answer."""

    setting: GameSetting
    mode: str
    request: Request
    answer: str

    @property
    def situation(self) -> PromptContext:
        """The situation from which the prompt was rendered."""
        return situation_of(self.request)

    def __call__(self, answer: str, planner: Planner) -> Reward:
        """The reward of an answer."""
        fault = reward_fault(answer, self.mode, self.situation, self.strict)
        if fault:
            return Reward(reasons=(fault,))
        proposal = self.read(answer)
        if proposal.feedback is not None:
            return Reward(reasons=(proposal.feedback.message, *proposal.feedback.evidence))
        known = proposal.knowledge
        plan = climb(planner, known.domain, known.problem, known.ladder).plan
        contradicting = tuple(map(str, contradictions(known.problem, known.invariants)))
        right, faults = self.gain(proposal)
        return Reward(
            parsed=1.0,
            consistent=float(not contradicting),
            right=right,
            planned=float(plan is not None),
            reasons=(*faults, *contradicting, *(() if plan is not None else ("no goal has a plan",))),
        )

    def read(self, answer: str) -> ProblemProposal:
        """Read an answer in the situation of the prompt."""
        proposal = make_method(self.mode, self.setting, 0).read(answer, self.situation)
        assert isinstance(proposal, ProblemProposal), "only modes that write problems have rewards"
        return proposal

    @cached_property
    def strict(self) -> Formalizer:
        """The formalizer that decides what gets no reward."""
        return strict_formalizer(self.mode, self.setting)

    @cached_property
    def true(self) -> Knowledge:
        """The knowledge after the expert's answer."""
        return self.read(self.answer).knowledge

    def gain(self, proposal: ProblemProposal) -> tuple[float, tuple[str, ...]]:
        """The improvement by a proposal, as a share of that by the expert's answer, and the faults of the proposal."""
        before, claims = self.situation.knowledge.problem, self.setting.claims
        removed = tuple(d.message for d in proposal.defects if d.kind is DefectKind.ONLY_PLANNED)
        answered = AnsweredProblem(proposal.problem, before, proposal.entries, proposal.renamed, removed)
        old, new = self._checked(before), self._checked(proposal.problem)
        faults = answered.faults(new, self.true, claims)
        was, now = agreement(old, old.errors), agreement(new, faults)
        return (now if was >= 1 else max(0.0, (now - was) / (1 - was))), faults

    def _checked(self, problem: Problem) -> FactsChecked:
        judge = Judge(self.setting.claims, self.true.placeholder, self.true.is_placeholder)
        judge.reference_changed(self.true.problem, ())
        return judge.judge(problem, self.true, (), 0)


def _names(objects: Iterable[TypedName]) -> set[str]:
    return {obj.name for obj in objects}


class Truth:
    """What the player of an episode can know, beside the model's `problem`, which is compared with it."""

    def __init__(self, setting: GameSetting, mode: str, seed: int) -> None:
        self.problem = setting.start.problem
        self._strict = strict_formalizer(mode, setting)
        self._setting, self._claims = setting, setting.claims
        self._unread: set[str] = set()
        self._reference = make_reference(setting, seed)
        # A game's own facts have no placeholders, and fewer objects than a player has to suppose.
        self._reader = Reference(setting) if setting.facts and can_read(setting) else None
        self._judge = Judge(setting.claims, setting.start.placeholder, self._may_differ)
        self.close = self._reference.close

    def read(self, observed: Response) -> None:
        """Update what can be known. Raises `ModelError` if the reference cannot read the game."""
        if isinstance(observed, Observed) and not observed.repeated:
            renamed = self._reference.read(observed)
            self._judge.reference_changed(self._reference.knowledge.problem, renamed)
            if self._reader is not None:
                self._reader.read(observed)
            if self._setting.facts:
                printed = self._reader.knowledge.problem.objects if self._reader is not None else ()
                self._unread = _names(self._reference.knowledge.problem.objects) - _names(printed)

    def _may_differ(self, name: str) -> bool:
        """Whether the game has not printed a name: it is a placeholder, or one that only the game's own facts have."""
        return name in self._unread or self._reference.knowledge.is_placeholder(name)

    def fault_of(self, answer: str, request: Request) -> str:
        """Why an answer to the request gets no reward, whatever it says."""
        return reward_fault(answer, request.purpose, situation_of(request), self._strict)

    def judge(self, accepted: Accepted) -> tuple[float, tuple[str, ...]]:
        """The agreement of an accepted problem with the truth, and its faults."""
        kinds = zip(accepted.defects, accepted.kinds, strict=False)
        removed = tuple(message for message, kind in kinds if kind == DefectKind.ONLY_PLANNED.value)
        problem = parse_problem(accepted.text)
        answered = AnsweredProblem(problem, self.problem, accepted.lines, accepted.renamed, removed)
        self.problem, true = problem, self._reference.knowledge
        checked = self._judge.judge(problem, true, accepted.renamed, 0)
        faults = answered.faults(checked, self._reader.knowledge if self._reader else true, self._claims)
        return agreement(checked, faults), faults


def referee(setting: GameSetting, mode: str, seed: int) -> Truth | None:
    """The truth of an episode; None if the facts of the model's problems cannot be compared with true ones."""
    return Truth(setting, mode, seed) if setting.facts or can_read(setting) else None
