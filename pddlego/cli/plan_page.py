"""The pages of plans: the states of a plan without time, with pictures and curves, and the chart of one with time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path

from rich.text import Text

from pddlego.cli.printing import REACHED, START, say
from pddlego.cli.search_tree import tree_drawing
from pddlego.display.curves import MOST_CURVES, Curves
from pddlego.display.gantt import Bar, chart_svg
from pddlego.display.page import ListedStep, StepPane, render_steps
from pddlego.display.relation import Relation
from pddlego.display.screens import Drawing
from pddlego.display.shapes import LETTERS, Place, box
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import ANY_TYPE
from pddlego.planning.result import SearchTree
from pddlego.tools import SimulatedState, SimulationResult
from pddlego.util.files import write_whole
from pddlego.util.text import count

_MOST_OBJECTS, _MOST_PICTURES = 30, 3
"""How many objects a picture has, and how many relations and functions are drawn."""

_CHART = 400  # pixels: the width of charts, which are enlarged where there is room


def write_plan_page(
    result: SimulationResult, domain: Domain, problem: Problem, file: Path, title: str, tree: SearchTree | None = None
) -> None:
    """Write an HTML file that steps through the states, and has the search that found the plan, if it was kept.

    It opens at the step that is not possible, if there is one.
    """
    search = [("search", tree_drawing(tree), None)] if tree is not None else []
    last, pages = result.states[-1], _Pages(domain, problem, result.states, search)
    ending = f"not possible: {result.fault}" if result.fault else f"the goal is {REACHED[last.goal_reached]}"
    steps = [
        ListedStep(state.action or START, pages.tabs(state, _changes(state)), phase=" ".join(_words(state.action)[:1]))
        for state in result.states
    ]
    if result.preferences:
        verdicts = [Text(str(verdict).capitalize()) for verdict in result.preferences]
        steps[-1] = replace(steps[-1], tabs=pages.tabs(last, [*_changes(last), *verdicts]))
    if result.fault:
        fault = [Text(f"Not possible: {result.fault}", "bold red"), *map(Text, result.advice.splitlines())]
        steps.append(ListedStep("not possible", pages.tabs(last, fault), marks=("not possible",)))
    heading = f"{title}: {count(last.step, 'step')}, {ending}"
    tabs = ("overview", "timeline", "state", *["search"] * len(search))
    write_whole(file, render_steps(heading, tabs, steps, len(steps) - 1 if result.fault else 0))
    say(f"{count(len(result.states), 'state')}, written to {file}")


def chart_page(title: str, bars: Sequence[Bar], steps: Sequence[str]) -> str:
    """The HTML file of a plan with time: its chart, and its steps."""
    chart = ("chart", Drawing([chart_svg(bars, title, _CHART)], ()), 0)
    listed = ("plan", Drawing((), [*map(Text, steps)]), 0)
    return render_steps(title, ("overview",), [ListedStep("", [[chart, listed]])])


@lru_cache(maxsize=100_000)
def _words(fact: str) -> tuple[str, ...]:
    """The words of a fact or an action; those of the number `(= (fuel t1) 3)` are `=`, `fuel`, `t1` and `3`."""
    return tuple(fact.replace("(", " ").replace(")", " ").split())


class _Pages:
    """What the page shows of each state."""

    def __init__(
        self, domain: Domain, problem: Problem, states: Sequence[SimulatedState], search: Sequence[StepPane]
    ) -> None:
        self._domain, self._search = domain, search
        self._types = {known.name: known.type for known in (*domain.constants, *problem.sorted_objects())}
        self._by_type = defaultdict[str, list[str]](list)
        for name, kind in self._types.items():
            self._by_type[kind].append(name)
        self._facts = [frozenset(state.facts) for state in states]
        self._changing = frozenset().union(*self._facts) - frozenset.intersection(*self._facts)
        facts = (*(state.action for state in states), *sorted(self._changing))
        named = dict.fromkeys(word for fact in facts for word in _words(fact)[1:] if word in self._types)
        self._named = {name: place for place, name in enumerate(named)}
        self._relations = [*self._binary_relations()][:_MOST_PICTURES]
        self._timeline = Drawing([chart_svg([*self._bars()], "the facts that change, by step", _CHART)], ())
        self._curves = _curves(states)

    def tabs(self, state: SimulatedState, changes: Sequence[Text]) -> Sequence[Sequence[StepPane]]:
        """The panes of each tab."""
        pictures = [(title, self._picture(relation, state), 0) for title, relation in self._relations]
        objects = [Text(f"{kind}: {', '.join(names)}") for kind, names in self._by_type.items()]
        overview = [*pictures, ("changes", Drawing((), changes), 1), ("objects", Drawing((), objects), 1)]
        curves = ((chart.title, chart.drawing(state.step), 1) for chart in self._curves)
        facts = [Text(fact, "green" if fact in state.added else "") for fact in state.facts]
        timeline = [("timeline", self._timeline, 0), *curves]
        return overview, timeline, [("state", Drawing((), facts), None)], *[self._search] * bool(self._search)

    def _binary_relations(self) -> Iterator[tuple[str, Relation]]:
        """The relations over one type that have a pair of objects in some state, with their titles."""
        for predicate in self._domain.predicates:
            kinds = [parameter.type for parameter in predicate.parameters]
            kind = next((kind for kind in kinds if all(self._domain.is_a(other, kind) for other in kinds)), None)
            if kind is None or len(kinds) != 2:
                continue
            words_by_state = (map(_words, facts) for facts in self._facts)
            states = [{words[1:] for words in facts if words[0] == predicate.name} for facts in words_by_state]
            pairs = frozenset().union(*states)
            used = {name for pair in pairs if len(set(pair)) == 2 for name in pair}
            if not used:
                continue
            typed = {name for name, of in self._types.items() if kind != ANY_TYPE and self._domain.is_a(of, kind)}
            names = [*sorted(used), *sorted(typed - used)]
            drawn = self._drawn(names, pairs)
            between = [{(a, b) for a, b in state if a != b and {a, b} <= {*drawn}} for state in states]
            hidden = f" ({len(drawn)} of {len(names)} objects, {len(names) - len(drawn)} left out)"
            yield f"{predicate.name}{hidden if drawn != names else ''}", Relation(predicate.name, drawn, between)

    def _drawn(self, names: Sequence[str], pairs: Iterable[tuple[str, ...]]) -> Sequence[str]:
        """The names that are drawn: those of the plan, those that change, those beside them, and then the others."""
        beside = {name for pair in pairs if not self._named.keys().isdisjoint(pair) for name in pair}
        ranked = sorted(names, key=lambda name: (self._named.get(name, len(self._types)), name not in beside))
        return sorted(ranked[:_MOST_OBJECTS], key=names.index)

    def _picture(self, relation: Relation, state: SimulatedState) -> Drawing:
        """The relation, with what is at each object, and with the changing facts about it alone, rare ones first."""
        names = {*relation.names}
        facts = sorted(fact for fact in self._facts[state.step] if not names.isdisjoint(_words(fact)[1:]))
        often, changing = Counter(_words(fact)[0] for fact in facts), {_words(fact)[0] for fact in self._changing}
        changed = {word for fact in (*state.added, *state.deleted) for word in _words(fact)[1:]}

        def box_at(name: str, middle: Place) -> str:
            about = [fact for fact in facts if name in _words(fact)[1:]]
            known = [words for words in map(_words, about) if words[0] not in ("=", relation.name)]
            things = [words[1] for words in known if words[2:] == (name,) and words[1] not in names]
            alone = {words[0] for words in known if len(words) == 2} & changing
            rows = [(name, "name"), (f"◆ {_listed(things)}" if things else "", "thing")]
            rows.append((_listed(sorted(alone, key=lambda word: (often[word], word))), "word"))
            title = "\n".join((name, *about))
            return box(["here"] * (name in changed), title, [row for row in rows if row[0]], middle)

        return Drawing(relation.parts(state.step, box_at), ())

    def _bars(self) -> Iterator[Bar]:
        """The steps at which each changing fact is true."""
        for fact in sorted(fact for fact in self._changing if _value_of(fact) is None):
            holds = [fact in facts for facts in self._facts]
            for is_true, group in groupby(range(len(holds)), holds.__getitem__):
                if is_true:
                    steps = [*group]
                    yield Bar(Fraction(steps[0]), Fraction(steps[-1] + 1), fact)


def _listed(words: Sequence[str]) -> str:
    """The words, or the first one and how many more there are, if they do not fit into a box."""
    text = ", ".join(words)
    return text if len(text) < LETTERS - 1 or not words[1:] else f"{words[0]} +{len(words) - 1}"


def _value_of(fact: str) -> tuple[str, Fraction] | None:
    """The function with its arguments and the value of `(= (fuel t1) 3)`; None for a fact that is no number."""
    term, is_number, value = fact.removeprefix("(= ").rpartition(") ")
    return (f"{term})", Fraction(value[:-1].removeprefix("about "))) if is_number else None


def _curves(states: Sequence[SimulatedState]) -> Sequence[Curves]:
    """The values that change, by their functions: of a few functions, those that change most often."""
    values = defaultdict[str, list[Fraction | None]](lambda: [None] * len(states))
    for state in states:
        for term, value in filter(None, map(_value_of, state.facts)):
            values[term][state.step] = value
    changes = {term: sum(a != b for a, b in pairwise(known)) for term, known in values.items()}
    functions = defaultdict[str, list[str]](list)
    for term in sorted((term for term, number in changes.items() if number), key=lambda term: (-changes[term], term)):
        functions[_words(term)[0]].append(term)
    found = []
    for name, terms in [*functions.items()][:_MOST_PICTURES]:
        left = f" ({MOST_CURVES} of {len(terms)}, {len(terms) - MOST_CURVES} left out)" if terms[MOST_CURVES:] else ""
        shown = {" ".join(_words(term)[1:]) or name: values[term] for term in terms[:MOST_CURVES]}
        found.append(Curves(f"{name}{left}", shown))
    return found


def _changes(state: SimulatedState) -> list[Text]:
    lines = [Text(f"+ {fact}", "green") for fact in state.added] + [Text(f"- {fact}", "red") for fact in state.deleted]
    lines = lines or [Text("nothing changes", "dim")]
    lines += [] if state.cost is None else [Text(f"cost so far: {state.cost}")]
    return [*lines, *([Text("the goal is reached", "bold")] if state.goal_reached else [])]
