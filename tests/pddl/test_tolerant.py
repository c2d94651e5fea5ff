"""What is repaired and what is not: by hand, by property, and on 343 recorded files of real models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Atom, PddlSyntaxError, check, parse_domain, parse_problem
from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.domain import read_domain
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.pddl.tolerant import Repaired, RepairKind, is_cut_off, repair
from pddlego.pddl.tolerant.files import read_pair
from pddlego.planning import ProcessPlanner, Search
from pddlego.tools.audit.pairs import read_labelled
from tests import shared
from tests.recorded_pairs import CheckedPair, check_pair

CORPUS, OTHER_MODELS = (shared.CORPUS / name for name in ("pairs.jsonl", "pairs-other-models.jsonl"))

DOMAIN = """(define (domain walk)
  (:requirements :strips :typing :negative-preconditions)
  (:types room way)
  (:constants north south - way)
  (:predicates (at ?r - room) (way ?a - room ?b - room ?w - way) (shut ?a - room ?b - room))
  (:action move
    :parameters (?a - room ?b - room ?w - way)
    :precondition (and (at ?a) (way ?a ?b ?w) (not (shut ?a ?b)))
    :effect (and (not (at ?a)) (at ?b))))"""

PROBLEM = """(define (problem p) (:domain walk)
  (:objects hall attic - room)
  (:init (at hall) (way hall attic north))
  (:goal (at attic)))"""


def swap(old: str, new: str) -> Callable[[str], str]:
    def changed(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return changed


def same(text: str) -> str:
    return text


def _two_actions(text: str) -> str:
    """A second action in front, which is not closed."""
    stay = "(:action stay :parameters (?a - room) :precondition (at ?a) :effect (and (at ?a) (not (shut ?a ?a))"
    return swap("(:action move", f"{stay} (:action move")(text)


def _misnamed(name: str) -> Callable[[str], str]:
    """A condition and an effect with a name that is similar to `shut`."""
    return lambda text: swap("(at ?b))))", f"(at ?b) ({name} ?b ?a))))")(
        swap("(not (shut ?a ?b))", f"({name} ?a ?b)")(text)
    )


def _compares(text: str) -> str:
    return swap("(not (shut ?a ?b)))", "(not (shut ?a ?b)) (not (= ?w upward)))")(text)


def _parameters_last(text: str) -> str:
    parameters = ":parameters (?a - room ?b - room ?w - way)"
    return swap("(at ?b))))", f"(at ?b)) {parameters}))")(swap(parameters, "")(text))


L, S, D = RepairKind.LEXICAL, RepairKind.STRUCTURAL, RepairKind.DECLARED

BROKEN: list[tuple[str, Callable[[str], str], Callable[[str], str], RepairKind]] = [
    ("fence and prose", same, lambda text: f"Here it is (enjoy):\n```pddl\n{text}\n```\nDone.", L),
    ("fence on the same line", same, lambda text: f"```{text}```", L),
    ("literal line breaks", same, lambda text: text.replace("\n", "\\n"), L),
    ("unbalanced end", same, lambda text: text[:-2], L),
    ("one parenthesis too many", lambda text: text + ")", same, L),
    ("quotes", same, swap("(at hall)", '("at" hall)'), L),
    ("closed too early", swap("(shut ?a - room ?b - room))\n", "(shut ?a - room ?b - room)))\n"), same, L),
    ("misspelt field", swap(":precondition", ":preconditions"), same, S),
    ("misspelt section", swap("(:action move", "(:actions move"), same, S),
    ("a group of actions", swap("(:action move", "(:actions (move"), same, S),
    (
        "fields in parentheses",
        swap(":effect (and (not (at ?a)) (at ?b))", "(:effect (and (not (at ?a)) (at ?b)))"),
        same,
        S,
    ),
    ("no and", swap("(and (not (at ?a)) (at ?b))", "((not (at ?a)) (at ?b))"), same, S),
    ("forms side by side", swap("(and (not (at ?a)) (at ?b))", "(not (at ?a)) (at ?b)"), same, S),
    (
        "and in init",
        same,
        swap("(:init (at hall) (way hall attic north))", "(:init (and (at hall) (way hall attic north)))"),
        S,
    ),
    ("entries in parentheses", same, swap("hall attic - room", "(hall - room) (attic - room)"), S),
    ("colon for dash", same, swap("attic - room", "attic : room"), S),
    ("a constant again", same, swap("attic - room", "attic - room north - way"), S),
    ("doubled object", same, swap("hall attic - room", "hall attic hall - room"), S),
    ("own subtype", swap("(:types room way)", "(:types room - room way)"), same, S),
    ("types in the problem", swap("  (:types room way)\n", ""), swap("(:init", "(:types room way) (:init"), S),
    (
        "objects in the domain",
        swap("(:pred", "(:objects hall attic - room) (:pred"),
        swap("(:objects hall attic - room)\n", ""),
        S,
    ),
    ("no types", swap("  (:types room way)\n", ""), same, D),
    ("unknown flag", swap(":strips", ":strips :telepathy"), same, D),
    ("undeclared object", same, swap("hall attic - room", "hall - room"), D),
    ("object without type", same, swap("hall attic - room", "hall attic"), D),
    (
        "undeclared predicate",
        lambda text: swap("(at ?b))))", "(at ?b) (shut ?b ?b))))")(swap(" (shut ?a - room ?b - room)", "")(text)),
        same,
        D,
    ),
    ("no domain named", same, swap("(:domain walk)", ""), D),
    ("literal line breaks among real ones", same, swap("hall attic - room)", "hall attic - room\\n)"), L),
    ("a section around all actions", swap("(:action move", "(:actions (:action move"), same, S),
    ("a section that lists the actions", swap("(:action move", "(:actions move) (:action move"), same, S),
    ("sections without colon", swap("(:predicates", "(predicates"), swap("(:init", "(init"), S),
    ("actions without colon", swap("(:action move", "(actions (move"), same, S),
    ("precond", swap(":precondition", ":precond"), same, S),
    ("missing before a field", swap("(not (shut ?a ?b)))", "(not (shut ?a ?b))"), same, L),
    ("missing before an action", _two_actions, same, L),
    ("missing before init", same, swap("hall attic - room)", "hall attic - room"), L),
    ("add and delete", swap("(and (not (at ?a)) (at ?b))", "(and (delete (at ?a)) (add (at ?b)))"), same, S),
    ("a constant that is only compared", _compares, same, D),
    (
        "groups in an untyped list",
        same,
        swap("hall attic - room", "((hall attic) (west - way))"),
        S,
    ),
    ("a forgotten parameter", swap("(?a - room ?b - room ?w - way)\n", "(?a - room ?b - room)\n"), same, D),
    ("a predicate without is-", swap("(:predicates (at", "(:predicates (is-at"), same, D),
    ("an argument that is declared at odds", swap("(at ?r - room)", "(at ?r - way)"), same, D),
    (
        "facts behind init in a fence",
        same,
        lambda text: (
            "```\n" + text.replace("(at hall) (way hall attic north))", "(at hall)) (way hall attic north)") + "```"
        ),
        L,
    ),
    (
        "the file closed behind init",
        same,
        lambda text: text.replace("(at hall) (way hall attic north))", "(at hall))) (way hall attic north)"),
        L,
    ),
    ("no opening parenthesis", swap("(:types room way)", ":types room way"), swap("(:init", ":init"), S),
    ("sections in parentheses", same, swap("(:goal (at attic)))", "((:goal (at attic))))"), L),
    ("full-width characters", same, lambda text: text.replace("(", "\uff08").replace(" ", "\u3000", 3), L),
    ("a dash for a hyphen", same, swap("attic - room", "attic \u2013 room"), L),
    ("an invisible character", same, swap("hall attic", "ha\u200bll attic"), L),
    ("a type behind a hyphen", swap("?b - room ?w - way)\n", "?b -room ?w -way)\n"), same, L),
    ("a hyphen behind a variable", swap("?b - room ?w - way)\n", "?b- room ?w- way)\n"), same, S),
    ("requirements beside the name", swap("walk)\n  (:requirements", "walk :requirements"), same, S),
    ("reasoning with a draft", same, lambda text: f"<think>{text.replace('at attic', 'at hall')}</think>{text}", L),
    ("the end of reasoning", same, lambda text: f"{text.replace('at attic', 'at hall')} No.</think>\n{text}", L),
    ("a marker of a chat template", same, lambda text: f"<|im_start|>assistant\n{text}<|im_end|>", L),
    ("the next turn", same, lambda text: f"{text}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{text}", L),
    ("a draft in a channel of Gemma", same, lambda text: f"<|channel>thought\n{text[:-9]}<channel|>{text}", L),
    (
        "reasoning in a channel",
        same,
        lambda text: (
            f"<|channel|>analysis<|message|>{text.replace('attic)', 'hall)')}"
            f"<|end|><|start|>assistant<|channel|>final<|message|>{text}<|return|>"
        ),
        L,
    ),
    (
        "two files, of which the last counts",
        same,
        lambda text: f"{text.replace('(at attic)', '(at hall)')} Better:\n{text}",
        L,
    ),
    (
        "sections in another order",
        same,
        lambda text: text.replace("(:goal (at attic))", "").replace("(:init", "(:goal (at attic)) (:init"),
        S,
    ),
    ("fields in another order", _parameters_last, same, S),
    ("a section twice", swap("(:types room way)", "(:types room) (:types way)"), same, S),
    ("prose that mentions a section", same, lambda text: text + "\nI left (:goal) as it was, and (:init) too.", L),
]


@pytest.mark.parametrize(("name", "domain", "problem", "kind"), BROKEN, ids=[item[0] for item in BROKEN])
def test_what_has_one_meaning_is_repaired(
    name: str, domain: Callable[[str], str], problem: Callable[[str], str], kind: RepairKind, planner: ProcessPlanner
) -> None:
    files = repair(domain(DOMAIN), problem(PROBLEM))
    assert kind in {repair.kind for repair in files.repairs}
    assert repair(files.domain, files.problem).repairs == (), "what was repaired needs no repair"
    result, wanted = parse_problem(files.problem), parse_problem(PROBLEM)
    checked = parse_domain(files.domain)
    if "is-at" not in files.domain:
        assert result.facts == wanted.facts
        assert result.goal == wanted.goal
    assert [action.name for action in checked.actions if action.name != "stay"] == ["move"]
    assert not [item for item in check(checked, result) if item.blocking]
    solved = planner.solve(checked, result, Search())
    assert solved.plan is not None
    assert [str(step) for step in solved.plan.steps] == ["(move hall attic north)"]


SOUND: list[tuple[Callable[[str], str], Callable[[str], str]]] = [
    (same, same),
    (same, lambda text: f"; of a person\n\n{text}\r\n  \n"),
    (str.upper, str.upper),
    (swap("(at ?a) (way", "(at?a) (way"), same),
    (same, swap("(at hall)", "(at hall) (not (at attic))")),
    (same, swap("(at hall)", "(at hall) (at hall)")),
    (swap("  (:requirements :strips :typing :negative-preconditions)\n", ""), same),
    (swap("(at ?r - room) (way ?a - room ?b - room ?w - way)", "(at ?r) (way ?a ?b ?w)"), swap("- room", "- object")),
    (swap("(:types room way)", "(:types room way room)"), same),
    (swap("(shut ?a - room ?b - room)", "(shut ?a ?b - room) (shut ?a ?b - room)"), same),
    (swap("(:types", "; a comment, with `quotes`, \\n and ```\n  (:types"), same),
    (same, swap("(problem p)", '(problem "p")')),
]
"""Changes after which the check still finds no error."""


@pytest.mark.parametrize(("domain", "problem"), SOUND)
def test_files_without_errors_are_not_changed(domain: Callable[[str], str], problem: Callable[[str], str]) -> None:
    texts = domain(DOMAIN), problem(PROBLEM)
    checked = parse_domain(texts[0])
    assert not [defect for defect in (*check_domain(checked), *check(checked, texts[1])) if defect.blocking]
    assert repair(*texts) == Repaired(*texts)


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("file", sorted((ROOT / "domains").rglob("*.pddl")), ids=lambda file: file.stem)
def test_our_own_files_are_not_changed(file: Path) -> None:
    domain, begin, problem = file.read_text(encoding="utf-8").partition("(define (problem")
    level = Level.TIME if ":durative-action " in domain else Level.CLASSICAL
    _is_not_changed(domain, begin + problem, level)


@pytest.mark.slow
@pytest.mark.shared("competition")
@pytest.mark.parametrize("name", shared.SUITES)
def test_tasks_of_the_competitions_are_not_changed(name: str) -> None:
    files = (shared.COMPETITION / name / f"{kind}.pddl" for kind in ("domain", "problem"))
    domain, problem = (file.read_text(encoding="utf-8") for file in files)
    _is_not_changed(domain, problem)


def _is_not_changed(domain: str, problem: str, level: Level = Level.CLASSICAL) -> None:
    assert repair(domain, problem, level) == Repaired(domain, problem)
    assert repair(domain, "", level) == Repaired(domain, "")
    assert repair("", problem, level) == Repaired("", problem)


REFUSED_BY_PLANNERS = ("requirements ", "found twice", "another order")
"""Repairs of what the check accepts and Fast Downward's translator refuses; none of them changes a meaning."""


