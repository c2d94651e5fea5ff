"""The language of reading rules: one value for the `[[reading]]` tables of settings and for the answers of models.

A rule says what a sentence of the game makes true. Its facts may name the values of slots (`{room}`), opposites of
directions (`{back:d}`), variables that `find` has bound (`?here`), and in `forget` any object (`*`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pddlego.methods.textgames.reading.template import LONGEST, Template, parse_template
from pddlego.pddl.domain import Domain
from pddlego.pddl.names import is_name
from pddlego.util.files import parse_toml
from pddlego.util.text import names_in, reason_of, writable

NOTE = "_"
"""The first character of the predicates of notes: facts that are known until the end of an observation only."""

MOST_RULES, MOST_OPINIONS, MOST_UNREAD = 200, 1_000, 1_000
"""The maximum numbers of rules and opinions that a model may write for a game, and of unread sentences."""

MOST_ENTRIES = 20
"""The maximum number of entries of a list in a rule."""

_TERM = re.compile(r"\?[a-z][\w-]*|\*|\{(?:back:)?[a-z0-9_]+\}|[a-z][\w-]*", re.IGNORECASE)


@dataclass(frozen=True)
class Pattern:
    """A fact with slots, variables and wildcards. `sign` is `+` or `!` for a pattern of `find`, otherwise empty."""

    predicate: str
    terms: tuple[str, ...]
    sign: str = ""

    def __str__(self) -> str:
        return f"{self.sign}({' '.join((self.predicate, *self.terms))})"

    @property
    def unsigned(self) -> str:
        """The pattern without its sign."""
        return str(self).removeprefix(self.sign)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The terms that begin with `?`."""
        return frozenset(term for term in self.terms if term.startswith("?"))

    @cached_property
    def slots(self) -> frozenset[str]:
        """The names of the slots whose values it uses."""
        return frozenset(slot_of(term) for term in self.terms if term.startswith("{"))


def whole_group(name: str) -> str:
    """The group of which a group such as `thing_1` is a part: `thing`."""
    return re.sub(r"_\d$", "", name)


def slot_of(term: str) -> str:
    """The slot that a term such as `{d}` or `{back:d}` uses."""
    return term.strip("{}").removeprefix("back:")


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern such as `+(connected ?here ?to {d})`. Raises `ValueError` if it is not one."""
    stripped = text.strip()
    sign = stripped[:1] if stripped[:1] in ("+", "!") else ""
    body = stripped[len(sign) :].strip()
    words = body[1:-1].split() if len(body) <= LONGEST and body.startswith("(") and body.endswith(")") else []
    if (
        not words
        or not is_name(words[0].lower().removeprefix(NOTE))
        or not all(_TERM.fullmatch(word) for word in words[1:])
    ):
        raise ValueError(f"'{text[:LONGEST]}' is not a fact such as (at {{room}}) or (connected ?here ?to {{d}})")
    return Pattern(words[0].lower(), tuple(word.lower() for word in words[1:]), sign)


def _regex(text: str) -> str:
    """Return the text unchanged. Raises `ValueError` if it is not a regular expression."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"'{text}' is not a regular expression ({error})") from error
    return text


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _template(text: str) -> str:
    parse_template(text)
    return text


def _pattern(text: str) -> str:
    parse_pattern(text)
    return text


Regex = Annotated[str, AfterValidator(_regex)]
Regexes = Annotated[tuple[Regex, ...], BeforeValidator(_as_tuple), Field(max_length=MOST_ENTRIES)]
Sentence = Annotated[str, AfterValidator(_template)]
Fact = Annotated[str, AfterValidator(_pattern)]
Word = Annotated[str, Field(max_length=LONGEST)]


Facts = Annotated[tuple[Fact, ...], BeforeValidator(_as_tuple), Field(max_length=MOST_ENTRIES)]
Words = Annotated[tuple[Word, ...], BeforeValidator(_as_tuple), Field(max_length=MOST_ENTRIES)]


