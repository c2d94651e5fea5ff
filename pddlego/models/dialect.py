"""The request fields that an endpoint accepts, learned from its error messages.

OpenAI-compatible endpoints reject different fields: a schema, a temperature, a seed, the limit of tokens, streaming.
A field that an error names is left out from then on, or replaced by a weaker one, one field at a time. If an error
names no field, the request is repeated without each field in turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pddlego.models.base import Request
from pddlego.models.replies import error_of

REFUSALS = (401, 402, 403, 404, 405)
"""Statuses with which an endpoint refuses every request. A proxy sends them, too, but not in JSON."""

REFUSED_CONTENT = "The endpoint refuses this content: another model may accept it."
"""The advice on an error that concerns one request only."""

CHECK_KEY = "Check OPENAI_API_KEY."
"""The advice on an error that concerns the key, and so every request."""

_CAUSES = (
    (r"api[ _-]?key|\b(key|token|license)\b.{0,20}(expired|revoked)|unauthorized|authenticat", CHECK_KEY),
    (
        r"credit|billing|balance|quota|payment|subscription|\b(account|organization)\b|(your|paid) plan\b",
        "Check your account at the provider.",
    ),
    (
        r"no models?\b.{0,20}(loaded|available)|load(ing)? (a|the) model|model\b.{0,80}(crashed|unloaded|not loaded)"
        r"|not downloaded|(more|enough|out of) (system |gpu )?memory",
        "Load the model in the server first.",
    ),
    (
        r"(no such|unknown|invalid|not a valid) model|model\b.{0,80}(not found|not exist|not available|not a valid)",
        "Check the name of the model.",
    ),
    (r"safety|\b(content|usage)\b.{0,12}policy|moderation|flagged", REFUSED_CONTENT),
    (
        r"\b(location|region|country)\b.{0,30}(not |un)(supported|available)",
        "The provider does not serve your region: choose another.",
    ),
    (r"(field|parameter).{0,40}required\b|missing.{0,20}(field|parameter)", "Send it with --extra-body NAME=VALUE."),
)
"""The advice on errors with status 4xx whose message says this. Leaving out a field would not help."""

HOTTEST = 1.5
"""The highest temperature of a retry: above it, models seldom write valid files."""

STRICT, SCHEMA, OBJECT, TEXT = "strict schema", "schema", "JSON object", "text"
"""Response formats, from the strictest to free text."""

SYSTEM = "system role"
"""The name of the role in `left_out`: the text of system messages then begins the first user message."""

_ABOUT_SYSTEM = re.compile(
    r"""\b(system|developer)[\W_]{0,3}(role|message|prompt|instr\w*)s?\b.{0,40}(not\b|n't\b|unsupported|invalid|disabled)
    | (not|n't|cannot|unsupported|invalid|unexpected|unknown|unable)\b.{0,60}
      \b(system|developer)[\W_]{0,3}(role|message|prompt|instr)
    | \brole\b[^={}]{0,40}\bsystem\b | \bonly\W+user\b.{0,30}\broles\b | first\ message\b.{0,30}\buser\b
    | \brole\b.{0,60}\buser\W{1,4}(or\W{1,3}|and\W{1,3})?(assistant|model)\b(?!.{0,30}system)
    | (start|begin)\ with\b.{0,30}\buser\b | (?<!system\ message,\ conversation\ )roles\ must\ alternate""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""Texts of vLLM, llama.cpp, LM Studio and providers for models whose chat template has no system role, such as Gemma 2
and early Mistral models."""

EVERYTHING = "everything that can be left out"
"""The name of all optional fields together, in the last guess and in notices."""

FIELDS = ("max_tokens", "max_completion_tokens")
"""Names of the limit of tokens: most endpoints accept the first, OpenAI's reasoning models only the second."""

_ABOUT_FORMAT = re.compile(
    r"response[_ ]?format|json[_ ]?(schema|object|mode)|guided|grammar|structured|output_config|\bschema\b|word 'json'"
)
_ABOUT_STRICT = re.compile(r"strict|additional_?properties|invalid schema|required|json schema error|keyword")
_TURNED_DOWN = ("content_filter", "content_policy_violation", "invalid_prompt", "context_length_exceeded")
"""Error codes that are about the messages, not about other fields."""


@dataclass(frozen=True)
class Sampling:
    """The options of all requests to a model. `extra` are further fields, which are sent unchanged."""

    temperature: float = 1.0
    seed: int | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    streams: bool = True

    def named(self) -> dict[str, Any]:
        """The options that determine answers, for the manifest."""
        values: dict[str, Any] = {"temperature": self.temperature}
        chosen = {"seed": self.seed, "max_tokens": self.max_tokens, "reasoning_effort": self.reasoning_effort}
        values |= {name: value for name, value in chosen.items() if value is not None}
        return values | ({"extra_body": dict(self.extra)} if self.extra else {})


@dataclass(frozen=True)
class Dialect:
    """What one endpoint accepts: response formats, strictest first, and names of the limit of tokens.

    The fields in `left_out` are never sent. Without `more_room`, only the user's limit of tokens is sent: not that of a
    retry after an incomplete answer, nor that of an answer that is not streamed.
    """

    formats: tuple[str, ...] = (STRICT, SCHEMA, OBJECT, TEXT)
    fields: tuple[str, ...] = FIELDS
    left_out: frozenset[str] = frozenset()
    more_room: bool = True

    def arguments(self, sampling: Sampling, request: Request) -> dict[str, Any]:
        """The fields of a request besides model and messages, and `SYSTEM` if there are messages with that role."""
        values: dict[str, Any] = {"temperature": sampling.temperature}
        if request.temperature_increase:
            hotter = sampling.temperature + request.temperature_increase
            values["temperature"] = min(max(HOTTEST, sampling.temperature), hotter)
        if any(message.role == "system" for message in request.messages):
            values[SYSTEM] = True
        if sampling.seed is not None:
            values["seed"] = sampling.seed + request.attempt
        if sampling.reasoning_effort is not None:
            values["reasoning_effort"] = sampling.reasoning_effort
        if sampling.streams:
            values |= {"stream": True, "stream_options": {"include_usage": True}}
        streams = sampling.streams and "stream" not in self.left_out
        most = request.max_tokens or (None if streams else request.longest)  # a streamed answer is ended here
        most = most if self.more_room else None
        most = sampling.max_tokens if most is None else min(most, sampling.max_tokens or most)
        if most is not None and self.fields:
            values[self.fields[0]] = most
        if request.schema is not None and (form := self._format(request)) != TEXT:
            values["response_format"] = _response_format(form, request)
        values |= sampling.extra
        if "stream" in self.left_out:
            values.pop("stream_options", None)
        return {name: value for name, value in values.items() if name not in self.left_out}

    def not_taken(self, request: Request, sent: Mapping[str, Any]) -> tuple[str, ...]:
        """The options that this request changes but that the endpoint rejects, so that they were not sent."""
        wanted = {"temperature": bool(request.temperature_increase), "max_tokens": request.max_tokens is not None}
        there = {*sent, *(["max_tokens"] if self.more_room and set(FIELDS) & set(sent) else [])}
        return tuple(name for name, is_wanted in wanted.items() if is_wanted and name not in there)

    def learned(self, error: Exception, sent: Mapping[str, Any]) -> tuple[Dialect, str]:
        """The dialect without the field that an error names, and that name; the same dialect and '' if it names none.

        The error message is searched before the rest of the body, which may quote the request.
        """
        param = str(getattr(error, "param", None) or "")
        said = error_of(getattr(error, "body", None)).lower()
        for text in filter(None, (said, str(error).lower())):
            bound = next((name for name in FIELDS if name in sent), "")
            if bound and (bound in text or bound == param):
                return self.without(bound), bound
            if "response_format" in sent and (_ABOUT_FORMAT.search(text) or param.startswith("response_format")):
                form = _form_of(sent["response_format"])
                # An error that is not about strictness means that no schema is accepted.
                last = SCHEMA if form == STRICT and not _ABOUT_STRICT.search(text) else form
                return self.with_less_than(last), form
            for name in sorted(sent, key=len, reverse=True):  # `stream_options` is not `stream`
                if name == param or re.search(rf"\b{re.escape(name.lower())}\b", text):
                    return self.without(name), name
            if "reasoning_effort" in sent and "reasoning" in text:
                return self.without("reasoning_effort"), "reasoning_effort"
            if SYSTEM in sent and text == (said or text) and _ABOUT_SYSTEM.search(text):
                return self.without(SYSTEM), SYSTEM
        return self, ""

    def guesses(self, sent: Mapping[str, Any]) -> list[tuple[Dialect, str]]:
        """Dialects to try after an error that names no field: without each field in turn, then without all of them.

        The least important field comes first.
        """
        order = ("seed", "stream_options", "stream", "reasoning_effort", *FIELDS, "temperature", SYSTEM)
        names = [name for name in sent if name not in (*order, "response_format")]
        names += [name for name in order if name in sent]
        dialects = [(self.without(name), name) for name in names]
        bare = replace(self, fields=())
        for name in names:
            bare = bare.without(name)
        if "response_format" in sent:
            first = self.formats.index(_form_of(sent["response_format"]))
            dialects += [(self.with_less_than(form), form) for form in self.formats[first:-1]]
            bare = bare.with_less_than(OBJECT)
        return [*dialects, (bare, EVERYTHING)] if len(dialects) > 1 else dialects

    def without(self, name: str) -> Dialect:
        """The dialect without a field."""
        if name in FIELDS:
            return replace(self, fields=tuple(field for field in self.fields if field != name))
        return replace(self, left_out=self.left_out | {name})

    def with_less_than(self, form: str) -> Dialect:
        """The dialect with the response formats that are less strict than this one."""
        order = (STRICT, SCHEMA, OBJECT, TEXT)
        return replace(self, formats=tuple(other for other in self.formats if order.index(other) > order.index(form)))

    def _format(self, request: Request) -> str:
        """The strictest accepted format; an empty schema needs only a JSON object."""
        return next((form for form in self.formats if request.schema or form in (OBJECT, TEXT)), TEXT)


@dataclass
class Learned:
    """The current dialect of an endpoint, shared by all models that use the endpoint.

    `window` is the maximum tokens of a request with its answer, or None if it is unknown; `asked` is how often the
    endpoint was asked for it. `samples_freely`: it takes a new schema with each request at no cost (`Request.narrow`).
    """

    dialect: Dialect = field(default_factory=Dialect)
    window: int | None = None
    asked: int = 0
    samples_freely: bool = False


class Dialects:
    """The dialects of all endpoints and models that this process has used."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Learned] = {}

    def of(self, address: str, model: str) -> Learned:
        """The dialect of a model at an address. OpenAI's own endpoint accepts the newer field for all of its models."""
        fields = FIELDS if address else FIELDS[::-1]
        return self._known.setdefault((address, model), Learned(Dialect(fields=fields)))


def is_about_system(error: BaseException) -> bool:
    """Whether the error says that no message may have the system role."""
    return bool(_ABOUT_SYSTEM.search(error_of(getattr(error, "body", None)) or str(error)))


def sent_messages(request: Request, has_system: bool) -> list[dict[str, str]]:
    """The messages as they are sent. Without a system role, its texts begin the first user message."""
    kept = [message for message in request.messages if has_system or message.role != "system"]
    texts = [message.content for message in request.messages if message not in kept]
    sent = [{"role": message.role, "content": message.content} for message in kept]
    if texts:
        if not sent or sent[0]["role"] != "user":
            sent.insert(0, {"role": "user", "content": ""})
        sent[0]["content"] = "\n\n".join(filter(None, (*texts, sent[0]["content"])))
    return sent


def is_about_room(error: Exception) -> bool:
    """Whether the error says that the limit of tokens is too high, and not that the field is unknown."""
    return bool(re.search(r"max\w*tokens.*(too (large|high|many|big)|at most|maximum|less than)", str(error).lower()))


def says_nothing_of_options(error: Exception) -> bool:
    """Whether an error names no cause, so that leaving a field out may help."""
    code = str(getattr(error, "code", None) or "")
    return code not in _TURNED_DOWN and not code.startswith("model_") and not advice_on(error)


def advice_on(error: BaseException) -> str:
    """The advice on an error whose cause is not an option, as its message says; empty if the message says no cause."""
    text = error_of(getattr(error, "body", None))
    return next((advice for cause, advice in _CAUSES if re.search(cause, text, re.IGNORECASE)), "")


def is_about_access(error: Exception) -> bool:
    """Whether the message of an error names the key, the account or the model, so that it concerns every request."""
    return advice_on(error) not in ("", REFUSED_CONTENT)


def _response_format(form: str, request: Request) -> dict[str, Any]:
    if form == OBJECT:
        return {"type": "json_object"}
    schema = {"name": request.purpose, "schema": dict(request.schema or {}), "strict": form == STRICT}
    return {"type": "json_schema", "json_schema": schema}


def _form_of(response_format: Mapping[str, Any]) -> str:
    if response_format.get("type") != "json_schema":
        return OBJECT
    return STRICT if response_format["json_schema"]["strict"] else SCHEMA
