"""Rewards for answers to expert prompts: proved by the true facts, and withheld from answers that hedge."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from pddlego.api.play import play
from pddlego.api.splits import refuse_test_seeds, setting_of
from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, base_mode
from pddlego.methods.registry import method_of
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.formalize import Formalizer, ProblemProposal, Situation
from pddlego.methods.textgames.formalize.form import reward_fault
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.settings import ClaimRule, GameSetting
from pddlego.methods.textgames.truth.judge import Judge
from pddlego.pddl import DefectKind, Entry, EntryKind, Problem
from pddlego.pddl.edit import diff
from pddlego.pddl.exclusive import contradictions
from pddlego.planning.ladder import climb
from pddlego.planning.process import ProcessPlanner
from pddlego.runs.cells import Cell

if TYPE_CHECKING:
    from pddlego.methods.base import Setting
    from pddlego.models.base import Completion, Message, Model, Request

REWARDED = ("edit", "gen")
"""The modes whose answers have rewards: those in which the model writes the problem."""


@dataclass(frozen=True)
class Reward:
    """The reward of an answer. Each part is from 0 to 1. `reasons` say what lowered it.

    `parsed`: the answer is one edit or one file and nothing else, can be read, and its problem can be planned with.
    `consistent`: the problem does not contradict itself. `right`: the improvement over the previous problem in the
    harmonic mean of precision and recall of facts, as a share of the possible improvement. `planned`: a goal of the
    ladder has a plan.
    """

    parsed: float = 0.0
    consistent: float = 0.0
    right: float = 0.0
    planned: float = 0.0
    reasons: tuple[str, ...] = field(default=(), compare=False)

    @property
    def value(self) -> float:
        """`right`, halved if the problem contradicts itself, and again if no goal has a plan."""
        return self.parsed * self.right * (0.5 + self.consistent / 2) * (0.5 + self.planned / 2)


class Rewards(AbstractContextManager["Rewards"]):
    """Computes rewards for answers to expert prompts, with a planner that stays open."""

    def __init__(self) -> None:
        self._planner: ProcessPlanner | None = ProcessPlanner()

    def __enter__(self) -> Rewards:
        return self

    def __exit__(self, *_: object) -> None:
        if self._planner is not None:
            self._planner.close()
        self._planner = None

    def __call__(self, prompt_id: str, answer: str) -> Reward:
        """The reward of an answer to a prompt of an exported row. Raises `UsageError` for an unknown prompt."""
        if self._planner is None:
            raise ValueError("these rewards are closed")
        prompt = _prompt_of(prompt_id)
        if not isinstance(answer, str):
            return Reward(reasons=("the answer is not a text",))
        fault = reward_fault(answer, prompt.mode, prompt.situation, prompt.strict)
        if fault:
            return Reward(reasons=(fault,))
        proposal = prompt.read(answer)
        if proposal.feedback is not None:
            return Reward(reasons=(proposal.feedback.message, *proposal.feedback.evidence))
        known = proposal.knowledge
        plan = climb(self._planner, known.domain, known.problem, known.ladder).plan
        contradicting = contradictions(known.problem, known.invariants)
        right, faults = prompt.gain(proposal)
        return Reward(
            parsed=1.0,
            consistent=float(not contradicting),
            right=right,
            planned=float(plan is not None),
            reasons=(*faults, *contradicting, *(() if plan is not None else ("no goal has a plan",))),
        )


def reward(prompt_id: str, answer: str) -> Reward:
    """The reward of one answer. This starts a planner; use `Rewards` for many answers."""
    with Rewards() as rewards:
        return rewards(prompt_id, answer)


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
        player cannot know count like wrong facts. Opinions are not judged.
        """
        opinions = {name for name, rule in claims.items() if rule.opinion}
        unknown = (fact for fact in checked.unknown if fact.strip("()").split(" ")[0] not in opinions)
        wrong = *map(str, checked.errors), *(f"unknown {fact}" for fact in unknown)
        return *wrong, *self.removed, *self._idle(true, claims)

    def _idle(self, true: Knowledge, claims: Mapping[str, ClaimRule]) -> Iterator[str]:
        symmetric = [fact for fact in self.problem.facts if (rule := claims.get(fact.predicate)) and rule.symmetric]
        both_ways = Counter((fact.predicate, *sorted(fact.args)) for fact in symmetric)
        yield from (f"({' '.join(fact)}) is there in both directions" for fact, n in both_ways.items() if n > 1)
        used, needed = ({name for fact in part.facts for name in fact.args} for part in (self.problem, true.problem))
        new = sorted(self.problem.objects - self.before.objects, key=str)
        names = {obj.name for obj in true.problem.objects}
        yield from (str(line) for line in self.lines if line.kind not in _EFFECTIVE)
        used |= names - needed  # the player can know of some objects nothing but their names
        yield from (f"object {obj} has no facts" for obj in new if obj.name not in used)
        yield from (
            f"object {obj} is invented" for obj in new if not (obj.name in names or true.is_placeholder(obj.name))
        )
        types = Counter(obj.type for obj in self.problem.objects) - Counter(obj.type for obj in true.problem.objects)
        yield from (
            f"there are more objects of the type {kind} than the player can know of" for kind in types.elements()
        )
        effective = sum(line.kind in _EFFECTIVE for line in self.lines)
        changed = diff(self.before, self.problem, dict(self.renamed))
        surplus = effective - len(changed.added) - len(changed.removed) - len(self.renamed)
        yield from ["a line is undone by another one"] * surplus