class ReadingRule(BaseModel):
    """A rule of reading: what a sentence of the game makes true.

    The rule applies to a sentence that a template of `sentence` matches, after a command that `after` matches if there
    is one; the values of the slots are PDDL names. In settings' files there may be regular expressions instead: `text`
    for parts of the whole observation, with `command` and `task` for the command before and the task (a `{group}` in
    `text` stands for the text of one of their groups), or `like` for a part of a sentence (of several expressions the
    first that matches counts, and all rules with `like` that match apply). The group `list` is a list of
    names, and in `like` the groups `x_1` and `x_2` are the first and second words of `x`.

    `find` looks facts up in the problem, in order, and binds their variables: the rule does not apply unless the fact
    is known; with `!` unless it is not known; with `+` an unknown fact is added, with a new placeholder for its one
    unbound variable. Then the facts `forget` are removed (`*` stands for any one object), and `objects` and the facts
    `add` are added. Of these a fact with a group that matched nothing is left out. `same` are pairs of a variable and a
    term that name one object. Of a list, the names in `not` are left out. The words in `drop` and `marks` before a name
    are no part of it; `{mark}` stands for each of `marks` there. `unused` are slots that no fact needs. A sentence with
    `ignore` means nothing for the problem. A fact whose predicate begins with `_` is a note for the rest of the
    observation, and not part of the problem. A setting's rule is `given` if its sentence does not state its facts: the
    learn modes begin with it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    sentence: Annotated[tuple[Sentence, ...], BeforeValidator(_as_tuple), Field(max_length=MOST_ENTRIES)] = ()
    after: str = Field(default="", max_length=LONGEST)
    text: Regex = ""
    like: Regexes = ()
    list_group: Word = Field(default="", alias="list")
    command: Regex = ""
    task: Regex = ""
    find: Facts = ()
    same: tuple[tuple[Word, Word], ...] = Field(default=(), max_length=8)
    forget: Facts = ()
    objects: Words = ()
    add: Facts = ()
    excluded: Words = Field(default=(), alias="not")
    drop: Words = ()
    marks: Words = ()
    unused: Words = ()
    ignore: bool = False
    given: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> ReadingRule:
        if [bool(self.sentence), bool(self.text), bool(self.like)].count(True) != 1:
            raise ValueError("a rule has one of `sentence`, `text` and `like`")
        if not self.sentence and (self.after or self.ignore or self.given):
            raise ValueError("`after`, `ignore` and `given` belong to `sentence`; a rule with `text` has `command`")
        if not self.text and (self.command or self.task):
            raise ValueError("`command` and `task` belong to `text`; a rule with `sentence` has `after`")
        if any(re.search(r"\{[a-z]", text) for text in self.like):
            raise ValueError("`like` has groups of regular expressions such as (?P<x>.+); {slots} belong to `sentence`")
        if self.after:
            parse_template(self.after)
        if self.ignore and (self.add or self.forget or self.find or self.objects):
            raise ValueError("an ignored sentence adds, forgets and finds nothing")
        return self

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """The parsed templates of `sentence`."""
        return tuple(map(parse_template, self.sentence))

    @cached_property
    def command_template(self) -> Template | None:
        """The parsed template of `after`; None without one."""
        return parse_template(self.after) if self.after else None

    @cached_property
    def patterns(self) -> Mapping[str, tuple[Pattern, ...]]:
        """The parsed facts of `find`, `forget` and `add`."""
        return {key: tuple(map(parse_pattern, getattr(self, key))) for key in ("find", "forget", "add")}

    @cached_property
    def expressions(self) -> tuple[re.Pattern[str], ...]:
        """The compiled expressions of `like`."""
        return tuple(map(re.compile, self.like))

    @cached_property
    def used(self) -> frozenset[str]:
        """The slots that a fact or an object uses."""
        names = {name for text in self.objects for name in names_in(text)}
        return frozenset(names.union(*(pattern.slots for pattern in self.all_patterns())))

    @property
    def needed(self) -> str:
        """A predicate of which a fact must be known for the rule to apply; empty if it needs none."""
        return next((pattern.predicate for pattern in self.patterns["find"] if not pattern.sign), "")

    @property
    def does_nothing(self) -> bool:
        """Whether the rule neither changes the problem nor says that its sentence means nothing."""
        effects = self.add or self.forget or self.objects or self.same or self.ignore
        return not effects and all(pattern.sign != "+" for pattern in self.patterns["find"])

    @cached_property
    def slot_terms(self) -> tuple[str, ...]:
        """The terms of its facts and of `same` that stand for slots."""
        terms = {term for pattern in self.all_patterns() for term in pattern.terms}
        return tuple(sorted(term for term in terms.union(*self.same) if term.startswith("{")))

    @cached_property
    def variants(self) -> dict[frozenset[str], ReadingRule]:
        """The rules that `without` has made."""
        return {}

    def without(self, empty: frozenset[str]) -> ReadingRule:
        """The rule without the facts of `forget` and `add` that use one of the `empty` slots."""
        if empty not in self.variants:
            parts = {
                key: tuple(str(pattern) for pattern in self.patterns[key] if not pattern.slots & empty)
                for key in ("forget", "add")
            }
            self.variants[empty] = self._with(parts)
        return self.variants[empty]

    def _with(self, parts: Mapping[str, tuple[str, ...]]) -> ReadingRule:
        """The rule with other values of some keys, which are valid."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return ReadingRule.model_construct(**fields | dict(parts))

    @property
    def parts(self) -> Iterator[ReadingRule]:
        """The rule for each of its sentences alone."""
        return (self._with({"sentence": (text,)}) for text in self.sentence)

    def all_patterns(self) -> Iterator[Pattern]:
        """The patterns of `find`, `forget` and `add`."""
        for patterns in self.patterns.values():
            yield from patterns

    def all_templates(self) -> Iterator[Template]:
        """The templates of `sentence` and `after`."""
        yield from self.templates
        yield from (self.command_template,) if self.command_template else ()

    def as_table(self) -> dict[str, Any]:
        """The rule as a table of a TOML file or a JSON object, without empty keys."""
        table = self.model_dump(by_alias=True, exclude_defaults=True)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in table.items()}