@pytest.mark.slow
@pytest.mark.shared("corpus")
@pytest.mark.parametrize("file", [CORPUS, OTHER_MODELS], ids=lambda file: file.stem)
def test_pairs_without_errors_are_not_changed_and_others_only_once(file: Path) -> None:
    sound = changed = 0
    for pair in read_labelled(file, {}):
        files, reading = repair(pair.domain, pair.problem), read_domain(pair.domain)
        defects = [
            *reading.defects,
            *check_domain(reading.domain),
            *check_reading(reading.domain, read_problem(pair.problem)),
        ]
        if any(defect.blocking for defect in defects):
            changed += bool(files.repairs)
            again = repair(files.domain, files.problem)
            assert again.repairs == (), "what was repaired needs no repair"
            continue
        sound += 1
        if files.repairs:
            assert all(any(words in item.what for words in REFUSED_BY_PLANNERS) for item in files.repairs), pair.id
        else:
            assert (files.domain, files.problem) == (pair.domain, pair.problem)
    assert sound > 10 and changed > 10


OVERLOADED = """(define (domain house) (:requirements :strips :typing)
  (:types robot room object)
  (:predicates (in ?r - robot ?l - room) (mended ?o - object) (in ?o - object ?l - room))
  (:action go :parameters (?r - robot ?from ?to - room)
    :precondition (in ?r ?from) :effect (and (not (in ?r ?from)) (in ?r ?to)))
  (:action mend :parameters (?r - robot ?o - object ?l - room)
    :precondition (and (in ?r ?l) (in ?o ?l)) :effect (mended ?o)))"""