_EFFECTIVE = (EntryKind.APPLIED, EntryKind.RENAMED, EntryKind.MERGED)


def agreement(checked: FactsChecked, faults: Sized) -> float:
    """The harmonic mean of precision and recall of a problem's facts; each fault counts as a wrong fact."""
    right, wrong = sum(checked.right.values()), len(faults)
    return 2 * right / (2 * right + wrong) if right else float(not wrong)


@dataclass(frozen=True)
class _ExpertPrompt:
    """A prompt of an expert episode, with the situation from which it was rendered, and the expert's answer."""

    setting: Any
    mode: str
    situation: Situation
    messages: tuple[Message, ...]
    answer: str

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
        lines = proposal.report.entries if proposal.report else ()
        removed = tuple(d.message for d in proposal.defects if d.kind is DefectKind.ONLY_PLANNED)
        answered = AnsweredProblem(proposal.problem, before, lines, proposal.renamed, removed)
        old, new = self._checked(before), self._checked(proposal.problem)
        faults = answered.faults(new, self.true, claims)
        was, now = agreement(old, old.errors), agreement(new, faults)
        return (now if was >= 1 else max(0.0, (now - was) / (1 - was))), faults

    def _checked(self, problem: Problem) -> FactsChecked:
        judge = Judge(self.setting.claims, self.true.placeholder)
        judge.reference_changed(self.true.problem, ())
        return judge.judge(problem, self.true, (), 0)


def _prompt_of(prompt_id: str) -> _ExpertPrompt:
    """The prompt of an expert episode with this identifier. Raises `UsageError` if it does not exist."""
    try:
        game, mode, seed, call, digest = prompt_id.split("/")
        episode, number = int(seed), int(call)
    except (ValueError, AttributeError):
        reason = "It has the form GAME/MODE/SEED/CALL/DIGEST, as exported rows have it."
        raise UsageError(f"Unknown prompt '{prompt_id}'", reason, "Take it from the rows of an expert.") from None
    if mode not in REWARDED:
        raise UsageError(f"Mode {mode} has no rewards", f"They are: {', '.join(REWARDED)}.", "Choose one of them.")
    refuse_test_seeds(setting_of(game, mode), [episode])
    prompts = _prompts(game, mode, episode)
    if not 1 <= number <= len(prompts):
        reason = f"The expert's episode has {len(prompts)} calls."
        raise UsageError(f"Unknown prompt '{prompt_id}'", reason, "Take it from rows of an expert.")
    prompt = prompts[number - 1]
    if digest_of(prompt.messages) != digest:
        reason = "It is the prompt of another episode, or of another version of pddlego."
        raise UsageError(
            f"'{prompt_id}' is not a prompt of the expert's", reason, "Take it from the rows of an expert."
        )
    return prompt


@lru_cache(maxsize=128)
def _prompts(game: str, mode: str, seed: int) -> tuple[_ExpertPrompt, ...]:
    """The prompts of an expert episode. It is played again, which gives the same prompts."""
    setting = setting_of(game, mode)
    model = method_of(game, mode).builtin_model(BUILT_IN_MODEL, Cell(game, mode, BUILT_IN_MODEL, seed), setting)
    assert model is not None, "the name of the built-in model"
    recorder = _Recorder(setting, mode, model)
    play(game, mode, seed, model=recorder)
    return tuple(recorder.prompts)


class _Recorder:
    """The built-in model, which records its prompts."""

    name = "expert"
    description: Mapping[str, Any] = {}

    def __init__(self, setting: Setting, mode: str, model: Model) -> None:
        self._setting, self._mode, self._model = setting, mode, model
        self.prompts: list[_ExpertPrompt] = []

    def complete(self, request: Request) -> Completion:
        completion, situation = self._model.complete(request), request.context
        assert isinstance(situation, Situation), "text games send it"
        self.prompts.append(_ExpertPrompt(self._setting, self._mode, situation, request.messages, completion.text))
        return completion


def digest_of(messages: Iterable[Message]) -> str:
    """A digest of a prompt."""
    text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