_FOR_SETTINGS = frozenset({"text", "like", "command", "task", "given"})
"""Keys that only settings may have: those with regular expressions, which would run without a limit, and `given`."""


def parse_rule(table: object) -> ReadingRule:
    """Parse a rule of a model. Raises `ValueError` with the reason if it is not one, or has a key of settings."""
    if isinstance(table, Mapping) and _FOR_SETTINGS & table.keys():
        raise ValueError("write `sentence`, a sentence with {slots}; `text`, `like` and `given` are for settings")
    try:
        return ReadingRule.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"`{first['loc'][0] if first['loc'] else 'rule'}`: {reason_of(first)}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def used_slots(rules: Iterable[ReadingRule]) -> frozenset[str]:
    """The slots that a fact, an object or a pair of the rules uses, or that they list as unused."""
    names: set[str] = set()
    for rule in rules:
        names |= rule.used | set(map(slot_of, rule.slot_terms)) | set(rule.unused)
    return frozenset(names)


def leaf_types(domain: Domain) -> tuple[str, ...]:
    """The types without subtypes: an object of such a type is of one kind."""
    above = {parent for kind, parents in domain.types.items() for parent in parents if parent != kind}
    return tuple(sorted(set(domain.types) - above))


def fits_domain(rule: ReadingRule, domain: Domain) -> bool:
    """Whether the domain has all predicates of a rule, with as many parameters."""
    predicates = domain.predicates_by_name
    return all(
        pattern.predicate in predicates and len(predicates[pattern.predicate].parameters) == len(pattern.terms)
        for pattern in rule.all_patterns()
    )