@pytest.mark.parametrize("tail", ["))", ")"])
def test_an_object_that_no_error_names_keeps_its_type(tail: str) -> None:
    problem = f"""(define (problem p) (:domain house)
  (:objects bot - robot a b - room vase - object) (:init (in bot a) (in vase b)) (:goal (mended vase){tail}"""
    files = repair(OVERLOADED, problem)
    assert files.domain == OVERLOADED
    assert files.problem == problem + ")" * (2 - len(tail))


@pytest.mark.parametrize("types", ["(:types way room - room)", "(:types room - object attic way - way)"])
def test_a_type_that_is_its_own_parent_or_lacks_one_is_reported(types: str) -> None:
    """`a b - b`: either b is declared there, too, or the parent is wrong."""
    text = swap("(:types room way)", types)(DOMAIN)
    assert repair(text, PROBLEM).domain == text
    assert any("two readings" in str(defect) for defect in check_domain(parse_domain(text)))


def test_a_comment_and_every_line_that_is_not_repaired_stay_as_they_are() -> None:
    domain = DOMAIN.replace("  (:types", "  ; Rooms, and ways.\n  (:Types").replace(
        ":effect", ":effects ; what changes\n     "
    )
    problem = PROBLEM.replace("  (:goal", "  ; a goal (of one part)\n  (:goal")[:-1] + "\n"
    files = repair(domain, problem)
    assert files.domain == domain.replace(":effects", ":effect")
    assert files.problem == problem[:-1] + ")\n"


