from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.formalize.act import ActionGen, RandomActions
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, DefectKind, parse_problem
from tests.methods.textgames.situations import situation_with

PROMPTS = Prompts("coin")
FILE = """(define (problem x) (:domain {domain})
  (:objects kitchen - location) (:init (at kitchen) (visited kitchen)) {goal})"""


@pytest.fixture
def situation(coin: GameSetting) -> PromptContext:
    return situation_with(
        "coin", "", coin.start.domain, coin.start.problem, valid_commands=("move north", "take coin", "look around")
    )


def test_an_edit_that_breaks_the_check_is_not_usable(situation: PromptContext) -> None:
    proposal = PddlEdit(PROMPTS).read('{"init": {"add": ["(at lamp)", "(have lamp)"]}}', situation)
    assert proposal.feedback is not None
    assert proposal.feedback.parts == ("(at lamp)", "(have lamp)")


def test_an_object_is_declared_by_the_facts_that_use_it(situation: PromptContext) -> None:
    lines = ["(at kitchen)", "(connected kitchen pantry west)"]
    proposal = PddlEdit(PROMPTS).read(json.dumps({"init": {"add": lines}}), situation)
    assert proposal.feedback is None
    assert {str(obj) for obj in proposal.problem.objects} >= {"kitchen - location", "pantry - location"}
    assert proposal.notes == tuple(
        f"'{name} - location' was added to the objects, because facts use it" for name in ("kitchen", "pantry")
    )
    strict = PddlEdit(PROMPTS, tolerant=False).read(json.dumps({"init": {"add": lines}}), situation)
    assert strict.feedback is not None


def test_a_remark_is_noted_in_the_next_request(situation: PromptContext) -> None:
    edit = {"objects": {"add": ["kitchen - location"]}, "init": {"add": ["(at kitchen)"]}, "reasoning": "it begins"}
    proposal = PddlEdit(PROMPTS).read(json.dumps(edit), situation)
    assert proposal.feedback is None
    assert proposal.notes == ("JSON: the key 'reasoning' is not part of the form: it is ignored",)
    assert PddlEdit(PROMPTS, tolerant=False).read(json.dumps(edit), situation).feedback is not None


@pytest.mark.parametrize(
    ("before", "edit"),
    [
        ([], {"init": {"add": ["(item_at lamp kitchen)", "(at lamp)"]}}),
        ([], {"init": {"add": ["(nonsense kitchen)"]}}),
        ([], {"init": {"add": ["(connected kitchen kitchen)"]}}),
        (["kitchen - location"], {"objects": {"delete": ["kitchen - location"]}, "init": {"add": ["(at kitchen)"]}}),
        (["kitchen - location"], {"init": {"add": ["(at kitchn)"]}}),
    ],
    ids=["two types", "an unknown predicate", "a wrong number of arguments", "an object that was deleted", "a slip"],
)
def test_what_has_no_certain_type_is_not_declared(
    situation: PromptContext, before: list[str], edit: dict[str, dict[str, list[str]]]
) -> None:
    first = PddlEdit(PROMPTS).read(json.dumps({"objects": {"add": before}}), situation)
    proposal = PddlEdit(PROMPTS).read(json.dumps(edit), replace(situation, knowledge=first.knowledge))
    assert proposal.feedback is not None
    assert not {obj.name for obj in proposal.problem.objects} & {"lamp", "kitchn"}


def test_an_object_of_a_type_with_subtypes_is_not_declared() -> None:
    cooking = load("cooking-easy")
    knowledge = PromptContext(cooking.start)
    proposal = PddlEdit(PROMPTS).read('{"init": {"add": ["(have carrot)"]}}', knowledge)
    assert proposal.feedback is not None, "a carrot is an item, which is a kind of thing"


