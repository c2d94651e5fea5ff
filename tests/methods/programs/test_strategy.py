"""Strategies as pseudocode: followed on small tasks, explained and corrected before a program is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pddlego.episode.events import Asked, Event, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.evaluation.replay import load_recorded, replay
from pddlego.methods.base import parse_variant
from pddlego.methods.programs.events import Evaluated, Followed, ProgramWritten, StrategyChosen
from pddlego.methods.programs.limits import first_programs
from pddlego.methods.programs.measure import MEASURING
from pddlego.methods.programs.options import MODES, ProgramOptions
from pddlego.methods.programs.reference_model import FollowRequest, reference
from pddlego.methods.programs.setting import load, upper_bound
from pddlego.methods.programs.trial import arguments_of
from pddlego.models.base import Request, RuleModel
from pddlego.planning import ProcessPlanner
from pddlego.tasks import Task
from tests.cli.command import run
from tests.methods.programs.playing import ending, events_of, small
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks

BLOCKS = """def get_plan(objects, init, goal):
    below = {atom[1]: atom[2] for atom in init if atom[0] == "on"}
    wanted = {atom[1]: atom[2] for atom in goal if atom[0] == "on"}
    plan = []
    while below:
        block = min(set(below) - set(below.values()))
        plan += [f"(unstack {block} {below.pop(block)})", f"(put-down {block})"]
    done = set(wanted.values()) - set(wanted)
    while set(wanted) - done:
        block = min(block for block in wanted if block not in done and wanted[block] in done)
        plan += [f"(pick-up {block})", f"(stack {block} {wanted[block]})"]
        done.add(block)
    return plan
