"""Forms of other languages: one error each, with the form of PDDL as advice, and no error in what is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.foreign import without_foreign
from tests.growth import is_linear

DOMAIN = """(define (domain garden)
  (:requirements :strips :typing :equality :disjunctive-preconditions :negative-preconditions :conditional-effects)
  (:types bed tool)
  (:predicates (at ?b - bed) (wet ?b - bed) (full ?t - tool) (near ?a ?b - bed))
  (:action walk :parameters (?a ?b - bed)
    :precondition (and (at ?a) (near ?a ?b))
    :effect (and (not (at ?a)) (at ?b)))
  (:action pour :parameters (?b - bed ?t - tool)
    :precondition (and (at ?b) (full ?t))
    :effect (and (wet ?b) (not (full ?t)))))"""
PROBLEM = """(define (problem day) (:domain garden)
  (:objects roses beans - bed can - tool)
  (:init (at roses) (near roses beans) (near beans roses) (full can))
  (:goal (wet beans)))"""


def errors(domain: str, problem: str) -> list[tools.Finding]:
    return [finding for finding in tools.check(domain, problem).findings if finding.severity == "error"]


INVISIBLE = ("\ufeff", "\xa0", "\u200b", "\u2009", "\u2060", "\xad", "\u3000")


@pytest.mark.parametrize("character", INVISIBLE)
@pytest.mark.parametrize("before", ["(define", "(:goal", "roses)", "can)", ""])
def test_invisible_characters_between_words_are_errors_and_are_read_as_blanks(character: str, before: str) -> None:
    for number, text in enumerate((DOMAIN, PROBLEM)):
        wrong = text.replace(before, character + before, 1) if before else text + character
        if wrong != text:
            files = [wrong, PROBLEM] if number == 0 else [DOMAIN, wrong]
            (finding,) = errors(*files)
            assert (finding.rule, f"U+{ord(character):04X}" in finding.message) == ("invisible-character", True)
            repaired = tools.repair(wrong)
            assert repaired.ok and character not in repaired.text
            parse_problem(wrong) if number else parse_domain(wrong)  # what plans accepts it


def test_a_byte_order_mark_is_the_same_error_in_a_text_and_in_a_file(tmp_path: Path) -> None:
    names = [str(tmp_path / "d.pddl"), str(tmp_path / "p.pddl")]
    for name, text in zip(names, (DOMAIN, PROBLEM), strict=True):
        Path(name).write_text(text, encoding="utf-8-sig")
    in_files, in_texts = errors(*names), errors("\ufeff" + DOMAIN, "\ufeff" + PROBLEM)
    assert [replace(finding, path="") for finding in in_files] == in_texts
    assert [(finding.file, finding.line, finding.column) for finding in in_texts] == [
        ("domain", 1, 1),
        ("problem", 1, 1),
    ]
    assert tools.solve(*names).status == tools.solve("\ufeff" + DOMAIN, "\ufeff" + PROBLEM).status == "solved"


def test_an_invisible_character_inside_a_name_does_not_make_two_names_of_it() -> None:
    rules = {finding.rule for finding in errors(DOMAIN, PROBLEM.replace("roses beans -", "ro\u200bses beans -"))}
    assert rules >= {"invisible-character", "bad-name"}
    assert not errors(DOMAIN + "; \ufeff\xa0", "; \u200b\n" + PROBLEM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(:types bed tool)", "(:types bed tool{})"),
        ("(:predicates (", "(:constants shed{}) (:predicates ("),
        ("(wet ?b - bed)", "(wet ?b{})"),
        ("(:action walk", "(:functions (size ?b{})) (:action walk"),
        ("(:action walk", "(:functions (size ?b - bed){}) (:action walk"),
        ("(:action walk", "(:functions (size ?b - bed) - number (total){}) (:action walk"),
        ("(?a ?b - bed)", "(?a ?b{})"),
        ("(wet ?b) (not", "(forall (?c{}) (wet ?c)) (not"),
        ("can - tool)", "can{})"),
    ],
)
@pytest.mark.parametrize("ending", [" -", " - -"])
def test_a_hyphen_without_a_type_is_an_error_in_every_typed_list(old: str, new: str, ending: str) -> None:
    domain, problem = (text.replace(old, new.format(ending), 1) for text in (DOMAIN, PROBLEM))
    assert (domain, problem) != (DOMAIN, PROBLEM)
    assert any("the type is missing" in finding.message for finding in errors(domain, problem))


CONDITIONS = {
    **dict.fromkeys(
        ("(!= ?a ?b)", "(<> ?a ?b)", "(?a != ?b)", "(neq ?a ?b)", "(different ?a ?b)", "(/= ?a ?b)"),
        "Write (not (= ?a ?b))",
    ),
    **dict.fromkeys(("(== ?a ?b)", "(?a = ?b)", "(?a == ?b)", "(eq ?a ?b)", "(same ?a ?b)"), "Write (= ?a ?b)"),
    **dict.fromkeys(
        ("(! (wet ?a))", "(~ (wet ?a))", "(!wet ?a)", "(not-wet ?a)", "(not wet ?a)", "(not_wet ?a)", "(! wet ?a)"),
        "Write (not (wet ?a))",
    ),
    "(not ?a = ?b)": "Write (not (= ?a ?b))",
    **dict.fromkeys(
        ("(-> (at ?a) (wet ?a))", "(=> (at ?a) (wet ?a))", "(if (at ?a) (wet ?a))", "((at ?a) -> (wet ?a))"),
        "Write (imply (at ?a) (wet ?a))",
    ),
    **dict.fromkeys(
        ("(&& (at ?a) (wet ?a))", "(& (at ?a) (wet ?a))", "((at ?a) and (wet ?a))", "((at ?a) (wet ?a))"),
        "Write (and (at ?a) (wet ?a))",
    ),
    **dict.fromkeys(
        ("(|| (at ?a) (wet ?a))", "(| (at ?a) (wet ?a))", "((at ?a) or (wet ?a))"), "Write (or (at ?a) (wet ?a))"
    ),
    "(<-> (at ?a) (wet ?a))": "Write (and (imply (at ?a) (wet ?a)) (imply (wet ?a) (at ?a)))",
    "(foreach (?x - bed) (wet ?x))": "Write (forall (?x - bed) (wet ?x))",
    "(if (at ?a) then (wet ?a))": "Write (imply (at ?a) (wet ?a))",
    "(= (wet ?a) true)": "Write (wet ?a)",
    "(= (wet ?a) false)": "Write (not (wet ?a))",
    "(is-same ?a ?b)": "Write (= ?a ?b)",
    "(?a near ?b)": "Write (near ?a ?b)",
    "(near ?a - bed ?b - bed)": "Write (near ?a ?b)",
    "(wet a)": "Write ?a, which is declared here",
    "(wet $a)": "Write ?a, which is declared here",
    "(wet bed)": "Write ?a or ?b in place of the type",
    "(bed ?a)": "Write '?a - bed' where ?a is declared, and no condition",
    "(walk ?a ?b)": "Write the facts that it makes true or false",
    "(full ?t)": "Add '?t - tool' to :parameters",
    "(> (water ?a) 3)": "Add it to (:functions …)",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_of_another_language_is_one_error_with_the_form_of_pddl(condition: str) -> None:
    (error,) = errors(DOMAIN.replace("(near ?a ?b))", f"(near ?a ?b) {condition})"), PROBLEM)
    assert error.advice == CONDITIONS[condition]
    assert error.line == 6


EFFECTS = {
    "(if (at ?a) (wet ?a))": "Write (when (at ?a) (wet ?a))",
    "(-> (at ?a) (wet ?a))": "Write (when (at ?a) (wet ?a))",
    "((at ?a) -> (wet ?a))": "Write (when (at ?a) (wet ?a))",
    "(imply (at ?a) (wet ?a))": "Write (when (at ?a) (wet ?a))",
    "(add (wet ?a))": "Write (wet ?a)",
    "(delete (wet ?a))": "Write (not (wet ?a))",
    "(increase (water ?a) 1)": "Add it to (:functions …)",
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_an_effect_of_another_language_is_one_error_with_the_form_of_pddl(effect: str) -> None:
    (error,) = errors(DOMAIN.replace("(at ?b)))", f"(at ?b) {effect}))", 1), PROBLEM)
    assert error.advice == EFFECTS[effect]


TYPED = {
    ("(?a ?b - bed)", "(?a ?b : bed)"): "Write NAME - TYPE",
    ("(?a ?b - bed)", "(?a ?b -- bed)"): "Write NAME - TYPE",
    ("(?a ?b - bed)", "(?a ?b -bed)"): "Write - bed",
    ("(?a ?b - bed)", "(?a ?b - bed $c - tool)"): "Write ?c",
    ("(?a ?b - bed)", "(?a ?b - bed tool)"): "Write '?t - tool', a name and its type",
    ("(?a ?b - bed)", "(?a-bed ?b - bed)"): "Write blanks around the hyphen of ?a-bed, as in '?a - bed'",
}


@pytest.mark.parametrize("change", TYPED, ids=lambda change: change[1])
def test_a_type_of_another_language_has_the_form_of_pddl_as_advice(change: tuple[str, str]) -> None:
    found = errors(DOMAIN.replace(*change, 1) if change[0] in DOMAIN else DOMAIN, PROBLEM.replace(*change))
    assert TYPED[change] in {error.advice for error in found}
    assert len({error.advice for error in found}) == 1


IN_PROBLEM = {
    ("(at roses)", "(and (at roses) (full can))"): "Write the facts side by side",
    ("(at roses)", "(at roses - bed)"): "Write (at roses)",
    ("(at roses)", "(at ?roses)"): "Write roses",
    ("(at roses)", "(at 3)"): "Model levels as objects, such as (level ?x l2), (next l1 l2)",
    ("(at roses)", "(bed roses)"): "Write 'roses - bed' where roses is declared, and no condition",
    ("roses beans - bed", "roses, beans - bed"): "Separate names by blanks",
    ("(at roses)", '(at "roses")'): "Write names without quotes, as in living_room",
    ("(at roses)", "[at roses]"): "Write parentheses",
    ("(wet beans)", "(wet beans) (wet roses)"): "Put all conditions into one (and …)",
    ("(:goal (wet beans))", "(:goal wet beans)"): "Write (:goal (wet beans))",
}


@pytest.mark.parametrize("change", IN_PROBLEM, ids=lambda pair: pair[1])
def test_a_problem_in_another_language_is_one_error_with_the_form_of_pddl(change: tuple[str, str]) -> None:
    (error,) = errors(DOMAIN, PROBLEM.replace(*change))
    assert error.advice == IN_PROBLEM[change]


COMMENTS = ("// the bed (of roses)", "# here", "-- here, and there", "% here", "/* the\n bed */", "<!-- it's -->")


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_of_another_language_is_one_error_and_repaired(comment: str) -> None:
    for old in ("  (:action walk", "    :precondition", "(near ?a ?b))"):
        domain = DOMAIN.replace(old, f" {comment}\n{old}", 1)
        (error,) = errors(domain, PROBLEM)
        assert error.advice == "Begin comments with ';'"
        assert tools.repair(domain).ok
        assert tools.check(tools.repair(domain).text, PROBLEM).ok
    problem = PROBLEM.replace("(full can)", f"(full can) {comment}\n (at beans)")
    assert len(errors(DOMAIN, problem)) == 1
    assert "(at beans)" in "".join(
        line for line in tools.repair(problem).text.splitlines() if not line.lstrip().startswith(";")
    )


@pytest.mark.parametrize("comment", ["// done", "# the gardener's bed :)", "-- (see above"])
def test_parentheses_in_a_comment_or_behind_it_are_told_apart(comment: str) -> None:
    """The last ones of a line belong to the file if it is balanced with them only."""
    inside = DOMAIN.replace("(near ?a ?b))", f"(near ?a ?b)) {comment}")
    behind = DOMAIN.replace("(not (full ?t)))))", "(not (full ?t)) // done)))")
    for domain in (inside, behind):
        (error,) = errors(domain, PROBLEM)
        assert error.advice == "Begin comments with ';'"
        assert tools.check(tools.repair(domain).text, PROBLEM).ok


def test_a_fact_with_a_truth_value_in_init_names_the_fact() -> None:
    (error,) = errors(DOMAIN, PROBLEM.replace("(full can)", "(= (full can) true)"))
    assert error.advice == "Write (full can)"


@pytest.mark.slow
@pytest.mark.parametrize("sign", ["/* ", "<!-- ", "// (\n", "# x)", "a -- b\n", "[", "'a "])
def test_many_signs_are_read_in_linear_time(sign: str) -> None:
    def read(length: int) -> None:
        without_foreign(sign * (length // len(sign)) + ")")

    assert is_linear(lambda: read(5_000), lambda: read(160_000), 32)


def test_several_conditions_of_a_goal_are_joined() -> None:
    repaired = tools.repair(PROBLEM.replace("(wet beans)", "(wet beans) (wet roses)"), DOMAIN)
    assert repaired.ok
    assert "(:goal (and (wet beans) (wet roses)))" in repaired.text


@pytest.mark.parametrize("name", ["same", "different", "not-at", "if", "remove", "all", "add", "no"])
def test_predicates_objects_and_actions_may_have_the_names_of_operators(name: str) -> None:
    domain = DOMAIN.replace("near", name).replace("walk", name)
    domain = domain.replace("(at ?b)))", "(at ?b))) ; it's // a comment, isn't it? [yes] != no", 1)
    assert errors(domain, PROBLEM.replace("near", name).replace("beans", "or").replace("can", name)) == []
    assert without_foreign(domain) == (domain, [])


def test_the_name_of_a_problem_may_be_any_word() -> None:
    assert errors(DOMAIN, PROBLEM.replace("problem day", "problem day,1#a")) == []


def test_a_missing_declaration_is_reported_once() -> None:
    domain = DOMAIN.replace("(:types bed tool)", "(:types tool)").replace("(wet ?b - bed) ", "")
    found = errors(domain, PROBLEM)
    assert [(error.file, error.rule) for error in found] == [
        ("domain", "undeclared-type"),
        ("domain", "undeclared-predicate"),
        ("problem", "undeclared-predicate"),
    ]
    assert found[0].message == "type bed is not declared (and in 5 other places). In predicate at"


NUMERIC = """(define (domain tank)
  (:requirements :typing :numeric-fluents) (:types tank)
  (:predicates (dry ?t - tank) (shut ?t - tank))
  (:functions (fuel ?t - tank) (need ?t - tank))
  (:action burn :parameters (?t - tank) :precondition (dry ?t) :effect (shut ?t)))"""


@pytest.mark.parametrize(
    ("condition", "form"),
    [
        ("(=> (fuel ?t) (need ?t))", "(>= (fuel ?t) (need ?t))"),
        ("(=> (fuel ?t) (* 2 (need ?t)))", "(>= (fuel ?t) (* 2 (need ?t)))"),
        ("(not (=> (+ (fuel ?t) 1) (need ?t)))", "(>= (+ (fuel ?t) 1) (need ?t))"),
        ("((fuel ?t) => (need ?t))", "(>= (fuel ?t) (need ?t))"),
        ("(=> (fuel ?t) 3)", "(>= (fuel ?t) 3)"),
        ("(=> (dry ?t) (shut ?t))", "(imply (dry ?t) (shut ?t))"),
        ("((dry ?t) => (shut ?t))", "(imply (dry ?t) (shut ?t))"),
    ],
)
def test_an_arrow_between_functions_is_a_comparison(condition: str, form: str) -> None:
    domain = NUMERIC.replace(":precondition (dry ?t)", f":precondition {condition}")
    (finding,) = [finding for finding in tools.check(domain).findings if finding.severity == "error"]
    assert finding.advice == f"Write {form}"
    if ">=" in form:
        repaired = tools.repair(domain)
        assert form.replace(" ", "") in repaired.text.replace(" ", "") and repaired.ok


@pytest.mark.parametrize(
    ("place", "part", "form"),
    [
        ("effect (shut ?t)", "(assign (fuel ?t) need ?t)", "(assign (fuel ?t) (need ?t))"),
        ("effect (shut ?t)", "(decrease fuel ?t (need ?t))", "(decrease (fuel ?t) (need ?t))"),
        ("effect (shut ?t)", "(increase fuel ?t need ?t)", "(increase (fuel ?t) (need ?t))"),
        ("effect (shut ?t)", "(increase fuel ?t 3)", "(increase (fuel ?t) 3)"),
        ("precondition (dry ?t)", "(> (fuel ?t) need ?t)", "(> (fuel ?t) (need ?t))"),
        ("precondition (dry ?t)", "(= fuel ?t 3)", "(= (fuel ?t) 3)"),
        ("precondition (dry ?t)", "(not (>= fuel ?t need ?t))", "(>= (fuel ?t) (need ?t))"),
    ],
)
def test_a_function_without_parentheses_is_advised_with_them(place: str, part: str, form: str) -> None:
    domain = NUMERIC.replace(f":{place}", f":{place.split()[0]} {part}")
    (finding,) = [finding for finding in tools.check(domain).findings if finding.severity == "error"]
    assert finding.advice == f"Write {form}"


@pytest.mark.parametrize(
    "part", ["(assign (fuel ?t) nead ?t)", "(assign (fuel ?t) need ?t ?t)", "(shut (fuel ?t) need ?t)"]
)
def test_a_function_without_parentheses_is_not_guessed(part: str) -> None:
    found = tools.check(NUMERIC.replace(":effect (shut ?t)", f":effect {part}")).findings
    assert not [finding for finding in found if finding.advice.startswith("Write (assign")]


@pytest.mark.parametrize("value", ["5 Wh", "five Wh", ""])
def test_a_number_in_init_that_is_not_one_has_the_form_of_numbers_as_advice(value: str) -> None:
    problem = f"(define (problem p) (:domain tank) (:objects a - tank) (:init (= (fuel a) {value})) (:goal (dry a)))"
    assert errors(NUMERIC, problem)[-1].advice == "Write (= (function …) NUMBER)"


@pytest.mark.parametrize(
    ("place", "part", "form"),
    [
        (
            "effect (shut ?t)",
            "(assign (fuel ?t) ((fuel ?t) - (need ?t)))",
            "(assign (fuel ?t) (- (fuel ?t) (need ?t)))",
        ),
        ("effect (shut ?t)", "(assign (fuel ?t) ((fuel ?t) - 1))", "(assign (fuel ?t) (- (fuel ?t) 1))"),
        ("effect (shut ?t)", "(assign (fuel ?t) (fuel ?t) - 1)", "(assign (fuel ?t) (- (fuel ?t) 1))"),
        ("effect (shut ?t)", "(decrease (fuel ?t) (need ?t) - 1)", "(decrease (fuel ?t) (- (need ?t) 1))"),
        ("effect (shut ?t)", "((fuel ?t) -= (need ?t) * 2)", "(decrease (fuel ?t) (* (need ?t) 2))"),
        ("effect (shut ?t)", "(decrease (fuel ?t) (need ?t - 1))", "(decrease (fuel ?t) (- (need ?t) 1))"),
        ("effect (shut ?t)", "(and (fuel ?t) -= 1 (shut ?t))", "(decrease (fuel ?t) 1)"),
        ("precondition (dry ?t)", "(>= (fuel ?t) ((need ?t) + 1))", "(>= (fuel ?t) (+ (need ?t) 1))"),
        ("precondition (dry ?t)", "(>= (fuel ?t) (need ?t) + 1)", "(>= (fuel ?t) (+ (need ?t) 1))"),
        ("precondition (dry ?t)", "((fuel ?t) - 1 > (need ?t))", "(> (- (fuel ?t) 1) (need ?t))"),
        ("precondition (dry ?t)", "(> (* 2 ((fuel ?t) - 1 - 2)) 3)", "(> (* 2 (- (fuel ?t) (+ 1 2))) 3)"),
        ("precondition (dry ?t)", "(and (dry ?t) (fuel ?t) >= (need ?t))", "(>= (fuel ?t) (need ?t))"),
    ],
)
def test_an_operator_between_numbers_is_one_error_and_repaired(place: str, part: str, form: str) -> None:
    domain = NUMERIC.replace(f":{place}", f":{place.split()[0]} {part}")
    (finding,) = [finding for finding in tools.check(domain).findings if finding.severity == "error"]
    assert (finding.rule, finding.advice, finding.line) == ("syntax", f"Write {form}", 5)
    repaired = tools.repair(domain)
    if "(and" in part:  # which words belong together is not certain
        return
    assert form.replace(" ", "") in repaired.text.replace(" ", "") and repaired.ok


@pytest.mark.parametrize("part", ["((fuel ?t) - 1 * 2)", "((fuel ?t) -)", "(?t - tank)", "((fuel ?t) (need ?t))"])
def test_operands_with_two_readings_are_not_guessed(part: str) -> None:
    domain = NUMERIC.replace(":effect (shut ?t)", f":effect (assign (fuel ?t) {part})")
    (finding,) = [finding for finding in tools.check(domain).findings if finding.severity == "error"]
    assert "(assign" not in finding.advice
    assert part in tools.repair(domain).text


@pytest.mark.parametrize(
    ("place", "part"),
    [
        ("effect (shut ?t)", "(and (shut ?t) (fuel ?t) += (need ?t) - 1)"),
        ("effect (shut ?t)", "(when (fuel ?t) = 3 (shut ?t))"),
        ("precondition (dry ?t)", "(> fuel fuel 3)"),
    ],
)
def test_no_advice_leaves_out_a_part_of_a_number(place: str, part: str) -> None:
    domain = NUMERIC.replace(f":{place}", f":{place.split()[0]} {part}")
    advice = [finding.advice for finding in tools.check(domain).findings if finding.severity == "error"]
    assert advice and not any(one.startswith(("Write (increase", "Write (assign", "Write (>")) for one in advice)


@pytest.mark.parametrize("sign", ["+", "-", "*", "/"])
def test_a_long_infix_expression_does_not_become_a_deep_one(sign: str) -> None:
    part = f"(>= (need ?t) ((fuel ?t) {sign} {f' {sign} '.join(['1'] * 5_000)}))"
    domain = NUMERIC.replace(":precondition (dry ?t)", f":precondition {part}")
    assert [finding.rule for finding in tools.check(domain).findings if finding.severity == "error"] == ["syntax"]
    assert tools.repair(domain).ok


CHANGED = "Compare it, as in (>= (fuel ?t) NUMBER), or change it, as in (assign (fuel ?t) NUMBER)"


@pytest.mark.parametrize(
    ("place", "part", "advice"),
    [
        ("precondition (dry ?t)", "(and (dry ?t) (fuel ?t))", "Compare it, as in (>= (fuel ?t) NUMBER)"),
        ("precondition (dry ?t)", "(fuel ?t 3)", "Compare it, as in (>= (fuel ?t) 3)"),
        ("effect (shut ?t)", "(and (shut ?t) (fuel ?t))", CHANGED),
        ("effect (shut ?t)", "(when (fuel ?t) (shut ?t))", "Compare it, as in (>= (fuel ?t) NUMBER)"),
        ("precondition (dry ?t)", "(fuel ?t ?t)", "Compare it, as in (>= (fuel ?t) NUMBER)"),
        ("precondition (dry ?t)", "(>= (dry ?t) 1)", "Write (dry ?t) or (not (dry ?t))"),
        ("effect (shut ?t)", "(increase (dry ?t) 1)", "Write (dry ?t) or (not (dry ?t))"),
    ],
)
def test_a_function_in_place_of_a_predicate_is_not_to_be_declared(place: str, part: str, advice: str) -> None:
    domain = NUMERIC.replace(f":{place}", f":{place.split()[0]} {part}")
    (finding,) = [finding for finding in tools.check(domain).findings if finding.severity == "error"]
    assert finding.advice == advice
    assert " is a function, not a predicate" in finding.message or " is a predicate, not a function" in finding.message


@pytest.mark.parametrize(
    "value", ["(fuel a 4)", "(fuel a = 4)", "((fuel a) = 4)", "(fuel a) = 4", "(fuel a) := 4", "(fuel a)"]
)
def test_a_value_in_init_is_advised_in_its_form(value: str) -> None:
    problem = f"(define (problem p) (:domain tank) (:objects a - tank) (:init (dry a) {value}) (:goal (dry a)))"
    (finding,) = errors(NUMERIC, problem)
    assert finding.advice == f"Write (= (fuel a) {4 if '4' in value else 'NUMBER'})"


def test_repair_leaves_decimal_commas_and_corrects_values_of_declared_functions() -> None:
    problem = "(define (problem p) (:domain tank) (:objects a, b - tank) (:init (dry a) {}) (:goal (dry a)))"
    repaired = tools.repair(problem.format("(fuel a = 4) ((fuel b) = 4)"), NUMERIC)
    right = problem.format("(= (fuel a) 4) (= (fuel b) 4)").replace(",", " ")
    assert repaired.ok and parse_problem(repaired.text) == parse_problem(right)
    commas = tools.repair(problem.format("(= (fuel a) 4,5)"), NUMERIC)
    assert "4,5" in commas.text and "Write 4.5" in [finding.advice for finding in commas.findings]


@pytest.mark.parametrize("metric", ["minimise fuel-used", "minimize ((fuel-used) + 1)"])
def test_a_wrong_metric_is_one_error_and_repaired(metric: str) -> None:
    domain = NUMERIC.replace("(:functions", "(:functions (fuel-used)")
    problem = "(define (problem p) (:domain tank) (:objects a - tank) (:init (= (fuel-used) 0)) (:goal (dry a)) "
    problem += f"(:metric {metric}))"
    (finding,) = errors(domain, problem)
    form = "(:metric minimize (fuel-used))" if "+" not in metric else "(:metric minimize (+ (fuel-used) 1))"
    assert finding.advice == f"Write {form}" and finding.advice.lower() not in finding.message
    assert form.replace(" ", "") in tools.repair(problem, domain).text.replace(" ", "")


def test_a_predicate_may_have_a_name_by_which_other_languages_compare_or_change() -> None:
    words = "between less greater set add sum same start during in-range let times"
    atoms = [f"({word} ?a ?b ?c)" for word in words.split()] + [f"({word}2 ?a ?b)" for word in words.split()]
    text = "".join(atoms)
    changes = "".join(f"(when {atom} (not {atom}))" for atom in atoms)
    domain = f"""(define (domain d) (:requirements :adl) (:predicates {text})
      (:action a :parameters (?a ?b ?c) :precondition (and {text}) :effect (and {text} {changes})))"""
    assert [finding for finding in tools.check(domain).findings if finding.severity == "error"] == []