@dataclass(frozen=True)
class LearnedRules:
    """What a model has written for a game: rules, and `opinions`, facts that no sentence states, such as where a thing
    belongs. `unread` are the sentences for which it wrote no rule.
    """

    rules: tuple[ReadingRule, ...] = ()
    opinions: tuple[Pattern, ...] = ()
    unread: frozenset[str] = field(default_factory=frozenset)

    @property
    def text(self) -> str:
        """The rules as TOML, in the form of the `[[reading]]` tables of a setting; empty without any."""
        lists = {"opinions": list(map(str, self.opinions)), "unread": sorted(self.unread)}
        blocks = ["\n".join(f"{key} = {_inline(value)}" for key, value in lists.items() if value)]
        for rule in self.rules:
            blocks.append(
                "\n".join(("[[reading]]", *(f"{key} = {_inline(value)}" for key, value in rule.as_table().items())))
            )
        return "\n\n".join(filter(None, blocks))

    def with_rules(self, new: Iterable[ReadingRule], opinions: Iterable[Pattern] = ()) -> LearnedRules:
        """With `new` rules and opinions; old rules lose the sentences that a new one has after the same commands.

        An opinion with the sign `!` takes one back.
        """
        added = tuple(new)
        keys = {key for rule in added for key in _keys(rule)}
        kept = filter(None, (_without_sentences(rule, keys) for rule in self.rules))
        stated = [*self.opinions, *opinions]
        denied = {replace(opinion, sign="") for opinion in stated if opinion.sign == "!"}
        believed = tuple(dict.fromkeys(opinion for opinion in stated if not (opinion.sign or opinion in denied)))
        return LearnedRules((*kept, *added)[:MOST_RULES], believed[-MOST_OPINIONS:], self.unread)

    def with_unread(self, sentences: Iterable[str]) -> LearnedRules:
        """With more sentences for which the model wrote no rule."""
        return replace(self, unread=frozenset(sorted(self.unread.union(sentences))[:MOST_UNREAD]))


def parse_learned(text: str) -> LearnedRules:
    """Parse a text of `LearnedRules.text`. Raises `ValueError` with the reason if it is not one."""
    table = parse_toml(text)
    parts = {key: table.pop(key, []) for key in ("reading", "opinions", "unread")}
    if isinstance(parts["reading"], dict):  # as in a setting, with names
        parts["reading"] = list(parts["reading"].values())
    form = "it has [[reading]] or [reading.NAME] tables, and lists opinions and unread"
    if table:
        raise ValueError(f"'{next(iter(table))}' is not expected: {form}")
    if no_list := next((key for key, part in parts.items() if not isinstance(part, list)), None):
        raise ValueError(f"'{no_list}' is not a list: {form}")
    if len(parts["reading"]) > MOST_RULES or len(parts["opinions"]) > MOST_OPINIONS:
        raise ValueError(f"it has more than {MOST_RULES} rules or {MOST_OPINIONS} opinions")
    try:
        rules = tuple(map(parse_rule, parts["reading"]))
    except ValueError as error:
        raise ValueError(f"a rule is wrong: {error}") from error
    opinions = tuple(parse_pattern(str(opinion)) for opinion in parts["opinions"])
    return LearnedRules(rules).with_rules((), opinions).with_unread(map(str, parts["unread"]))


_Key = tuple[tuple[str, ...], tuple[str, ...]]
"""The literals of a template, and those of the command before it."""


def _keys(rule: ReadingRule) -> tuple[_Key, ...]:
    """What a rule is for, by its sentences."""
    after = rule.command_template.literals if rule.command_template else ()
    return tuple((template.literals, after) for template in rule.templates)


def _without_sentences(rule: ReadingRule, keys: Collection[_Key]) -> ReadingRule | None:
    """The rule without the sentences of these `keys`; None without any sentence."""
    left = tuple(text for text, key in zip(rule.sentence, _keys(rule), strict=True) if key not in keys)
    if left == rule.sentence:
        return rule
    return ReadingRule.model_validate(rule.as_table() | {"sentence": left}) if left else None


def _inline(value: object) -> str:
    """A value in TOML: strings, booleans and lists of them are written as in JSON."""
    return writable(json.dumps(value, ensure_ascii=False)).replace("\x7f", "\\u007f")