def test_surplus_constants_are_left_out_of_facts(situation: PromptContext) -> None:
    add = ["(at kitchen)", "(closed_door kitchen pantry north)", "(visited kitchen east)"]
    proposal = PddlEdit(PROMPTS).read(json.dumps({"init": {"add": add}}), situation)
    assert proposal.feedback is None
    assert {"(closed_door kitchen pantry)", "(visited kitchen)"} <= set(map(str, proposal.problem.facts))
    assert [entry.note for entry in proposal.entries if entry.note] == [
        "closed_door does not take north",
        "visited does not take east",
    ]
    gone = {"init": {"delete": ["(closed_door kitchen pantry north)"]}}
    after = PddlEdit(PROMPTS).read(json.dumps(gone), replace(situation, knowledge=proposal.knowledge))
    assert "(closed_door kitchen pantry)" not in set(map(str, after.problem.facts))


@pytest.mark.parametrize("line", ["(visited north)", "(at north east)", "(closed_door kitchen north)"])
def test_arguments_are_left_out_only_if_the_rest_is_a_fact(situation: PromptContext, line: str) -> None:
    proposal = PddlEdit(PROMPTS).read(json.dumps({"init": {"add": [line]}}), situation)
    assert proposal.feedback is not None


def test_a_line_that_cannot_be_read_is_not_usable(situation: PromptContext) -> None:
    proposal = PddlEdit(PROMPTS).read('{"init": {"add": ["(and (at kitchen))"]}}', situation)
    assert proposal.feedback is not None
    assert proposal.feedback.category == "refused lines"


def test_repairs_of_json_are_listed_and_refused_without_tolerance(situation: PromptContext) -> None:
    answer = "{objects: {'Add': ['kitchen - location']}, 'init': {'add': ['(at kitchen)',]}}"
    proposal = PddlEdit(PROMPTS).read(answer, situation)
    assert proposal.feedback is None
    assert Atom("at", ("kitchen",)) in proposal.problem.facts
    repairs = [defect.message for defect in proposal.defects if defect.kind is DefectKind.REPAIRED]
    assert repairs == [
        "JSON: a key without quotes",
        "JSON: ' as a quotation mark",
        "JSON: a comma before a closing bracket",
        "JSON: the key 'Add' is in capitals",
    ]
    strict = PddlEdit(PROMPTS, tolerant=False).read(answer, situation).feedback
    assert strict is not None
    assert "the JSON cannot be read" in strict.message


@pytest.mark.parametrize(
    "answer",
    [
        FILE.format(domain="coin-collector", goal="(:goal (have coin))"),
        FILE.format(domain="environment", goal=""),
        FILE.format(domain="coin-collector", goal="(:goal (nonsense ?x))"),
        "Here it is:\n```pddl\n" + FILE.format(domain="coin-collector", goal="(:goal (have coin))") + "\n```\nDone.",
    ],
)
def test_gen_reads_the_file_and_leaves_the_goal_to_the_ladder(situation: PromptContext, answer: str) -> None:
    proposal = PddlGen(PROMPTS).read(answer, situation)
    assert proposal.feedback is None
    assert Atom("at", ("kitchen",)) in proposal.problem.facts
    assert proposal.problem.goal == situation.knowledge.problem.goal
    assert proposal.problem.domain == "coin-collector"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "no (define"),
        ("(define (problem x) (:domain d) (:objects))", ":init"),
        ("(define (problem x) (:domain d) (:objects attic - roof) (:init (at attic)))", "attic"),
    ],
)
def test_gen_says_what_is_wrong(situation: PromptContext, answer: str, says: str) -> None:
    proposal = PddlGen(PROMPTS).read(answer, situation)
    assert proposal.feedback is not None
    assert any(says in item for item in proposal.feedback.evidence)


def test_a_file_that_ends_in_the_middle_is_cut_off(situation: PromptContext) -> None:
    whole = FILE.format(domain="coin-collector", goal="").rstrip()
    for length in (60, len(whole) - 12):
        feedback = PddlGen(PROMPTS).read(whole[:length], situation).feedback
        assert feedback is not None
        assert feedback.category == "cut off"
    assert PddlGen(PROMPTS).read(whole.removesuffix(")"), situation).feedback is None


@pytest.mark.parametrize("method", [PddlEdit(PROMPTS), PddlGen(PROMPTS)])
def test_thinking_without_an_end_is_cut_off(situation: PromptContext, method: PddlEdit | PddlGen) -> None:
    feedback = method.read("<think>The kitchen has {a door} and (define", situation).feedback
    assert feedback is not None
    assert feedback.category == "cut off"


