"""What an endpoint takes of what may be sent besides messages, learned from what it refuses.

Endpoints that call themselves compatible refuse different things: a schema, a temperature, a seed, the field that
bounds the answer, streaming. Whatever a refusal names is left out, or replaced by what asks for less, one step at a
time, and stays so. A refusal that names nothing is tried without each of them in turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.models.base import Request
from pddlego.models.replies import error_of

HOTTEST = 1.5
"""No temperature is raised beyond this: what comes out above it is seldom a file."""

STRICT, SCHEMA, OBJECT, TEXT = "strict schema", "schema", "JSON object", "text"
"""How an answer is held to a form, from the most to the least."""

FIELDS = ("max_tokens", "max_completion_tokens")
"""What bounds the tokens of an answer: most endpoints know the first, OpenAI's reasoning models only the second."""

_ABOUT_FORMAT = re.compile(
    r"response[_ ]?format|json[_ ]?(schema|object|mode)|guided|grammar|structured|output_config|\bschema\b|word 'json'"
)
_ABOUT_STRICT = re.compile(r"strict|additional_?properties|invalid schema|required|json schema error|keyword")
_TURNED_DOWN = ("content_filter", "content_policy_violation", "invalid_prompt", "context_length_exceeded")
"""Codes of refusals that have nothing to do with what is sent besides messages."""


@dataclass(frozen=True)
class Sampling:
    """What is asked for besides the messages. `extra` are fields of one endpoint or another, sent as they are."""

    temperature: float = 1.0
    seed: int | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    streams: bool = True

    def named(self) -> dict[str, Any]:
        """What of it determines answers, for records."""
        found: dict[str, Any] = {"temperature": self.temperature}
        chosen = {"seed": self.seed, "max_tokens": self.max_tokens, "reasoning_effort": self.reasoning_effort}
        found |= {name: value for name, value in chosen.items() if value is not None}
        return found | ({"extra_body": dict(self.extra)} if self.extra else {})


class Dialect:
    """What one endpoint takes. Shared by all who ask it: whoever learns something, learns it for all."""

    def __init__(self, fields: tuple[str, ...] = FIELDS) -> None:
        self.formats = [STRICT, SCHEMA, OBJECT, TEXT]
        self.fields = list(fields)
        self.left_out: set[str] = set()

    def arguments(self, sampling: Sampling, request: Request) -> dict[str, Any]:
        """What is sent besides model and messages."""
        found: dict[str, Any] = {"temperature": sampling.temperature}
        if request.temperature_increase:
            hotter = sampling.temperature + request.temperature_increase
            found["temperature"] = min(max(HOTTEST, sampling.temperature), hotter)
        if sampling.seed is not None:
            found["seed"] = sampling.seed
        if sampling.reasoning_effort is not None:
            found["reasoning_effort"] = sampling.reasoning_effort
        if sampling.streams:
            found |= {"stream": True, "stream_options": {"include_usage": True}}
        most = request.max_tokens
        most = sampling.max_tokens if most is None else min(most, sampling.max_tokens or most)
        if most is not None and self.fields:
            found[self.fields[0]] = most
        if request.schema is not None and (form := self._format(request)) != TEXT:
            found["response_format"] = _response_format(form, request)
        found |= sampling.extra
        if "stream" in self.left_out:
            found.pop("stream_options", None)
        return {name: value for name, value in found.items() if name not in self.left_out}

    def not_taken(self, request: Request, sent: Mapping[str, Any]) -> tuple[str, ...]:
        """Of what the request changes those that were not sent: the endpoint does not take them."""
        wanted = {"temperature": bool(request.temperature_increase), "max_tokens": request.max_tokens is not None}
        there = {*sent, *(["max_tokens"] if set(FIELDS) & set(sent) else [])}
        return tuple(name for name, is_wanted in wanted.items() if is_wanted and name not in there)

    def learn(self, error: Exception, sent: Mapping[str, Any], too_much: bool) -> str:
        """Leave out what a refusal names, and say what that is; empty if it names nothing that was sent.

        `too_much`: the request is longer than the model reads, and room for the answer is part of it.
        """
        said = f"{error} {error_of(getattr(error, 'body', None))}".lower()
        param = str(getattr(error, "param", None) or "")
        bound = next((name for name in FIELDS if name in sent), "")
        if bound and (too_much or bound in said):
            return self._without(bound)
        if "response_format" in sent and (_ABOUT_FORMAT.search(said) or param.startswith("response_format")):
            form = self._less_form(sent)
            if form == STRICT and not _ABOUT_STRICT.search(said) and SCHEMA in self.formats:
                self.formats.remove(SCHEMA)  # it takes no schema at all
            return form
        for name in sorted(sent, key=len, reverse=True):  # `stream_options` is not `stream`
            if name == param or re.search(rf"\b{re.escape(name.lower())}\b", said):
                return self._without(name)
        return self._without("reasoning_effort") if "reasoning_effort" in sent and "reasoning" in said else ""

    def try_without(self, sent: Mapping[str, Any]) -> str:
        """Leave out the next thing that may be to blame for a refusal that names nothing; empty if nothing is left."""
        if "response_format" in sent:
            return self._less_form(sent)
        order = ("seed", "stream_options", "reasoning_effort", *FIELDS, "stream", "temperature")
        known = [name for name in order if name in sent]
        return next((self._without(name) for name in (*(set(sent) - set(order)), *known)), "")

    def copy(self) -> Dialect:
        """The same knowledge, apart."""
        found = Dialect()
        found.become(self)
        return found

    def become(self, other: Dialect) -> None:
        """Know what another knows, and nothing else."""
        self.formats, self.fields, self.left_out = list(other.formats), list(other.fields), set(other.left_out)

    def _format(self, request: Request) -> str:
        """An empty schema asks for any JSON object."""
        return next((form for form in self.formats if request.schema or form in (OBJECT, TEXT)), TEXT)

    def _less_form(self, sent: Mapping[str, Any]) -> str:
        """The next form. One that somebody else has given up meanwhile is gone already."""
        form = _form_of(sent["response_format"])
        if form in self.formats:
            del self.formats[: self.formats.index(form) + 1]
        return form

    def _without(self, name: str) -> str:
        if name in self.fields:
            self.fields.remove(name)
        elif name not in FIELDS:
            self.left_out.add(name)
        return name


class Dialects:
    """What is known of every endpoint and model that is asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Dialect] = {}

    def of(self, address: str, model: str) -> Dialect:
        """OpenAI's own endpoint knows the newer field for all of its models."""
        fields = FIELDS if address else FIELDS[::-1]
        return self._known.setdefault((address, model), Dialect(fields))


def says_nothing_of_options(error: Exception) -> bool:
    """Whether a refusal may be about anything, and so about what could be left out."""
    code = str(getattr(error, "code", None) or "")
    return code not in _TURNED_DOWN and not code.startswith("model_")


def _response_format(form: str, request: Request) -> dict[str, Any]:
    if form == OBJECT:
        return {"type": "json_object"}
    schema = {"name": request.purpose, "schema": dict(request.schema or {}), "strict": form == STRICT}
    return {"type": "json_schema", "json_schema": schema}


def _form_of(response_format: Mapping[str, Any]) -> str:
    if response_format.get("type") != "json_schema":
        return OBJECT
    return STRICT if response_format["json_schema"]["strict"] else SCHEMA