"""

FLAWS = {
    "ferry": (reference("ferry") or "", 'plan.append(f"(debark {car} {here})")', "pass"),
    "gripper": (reference("gripper") or "", "        go(wanted[first])\n", ""),
    "blocks": (BLOCKS, ', f"(put-down {block})"', ""),
}
"""A right strategy of each domain, and the text that is replaced to make it wrong."""

OPTIONS = ProgramOptions(strategy="pseudocode")


class Strategist:
    """A scripted model: its pseudocode is Python, which it follows to the letter, and has one flaw until corrected."""

    def __init__(self, domain: str, programs: tuple[str, ...] = ()) -> None:
        right, old, new = FLAWS[domain]
        assert right.count(old) == 1
        self.right, self.wrong, self.programs = right, right.replace(old, new), list(programs)

    def __call__(self, request: Request) -> str:
        if request.purpose == "pseudocode":
            return self.wrong
        if request.purpose == "correct-strategy":
            return self.right
        if isinstance(request.context, FollowRequest):
            text = request.messages[-1].content
            return self.follow(self.right if self.right.strip() in text else self.wrong, request.context)
        if request.purpose in ("implement", "debug"):
            own = self.programs.pop(0) if self.programs else request.messages[-2].content
            return f"```python\n{own}\n```"
        return "words"

    @staticmethod
    def follow(strategy: str, context: FollowRequest) -> str:
        names: dict[str, Any] = {}
        exec(strategy, names)
        plan = names["get_plan"](*arguments_of(context.domain, Task("", context.problem)))
        return "I follow it.\n```\n" + "\n".join(plan) + "\n```"


def played(
    domain: str, mode: str = "program", options: ProgramOptions = OPTIONS, programs: tuple[str, ...] = ()
) -> list[Event]:
    return events_of(small(domain, options), RuleModel("strategist", Strategist(domain, programs)), mode, options)


def asked(events: list[Event]) -> list[str]:
    return [event.purpose for event in events if isinstance(event, Asked)]


FOLLOWED = ["summarize", "pseudocode", "follow", "follow"]


@pytest.mark.slow
@pytest.mark.parametrize("domain", FLAWS)
def test_a_flaw_of_the_pseudocode_is_corrected_before_code_is_written(domain: str) -> None:
    events = played(domain)
    assert asked(events) == [*FOLLOWED, "reflect-strategy", "correct-strategy", "follow", "follow", "implement"]
    followed = [(event.version, event.kind) for event in events if isinstance(event, Followed)]
    assert followed == [(0, "plan semantics")] * 2 + [(1, "solved")] * 2
    (chosen,) = (event for event in events if isinstance(event, StrategyChosen))
    assert (chosen.version, chosen.solved, chosen.total) == (1, 2, 2)
    implement = next(event for event in events if isinstance(event, Asked) and event.purpose == "implement")
    assert implement.messages[-2].content == chosen.text, "the corrected pseudocode takes the place of the first"
    assert not any(isinstance(event, Rejected) for event in events), "errors of programs are counted apart"
    assert ending(events).outcome is Outcome.WON


def test_a_whole_task_is_followed_and_the_reason_of_the_failure_goes_back() -> None:
    requests = [event for event in played("ferry") if isinstance(event, Asked)]
    follow, reflect = (
        next(item for item in requests if item.purpose == purpose) for purpose in ("follow", "reflect-strategy")
    )
    assert "..." not in follow.messages[-1].content and len(follow.messages) == 1
    assert "This plan is not valid: " in reflect.messages[-1].content
    assert reflect.messages[:1] == follow.messages, "the failure is explained where the plan was written"


def test_ablations_take_out_each_part() -> None:
    flawed = FLAWS["ferry"][0].replace(*FLAWS["ferry"][1:])
    right = FLAWS["ferry"][0]
    assert asked(played("ferry", "program-no-strategy-debug", programs=(flawed, right))) == [
        "summarize", "pseudocode", "implement", "reflect", "debug",
    ]  # fmt: skip
    assert asked(played("ferry", "program-no-reflection", programs=(flawed, right))) == [
        *FOLLOWED, "correct-strategy", "follow", "follow", "implement", "debug",
    ]  # fmt: skip
    options = OPTIONS.model_copy(update={"debug_rounds": 1})
    single = asked(played("ferry", "program-no-variants", options, (flawed, flawed)))
    assert single.count("implement") == 1 and single[-1] == "debug"
    assert first_programs(OPTIONS, parse_variant("program", MODES)) == 3
    assert first_programs(ProgramOptions(), parse_variant("program", MODES)) == 1


def test_of_several_programs_the_best_on_the_training_tasks_is_evaluated() -> None:
    right = FLAWS["ferry"][0]
    setting = small("ferry")
    first = setting.tasks(0).training[0].size
    half = right.replace("return plan", f"return plan if len(objects) != {first} else None")
    none = right.replace("return plan", "return None")
    options = OPTIONS.model_copy(update={"debug_rounds": 0})
    events = played("ferry", options=options, programs=(none, half, "no Python"))
    assert [event.answer for event in events if isinstance(event, ProgramWritten)] == [1, 2, 3]
    (evaluated,) = (event for event in events if isinstance(event, Evaluated))
    assert (evaluated.answer, evaluated.program) == (2, half.rstrip())
    implemented = [event.messages for event in events if isinstance(event, Asked) and event.purpose == "implement"]
    assert implemented[0] == implemented[1] == implemented[2], "each first program has a conversation of its own"


def test_the_best_strategy_is_implemented_after_the_last_round() -> None:
    options = OPTIONS.model_copy(update={"strategy_rounds": 0})
    events = played("ferry", options=options, programs=(FLAWS["ferry"][0],))
    assert asked(events) == [*FOLLOWED, "implement"]
    assert ending(events).outcome is Outcome.WON


def test_parts_of_pseudocode_need_pseudocode_and_older_runs_have_the_same_files() -> None:
    with pytest.raises(UsageError, match="has no effect here"):
        load("ferry", ProgramOptions()).check_mode(parse_variant("program-no-reflection", MODES))
    load("ferry", OPTIONS).check_mode(parse_variant("program-no-reflection", MODES))
    added = set(load("ferry", OPTIONS).sources) - set(load("ferry", ProgramOptions()).sources)
    assert len(added) == 6 and "prompts/programs/follow.j2" in added


def test_the_first_papers_mean_is_not_shown_for_pseudocode() -> None:
    published = MEASURING.published
    assert published is not None
    assert "program" in published("ferry", {}, ())["gpt-4"]
    assert "program" not in published("ferry", {"strategy": "pseudocode"}, ())["gpt-4"]


@pytest.mark.parametrize(
    "mode", ["program", "program-no-reflection", "program-no-strategy-debug", "program-no-variants"]
)
def test_no_conversation_is_longer_than_the_upper_bound(mode: str) -> None:
    options = OPTIONS.model_copy(update={"debug_rounds": 1, "strategy_rounds": 1})

    class Hopeless(Strategist):
        def __call__(self, request: Request) -> str:
            return "(sail a b)" if isinstance(request.context, FollowRequest) else "def get_plan(o, i, g): return 1"

    events = events_of(small("ferry", options), RuleModel("hopeless", Hopeless("ferry")), mode, options)
    assert len(asked(events)) == upper_bound(load("ferry", options), mode, options, 0).calls


@pytest.mark.slow
def test_a_run_is_recorded_replayed_and_resumed(tmp_path: Path, planner: ProcessPlanner) -> None:
    model = "reader+noise:0.5,seed=1"
    plain = ("eval", "ferry", "--modes", "program", "--models", model, "--run", "one")
    command = (*plain, "--set", "strategy=pseudocode")
    first = run(*command, "--seeds", "0", cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    (journal,) = (tmp_path / "runs" / "one" / "episodes").glob("*.jsonl")
    recorded = load_recorded(journal)
    assert any(event.version for event in recorded.trace.all(Followed)), "a strategy was corrected"
    assert not recorded.changed
    assert replay(recorded, planner).difference is None
    lines = (tmp_path / "runs" / "one" / "results.jsonl").read_text()
    resumed = run(*command, "--seeds", "0-1", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    after = (tmp_path / "runs" / "one" / "results.jsonl").read_text()
    assert after.startswith(lines) and len(after.splitlines()) == 2
    other = run(*plain, "--seeds", "0-1", cwd=tmp_path)
    assert other.returncode == 2 and "another configuration" in other.stderr
