"""Takes an answer apart that holds a domain and a problem, in whatever way the model put them together."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PARTS = ("domain", "problem", "goals", "commands")

_NAMES = "|".join(PARTS)
_TAG = re.compile(rf"<({_NAMES})>(.*?)(?:</\1>|(?=<(?:{_NAMES})>)|\Z)", re.DOTALL | re.IGNORECASE)
_FILE = re.compile(r"\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_FENCE = re.compile(r"```[a-z]*\n?", re.IGNORECASE)

NAMES: Mapping[str, str] = {"df": "domain", "pf": "problem", "domain_file": "domain", "problem_file": "problem"}
"""What the parts are called by others: `df` and `pf` in PDDLego+."""


@dataclass(frozen=True)
class FullAnswer:
    """The texts of an answer's parts; empty where it has none. `commands` are lines `action: command`."""

    domain: str = ""
    problem: str = ""
    goals: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.domain.strip() or self.problem.strip())


def take_apart(said: str) -> FullAnswer:
    """The parts of an answer: in tags, as a JSON object, or as two files one after the other. Total."""
    tagged = _tagged(said)
    parts = tagged if {"domain", "problem"} & set(tagged) else {**_files(said), **_as_json(said), **tagged}
    commands = (line.partition(":") for line in parts.get("commands", "").splitlines())
    return FullAnswer(
        parts.get("domain", ""),
        parts.get("problem", ""),
        parts.get("goals", ""),
        {name.strip(" -*`").lower(): in_braces(said) for name, colon, said in commands if colon and said.strip()},
    )


def in_braces(command: str) -> str:
    """A command with its parameters in braces, however the model marked them: `?from-room` is `{from_room}`."""

    def name(match: re.Match[str]) -> str:
        return "{" + (match[1] or match[2]).replace("-", "_") + "}"

    return re.sub(r"\{\??([\w-]+)\}|\?([\w-]+)", name, " ".join(command.split()).strip(" `\"'"))


def _tagged(said: str) -> dict[str, str]:
    return {match.group(1).lower(): _FENCE.sub("", match.group(2)).strip() for match in _TAG.finditer(said)}


def _as_json(said: str) -> dict[str, str]:
    start, end = said.find("{"), said.rfind("}")
    try:
        found = json.loads(said[start : end + 1], strict=False) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    named = {NAMES.get(str(name), str(name)): value for name, value in found.items()}
    parts: dict[str, str] = {}
    for name in PARTS:
        value = named.get(name)
        if isinstance(value, dict):
            value = "\n".join(f"{key}: {each}" for key, each in value.items())
        if isinstance(value, list):
            value = "\n".join(map(str, value))
        if isinstance(value, str):
            parts[name] = value
    return parts


def _files(said: str) -> dict[str, str]:
    """Each file from its beginning to the next; what stands before the first belongs to none."""
    starts = [*_FILE.finditer(said)]
    ends = [match.start() for match in starts[1:]] + [len(said)]
    return {match.group(1).lower(): said[match.start() : end] for match, end in zip(starts, ends, strict=False)}
