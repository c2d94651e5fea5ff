"""Structural repairs: names of sections, fields of actions, typed lists, conditions and facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from pddlego.pddl.conditions import ANY_TYPE, TypedName
from pddlego.pddl.domain import DECLARATIONS, FIELDS, FIELDS_OF
from pddlego.pddl.foreign import numeric_form
from pddlego.pddl.parentheses import MISSPELT
from pddlego.pddl.problem import meant_metric
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.layout import Section, same_or
from pddlego.pddl.tolerant.lexical import Note

DOMAIN_SECTIONS = (*DECLARATIONS, *FIELDS_OF, ":derived")

_ALL_SECTIONS = frozenset({*DOMAIN_SECTIONS, ":domain", ":objects", ":init", ":goal", ":metric"})
_SECTIONS = _ALL_SECTIONS - {":domain"}
_REPEATED = frozenset({*FIELDS_OF, ":derived"})

STRAY = ""
"""The name of a section that is one part of a file, to be left as it is."""

_CONNECTIVES = {"implies": "imply", "implication": "imply"}
"""Wrong connectives in files by models, with the right ones."""

_ADDING, _DELETING = frozenset({"add"}), frozenset({"delete", "remove", "del"})
"""Words of STRIPS lists that models put around the literals of an effect."""


def head(part: Sexpr) -> str:
    """The first word of an expression, correctly spelt; empty without one."""
    word = part[0] if isinstance(part, tuple) and part else ""
    return MISSPELT.get(word, word) if isinstance(word, str) else ""


def _key(part: Sexpr) -> str:
    """The part itself if it is a word, else its first word, correctly spelt."""
    return MISSPELT.get(part, part) if isinstance(part, str) else head(part)


def sections(parts: Iterable[Sexpr], types: Collection[str], note: Note) -> Iterator[Section]:
    """The sections of a file, with one section for each action, and nested sections on their own.

    A field or an unknown keyword between sections, and what follows it, become sections with the name `STRAY`. A nested
    section that the file has already stays where it is. For `types` see `is_foreign`.
    """
    parts = tuple(_rejoined(_with_colons(_opened(tuple(parts), note), note), note))
    once = {head(part) for part in parts} - _REPEATED
    is_stray = False
    for part in parts:
        word = show(part[0] if isinstance(part, tuple) and part else part)
        is_stray = not isinstance(part, tuple) if word[0] == ":" else is_stray and word not in ("domain", "problem")
        if is_stray:
            yield STRAY, part
            continue
        if not isinstance(part, tuple) or not part:
            note(f"'{show(part)[:40]}' found among the sections")
            continue
        if isinstance(part[0], tuple):
            note("sections found in parentheses of their own")
            yield from sections(part, types, note)
            continue
        name = head(part)
        if name != part[0]:
            note(f"section {show(part[0])} is called {name}")
        nested = [child for child in part[1:] if head(child) in _ALL_SECTIONS - once]
        own = tuple(child for child in part[1:] if head(child) not in _ALL_SECTIONS - once)
        members = [(":action", *child) for child in own if isinstance(child, tuple) and head(child) not in FIELDS]
        group = name == ":action" and bool(own) and isinstance(own[0], tuple) and head(own[0])[:1] != ":"
        if group and not any(map(_fields_in, members)) and not nested:
            yield part
        elif group:
            note("several actions found in one section")
            yield from (_action(member, types, note) for member in members)
        elif name == ":action" and part[0] == ":actions" and all(isinstance(child, str) for child in own):
            note("the actions found in a section around them")  # which may have listed their names
        elif name in FIELDS_OF:
            yield _action(same_or(part, (name, *own)), types, note)
        elif name in ("domain", "problem"):
            yield from _header(same_or(part, (name, *own)), once, note)
        else:
            yield same_or(part, (name, *own))
        if nested and not group:
            note(f"section {', '.join(dict.fromkeys(head(section) for section in nested))} found inside {name}")
        yield from sections(nested, types, note)


def as_durative(part: Sexpr, note: Note) -> Sexpr:
    """A section with the name of durative actions if it is an action with the fields of these alone."""
    if head(part) != ":action" or not has_fields_alone(durative := (":durative-action", *part[1:])):
        return part
    if not {":duration", ":condition", ":effect"} <= set(part[2::2]):
        return part
    note(f"{show(part[1])} is a durative action: it has a duration and a condition with times")
    return durative


def is_foreign(section: Section, types: Collection[str]) -> bool:
    """Whether a section has a keyword that does not belong there, or a field of an action twice: it stays as it is.

    A list may have its `types` behind ':' instead of '-'.
    """
    if section[0] == ":requirements":
        return any(isinstance(part, tuple) for part in section)
    if any(show(name)[0] == ":" for name in section[1:2] if section[0] in FIELDS_OF):
        return True
    keys = _fields_in(section)
    rest = (part[1:] if isinstance(part, tuple) and _key(part) in keys else part for part in section[1:])
    words = tuple(part for part in rest if isinstance(part, tuple) or _key(part) not in keys)
    return len(set(keys)) < len(keys) or _has_keyword(words, types)


def has_fields_alone(action: Section) -> bool:
    """Whether the section of an action consists of its name and of fields."""
    return len(action) % 2 == 0 and all(key in FIELDS_OF[str(action[0])] for key in action[2::2])


def _fields_in(action: Section) -> list[str]:
    """The fields of an action, correctly spelt, as words or as the first words of lists; empty for other sections."""
    return [key for key in map(_key, action[2:]) if key in FIELDS_OF.get(head(action), ())]


def _has_keyword(words: Section, types: Collection[str]) -> bool:
    typed = "-" not in words and all(isinstance(word, str) for word in words)
    return any(
        _has_keyword(word, types)
        if isinstance(word, tuple)
        else word[0] == ":" and word not in (":", ":=") and not (typed and word[1:] in types)
        for word in words
    )


def _header(part: Section, once: Collection[str], note: Note) -> Iterator[Section]:
    """The header `(domain d)`, and a section inside it, as in `(domain d :requirements :strips)`."""
    name, behind = part[:2], part[2:]
    if behind and isinstance(behind[0], str) and _key(behind[0]) in _ALL_SECTIONS - {*once}:
        note(f"section {_key(behind[0])} found beside the name")
        yield name
        yield (_key(behind[0]), *behind[1:])
    else:
        yield part


def _opened(parts: Section, note: Note) -> Section:
    """The sections with missing opening parentheses added; such a section ends where the next begins."""
    opened: list[Sexpr | list[Sexpr]] = []
    inside = False
    there = {head(part) for part in parts} - _REPEATED
    for part in parts:
        key = _key(part)
        if isinstance(part, str) and key in _SECTIONS - there:
            note(f"an opening parenthesis was missing before {key}")
            opened.append([key])
            inside = True
        elif inside and not (isinstance(part, tuple) and (key[:1] == ":" or key in ("domain", "problem"))):
            section = opened[-1]
            assert isinstance(section, list)
            section.append(part)
        else:
            opened.append(part)
            inside = False
    return tuple(tuple(part) if isinstance(part, list) else part for part in opened)


def _with_colons(parts: Section, note: Note) -> Section:
    """The sections of a file, with missing colons before their names added."""
    sections: list[Sexpr] = []
    there = {head(part) for part in parts}
    for part in parts:
        word = part[0] if isinstance(part, tuple) and part else ""
        meant = MISSPELT.get(f":{word}", f":{word}") if isinstance(word, str) else ""
        if meant in _SECTIONS and meant not in there:
            note(f"section {word} is called :{word}")
            part = (f":{word}", *part[1:])
        sections.append(part)
    return tuple(sections)


def _rejoined(parts: Section, note: Note) -> Iterator[Sexpr]:
    """The parts, with fields after an action moved into the action, which was closed too early."""
    action: Section = ()
    behind: list[Sexpr] = []
    key = ""
    for part in parts:
        word = _key(part)
        if action and (key or word in FIELDS_OF[head(action)]):
            behind.append(part)
            key = word if isinstance(part, str) else ""
            continue
        yield from _with_fields(action, behind, note)
        behind.clear()
        action = part if isinstance(part, tuple) and word in FIELDS_OF else ()
        if not action:
            yield part
    yield from _with_fields(action, behind, note)


def _with_fields(action: Section, behind: Section | list[Sexpr], note: Note) -> Iterator[Sexpr]:
    """The action with the fields behind it; both as they are if the action has one of these fields."""
    keys = _fields_in((*action, *behind))
    if behind and len(set(keys)) == len(keys):
        note("an action was closed before its end")
        yield (*action, *behind)
    elif action:
        yield from (action, *behind)


def _action(section: Section, types: Collection[str], note: Note) -> Section:
    """The section of an action with its fields repaired, in the usual order."""
    if len(section) < 3 or is_foreign(section, types):
        return section
    name, fields, key = section[1], dict[str, list[Sexpr]](), ""
    known = FIELDS_OF[str(section[0])]
    notes: list[str] = []
    there = set(map(_key, section[2:]))
    for part in section[2:]:
        word = _key(part)
        bare = part if isinstance(part, str) else part[0] if part else ""
        meant = MISSPELT.get(f":{bare}", f":{bare}") if isinstance(bare, str) else ""
        if meant in known and meant not in there:  # without its colon
            word = meant
        if isinstance(part, str) and word in known:
            if word != part:
                notes.append(f"{part} is called {word}")
            key = word
            fields.setdefault(key, [])
        elif isinstance(part, tuple) and word in known:
            notes.append("the parts of an action found in parentheses")
            fields.setdefault(word, []).extend(part[1:])
            key = ""
        else:
            fields.setdefault(key, []).append(part)
    listed = fields.get(":parameters", [])
    several = [parts for parts in fields.values() if len(parts) > 1]
    words = any(isinstance(part, str) for parts in several if parts is not listed for part in parts)
    # A list in parentheses is complete.
    is_behind = listed in several and isinstance(listed[0], tuple) and ":parameters" in section
    is_moved = bool(several) and [] in fields.values()
    if "" in fields or is_behind or words or is_moved or len(fields.get(":duration", "1")) != 1:
        return section  # a misplaced part: the check reports it
    for what in notes:
        note(what)
    if list(fields) != [field for field in known if field in fields]:
        note("the parts of an action found in another order")
    action: list[Sexpr] = [section[0], name]
    for field in known:
        if field in fields:
            action += [field, _field(field, fields[field], note)]
    return same_or(section, tuple(action))


def _field(key: str, parts: list[Sexpr], note: Note) -> Sexpr:
    if key == ":parameters":
        if len(parts) == 1 and isinstance(parts[0], tuple):
            return flat_list(parts[0], note)
        note("the parameters of an action found without parentheses")
        return flat_list(tuple(parts), note)
    if key == ":duration":
        return parts[0]
    condition = _condition(parts, note)
    return _literals(condition, note) if key == ":effect" else condition


def _literals(effect: Sexpr, note: Note) -> Sexpr:
    """An effect with plain literals in place of `add` and `delete` lists."""
    if not isinstance(effect, tuple) or not effect:
        return effect
    word, rest = effect[0], effect[1:]
    if word in _ADDING | _DELETING and rest and all(isinstance(part, tuple) for part in rest):
        note(f"an effect found in '{word}'")
        literals = [one for part in rest for one in (part[1:] if part[:1] == ("and",) else (part,))]
        signed = tuple(literal if word in _ADDING else ("not", literal) for literal in literals)
        return signed[0] if len(signed) == 1 else ("and", *signed)
    if word == "and":
        return same_or(effect, (word, *(_literals(part, note) for part in rest)))
    if word in ("when", "forall") and len(rest) == 2:
        return same_or(effect, (word, rest[0], _literals(rest[1], note)))
    return effect


def _condition(parts: list[Sexpr], note: Note) -> Sexpr:
    if len(parts) == 1:
        return joined(parts[0], note)
    note("conditions found side by side without 'and'" if parts else "there was no condition where one is needed")
    return ("and", *(joined(part, note) for part in parts))


def joined(condition: Sexpr, note: Note) -> Sexpr:
    """A condition with `and` added to bare lists of conditions, and with misspelt connectives corrected."""
    if not isinstance(condition, tuple) or not condition:
        return condition
    if all(isinstance(part, tuple) for part in condition):
        if len(condition) == 1:
            note("a condition found in parentheses twice")
            return joined(condition[0], note)
        note("conditions found side by side without 'and'")
        return ("and", *(joined(part, note) for part in condition))
    word = condition[0]
    if word in _CONNECTIVES and len(condition) == 3:
        note(f"'{word}' is called {_CONNECTIVES[str(word)]}")
        word = _CONNECTIVES[str(word)]
    parts = condition[1:]
    if word == "or" and any(_is_bare(part) for part in parts):
        return condition  # either its parts are alternatives, or 'and' is missing
    if word in ("and", "or", "not", "imply") or (word == "when" and len(parts) == 2):
        parts = tuple(joined(part, note) for part in parts)
    elif word in ("forall", "exists") and len(parts) == 2:
        parts = (parts[0], joined(parts[1], note))
    return same_or(condition, (word, *parts))


def with_numbers(section: Section, functions: Collection[Sexpr], note: Note) -> Section:
    """A section with the metric, changes and comparisons of functions, and parts with a time, written as in PDDL.

    `functions` are lists of one name.
    """
    keyword = section[0]

    def read(part: Sexpr, in_effect: bool) -> Sexpr:
        if not isinstance(part, tuple) or not part:
            return part
        children = (read(child, in_effect and (part[0] != "when" or place > 1)) for place, child in enumerate(part))
        part = same_or(part, tuple(children))
        return replaced(part, numeric_form(part, in_effect, functions))

    def replaced(part: Section, form: Sexpr) -> Section:
        is_timed = form[:1] in (("at",), ("over",))
        is_sure = keyword == ":metric" or (
            keyword == ":durative-action" if is_timed else form[1:2] and form[1][:1] in functions
        )
        if not isinstance(form, tuple) or form == part or not is_sure:
            return part
        note(f"{show(part)[:60]} is written {show(form)[:60]}")
        return form

    if keyword == ":metric" and len(section) == 3 and show(section[1]).lstrip(":")[:3] in ("min", "max"):
        return replaced(section, meant_metric(section))
    if keyword in (":goal", ":init"):
        return same_or(section, (keyword, *(read(part, False) for part in section[1:])))
    fields = (":precondition", ":condition", ":effect") if keyword in FIELDS_OF else ()
    pairs = zip(("", *section), section, strict=False)
    return same_or(section, tuple(read(part, key == ":effect") if key in fields else part for key, part in pairs))


def _is_bare(part: Sexpr) -> bool:
    """Whether a part is a list of several conditions without a connective."""
    return isinstance(part, tuple) and len(part) > 1 and all(isinstance(one, tuple) for one in part)


def flat_list(parts: Section, note: Note) -> Section:
    """A typed list without parentheses around its entries, and with `-` before its types.

    The untyped names of a group in parentheses stay untyped, unless a type follows the group. `(either a b)` after a
    `-` stays.
    """
    items: list[Sexpr] = []
    without_type: list[Sexpr] = []
    for number, part in enumerate(parts):
        if isinstance(part, str) and part.startswith(":"):
            note("a type found behind ':' and not behind '-'")
            items += ["-", part[1:]] if part != ":" else ["-"]
        elif isinstance(part, str) and _ends_in_hyphen(part, parts[number + 1 : number + 2]):
            note("a blank was missing between '-' and a variable")
            items += [part[:-1], "-"]
        elif isinstance(part, tuple) and not (number and parts[number - 1] == "-"):
            note("entries of a list found in parentheses")
            group = flat_list(part, note)
            end = _typed_end(group)
            following = parts[number + 1] if number + 1 < len(parts) else ""
            typed_from_outside = isinstance(following, str) and following[:1] in ("-", ":")
            items += group if typed_from_outside else group[:end]
            without_type += () if typed_from_outside else group[end:]
        else:
            items.append(part)
    return same_or(parts, (*items, *without_type))


def _ends_in_hyphen(word: str, following: Section) -> bool:
    """Whether a word is a variable with the hyphen before its type: `?b- ball`, where `ball` is not a variable."""
    if not (word.startswith("?") and word.endswith("-") and following):
        return False
    return isinstance(following[0], tuple) or not str(following[0]).startswith(("?", "-", ":"))


def _typed_end(items: Sequence[Sexpr]) -> int:
    """The index of the first name without a type at the end of a typed list."""
    return min(len(items), len(items) - items[::-1].index("-") + 1) if "-" in items else 0


def facts(parts: Section, note: Note) -> Section:
    """The facts of `:init` without `and` or parentheses around them."""
    plain: list[Sexpr] = []
    for part in parts:
        if isinstance(part, tuple) and head(part) == "and":
            note("the facts found in 'and'")
            plain += facts(part[1:], note)
        elif isinstance(part, tuple) and part and all(isinstance(fact, tuple) for fact in part):
            note("the facts found in parentheses of their own")
            plain += facts(part, note)
        else:
            plain.append(part)
    return tuple(plain)


def renamed(expressions: Section, names: Mapping[str, str]) -> Section:
    """The expressions with new names for predicates (the first words of lists)."""

    def inner(part: Sexpr) -> Sexpr:
        if not isinstance(part, tuple) or not part:
            return part
        first, *rest = part
        word = names.get(first, first) if isinstance(first, str) else inner(first)
        return same_or(part, (word, *map(inner, rest)))

    return tuple(map(inner, expressions))


def typed_words(names: Iterable[TypedName]) -> Section:
    """Typed names as a list: `a b - t c - u`."""
    words: list[str] = []
    for kind, group in groupby(names, key=lambda name: name.type):
        words += [*(name.name for name in group), "-", kind]
    return tuple(words)


def joined_lists(lists: Iterable[Section]) -> Section:
    """Several typed lists as one; names without a type come last, where no type of the next list follows them."""
    items: list[Sexpr] = []
    without_type: list[Sexpr] = []
    for words in lists:
        end = _typed_end(words)
        items += words[:end]
        without_type += words[end:]
    return (*items, *without_type)


def changed_list(words: Section, names: Sequence[TypedName]) -> Section:
    """A typed list of these `names`: first the `words` that agree with them, in their order, then the other names."""
    wanted = Counter(names)

    def stays(name: Sexpr, kind: str) -> bool:
        entry = TypedName(show(name), kind)
        wanted[entry] -= 1
        return wanted[entry] >= 0

    items: list[Sexpr] = []
    waiting: list[Sexpr] = []
    end = _typed_end(words)
    number = 0
    while number < end:
        if words[number] == "-":
            kind = words[number + 1 : number + 2] or (ANY_TYPE,)
            kept = [name for name in waiting if stays(name, show(kind[0]))]
            items += [*kept, "-", kind[0]] if kept else []
            waiting, number = [], number + 1
        else:
            waiting.append(words[number])
        number += 1
    rest = [name for name in words[end:] if stays(name, ANY_TYPE)]
    new: list[TypedName] = []
    for entry in reversed(names):  # of equal names those at the end are new
        if wanted[entry] > 0:
            wanted[entry] -= 1
            new.append(entry)
    typed = [entry for entry in reversed(new) if entry.type != ANY_TYPE]
    return (*items, *typed_words(typed), *rest, *(entry.name for entry in reversed(new) if entry.type == ANY_TYPE))