def test_errors_that_remain_are_at_their_place_in_the_given_text() -> None:
    answer = (
        "Sure, here it is:\n\n```\n" + PROBLEM.replace("(at attic)", "(at atic)").replace("(:objects", "(:object")[:-1]
    )
    files = repair(DOMAIN, answer)
    (defect,) = [item for item in check(parse_domain(DOMAIN), files.problem) if item.blocking]
    assert defect.place is not None
    line, column = files.problem_place(defect.place)
    assert answer.split("\n")[line - 1][column - 1 :].startswith("(at atic)")


def test_both_a_fact_and_its_negation_are_reported() -> None:
    problem = swap("(at hall)", "(at hall) (not (at hall))")(PROBLEM)
    assert repair(DOMAIN, problem).problem == problem


GUESSES: list[tuple[Callable[[str], str], Callable[[str], str], str]] = [
    (same, swap("(:goal (at attic))", "(:goal (at ?room))"), "?room"),
    (same, swap("(at hall)", "(at hall attic)"), "at takes 1"),
    (same, swap("(at hall)", "(at north)"), "north is a way"),
    (same, lambda text: text[: text.index("(way hall") + 8], "3 parentheses are missing here"),
    (same, swap("(:goal (at attic))", ""), ":goal"),
    (swap(":effect (and (not (at ?a)) (at ?b))", ""), same, ":effect"),
    (same, swap("(:goal (at attic))", "(:goal (at attic)) (:goal (at hall))"), ":goal appears twice"),
    (same, swap("hall attic - room", "hall - room (attic room)"), "write NAME - TYPE"),
    (swap("(shut ?a ?b)", "(shut-?w ?a ?b)"), same, "shut-?w is not declared"),
    (same, swap("(at attic)", "(at cellar)"), "object cellar is not declared"),
    (swap("(way ?a ?b ?w)", "(way ?a ?b ?w) (lit ?b)"), same, "predicate lit is not declared"),
    (swap("(not (at ?a))", "(not (shut ?a ?door))"), same, "variable ?door is not a parameter; add '?door - room'"),
    (swap("(not (shut ?a ?b))", "(not (shut ?a ?c))"), same, "variable ?c is not a parameter"),
    # What may be a wrong name of a parameter is not a parameter of its own: it would allow other plans.
    (swap("(way ?a ?b ?w) (not (shut ?a ?b))", "(way ?a ?c ?w)"), same, "variable ?c is not a parameter"),
    (swap("(at ?a) (way ?a ?b ?w) (not (shut ?a ?b))", "(at ?here)"), same, "variable ?here is not a parameter"),
    (swap("(not (at ?a)) (at ?b)", "(at (other ?a))"), same, "object functions are not supported"),
    (swap("(and (not (at ?a)) (at ?b))", "(or (at ?a) (at ?b))"), same, "'or' is not allowed in an effect"),
    (swap("(not (at ?a))", "(at ?a ?b)"), same, "at takes 1 argument(s)"),
    (same, swap("(at hall)", "(at hlal) (at hall)"), "object hlal is not declared"),
    (same, swap("(at hall)", "(at ha_ll)"), "object ha_ll is not declared"),
    (swap("(at ?b))))", "(at ?b) (shutt ?a ?b))))"), same, "predicate shutt is not declared"),
    (swap("?b - room ?w - way)\n", "?b - romo ?w - way)\n"), same, "type romo is not declared"),
    (swap("(at ?a) (way", "(at ?aa) (way"), same, "variable ?aa is not a parameter"),
    (swap("(not (shut ?a ?b)))", "(or ((shut ?a ?b) (shut ?b ?a))))"), same, "is not a condition"),
    (same, swap("(:init", "(:variables (?r - room)) (:init"), "its sections are :domain, :objects"),
    (swap("?b - room ?w - way)\n", "?b-romo ?w - way)\n"), same, "variable ?b is not a parameter"),
    (
        swap("(not (shut ?a ?b))", "(not (equal ?a ?b))"),
        same,
        "this is not a form of PDDL; write (= ?a ?b). In action move, precondition: (equal ?a ?b)",
    ),
    (
        swap("(not (shut ?a ?b))", "(imply (same ?a ?b) (at ?a))"),
        same,
        "this is not a form of PDDL; write (= ?a ?b). In action move, precondition: (same ?a ?b)",
    ),
    (swap("(at ?b))))", "(at ?b) (seen ?b))))"), same, "predicate seen is not declared"),
    (swap("(at ?b))))", "(at ?b) (when (lit ?b) (at ?a)))))"), same, "predicate lit is not declared"),
    (same, swap("(at hall)", "(at hall) (warm hall)"), "predicate warm is not declared"),
    (_misnamed("sh_t"), swap("(at hall)", "(at hall) (sh_t attic hall)"), "predicate sh_t is not declared"),
    (_misnamed("shux"), swap("(at hall)", "(at hall) (shux attic hall)"), "predicate shux is not declared"),
    (same, swap("(at hall)", "(at hall) (at hill)"), "object hill is not declared"),
]
"""Also: what makes a predicate true, or needs it, is missing; or its name has one other character."""


