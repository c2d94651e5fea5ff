"""What of a large result is left out, and that it is said."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from hypothesis import given
from hypothesis import strategies as st

from pddlego import tools
from pddlego.planning.compare import Comparison, ComparisonVerdict
from pddlego.tools.process import LONGEST_FILE, MOST, bounded

sizes = st.sampled_from([0, 1, 3, 200])
letters = st.sampled_from([0, 1, 50, 3_000])


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, ...]:
    return ("é" * draw(letters),) * draw(sizes)


@st.composite
def findings(draw: st.DrawFn) -> tuple[tools.Finding, ...]:
    long = "x" * draw(letters)
    return (tools.Finding("domain", 1, 1, "error", "syntax", long, long, long),) * draw(sizes)


@st.composite
def states(draw: st.DrawFn) -> tuple[tools.SimulatedState, ...]:
    state = tools.SimulatedState(0, "x" * draw(letters), draw(texts()), draw(texts()), draw(texts()), False)
    return tuple(replace(state, step=step) for step in range(1 + draw(st.integers(0, 5))))


long_texts = st.builds(lambda length: "x" * length, st.sampled_from([0, 10, 100_000, 3_000_000]))
results = st.one_of(
    st.builds(tools.CheckResult, st.booleans(), findings()),
    st.builds(tools.RepairResult, st.booleans(), long_texts, texts(), findings()),
    st.builds(tools.SolveResult, st.just("solved"), texts(), st.just(3), st.just("auto"), long_texts, st.just(0.1)),
    st.builds(tools.ValidationResult, st.just(False), message=long_texts),
    st.builds(tools.SimulationResult, states(), texts(), long_texts),
    st.builds(Comparison, st.just(ComparisonVerdict.DIFFERENT), long_texts, texts(), texts()),
)


def lengths(value: object) -> object:
    """The lengths of all lists in a value."""
    if isinstance(value, dict):
        return {name: lengths(part) for name, part in value.items()}
    return list(map(lengths, value)) if isinstance(value, list) else None


@given(results)
def test_every_result_is_bounded_and_says_what_it_lacks(result: object) -> None:
    whole = json.loads(json.dumps(asdict(result)))  # type: ignore[call-overload]
    answer = bounded(whole, "Ask for less.")
    left_out = answer.pop("left_out")
    text = answer.get("text", "")
    assert len(text) <= LONGEST_FILE
    assert len(json.dumps(answer | {"text": ""})) < 1.2 * MOST
    lists = [name for name, value in whole.items() if isinstance(value, list)]
    lacks = [name for name in lists if len(answer[name]) < len(whole[name])]
    assert all(f" of {len(whole[name])} {name}" in left_out for name in lacks)
    assert bool(left_out) == (lengths(answer) != lengths(whole) or text != whole.get("text", ""))
    assert not left_out or left_out.endswith("Ask for less.")
    if "states" in whole:
        assert answer["states"][-1]["step"] == whole["states"][-1]["step"]


def test_a_small_result_is_whole() -> None:
    result = asdict(tools.check("(define (domain d) (:predicates (p ?x)))"))
    answer = bounded(result, "Ask for less.")
    assert answer.pop("left_out") == ""
    assert json.dumps(answer) == json.dumps(result)
