"""Forms of answers that are made for a domain, for endpoints that constrain an answer while it is generated.

They exclude undeclared predicates, wrong numbers of arguments, undeclared types, and deletions of what does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pddlego.pddl import Domain, Problem
from pddlego.pddl.domain import Predicate

_NAME = "[a-z][a-z0-9_-]*"

_MOST_LINES = 100
"""Maximum number of lines in an enumeration; endpoints limit the length of a schema."""


def edit_schema(domain: Domain, problem: Problem, only_planned: Collection[str]) -> Mapping[str, Any]:
    """The JSON schema of an edit of a problem, with the form of `EDIT_SCHEMA`."""
    facts = "|".join(" ".join([one.name, *[_NAME] * len(one.parameters)]) for one in _stated(domain, only_planned))
    sections = {
        "objects": _section(f"^{_NAME} - ({'|'.join(_types(domain))})$", map(str, problem.sorted_objects())),
        "init": _section(rf"^\(({facts})\)$", map(str, problem.sorted_facts())),
    }
    return _object(sections)


def _section(pattern: str, present: Iterable[str]) -> dict[str, Any]:
    """The schema of a section: new lines match the pattern, old ones are among those that are present."""
    new, lines = {"type": "string", "pattern": pattern}, list(present)
    old = {"type": "string", "enum": lines} if 0 < len(lines) <= _MOST_LINES else new
    pairs = _object({"old": old, "new": new})
    return _object({"add": _list(new), "replace": _list(pairs), "delete": _list(old)})


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def problem_grammar(domain: Domain, problem: Problem, only_planned: Collection[str]) -> str:
    """A grammar (GBNF) of the problem files of a domain, with the goal of `problem`."""
    facts = (
        " ".join([json.dumps(f"({one.name}"), *['" " name'] * len(one.parameters), '")"'])
        for one in _stated(domain, only_planned)
    )
    lines = [
        f'root ::= "(define (problem " name ")\\n  (:domain {domain.name})\\n  (:objects" object* "\\n  )\\n'
        f'  (:init" fact* "\\n  )\\n  (:goal " goal ")\\n)"',
        'object ::= "\\n    " name (" " name)* " - " type',
        'fact ::= "\\n    " atom',
        f"type ::= {' | '.join(map(json.dumps, _types(domain)))}",
        f"atom ::= {' | '.join(facts)}",
        f"goal ::= {json.dumps(str(problem.goal))}",
        "name ::= [a-z] [a-z0-9_-]*",
    ]
    return "\n".join(lines)


def _stated(domain: Domain, only_planned: Collection[str]) -> list[Predicate]:
    """The predicates whose facts a model may state."""
    return [predicate for predicate in domain.predicates if predicate.name not in only_planned]


def _types(domain: Domain) -> list[str]:
    return sorted(domain.types)