@pytest.mark.parametrize(
    "answer",
    [
        '{"action": "move north"}',
        '```json\n{\n  "action": "Move North"\n}\n```\nThe door is open.',
        "{'command': 'move north',}",
        '{"name": "act", "arguments": {"command": "move north"}}',
        '{"name": "act", "parameters": {"text": "move north"}}',
        '{"name": "act", "arguments": "{\\"action\\": \\"move north\\"}"}',
        '{"tool_calls": [{"type": "function", "function": {"name": "act", "arguments": {"c": "move north"}}}]}',
        '<tool_call>\n{"name": "act", "arguments": {"command": "move north"}}\n</tool_call>',
        "<function=act>\n<parameter=command>\nmove north\n</parameter>\n</function>",
        "<action>move north</action>",
        'act("move north")',
        "I go on.\n[act(command='move north')]",
        '{"action": "take coin"}\nNo, first:\n{"action": "move north"}',
    ],
)
def test_act_takes_the_command_of_an_object_or_a_tool_call(situation: PromptContext, answer: str) -> None:
    proposal = ActionGen(PROMPTS).read(answer, situation)
    assert (proposal.command, proposal.feedback) == ("move north", None)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ('{"action": "fly"}', "'fly'"),
        ('{"name": "act", "arguments": {"verb": "move north", "object": "coin"}}', "act"),
        ('{"plan": ["move north", "take coin"]}', "plan"),
        ('{"action": 3}', "action"),
        ('{"action": "move north"', "action"),
    ],
)
def test_an_object_without_one_valid_command_is_none(situation: PromptContext, answer: str, shown: str) -> None:
    proposal = ActionGen(PROMPTS).read(answer, situation)
    assert proposal.feedback is not None
    assert shown in proposal.feedback.message


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("I would move north, or take coin later.", "move north"),
        ("First take coin, then move north.", "move north"),
        ("Take Coin", ""),
        ('{"action": "fly"}', ""),
    ],
)
def test_without_a_check_the_first_of_the_sorted_commands_is_sent(
    situation: PromptContext, answer: str, command: str
) -> None:
    """The paper's script searches the answer for each valid command in alphabetical order; else it sends nothing."""
    proposal = ActionGen(PROMPTS, checked=False).read(answer, situation)
    assert (proposal.command, proposal.feedback) == (command, None)


@pytest.mark.parametrize(
    "answer",
    [
        "move north<|im_end|>",
        "<|im_start|>assistant\nmove north<|eot_id|>",
        "<|channel>thought\nI could take coin.<channel|>move north",
        "1. move north",
        "1) Move north.",
        "\\boxed{move north}",
        "move north<|/ACTION|>",
        "<|ACTION|>move north<|END|>",
        "I go on. <|ACTION|>move north</|ACTION|>",
        "<|begin_of_box|>move north<|end_of_box|>",
        "move north<|endoftext|>Human: what now?",
    ],
)
def test_act_takes_a_command_in_the_dress_that_models_give_it(situation: PromptContext, answer: str) -> None:
    proposal = ActionGen(PROMPTS).read(answer, situation)
    assert (proposal.command, proposal.feedback) == ("move north", None)


@pytest.mark.parametrize("command", ["2. floor", "a) open door", "3 steps"])
def test_a_command_that_looks_like_an_item_is_that_command(situation: PromptContext, command: str) -> None:
    seen = Observations(valid_commands=("floor", command, "open door", "steps"))
    assert ActionGen(PROMPTS).read(command, replace(situation, seen=seen)).command == command


@pytest.mark.parametrize(
    "answer", ["", "I would move north", "move south", "take coin now", "\\boxed{fly}", "2. fly", "<|im_end|>"]
)
def test_act_takes_nothing_else(situation: PromptContext, answer: str) -> None:
    assert ActionGen(PROMPTS).read(answer, situation).feedback is not None


def test_random_is_seeded_and_takes_any_valid_command(situation: PromptContext) -> None:
    one, two = ([RandomActions(3).read("", situation).command] for _ in range(2))
    assert one == two
    source = RandomActions(3)
    assert {source.read("", situation).command for _ in range(50)} == set(situation.seen.valid_commands)