@pytest.mark.parametrize(("domain", "problem", "says"), GUESSES)
def test_what_would_need_a_guess_is_left_and_reported(
    domain: Callable[[str], str], problem: Callable[[str], str], says: str
) -> None:
    files = repair(domain(DOMAIN), problem(PROBLEM))
    try:
        checked = parse_domain(files.domain)
        messages = [item.message for item in (*check_domain(checked), *check(checked, files.problem)) if item.blocking]
    except PddlSyntaxError as error:
        messages = list(error.faults)
    assert any(says in message for message in messages), messages


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("(?a-room ?b-room ?w-way)", "(?a - room ?b - room ?w - way)"),
        ("(?a ?b-room ?w - way)", "(?a ?b - room ?w - way)"),
        ("(?a - room ?b-room ?w-way)", "(?a - room ?b - room ?w - way)"),
    ],
)
def test_hyphens_without_blanks_keep_the_number_of_parameters(wrong: str, right: str) -> None:
    parameters = "(?a - room ?b - room ?w - way)"
    files = repair(swap(parameters, wrong)(DOMAIN), PROBLEM)
    assert parse_domain(files.domain).actions == parse_domain(swap(parameters, right)(DOMAIN)).actions


@pytest.mark.parametrize("word", ["forall", "exists"])
def test_hyphens_without_blanks_in_quantifiers(word: str) -> None:
    text = swap("(not (shut ?a ?b))", f"({word} (?x-room) (not (shut ?a ?x)))")(DOMAIN)
    assert repair(text, PROBLEM).domain == text.replace("?x-room", "?x - room")


