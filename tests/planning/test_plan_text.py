"""Plans in files, in the output of planners, and in the answers of models."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable

import pytest

from pddlego.pddl import PddlSyntaxError, parse_domain, parse_problem
from pddlego.planning import validate
from pddlego.planning.plan_text import PlanReading, plan_in, read_plan
from tests.growth import is_linear

WALK = parse_domain("""(define (domain walk) (:requirements :strips :typing) (:types spot)
  (:predicates (at ?s - spot) (way ?a ?b - spot) (rested))
  (:action go :parameters (?a ?b - spot) :precondition (and (at ?a) (way ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action rest :parameters () :precondition () :effect (rested)))""")
TASK = parse_problem("""(define (problem w1) (:domain walk) (:objects x y z - spot)
  (:init (at x) (way x y) (way y z)) (:goal (and (at z) (rested))))""")
PLAN = "(go x y)\n(go y z)\n(rest)"


def file(text: str) -> PlanReading:
    return read_plan(text, WALK, TASK)


def answer(text: str) -> PlanReading:
    return plan_in(text, WALK, TASK)


# what is a plan in files and in answers alike
COMMON = {
    "plain": PLAN,
    "capitals": PLAN.upper(),
    "byte order mark, CRLF": "\ufeff" + PLAN.replace("\n", "\r\n"),
    "CR": PLAN.replace("\n", "\r"),
    "one line": "(go x y) (go y z)(rest)",
    "over lines": "(go x\n   y)\n(\n go y\r\n z )\n( rest )",
    "commas": "(go x, y),\n(go y,z),\n(rest)",
    "comments": "; a plan\n(go x y) ; walk (far away)\n(go y z) # walk\n(rest) // ok",
    "fence": f"```\n{PLAN}\n```",
    "fence with language": f"```pddl\n{PLAN}\n```",
    "fence that is not closed": f"```\n{PLAN}",
    "tildes": f"~~~\n{PLAN}\n~~~",
    "times": "0: (go x y) [1]\n1: (go y z) [1]\n2.0: (rest) [1]",
    "times in another order": "1: (go y z) [1]\n0: (go x y) [1]\n2: (rest) [1]",
    "times that are fractions": "0.500 : (go y z)\n.25 0.25: (go x y)\n10: (rest)",
    "costs of times": "0.0: (go x y) [D:1.00; C:0.10]\n1.0: (go y z) [D:1; C:1]\n2.0: (rest) [0.001]",
    "log of Fast Downward": "Solution found!\ngo x y (1)\ngo y z (1)\nrest  (1)\nPlan length: 3 step(s).\nPlan cost: 3",
    "log with times": "[t=0.1s, 9 KB] go x y (1)\n[t=0.1s, 9 KB] go y z (1)\n[t=0.1s, 9 KB] rest  (1)",
    "two plans of LAMA": "Solution found!\ngo x z (9)\nPlan length: 1 step(s).\nSolution found!\n"
    "go x y (1)\ngo y z (1)\nrest  (1)\nPlan length: 3 step(s).",
    "FF": "ff: found legal plan as follows\n\nstep    0: GO X Y\n        1: GO Y Z\n        2: REST\n\n"
    "time spent:    0.00 seconds instantiating 4 easy, 0 hard action templates",
    "LPG": "; Version LPG-td-1.0\n; Time 0.01\n\n0:   (GO X Y) [1]\n1:   (GO Y Z) [1]\n2:   (REST) [1]",
    "Metric-FF": "0: (go x y)  [0.001]\n1: (go y z)  [0.001]\n2: (rest)  [0.001]\nplan (cost: 49.931942)  [0.001]",
    "ENHSP": "Found Plan:\n0.0: (go x y)\n1.0: (go y z)\n2.0: (rest)\n\nPlan-Length:3\nMetric (Search):3.0",
    "OPTIC, two plans": "; Plan found with metric 9\n0.000: (go x z) [0.001]\n; Plan found with metric 3\n"
    "0.000: (go x y) [0.001]\n0.001: (go y z) [0.001]\n0.002: (rest) [0.001]",
    "Madagascar": "STEP 0: go(x,y)\nSTEP 1: go(y,z) rest()",
    "numbered": "1. (go x y)\n2. (go y z)\n3. (rest)",
    "calls": "1. go(x, y)\n2. go(y, z)\n3. rest()",
    "calls of Python": "go('x', 'y')\ngo(\"y\", \"z\")\nrest()",
    "calls with a blank": "go (x, y)\ngo (y, z)\nrest ()",
    "words": "go x y\ngo y z\nrest",
    "JSON": '{"plan": ["(go x y)", "(go y z)", "(rest)"]}',
    "JSON over lines": '{\n  "plan": [\n    "go x y",\n    "go y z",\n    "rest"\n  ]\n}',
    "two JSON values": '{"plan": ["(go x z)"]}\n{"plan": ["(go x y)", "(go y z)", "(rest)"]}',
    "reasoning": f"<think>\n(go x z) and\n(rest)\n</think>\n{PLAN}",
    "reasoning in a channel of Gemma": f"<|channel>thought\n(go x z) and\n(rest)\n<channel|>{PLAN}<turn|>",
    "markers of a chat template": f"<|im_start|>assistant\n{PLAN}<|im_end|>\n<|im_start|>user\n(go x z)\n(rest)",
}

ANSWERS = {
    "inline code": "1. `(go x y)`\n2. `(go y z)`\n3. `(rest)`",
    "bold": "**Step 1:** (go x y)\n**Step 2:** (go y z)\n**Final step:** **(rest)**",
    "bullets": "* (go x y)\n- (go y z)\n• (rest)",
    "explanations": "1. (go x y) - walk to y\n2. (go y z) - walk to z, as (at y) is true\n3. (rest) - have a rest",
    "explanations before": "1. Walk to y: (go x y)\n2. Walk on: `go y z`\n3. Rest: (rest)",
    "table": "| Step | Action | Effect |\n|---|---|---|\n"
    "| 1 | (go x y) | (at y) |\n| 2 | (go y z) | (at z) |\n| 3 | (rest) | |",
    "table of words": "| 1 | go x y | walk |\n| 2 | go y z | walk |\n| 3 | rest | sleep |",
    "arrows": "(go x y) → (go y z) -> (rest)",
    "semicolons": "go(x, y); go(y, z); rest()",
    "sentence": "First (go x y); then (go y z), and finally I (rest).",
    "sentences": "First (go x y), which is possible. Then I walk on with (go y z).\nAt last I (rest).",
    "label": "The plan: (go x y), (go y z), (rest)\nExplanation: (go x y) moves to y, (rest) is needed, too.",
    "remark": f"{PLAN}\n(Note: this plan is optimal.)\n(goal reached)",
    "escapes": '{"plan": "(go x y)\\n(go y z)\\n(rest)", "why": "(go x y) is possible"}',
    "list of JSON values": '[{"plan": ["(go x z)"]}, {"plan": ["(go x y)", "(go y z)", "(rest)"]}]',
    "draft in a block": f"```\n(go x z)\n```\nThat fails. Correct:\n```\n{PLAN}\n```",
    "draft without blocks": f"(go x z)\n(rest)\nThat fails. Correct:\n{PLAN}",
    "numbers begin again": "1. (go x z)\n2. (rest)\nNo:\n1. (go x y)\n2. (go y z)\n3. (rest)",
    "corrected outside of the block": f"```\n(go x z)\n```\nThat fails. The corrected plan:\n{PLAN}",
    "facts in a later block": f"```\n{PLAN}\n```\nFinal state:\n(at z) (rested)",
    "facts in an earlier block": f"```\n(:init (at x))\n```\n```\n{PLAN}\n```",
    "a remark that is announced": f"{PLAN}\nIs this a solution? The solution is:\n(goal reached)",
    "words of a sentence": f"Go home now\ngo x now please\n{PLAN}\nI rest (go x y)",
    "the same again": f"{PLAN}\n\nExplanation:\n- (go x y): walk\n- (go y z): walk on\n- (rest): rest",
    "between words": "Here is the plan.\n(go x y)\nNow you are in y.\n(go y z)\nAnd then:\n(rest)\nDone.",
}


@pytest.mark.parametrize("text", COMMON.values(), ids=COMMON.keys())
@pytest.mark.parametrize("read", [file, answer])
def test_a_plan_is_read_in_every_format(text: str, read: Callable[[str], PlanReading]) -> None:
    reading = read(text)
    assert str(reading.plan) == PLAN
    assert not reading.plan.times


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS.keys())
def test_the_plan_of_an_answer_is_read(text: str) -> None:
    assert str(answer(text).plan) == PLAN


@pytest.mark.parametrize("text", ["", "There is no plan.", "```\n```", "(at x) holds (see above)"])
def test_an_answer_without_actions_is_an_empty_plan(text: str) -> None:
    assert not answer(text).plan.steps


@pytest.mark.parametrize("text", ["", "; cost = 0 (unit cost)\n", "```\n```"])
def test_a_file_without_words_is_an_empty_plan(text: str) -> None:
    assert file(text) == PlanReading(file("").plan, ())


@pytest.mark.parametrize("text", ["There is no plan.", "()", "N/A", "(Note: none)"])
def test_a_file_of_words_is_not_a_plan(text: str) -> None:
    if text != "()":
        with pytest.raises(PddlSyntaxError, match="no action of the domain"):
            file(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("(go x y)\n(go y\n(rest)", 2),
        ("(go x [y])", 1),
        ("(go x y)\n(go (y) z)", 2),
        ("(go x y]\n(rest)", 1),
        ("go(x, y\nrest()", 1),
        ("(go x: y)", 1),
        ("```\n(rest)\ngo x -> y\n```", 3),
        ("(go x y\n\nThis is all", 1),
        ("```\n(rest)\n(go x\n```", 3),
    ],
)
@pytest.mark.parametrize("read", [file, answer])
def test_what_looks_like_an_action_and_cannot_be_read_is_reported(
    text: str, line: int, read: Callable[[str], PlanReading]
) -> None:
    with pytest.raises(PddlSyntaxError, match=f"line {line}, .* is not an action") as caught:
        read(text)
    assert [(defect.place or (0, 0))[0] for defect in caught.value.defects] == [line]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("(go x y)\n(fly y z)\n(rest)", "(fly y z)"),
        ("1. (go x y)\n2. (slep)\n", "(slep)"),
        ("fly y z (1)", "(fly y z)"),
        ("1. go x q", "(go x q)"),
        ("3: FLY Y Z", "(fly y z)"),
        ("(go x q)", "(go x q)"),
        ("(go x)", "(go x)"),
        ("```\n(fly)\n```", "(fly)"),
        ("(fly me to the moon)", "(fly me to the moon)"),
        ("```\ngo x q\n```", "(go x q)"),
    ],
)
@pytest.mark.parametrize("read", [file, answer])
def test_unknown_names_are_left_to_the_validator(text: str, step: str, read: Callable[[str], PlanReading]) -> None:
    assert step in map(str, read(text).plan.steps)


def test_a_file_is_stricter_than_an_answer() -> None:
    for text in ("(rest)\n(fly)\n", "(rest)\n(at x)\n", "(rest)\ngo x\n"):
        assert len(file(text).plan) == 2
    for text in ("(rest) ; (go x y)", "(rest) ; (go x y)\n```\n```", "```\n```\n(rest) ; (go x y)"):
        assert str(file(text).plan) == "(rest)"
    assert str(file("(go x ; from (here)\n y)").plan) == "(go x y)"


@pytest.mark.parametrize("end", ["(go y", "(go", "(g", "(", "go(y,", '"(go y', "(rest"])
@pytest.mark.parametrize("begin", ["```\n", "", '{"plan": ['])
def test_an_answer_that_breaks_off_keeps_the_steps_that_are_complete(begin: str, end: str) -> None:
    reading = answer(f"{begin}(go x y)\n(rest)\n{end}")
    assert str(reading.plan) == "(go x y)\n(rest)"
    if end not in ("(", "(g"):
        assert "ends inside of a step" in reading.note
    if end in ("(go y", "(rest"):
        with pytest.raises(PddlSyntaxError):
            file(f"(go x y)\n(rest)\n{end}")


@pytest.mark.parametrize("text", ["(go x", "```\n(go x z)\n```\nNo:\n```\n(go x"])
def test_an_answer_that_breaks_off_in_its_first_step_has_no_plan(text: str) -> None:
    with pytest.raises(PddlSyntaxError, match="is not an action"):
        answer(text)


def test_positions_are_those_of_the_text() -> None:
    assert file("; c\n2: (rest)\n 1: (go y z)\n0: (go x\n y)").places == ((4, 4), (3, 5), (2, 4))
    assert file("<think>\n(rest)\n</think>\n  (go x y) go(y, z)").places == ((4, 3), (4, 12))
    assert file("\nstep 0: GO X Y\n | go y z | walk |").places == ((2, 9), (3, 4))


def test_skipped_lines_are_counted() -> None:
    reading = file("Solution found!\n\ngo x y (1)\n; comment\nPlan length: 1 step(s).\n")
    assert reading.note == "2 lines without a step of the plan skipped, the first is line 1"
    assert not file(PLAN).note


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("```\n(go x y)\n```\n```\n(go y z)\n(rest)\n```", "2 plans found; the last one is used"),
        ("1. (rest)\n2. (go x y)\n1. (go y z)\n2. (rest)", "2 plans found; the last one is used"),
        (
            "First:\n```\n(go x y)\n```\nthen\n```\n(go y z)\n(rest)\n```",
            "2 plans found; the last one is used; 2 lines without a step of the plan skipped, the first is line 1",
        ),
        (
            "(rest)\nPlan 2:\n(rest)\nPlan 3:\n(go y z)\n(rest)",
            "3 plans found; the last one is used; 2 lines without a step of the plan skipped, the first is line 2",
        ),
        ("```\n(go y z)\n(rest)\n```\n(go x y)", "2 plans found; the one from line 2 on is used"),
    ],
)
def test_several_plans_are_counted_and_their_lines_are_not_skipped_ones(text: str, note: str) -> None:
    reading = file(text)
    assert (reading.note, [str(step) for step in reading.plan.steps]) == (note, ["(go y z)", "(rest)"])


def test_steps_at_the_same_time_keep_their_times() -> None:
    reading = file("1: (go y z)\n0: (go x y)\n0.0: (rest)")
    assert str(reading.plan) == "(go x y)\n(rest)\n(go y z)"
    assert [*map(int, reading.plan.times)] == [0, 0, 1]
    assert validate(WALK, TASK, reading.plan) is None


def test_times_of_some_steps_must_be_in_order() -> None:
    assert str(file("0: (go x y)\n(go y z)\n1: (rest)").plan) == PLAN
    for text in ("1: (go x y)\n(go y z)\n0: (rest)", "0: (go x y)\n(go y z)\n0: (rest)"):
        with pytest.raises(PddlSyntaxError, match="give each step a time"):
            file(text)


def test_a_time_may_have_any_number_of_digits() -> None:
    nines = "9" * 5000
    assert str(file(f"{nines}1: (rest)\n{nines}: (go y z)\n0: (go x y)").plan) == PLAN


_FORMS: tuple[Callable[[str, int], str], ...] = (
    lambda step, number: step,
    lambda step, number: step.upper(),
    lambda step, number: f"{number}. {step}",
    lambda step, number: f"- `{step}`",
    lambda step, number: f"{number}: {step} [1]",
    lambda step, number: f"| {number} | {step} |",
    lambda step, number: f"{number}) {step}, because of (way x y)",
    lambda step, number: f"**Step {number}:** {step.replace(' ', ', ')}",
    lambda step, number: f"{step[1:].split()[0].strip(')')}({', '.join(step[1:-1].split()[1:])})",
)


def test_any_mix_of_formats_is_read() -> None:
    rng = random.Random(0)
    for _ in range(300):
        steps = [rng.choice(("(go x y)", "(go y z)", "(rest)")) for _ in range(rng.randint(1, 8))]
        form, other = rng.choice(_FORMS), rng.choice(_FORMS)
        lines = [(form if rng.random() < 0.7 else other)(step, number) for number, step in enumerate(steps)]
        text = rng.choice(("\n", "\n\n", "\r\n")).join(lines)
        text = rng.choice((text, f"```\n{text}\n```", f"Sure!\n\n{text}\nDone."))
        assert [*map(str, answer(text).plan.steps)] == steps, text


_WORST = (
    *("(", "(a", "(a ", " ", "1", "1.", "1:", "-", "`", "```", "```\n", "(a)\n", "<think>", "(go x y", "(go x y)"),
    *("go(", "go x y ", '"', "|", "(go x y) a (a)", "[t=", "plan:", "plan ", "1 ", "step ", "[1", "(1", ";(", "\n"),
    *("rest\n", "0: (rest)\n", "\\n", "(rest)\n1 ", "a (rest) "),
)


@pytest.mark.slow
@pytest.mark.parametrize("worst", _WORST)
def test_long_texts_are_read_in_linear_time(worst: str) -> None:

    def read_all(characters: int) -> None:
        long = (worst * characters)[:characters]
        for text in (long, f"({long}", f"(go {long})", f"1{long}", f"(rest){long}x(rest)"):
            for read in (file, answer):
                with contextlib.suppress(PddlSyntaxError):
                    read(text)

    assert is_linear(lambda: read_all(5_000), lambda: read_all(80_000), 16)


TOGGLE = parse_domain("""(define (domain d) (:predicates (p ?x))
  (:action make :parameters (?x) :effect (p ?x)) (:action undo :parameters (?x) :effect (not (p ?x))))""")
THINGS = parse_problem("(define (problem p) (:domain d) (:objects a b) (:init) (:goal (p a)))")


@pytest.mark.parametrize("between", [" / ", "<br>", " && ", "&nbsp;", " ", ", then ", " to make it true, and then "])
def test_every_step_of_a_line_counts_whatever_is_between(between: str) -> None:
    assert str(read_plan(f"(make a){between}(undo a)", TOGGLE, THINGS).plan) == "(make a)\n(undo a)"


@pytest.mark.parametrize(
    "text", ["1e-3: (make a)\n5e-4: (undo a)", "0,75: (make a)\n0,5: (undo a)", "-1: (make a)\n-2: (undo a)"]
)
def test_time_stamps_with_signs_exponents_and_commas_are_times(text: str) -> None:
    assert str(read_plan(text, TOGGLE, THINGS).plan) == "(undo a)\n(make a)"


@pytest.mark.parametrize("arguments", ["args", "arguments", "parameters", "params", "objects"])
@pytest.mark.parametrize("name", ["action", "name", "Step"])
def test_steps_as_json_objects_are_read(name: str, arguments: str) -> None:
    steps = [{name: "make", arguments: ["a"]}, {name: "undo", arguments: ["b"]}]
    for text in (json.dumps(steps), json.dumps({"plan": steps}, indent=2), "\n".join(map(json.dumps, steps))):
        for reading in (read_plan(text, TOGGLE, THINGS), plan_in(f"Here it is:\n```json\n{text}\n```", TOGGLE, THINGS)):
            assert str(reading.plan) == "(make a)\n(undo b)"