@pytest.mark.parametrize("method", [PddlEdit(PROMPTS), PddlGen(PROMPTS)])
def test_what_comes_about_in_plans_only_is_left_out_with_a_word(coin: GameSetting, method: PddlEdit | PddlGen) -> None:
    """Whoever takes the coin may write that it is had; a goal that asks for it would be true for ever."""
    known = parse_problem(FILE.format(domain="coin-collector", goal="(:goal (have coin))"))
    asked = situation_with("coin", "", coin.start.domain, known, only_planned=("have",))
    gen = str(known).replace("(at kitchen)", "(at kitchen) (have coin)")
    answer = '{"init": {"add": ["(have coin)"]}}' if isinstance(method, PddlEdit) else gen
    proposal = method.read(answer, asked)
    assert proposal.feedback is None
    assert proposal.problem.facts == known.facts
    assert [defect.message for defect in proposal.defects] == ["(have coin) comes about in plans only, and is left out"]


BEFORE = """(define (problem house) (:domain coin-collector) (:objects kitchen loc1 - location)
  (:init (at kitchen) (visited kitchen) (connected kitchen loc1 south)) (:goal (have coin)))"""


@pytest.mark.parametrize(
    ("objects", "fact", "asks"),
    [
        ("kitchen pantry", "(connected loc1 kitchen north)", True),
        ("kitchen", "(connected loc1 kitchen north)", False),
        ("kitchen pantry", "(connected loc2 kitchen north)", False),
        ("kitchen pantry loc1", "(connected loc1 kitchen north)", False),
    ],
    ids=["an old name beside a new one", "no new name", "never heard of", "declared"],
)
def test_an_old_name_beside_a_new_one_is_a_question(
    situation: PromptContext, objects: str, fact: str, asks: bool
) -> None:
    known = replace(situation, knowledge=situation.knowledge.with_problem(parse_problem(BEFORE)))
    text = f"(define (problem x) (:domain coin-collector) (:objects {objects} - location) (:init (at kitchen) {fact}))"
    proposal = PddlGen(PROMPTS).read(text, known)
    assert (proposal.feedback is not None) is asks
    if asks:
        assert proposal.faults[0].startswith("loc1 is used and no longer among the objects. If it is called pantry now")


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("I could take coin.\nThe door is open, so I go.\nAction: move north", "move north"),
        ("I could move north.\nAction: take coin", "take coin"),
        ("action : move north? No.\n**Action:** take coin", "take coin"),
        ("Action: move north\n\nWhat the next action: will be is unclear.", "move north"),
        ("take coin would be next, but first:\nmove north", "move north"),
        ('I reason.\n{"action": "move north"}', "move north"),
    ],
)
@pytest.mark.parametrize("checked", [True, False])
def test_after_a_chain_of_thought_the_last_command_counts(
    situation: PromptContext, answer: str, command: str, checked: bool
) -> None:
    proposal = ActionGen(PROMPTS, checked, thinks=True).read(answer, situation)
    assert (proposal.command, proposal.feedback) == (command, None)


def test_a_chain_of_thought_is_asked_for(situation: PromptContext) -> None:
    first = (Exchange(None, "You are here."),)
    seen = Observations(first, first, ("move north",))
    for prompts, plain in ((PROMPTS, False), (Prompts("paper"), True)):
        with_thoughts, without = (
            ActionGen(prompts, plain_requests=plain, thinks=thinks).request(replace(situation, seen=seen))
            for thinks in (True, False)
        )
        assert "step by step" in "".join(message.content for message in with_thoughts.messages)
        assert "step by step" not in "".join(message.content for message in without.messages)


def test_without_a_check_a_command_of_a_listed_kind_is_sent(situation: PromptContext) -> None:
    """Games with thousands of commands list their kinds in place of the commands."""
    seen = Observations(kinds=("open OBJ",), things=("door",))
    asked = replace(situation, seen=seen)
    for answer, command in (("open door", "open door"), ("fly", "")):
        assert ActionGen(PROMPTS, checked=False).read(answer, asked).command == command
