"""Answers in the form of the L2P paper (Figures 1, 6, 9): headings such as `### New Predicates` with PDDL in fences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pddlego.methods.builders.draft import (
    ActionList,
    Component,
    Constants,
    Effects,
    Functions,
    Goal,
    Init,
    NamedAction,
    NewPredicate,
    NewType,
    Objects,
    Parameters,
    Preconditions,
    Predicates,
    Typed,
    Types,
    WholeAction,
)
from pddlego.pddl.conditions import read_typed_list
from pddlego.pddl.nearly_json import last_object
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

_BULLET = re.compile(r"\s*(?:(?:[-*+•]|\d+[.)])\s+(?=\S))?(?:\(:[\w-]+)?\s*")
_LINE = re.compile(r"(\((?:[^()]|\([^()]*\))*\)(?!\s*\()|[^;:]*)(?:\s*-\s*number\b)?(.*)")
_PAIR = re.compile(r"""[\s{]*["']([\w-]+)["']\s*:\s*["']((?:(?!["']\s*,\s*["'])[^\\])*)["'][\s,}]*""")
_SENTENCE = re.compile(r"^(?!.*\S\s-\s)[ \t]*(?=\S+[ \t])[^(){}\[\]?:;\n]*[.:!][ \t]*$", re.MULTILINE)
_NOTHING = re.compile(
    r"(?!.*(?:\S\s-\s|\?))[\s\d.(\[<*_`+•-]*(?:(?:none|n/a)(?![\w-])|(?:there (?:are|is) )?no\s[\w\s-]*"
    r"\b(?:type|constant|predicate|function|action|parameter|precondition|condition|effect|object|fact|goal)s?\b)",
    re.IGNORECASE,
)
"""The beginning of a line that says that a list is empty: `- None`, `(none)`, `No new predicates are needed.`"""

_WANTED: Mapping[str, tuple[str, ...]] = {
    "types": ("types",),
    "constants": ("constants",),
    "predicates": ("new predicates", "predicates"),
    "functions": ("functions", "new functions"),
    "action-list": ("natural language actions", "actions"),
    "parameters": ("action parameters",),
    "preconditions": ("action preconditions",),
    "effects": ("action effects",),
    "action": ("action effects",),
    "objects": ("objects",),
    "init": ("initial",),
    "goal": ("goal",),
}
"""The headings of the components, in lower case."""


def headed_component(kind: str, text: str, action: str) -> Component | None:
    """The component of this kind in an answer with headings; None if the answer does not have its heading.

    `action` is the name of the action that was asked for. Raises `ValueError` for text that cannot be read.
    """
    parts = _parts(text)
    heading = next((name for name in _WANTED.get(kind, ()) if name in parts), None)
    if heading is None:
        return None
    own = parts[heading]
    if kind == "types":
        return Types(types=tuple(NewType(name=name, parent=parent, about=about) for name, parent, about in _tree(own)))
    if kind == "action-list":
        top = [(name, about) for name, parent, about in _tree(own) if parent == "object"]
        return ActionList(actions=tuple(NamedAction(name=name, about=about) for name, about in top))
    if kind == "predicates":
        return Predicates(predicates=_predicates(own))
    if kind == "functions":
        return Functions(functions=_predicates(own))
    if kind in ("constants", "objects"):
        return Constants(constants=_typed(own)) if kind == "constants" else Objects(objects=_typed(own))
    if kind == "init":
        return Init(facts=tuple(map(show, _expressions(own))))
    if kind == "goal":
        return Goal(goal=_condition(own))
    if kind == "parameters":
        return Parameters(name=action, parameters=_typed(own))
    new = _predicates(parts.get("new predicates", ""), remarks=True)
    if kind == "preconditions":
        return Preconditions(name=action, precondition=_condition(own), new_predicates=new)
    if kind == "effects":
        return Effects(name=action, effect=_condition(own), new_predicates=new)
    parameters, needed = parts.get("action parameters", ""), parts.get("action preconditions", "")
    whole = {"parameters": _typed(parameters), "precondition": _condition(needed), "effect": _condition(own)}
    return WholeAction.model_validate({"name": action, **whole, "new_predicates": new})


def _parts(text: str) -> dict[str, str]:
    """The text after each heading, without its fence and lines such as `None`. The last of equal headings counts."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("##"):
            lines = found[line.strip("#*: \t").lower()] = []
        elif not _NOTHING.match(line):
            lines.append(line)
    return {name: fenced("\n".join(lines)) for name, lines in found.items()}


def fenced(text: str) -> str:
    """The text in the first fence; without a fence, the whole text."""
    _, fence, rest = text.partition("```")
    first, _, inside = rest.partition("\n")
    return (inside if re.fullmatch(r"\w*\s*", first) else rest).partition("```")[0] if fence else text


def _lines(text: str, remarks: bool = False) -> list[tuple[str, str, int]]:
    """The declaration, the description and the indentation of each line: `- (at ?x - place): 'where'`, `box ; a box`.

    Sentences around them are skipped. Raises `ValueError` if there is nothing else, unless `remarks`.
    """
    found = []
    for line in _SENTENCE.sub("", text).splitlines():
        bare = _BULLET.sub("", line.replace("`", "").replace("**", ""), count=1).strip().removesuffix(",")
        declared, about = _LINE.findall(bare)[0]
        if re.search(r"\w", declared):
            indent = len(line) - len(line.lstrip())
            found.append((declared.strip("'\" \t"), about.lstrip(")").strip(" \t;:,-–—/'\""), indent))
    if not found and not remarks and re.search(r"\w", text):
        raise ValueError(f"{text.strip()[:100]!r} is not a declaration")
    return found


def _tree(text: str) -> Iterator[tuple[str, str, str]]:
    """Names, the one above each (`object` at the top) and descriptions: a dictionary, a list of these, or lines."""
    if start := re.search(r"^[ \t]*[\[{]", text, re.MULTILINE):
        inner = text[start.start() : max(text.rfind("}"), text.rfind("]")) + 1 or None]
        pairs = [_PAIR.fullmatch(line) for line in inner.splitlines() if re.search(r"\w", line)]
        if "}" in inner and pairs and all(pairs):  # quotation marks in these need no escapes
            yield from ((pair[1], "object", pair[2]) for pair in pairs if pair)
        else:
            yield from _branches(last_object(f'{{"value": {inner}}}', ["value"]).value["value"], "object")
        return
    above = [(-1, "object")]
    for declared, about, indent in _lines(text):
        above = [(other, name) for other, name in above if other < indent]
        name, _, rest = declared.partition(" - ")
        is_type = bool(rest) and " " not in rest
        yield (name, rest, about) if is_type else (name, above[-1][1], about or rest)
        above.append((indent, name))


def _branches(value: Any, parent: str) -> Iterator[tuple[str, str, str]]:
    for part in value if isinstance(value, list) else [value]:
        own = parent
        for name, about in part.items() if isinstance(part, dict) else [(part, "")]:
            nested = isinstance(about, (dict, list))
            if not (nested and name == "children"):
                own = name
                yield name, parent, "" if nested else about
            if nested:
                yield from _branches(about, own)


def _predicates(text: str, remarks: bool = False) -> tuple[NewPredicate, ...]:
    """The predicates of a list. Other text in it is skipped if `remarks`, else `ValueError` is raised."""
    found = []
    for declared, about, _ in _lines(text, remarks):
        if remarks and not re.match(r"\(\s*[^\s()]+(?:\s*(?:\)|$)|\s+\?|.*\s-\s)", declared):
            continue
        reading = read_sexprs(declared)
        head = reading.expressions[0]
        names, defects = read_typed_list(head, 1)
        is_list = isinstance(head, tuple) and len(reading.expressions) == 1 and not reading.defects
        if not is_list or defects or any(not name.name.startswith("?") for name in names):
            raise ValueError(f"{declared[:100]!r} is not a declaration: write (name ?x - type)")
        parameters = tuple(Typed(name=name.name, type=name.type) for name in names)
        found.append(NewPredicate.model_validate({"name": head[0], "parameters": parameters, "about": about}))
    return tuple(found)


def _typed(text: str) -> tuple[Typed, ...]:
    names, defects = read_typed_list(_expressions("\n".join(declared for declared, _, _ in _lines(text))))
    if defects:
        raise ValueError(defects[0].message)
    return tuple(Typed(name=name.name, type=name.type) for name in names)


def _condition(text: str) -> str:
    parts = _expressions(text)
    return show(parts[0] if len(parts) == 1 else ("and", *parts))


def _expressions(text: str) -> Sequence[Sexpr]:
    reading = read_sexprs(re.sub(r"(?m)^[ \t]*(?:[-*+•]|\d+[.)])\s+(?=\()", "", _SENTENCE.sub("", text)))
    if reading.defects:
        raise ValueError(reading.defects[0].message)
    return reading.expressions