def test_what_is_sound_comes_out_as_it_was(coin: GameSetting) -> None:
    assert repair(DOMAIN, PROBLEM).repairs == ()
    assert repair(DOMAIN, PROBLEM).problem == PROBLEM
    again = repair(coin.start.domain.text, str(coin.start.problem))
    assert (again.domain, again.problem) == (coin.start.domain.text, str(coin.start.problem))


PIECES = st.sampled_from(
    [*"() \n:;?-\"'`,", "(define", "(domain d)", "(problem p)", ":init", ":objects", ":action", "a", "- t"]
)


def test_an_empty_predicate_is_left_to_the_check() -> None:
    reading = read_pair("(define (domain d) (:predicates ()))", "")
    assert [str(defect) for defect in reading.in_domain] == ["'()' is not a predicate; write (name ?x - type …)"]


@given(st.lists(PIECES, max_size=60).map(" ".join), st.lists(PIECES, max_size=60).map(" ".join))
def test_any_text_gives_a_result(domain: str, problem: str) -> None:
    files = repair(domain, problem)
    assert bool(files.repairs) or (files.domain, files.problem) == (domain, problem)


@pytest.mark.slow
@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_is_an_accident(domain: str, problem: str) -> None:
    repair(domain, problem)


@pytest.fixture(scope="module")
def report(planner: ProcessPlanner) -> list[CheckedPair]:
    return [check_pair(pair, planner) for pair in read_labelled(CORPUS, {})]


