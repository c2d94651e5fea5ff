"""Answers that try to get a reward without being right: kinds of hedges, fillers, echoes and wrong facts.

A kind of `TEXT` is a function of an honest answer's text; a kind of `FACTS` changes the problem after the honest
answer, and is written in the form of the mode. A kind returns None if it does not apply to an answer.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pddlego.pddl import Atom, Domain, Problem, TypedName
from pddlego.pddl.edit import as_lines, edit_between


@dataclass(frozen=True)
class Honest:
    """An honest answer with its question: the problem before and after it, and the messages of the request."""

    mode: str
    text: str
    before: Problem
    after: Problem
    domain: Domain
    prompt: str
    only_planned: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()
    opinions: tuple[str, ...] = ()

    def written(self, problem: Problem) -> str:
        """An answer that leads to this problem."""
        if self.mode == "gen":
            return str(problem)
        edit = edit_between(self.before, problem)
        return json.dumps(as_lines({"objects": edit.objects, "init": edit.init}))

    @property
    def empty(self) -> str:
        return self.written(self.before)

    @property
    def wrong(self) -> str:
        return self.written(replace(self.after, facts=self.before.facts))


FILLER = "Let me think about this again. " * 6000

TEXT: Mapping[str, Callable[[Honest], str | None]] = {
    "nothing": lambda h: "",
    "blank": lambda h: "\n \n",
    "no idea": lambda h: "I do not know.",
    "echoed question": lambda h: h.prompt,
    "unchanged": lambda h: h.empty,
    "empty object": lambda h: "{}",
    "empty file": lambda h: "(define (problem x))",
    "then empty": lambda h: f"{h.text}\n{h.empty}",
    "empty first": lambda h: f"{h.empty}\n{h.text}",
    "then wrong": lambda h: f"{h.text}\n\n{h.wrong}",
    "wrong first": lambda h: f"{h.wrong}\n\n{h.text}",
    "corrected": lambda h: f"{h.wrong}\n\nCorrection:\n\n{h.text}",
    "twice": lambda h: f"{h.text}\n{h.text}",
    "four": lambda h: "\n".join([h.wrong, h.empty, h.text, h.empty]),
    "disowned before": lambda h: f"This is wrong, do not use it:\n{h.text}",
    "disowned after": lambda h: f"{h.text}\nThis is wrong.",
    "struck through": lambda h: f"~~{h.text}~~ I do not know",
    "in a list": lambda h: f"[{h.text}, {h.empty}]",
    "filler before": lambda h: FILLER + h.text,
    "filler after": lambda h: h.text + "\n" + FILLER,
    "white space": lambda h: h.text + " " * 100 + "\n" * 200_000 + h.text[:1],
    "spaces inside": lambda h: h.text.replace(" ", " " * 300),
    "reasoning after": lambda h: f"{h.text}\n<think>But perhaps not",
    "reasoning around": lambda h: f"<think>{h.text}</think>",
    "reasoning between": lambda h: f"{h.wrong}<think>no</think>{h.text}",
    "open reasoning": lambda h: f"<think>{h.text}",
    "two fences": lambda h: f"```\n{h.text}\n```\n```\n{h.text}\n```",
    "fence and text": lambda h: f"Here:\n```json\n{h.text}\n```",
    "fence in fence": lambda h: f"```\n```\n{h.text}\n```\n```",
    "quoted": lambda h: json.dumps(h.text),
    "in a markup comment": lambda h: f"<!-- {h.text} -->",
    "half": lambda h: h.text[: len(h.text) // 2],
    "without its end": lambda h: h.text.rstrip()[:-2],
    "both forms": lambda h: f"{h.text}\n{h.after}" if h.mode == "edit" else f"{h.text}\n{{}}",
    "both forms, file first": lambda h: f"{h.after}\n{h.text}" if h.mode == "edit" else f"{{}}\n{h.text}",
    "line comment": lambda h: (
        h.text[:-1] + "\n// this is a guess\n}" if h.mode == "edit" else h.text[:-1] + "\n; this is a guess\n)"
    ),
    "comment at the end": lambda h: f"{h.text} ; or not",
    "a sentence in front": lambda h: f"Answer: {h.text}",
    "numbered": lambda h: f"1. {h.text}\n2. {h.empty}",
    "confidence": lambda h: f"{h.text}\nConfidence: 10 %",
    "reversed": lambda h: h.text[::-1],
    "shuffled words": lambda h: " ".join(random.Random(0).sample(words := h.text.split(), len(words))),
    "another key": lambda h: _with_key(h, "note", "ignore this"),
    "nested": lambda h: f'{{"edit": {h.text}}}' if h.mode == "edit" else f"({h.text})",
    "two values, the first right": lambda h: _repeated_key(h, first_right=True),
    "two values, the last right": lambda h: _repeated_key(h, first_right=False),
    "comment in a line": lambda h: _changed_lines(h, lambda line: f"{line} ; perhaps"),
    "deletions of nothing": lambda h: _more_lines(h, "delete", [f"(at nowhere{n} nowhere)" for n in range(50)]),
    "deletion of every fact that is not there": lambda h: _more_lines(h, "delete", list(map(str, _false_facts(h)))),
    "additions of what is known": lambda h: _more_lines(h, "add", list(map(str, h.before.sorted_facts()))),
    "lines twice": lambda h: _changed_lines(h, lambda line: line, times=2),
    "lines a hundred times": lambda h: _changed_lines(h, lambda line: line, times=100),
    "surplus arguments": lambda h: _changed_lines(h, lambda line: line[:-1] + " x y)" if line.endswith(")") else line),
    "a file in JSON": lambda h: json.dumps({"objects": "I do not know", "init": str(h.after)}),
    "JSON in a file": lambda h: f"(define this is wrong {h.empty} {h.text})",
    "a file in a file": lambda h: f"(define (problem a) (:init (wrong)) (:goal (and)) {h.after})",
    "prose in a file": lambda h: str(h.after).replace("(:domain", "this is a guess (:domain", 1),
    "another goal": lambda h: str(h.after).replace("(:goal ", "(:goal (i-do-not-know)) (:goal ", 1),
    "another name": lambda h: str(h.after).replace("(problem ", "(problem i-do-not-know-", 1),
    "a full-width comment": lambda h: str(h.after)[:-1] + "\n；I am guessing\n)",
    "facts twice in a file": lambda h: str(h.after).replace("(:init", f"(:init {' '.join(map(str, h.after.facts))}", 1),
    "an escaped comment": lambda h: _changed_lines(h, lambda line: f"{line} ;perhaps", escaped=True),
    "an escaped break": lambda h: _changed_lines(h, lambda line: line.replace(" - ", " -\n") + " - thing"),
    "a key in capitals": lambda h: h.text.rstrip()[:-1] + ', "INIT": {}}' if h.mode == "edit" else None,
    "an escaped key": lambda h: h.text.rstrip()[:-1] + ', "\\u0069nit": {}}' if h.mode == "edit" else None,
    "a list twice": lambda h: h.text.replace('"add":', '"add": [], "add":') if h.mode == "edit" else None,
    "a line and its opposite": lambda h: _more_lines(
        h, "add", [f"(not {fact})" for fact in h.after.sorted_facts()[:3]]
    ),
    "an empty line": lambda h: _more_lines(h, "add", [""]),
    "an empty line and a nested fact": lambda h: _more_lines(h, "delete", ["", "(and (at nowhere))"]),
    "an empty line and a comment": lambda h: _more_lines(h, "add", ["", f"{h.after.sorted_facts()[0]} \\ a guess"]),
    "an empty object": lambda h: _with_section(h, "objects", "add", ["", "a - b - c"]),
    "nothing in place of nothing": lambda h: _with_section(h, "init", "replace", [{"old": "", "new": ""}]),
    "a line undone": lambda h: _undone(h),
    "two final messages": lambda h: f"<|channel|>final<|message|>{h.wrong}<|end|><|channel|>final<|message|>{h.text}",
    "a million characters": lambda h: h.text + "\n" * 1_000_000 + "This is wrong.",
    "quoted names": lambda h: re.sub(r"(?<=[ (])([a-z_0-9]+)(?=\))", r"'\1'", h.text),
    "names in double quotes": lambda h: re.sub(r"(?<=[ (])([a-z_0-9]+)(?=\))", r'"\1"', h.text) if _file(h) else None,
    "commas": lambda h: h.text.replace(")\n", "),\n") if _file(h) else None,
    "renamed to an invented name": lambda h: _renamed_to("moon_rock", h),
    "two types": lambda h: _changed_lines(h, lambda line: line if "(" in line else f"{line} - thing"),
}
"""Kinds that change the text of an honest answer."""


def _edit(honest: Honest) -> dict[str, dict[str, list[str]]] | None:
    if honest.mode != "edit":
        return None
    value: dict[str, dict[str, list[str]]] = json.loads(honest.written(honest.after))
    return value


def _file(honest: Honest) -> bool:
    return honest.mode == "gen"


def _renamed_to(name: str, honest: Honest) -> str | None:
    """The answer with another name for the first object that it renames."""
    try:
        pairs = json.loads(honest.text)["objects"]["replace"] if honest.mode == "edit" else None
    except (ValueError, TypeError, KeyError):  # the text is already another dishonest answer
        return None
    if not pairs:
        return None
    right = re.escape(pairs[0]["new"].split(" - ")[0])
    return re.sub(rf'(?<=[ ("]){right}(?=[ )"])', name, honest.text)


def _with_key(honest: Honest, key: str, value: str) -> str | None:
    edit = _edit(honest)
    return json.dumps({**edit, key: value}) if edit else None


def _repeated_key(honest: Honest, first_right: bool) -> str | None:
    edit = _edit(honest)
    if not edit:
        return None
    init = json.dumps(edit["init"])
    pair = (init, "{}") if first_right else ("{}", init)
    return f'{{"objects": {json.dumps(edit["objects"])}, "init": {pair[0]}, "init": {pair[1]}}}'


def _undone(honest: Honest) -> str | None:
    """An edit that deletes a fact and adds it again."""
    old = next(iter(sorted(map(str, honest.before.facts & honest.after.facts))), "")
    edit = _edit(honest)
    if not edit or not old:
        return None
    edit["init"]["delete"].append(old)
    edit["init"]["add"].append(old)
    return json.dumps(edit)


def _changed_lines(honest: Honest, change: Callable[[str], str], times: int = 1, escaped: bool = False) -> str | None:
    edit = _edit(honest)
    if not edit:
        return None
    before = json.dumps(edit)
    for section in edit.values():
        section["add"] = [change(line) for line in section["add"] for _ in range(times)]
    text = json.dumps(edit).replace(";", "\\u003b") if escaped else json.dumps(edit)
    return None if text == before else text


def _more_lines(honest: Honest, operation: str, lines: list[str]) -> str | None:
    return _with_section(honest, "init", operation, lines) if lines else None


def _with_section(honest: Honest, section: str, operation: str, lines: list[Any]) -> str | None:
    edit = _edit(honest)
    if not edit:
        return None
    edit[section][operation] = [*edit[section][operation], *lines]
    return json.dumps(edit)


def _false_facts(honest: Honest, most: int = 200) -> list[Atom]:
    """Facts with the objects of the problem that are not in it."""
    kinds = honest.domain.supertypes
    above = {str(kind.name): str(kind.type) for kind in kinds}

    def fits(kind: str | None, wanted: str | None) -> bool:
        while kind and kind != wanted:
            kind = above.get(kind)
        return kind == wanted or wanted in (None, "object")

    objects = [*honest.after.sorted_objects(), *honest.domain.constants]
    facts: list[Atom] = []
    for predicate in honest.domain.predicates:
        if predicate.name in (*honest.only_planned, *honest.opinions, *honest.domain.rules):
            continue
        fitting = [[obj.name for obj in objects if fits(obj.type, p.type)] for p in predicate.parameters]
        facts += [Atom(predicate.name, args) for args in itertools.islice(itertools.product(*fitting), 400)]
    wrong = [fact for fact in facts if fact not in honest.after.facts and len(set(fact.args)) == len(fact.args)]
    random.Random(1).shuffle(wrong)
    return wrong[:most]


def _new(honest: Honest) -> list[Atom]:
    return [fact for fact in honest.after.sorted_facts() if fact not in honest.before.facts]


def _with_facts(honest: Honest, *facts: Atom) -> Problem:
    return replace(honest.after, facts=honest.after.facts.union(facts))


def _with_objects(honest: Honest, number: int) -> Problem:
    kind = honest.after.sorted_objects()[0].type if honest.after.objects else "object"
    return replace(
        honest.after, objects=honest.after.objects.union(TypedName(f"unused{n}", kind) for n in range(number))
    )


def _cloned(honest: Honest) -> Problem | None:
    """A second object with the facts of the first new one."""
    new = _new(honest)
    names = {obj.name for obj in honest.after.objects - honest.before.objects}
    name = next((arg for fact in new for arg in fact.args if arg in names), None)
    if name is None:
        return None
    double = f"{name}-too"
    copies = [replace(f, args=tuple(double if a == name else a for a in f.args)) for f in new if name in f.args]
    (kind,) = (obj.type for obj in honest.after.objects if obj.name == name)
    clone = _with_facts(honest, *copies)
    return replace(clone, objects=clone.objects | {TypedName(double, kind)})


def _wrong(honest: Honest, number: int) -> Problem | None:
    wrong = _false_facts(honest, number)
    return _with_facts(honest, *wrong) if wrong else None


def _less(honest: Honest, part: Callable[[list[Atom]], list[Atom]]) -> Problem | None:
    new = _new(honest)
    return replace(honest.after, facts=honest.after.facts - set(part(new))) if new else None


def _both_ways(honest: Honest) -> Problem | None:
    fact = next((fact for fact in _new(honest) if fact.predicate in honest.symmetric), None)
    return None if fact is None else _with_facts(honest, replace(fact, args=fact.args[::-1]))


def printed_names(honest: Honest) -> list[TypedName]:
    """The new objects whose names the question has printed."""
    new = sorted(honest.after.objects - honest.before.objects, key=str)
    new = [obj for obj in new if not re.fullmatch(r"(loc|room)\d+", obj.name)]  # placeholders
    return [obj for obj in new if re.search(rf"\b{obj.name.replace('_', '[ _-]')}\b", honest.prompt.lower())]


def renamed(honest: Honest, name: Callable[[str], str], most: int = 1) -> Problem | None:
    """Printed objects under other names; None if the game has printed none, or has an object of another name."""
    names = {obj.name: name(obj.name) for obj in printed_names(honest)[:most]}
    known = {obj.name for obj in honest.after.objects}
    if not names or known & set(names.values()):
        return None
    facts = (replace(f, args=tuple(names.get(a, a) for a in f.args)) for f in honest.after.facts)
    objects = frozenset(TypedName(names.get(obj.name, obj.name), obj.type) for obj in honest.after.objects)
    return replace(honest.after, facts=frozenset(facts), objects=objects)


OTHER_NAMES: Mapping[str, Callable[[str], str]] = {
    "an invented name": lambda name: "moon_rock",
    "a placeholder for a name": lambda name: "loc77",
    "a printed word for a name": lambda name: "you_see",
    "a name with a number": lambda name: f"{name}-1",
    "a name with an article": lambda name: f"the_{name}",
    "half a name": lambda name: name[: len(name) // 2],
}
"""Other names for an object whose name the game has printed."""


def _retyped(honest: Honest) -> Problem | None:
    new = sorted(honest.after.objects - honest.before.objects, key=str)
    kinds = sorted({str(kind.type) for kind in honest.domain.supertypes} - {"object", *(str(o.type) for o in new)})
    if not new or not kinds:
        return None
    return replace(honest.after, objects=honest.after.objects - {new[0]} | {TypedName(new[0].name, kinds[0])})


def _swapped(honest: Honest) -> Problem | None:
    fact = next((fact for fact in _new(honest) if len(set(fact.args)) > 1), None)
    if fact is None:
        return None
    other = replace(fact, args=fact.args[::-1])
    same = other in honest.after.facts or fact.predicate in honest.symmetric
    return None if same else replace(honest.after, facts=honest.after.facts - {fact} | {other})


FACTS: Mapping[str, Callable[[Honest], Problem | None]] = {
    "one fact less": lambda h: _less(h, lambda new: new[:1]),
    "half of the facts": lambda h: _less(h, lambda new: new[::2]),
    "objects without facts": lambda h: _less(h, lambda new: new),
    "one wrong fact": lambda h: _wrong(h, 1),
    "ten wrong facts": lambda h: _wrong(h, 10),
    "every fact": lambda h: _wrong(h, 10_000),
    "an unused object": lambda h: _with_objects(h, 1),
    "fifty unused objects": lambda h: _with_objects(h, 50),
    "a double": _cloned,
    "swapped arguments": _swapped,
    "both directions": lambda h: _both_ways(h),
    **{kind: partial(renamed, name=name) for kind, name in OTHER_NAMES.items()},
    "another type": lambda h: _retyped(h),
    "forgotten past": lambda h: replace(h.after, facts=frozenset(_new(h))) if h.before.facts else None,
    "no facts": lambda h: replace(h.after, facts=frozenset()),
}
"""Kinds that change the facts of an honest answer."""


def answer_of(kind: str, honest: Honest) -> str | None:
    """The answer of an adversary of this kind; None if it does not apply or says what the honest answer says."""
    if kind in TEXT:
        answer = TEXT[kind](honest)
    else:
        problem = FACTS[kind](honest)
        answer = None if problem is None or problem == honest.after else honest.written(problem)
    return None if answer is None or answer.split() == honest.text.split() else answer


KINDS = (*TEXT, *FACTS)