@pytest.mark.slow
@pytest.mark.shared("corpus")
def test_the_corpus_is_read_and_contradicts_nothing(report: list[CheckedPair]) -> None:
    assert len(report) == 343
    planned = [item for item in report if not item.refused]
    assert (len(planned), sum(bool(item.repairs) for item in planned)) == (320, 93), "as docs/formats.md says"
    assert not any(item.contradiction for item in report)


@pytest.mark.shared("corpus")
def test_other_models_break_other_things(planner: ProcessPlanner) -> None:
    report = [check_pair(pair, planner) for pair in read_labelled(OTHER_MODELS, {})]
    assert len(report) == 60
    assert sum(not item.refused for item in report) >= 44, "73 %"
    assert not any(item.contradiction for item in report)
    chains = [item.refused for item in report if "Parsing" in item.refused]
    assert chains == [], "no words of the translator"


@pytest.mark.slow
@pytest.mark.shared("corpus")
def test_recorded_plans_and_verdicts_are_all_reproduced(report: list[CheckedPair]) -> None:
    text = [item for item in report if item.pair.recorded_verdict in ("PLAN", "goal FALSE", "goal already TRUE")]
    assert len(text) == 227
    assert not [item for item in text if item.refused]


@pytest.mark.parametrize("tail", ["", "\n```\nLet me know if you need anything else.", "\nThis is all"])
def test_a_missing_parenthesis_is_mended_whatever_prose_follows(tail: str) -> None:
    text = "```\n(define (problem p) (:domain d) (:objects a - room) (:init (at a)) (:goal (at a))" + tail
    assert not is_cut_off(text, "problem")
    files = repair("(define (domain d) (:types room) (:predicates (at ?r - room)))", text)
    assert parse_problem(files.problem).facts == frozenset({Atom("at", ("a",))})


@pytest.mark.parametrize("text", ["(define (problem p) (:domain d) (:init (at", "(define (problem p) (:objects a b"])
def test_a_file_that_ends_in_a_list_is_cut_off(text: str) -> None:
    assert is_cut_off(text, "problem")


@pytest.mark.parametrize("objects", ["k1 k2-pkg a b - loc", "k1-k2 - pkg a b - loc"])
def test_names_that_a_declared_one_may_hold_are_not_declared(objects: str) -> None:
    domain = """(define (domain l) (:requirements :typing) (:types pkg loc) (:predicates (lies ?p - pkg ?l - loc))
      (:action move :parameters (?p - pkg ?a ?b - loc) :precondition (lies ?p ?a)
        :effect (and (not (lies ?p ?a)) (lies ?p ?b))))"""
    problem = f"""(define (problem p) (:domain l) (:objects {objects}) (:init (lies k1 a) (lies k2 a))
      (:goal (lies k2 b)))"""
    files = repair(domain, problem)
    assert (files.domain, files.problem) == (domain, problem)
    assert any("k2 is not declared" in str(defect) for defect in check(parse_domain(domain), problem))


def test_requirements_of_a_problem_stay_there() -> None:
    problem = PROBLEM.replace("(:objects", "(:requirements :strips :typing) (:objects")
    assert repair(DOMAIN, problem) == Repaired(DOMAIN, problem)
    files = repair(DOMAIN, problem[:-1])
    assert (files.domain, files.problem) == (DOMAIN, problem)


@pytest.mark.parametrize("depth", [90, 101, 1_000])
@pytest.mark.parametrize("closing", ["", ")", "all"])
def test_lists_that_are_too_deep_are_left_as_they_are(depth: int, closing: str) -> None:
    nested = "(" * depth + (")" * (depth + 1) if closing == "all" else closing)
    pairs = (f"(define (domain d) (:predicates {nested})", ""), ("", f"(define (problem p) (:init {nested})")
    for domain, problem in pairs:
        repaired = repair(domain, problem)
        assert depth < 100 or (repaired.domain, repaired.problem) == (domain, problem)
