"""Forms of other languages in PDDL files, such as `!=`, `//` and commas, with the forms that PDDL has for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from pddlego.pddl.rules import Defect, DefectKind, syntax_defect, warning
from pddlego.pddl.sexpr import MAX_NUMBER, Sexpr, Source, show
from pddlego.util.text import nearest

_IMPLY = "(imply {0} {1})"

_OPERATORS = {
    word: form
    for form, words in (
        ("(= {0} {1})", "== === eq eq? eql equal equals same same-as is is-same is-equal identical"),
        ("(not (= {0} {1}))", "!= !== <> >< /= =/= ~= \\= ≠ ne neq noteq not= not-equal not-equals unequal"),
        ("(not (= {0} {1}))", "diff differ different distinct"),
        ("(not {0})", "! ~ ¬ - no none del delete remove"),
        (_IMPLY, "-> => --> ==> → ⇒ implies implication if if-then"),
        ("(and (imply {0} {1}) (imply {1} {0}))", "<-> <=> ↔ ⇔ iff equiv equivalent"),
        ("(imply (not {0}) {1})", "unless"),
        ("(and {all})", "& && /\\ ∧ all-of"),
        ("{all}", "+ add"),
        ("(or {all})", "| || \\/ ∨ any-of"),
        ("(or (and {0} (not {1})) (and {1} (not {0})))", "xor ^ ⊕"),
        ("(forall (?x - TYPE) {0})", "∀ all every for for-all foreach for-each"),
        ("(exists (?x - TYPE) {0})", "∃ exist some any there-exists"),
        ("{0} where the fact becomes true, and (not {0}) where it becomes false", ":= <- set"),
    )
    for word in words.split()
}
"""Operators of other languages, with the PDDL form of an expression with the parts 0, 1, … ."""

_SYMBOLS = frozenset(word for word in _OPERATORS if not word[0].isalpha() and word != "-") | {"="}
_OWN = {"and": "(and {all})", "or": "(or {all})", "imply": _IMPLY, "=": "(= {0} {1})"}

_TRUTH = {"true": "{0}", "false": "(not {0})"}
"""The values of facts in other languages."""

TYPE_SIGNS = frozenset((":", "::", "--", "->", "<:", "=", "<"))
"""Words between a name and its type in other languages."""

LEVELS = "model levels as objects, such as (level ?x l2), (next l1 l2)"
"""The advice for numbers, which are not planned with."""


def form_of(word: str, parts: Sequence[Sexpr], in_effect: bool = False) -> str:
    """The PDDL form of an expression that begins with an operator of another language; empty for any other.

    Words between names, as in `(same ?x ?y)`, are such operators only if they compare two names.
    """
    if word == "=" and len(parts) == 2 and isinstance(parts[0], tuple) and parts[1] in _TRUTH:
        return _TRUTH[str(parts[1])].format(show(parts[0]))
    parts = [part for part in parts if part not in ("then", "do")]
    if len(parts) == 2 and isinstance(parts[0], tuple) and show(parts[0]).startswith("(?"):
        return _filled(_OPERATORS.get(word, "").replace("(?x - TYPE) {0}", "{0} {1}"), parts)
    names = len(parts) - sum(isinstance(part, tuple) for part in parts)
    if names and word[0].isalpha() and not (names == len(parts) == 2 and "(= {0} {1})" in _OPERATORS.get(word, "")):
        return ""
    form = "(when {0} {1})" if in_effect and _OPERATORS.get(word) == _IMPLY else _OPERATORS.get(word, "")
    return _filled(form, parts)


def infix_form(parts: Sequence[Sexpr], in_effect: bool = False) -> str:
    """The PDDL form of an expression with its operator between its parts, as in `(?x = ?y)`; empty for any other."""
    signs = set(parts[1::2])
    if len(parts) < 3 or len(parts) % 2 == 0 or len(signs) > 1:
        return ""
    sign, first = show(signs.pop()), parts[0]
    is_operand = not isinstance(first, str) or first.startswith("?")  # else `or` may be the name of an object
    form = _OWN.get(sign) or _OPERATORS.get(sign, "")
    form = "(when {0} {1})" if in_effect and form == _IMPLY else form
    return _filled(form, parts[::2]) if sign in _SYMBOLS or is_operand else ""


def _by_word(forms: Mapping[Sexpr, str]) -> dict[str, Sexpr]:
    return {word: form for form, words in forms.items() for word in words.split()}


_CHANGES = _by_word(
    {
        "assign": "assign := <- = == set let",
        "increase": "increase += inc incr increment add",
        "decrease": "decrease -= dec decr decrement subtract",
        "scale-up": "scale-up *= scale_up multiply",
        "scale-down": "scale-down /= scale_down divide",
    }
)
_COMPARISONS = _by_word(
    {
        ">=": ">= => ≥ ge geq gte at-least",
        "<=": "<= =< ≤ le leq lte at-most",
        ">": "> gt greater greater-than more-than",
        "<": "< lt less less-than",
        "=": "= == eq equals equal",
    }
)
_ORDERS = {*_COMPARISONS.values()}
TIMES = _by_word(
    {
        ("at", "start"): "at-start at_start atstart start at-begin at-beginning",
        ("at", "end"): "at-end at_end atend end at-finish",
        ("over", "all"): "over-all over_all overall during over at-all at-over",
    }
)
"""Operators and times of other languages, with the words of PDDL."""

CALCULATIONS: frozenset[Sexpr] = frozenset({("+",), ("-",), ("*",), ("/",)})
"""The beginnings of numeric expressions that are not functions."""

_NO_NAMES = frozenset(("+", "-", "*", "/", "not", "and", "or", "imply", "when", "forall", "exists"))

_CALCULATED = _by_word(
    {
        "+": "add plus sum",
        "-": "minus sub subtract neg negate",
        "*": "times mul mult multiply product",
        "/": "div divide divided-by",
    }
)
_NAMES = "max min abs % // mod modulo rem sqrt exp log ln floor ceil ceiling round trunc count random avg"
_NAMES += " ^ ** pow power expt"
FUNCTIONS = {*_CALCULATED, *_NAMES.split()}
"""Functions of other languages, which PDDL does not have."""

_VALUE = re.compile(r"-?[\d.]+\Z", re.ASCII)

_Side = tuple[Sexpr, ...]
"""The parts on one side of an operator."""


def _is_number(part: Sexpr) -> bool:
    return isinstance(part, str) and _VALUE.match(part) is not None


def _is_value(part: Sexpr) -> bool:
    return isinstance(part, tuple) or _is_number(part)


def operator_first(part: Sexpr) -> Sexpr:
    """A numeric expression with each operator before its operands, as in `(- (f) 1)` for `((f) - 1)` or `(f - 1)`.

    Operands of different operators stay: `((f) - 1 * 2)` has two readings.
    """
    if not isinstance(part, tuple) or part[:1] in CALCULATIONS:
        return part if isinstance(part, str) else (part[0], *map(operator_first, part[1:]))
    start = next((number for number, word in enumerate(part) if word in ("+", "-", "*", "/")), 0)
    left, signs, values = part[:start], part[start::2], part[start + 1 :: 2]
    is_call = all(isinstance(word, str) for word in left) and show(left)[1].isalpha()
    is_operand = is_call or (len(left) == 1 and _is_value(left[0]))
    if not is_operand or len({*signs}) > 1 or len(signs) != len(values) or not all(map(_is_value, values)):
        return part
    values = tuple(map(operator_first, values))  # those behind several signs are added or multiplied: no deep list
    values = ((("*" if signs[0] == "/" else "+"), *values),) if signs[0] in ("-", "/") and values[1:] else values
    return (signs[0], left if is_call else operator_first(left[0]), *values)


def chain_form(part: Sequence[Sexpr]) -> Sexpr:
    """A chain of comparisons, as in `(< 1 (f) 5)` or `(1 < (f) < 5)`, as comparisons of two numbers; else empty."""
    is_range = part[0] in ("between", "in-range") and len(part) == 4 and part[1][:1] != "?"
    part = ("<=", part[2], part[1], part[3]) if is_range else part
    is_prefix = part[0] in _ORDERS
    signs, values = ((part[0],) * (len(part) - 2), part[1:]) if is_prefix else (part[1::2], part[::2])
    if len(values) < 3 or len(values) != len(signs) + 1 or not all(sign in (*_ORDERS, "=<", "==") for sign in signs):
        return ""
    if not is_prefix and {*signs} - {"=", "=="}:
        values = [(value,) if isinstance(value, str) and value[0].isalpha() else value for value in values]
    are_names = isinstance(values[0], str) and values[0][0] == "?"
    is_known = all(_is_value(value) or value[0] == "?" or are_names for value in values)
    if not is_known or any(_is_number(left) and _is_number(right) for left, right in pairwise(values)):
        return ""
    pairs = zip(signs, pairwise(map(operator_first, values)), strict=True)
    return ("and", *((_COMPARISONS[str(sign)], *pair) for sign, pair in pairs))


def init_form(part: Sexpr) -> Sexpr:
    """`(= (f) NUMBER)` for a number of `:init` in another form, such as `(= 2 (f))` or `(>= (f) 2)`; else empty."""
    if not isinstance(part, tuple) or len(part) < 3:
        return ""
    form = numeric_form(part, True) or numeric_form(part, False)
    if part[0] == "=" and str not in map(type, form) and str(part[1])[0].isalpha():
        form = ("=", part[1:-1], part[-1]) if tuple not in map(type, part) else form
    values = sorted(form[1:], key=_is_number)
    is_call = bool(values) and isinstance(values[0], tuple) and {*map(type, values[0])} == {str}
    return ("=", *values) if is_call and [*map(_is_number, values)] == [False, True] else ""


def arithmetic_form(part: Sexpr, known: Collection[str] = ()) -> Sexpr:
    """A number without what PDDL does not have: numbers in parentheses, and words for operators.

    `known` are the functions of the domain.
    """
    if not isinstance(part, tuple) or not part or part[0] in known:
        return part
    head, *rest = part[0], *(arithmetic_form(inner, known) for inner in part[1:])
    if not rest and _is_number(head):
        return head
    return (_CALCULATED.get(str(head), head), *rest)


def duration_form(part: Sexpr, functions: Collection[Sexpr]) -> Sexpr:
    """The PDDL form of a duration, such as `(= ?duration 9)` for `9` or `(9 = ?duration)`; empty if none is certain.

    `functions` are lists of one name, with `CALCULATIONS`.
    """
    parts = part if isinstance(part, tuple) else (part,)
    while len(parts) == 1 and isinstance(parts[0], tuple):
        parts = parts[0]
    joined = next((word for word in map(str, parts) if re.fullmatch(r"\?duration[\d.]+", word)), "")
    if joined:
        parts = *(word for word in parts if word != joined), "?duration", joined.removeprefix("?duration")
    signs = [str(_COMPARISONS[str(word)]) for word in parts if word in _COMPARISONS]
    names = (*_COMPARISONS, "?duration", "duration", ("duration",))
    rest = [arithmetic_form(word) for word in parts if word not in names]
    value = parts if parts[:1] in functions and not signs else rest[0] if len(rest) == 1 else ""
    is_certain = signs in ([], ["="]) or (signs in (["<="], [">="]) and "?duration" in parts[:2])
    is_certain = is_certain and (_is_number(value) or value[:1] in functions) and "?duration" not in show(value)
    return (*(signs or "="), "?duration", value) if is_certain else ""


def joined_infix(parts: Sequence[Sexpr], in_effect: bool, start: int = 0) -> Iterator[tuple[Sexpr, int]]:
    """The parts from number `start` on, each with its number; a change or comparison such as `(f) -= 1` is one part."""
    while start < len(parts):
        three = tuple(parts[start : start + 3])
        is_open = (*parts[start + 3 : start + 4],) in CALCULATIONS  # more belongs to the number
        is_one = [isinstance(word, str) for word in three[:2]] == [False, True] and not is_open
        is_one = is_one and numeric_form(three, in_effect) != ""
        yield (three if is_one else parts[start]), start
        start += 3 if is_one else 1


def numeric_form(part: Sequence[Sexpr], in_effect: bool, functions: Collection[Sexpr] = ()) -> Sexpr:
    """The PDDL form of a change or a comparison of numbers, or of parts with a time; empty for other expressions.

    `functions` are lists of one name, with `CALCULATIONS`: `=>` between two of them is a comparison.
    """
    if timed := _timed_form(part):
        return timed
    head, rest = part[0] if part else "", part[1:]
    if head == "not" and rest[1:] and not in_effect:
        form = numeric_form(rest, False, functions)
        return ("not", form) if form else ""
    operators = _CHANGES if in_effect else _COMPARISONS
    places = [place for place, word in enumerate(part) if isinstance(word, str) and word in operators]
    if not places and in_effect and isinstance(head, str) and len(rest) == 2 and isinstance(rest[0], tuple):
        operator = nearest(head, sorted({*map(str, _CHANGES.values())}))
        return (operator, *rest) if operator else ""
    if len(places) != 1:
        return ""
    is_infix, word = places[0] > 0, str(part[places[0]])
    if is_infix and word[0].isalpha():
        return ""
    before, after = (part[: places[0]], part[places[0] + 1 :]) if is_infix else (rest[:1], rest[1:])
    after = tuple(value for value in after if value not in ("by", "to"))
    if not after and word in ("inc", "incr", "increment", "dec", "decr", "decrement"):
        after = ("1",)
    left, right = _operands(_calculated(tuple(before)), _calculated(after), in_effect, is_infix)
    if not left or len(right) != 1 or not _is_value(right[0]):
        return ""
    sides = [side for side in (*left, *right) if isinstance(side, tuple)]
    if word == "=>" and len(sides) == 2 and not all(side[:1] in functions for side in sides):
        return ""  # an implication
    return (operators[word], *map(operator_first, (*left, *right)))


def _timed_form(part: Sequence[Sexpr]) -> Sexpr:
    """The PDDL form of an expression that begins with a time, such as `(at-start (f))`; empty for other expressions."""
    names = [word for word in part[:2] if isinstance(word, str)]
    time, timed = TIMES.get("-".join(names)), part[len(names) :]
    if not time or not timed or not all(isinstance(inner, tuple) for inner in timed):
        return ""
    return (*time, timed[0] if len(timed) == 1 else ("and", *timed))


def _calculated(side: _Side) -> _Side:
    """One side of an operator; a calculation in infix notation becomes one part."""
    value = operator_first(side)
    return side if value == side else (value,)


def _operands(left: _Side, right: _Side, in_effect: bool, is_infix: bool) -> tuple[_Side, _Side]:
    """Both sides of a change or a comparison, with names in parentheses; the left one is empty if it is not certain."""
    if len(left) == 1 and isinstance(left[0], tuple):
        return left, right
    if len(left) == 1 and _is_number(left[0]):
        if in_effect:  # as in (= 3 (f)): what changes comes first
            return (right, left) if len(right) == 1 and isinstance(right[0], tuple) else ((), right)
        is_name = is_infix and len(right) == 1 and str(right[0])[0].isalpha()
        return left, ((right[0],),) if is_name else right
    names = [name for name in left if isinstance(name, str)]  # as in (battery ?r >= 3)
    is_call = is_infix and len(names) == len(left) and names[0][0].isalpha() and _NO_NAMES.isdisjoint(names)
    return ((left,) if is_call else ()), right


def _filled(form: str, parts: Sequence[Sexpr]) -> str:
    if "{all}" not in form and len(parts) > 1 + ("{1}" in form):
        return ""  # it would leave out a part
    texts = [text if len(text) <= 60 else "(…)" for text in map(show, parts)]
    return form.format(*texts, *("(…)" for _ in range(2)), all=" ".join(texts) or "(…)")


def plain_name(name: str) -> str:
    """A name without the characters by which other languages mark variables, as in `$x` or `x?`."""
    return re.sub(r"[^a-z0-9_-]+", "", name)


_FOREIGN = re.compile(
    r";[^\r\n]*|\(\s*(?:problem|:?domain)\s[^()]*\)|(?<![^\s()])(/\*(?s:.{0,1000}?)\*/|<!--(?s:.{0,1000}?)-->|(?://|--|%|#(?![0-9]|t\b))[^\r\n]*)"
    r"|([,\[\]{}]|(?<!\w)[\"'\u2018-\u201f]|[\"'\u2018-\u201f](?!\w))"
)
"""A comment of PDDL or the name of a file, which may be any word; a comment of another language (group 1); a
character that PDDL does not have (group 2)."""

_SIGN = re.compile(r"[/*#%<!-]+")
"""The beginning of such a comment."""

_CHARACTERS = {
    ",": ("a comma", " ", "separate names by blanks"),
    **dict.fromkeys("[{", ("a bracket", "(", "write parentheses")),
    **dict.fromkeys("]}", ("a bracket", ")", "write parentheses")),
}
"""Characters that PDDL does not have, with their name, what is read in their place, and the advice."""

_BEFORE, _BEHIND = re.compile(r"(?<=[\s(])-?\d+\Z"), re.compile(r"\d{1,100}(?![^\s()])")
"""The digits before and behind a decimal comma."""

_QUOTE = ("a quote", " ", "write names without quotes, as in living_room")


def foreign_comments(text: str) -> list[tuple[int, int]]:
    """The comments of other languages in a text: `//`, `#`, `--` and `%` to the end of a line, `/* */`, `<!-- -->`.

    Parentheses at the end of such a line may belong to the file, as in `(p ?x) // done))`: then the comment ends before
    them, if the parentheses of the file are balanced without it and not otherwise.
    """
    matches = list(_FOREIGN.finditer(text))
    whole = [match.span(1) for match in matches if match[1] and not _is_type(match)]
    unbalanced = {span for span in whole if _depth(text, *span)}
    if not unbalanced:
        return whole
    own = (match.span() for match in matches if match[0][0] == ";")
    depth = _depth(text, 0, len(text)) - sum(_depth(text, *span) for span in (*own, *whole))
    if not depth:
        return whole
    short = [(start, start + len(text[start:end].rstrip(") \t"))) for start, end in whole]
    balances = not depth + sum(_depth(text, *span) for span in whole) - sum(_depth(text, *span) for span in short)
    return short if balances else [span for span in whole if span not in unbalanced]


def _depth(text: str, start: int, end: int) -> int:
    return text.count("(", start, end) - text.count(")", start, end)


def _is_type(match: re.Match[str]) -> bool:
    """Whether a match is no comment, but the type in a line such as `a -- room`."""
    if not re.fullmatch(r"--\s+\S+\s*", match[0]):
        return False
    line = max(match.string.rfind(end, 0, match.start()) for end in "\r\n") + 1
    return bool(match.string[line : match.start()].strip())


_INVISIBLE = re.compile(
    r";[^\r\n]*|([\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufeff]+)"
)
"""A comment, or Unicode's blanks and invisible characters (group 1)."""


def _without_invisible(text: str) -> tuple[str, list[Defect]]:
    """The text with blanks in place of invisible characters, and a defect for each kind of these.

    Inside a word they stay, so that it does not become two words.
    """
    if text.isascii():
        return text, []
    source, defects = Source(text), dict[str, Defect]()

    def blank(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        for number, character in enumerate(match[1], match.start()):
            what = "a blank that is not ASCII" if character.isspace() else "an invisible character"
            fault = f"{what} (U+{ord(character):04X}), which planners refuse"
            advice = "write an ordinary blank" if character.isspace() else "remove it"
            defect = warning(DefectKind.INVISIBLE, character, fault, advice, source.position(number))
            defects.setdefault(character, defect)
        around = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
        is_inside = re.fullmatch(r"[\w?-]{2}", around) and not any(map(str.isspace, match[1]))
        return match[1] if is_inside else " " * len(match[1])

    return _INVISIBLE.sub(blank, text), list(defects.values())


def without_foreign(text: str) -> tuple[str, list[Defect]]:
    """The text with blanks or parentheses in place of what PDDL does not have, and a defect for each kind of that.

    The text keeps its length.
    """
    text, invisible = _without_invisible(text)
    source, defects, end, pieces = Source(text), dict[str, Defect](), 0, list[str]()
    comments, last = dict(foreign_comments(text)), text.rfind(")") + 1
    for match in _FOREIGN.finditer(text):
        start, stop = match.start(), comments.get(match.start(), match.end())
        if start < end or start >= last:
            continue
        if match[2]:
            what, instead, remedy = _CHARACTERS.get(match[2], _QUOTE)
            digits = _BEFORE.search(text, max(0, start - MAX_NUMBER), start), _BEHIND.match(text, stop)
            if match[2] == "," and digits[0] and digits[1]:
                whole, decimals = digits[0][0], digits[1][0]
                what, instead, remedy = f"a comma in {whole},{decimals}", ".", f"write {whole}.{decimals}"
                remedy += f", or {whole}{decimals}" * (len(decimals) == 3)
            fault = f"{what}, which PDDL does not have"
        elif start in comments:
            what = _SIGN.findall(match[1])[0]
            instead = re.sub(r"[^\r\n]", " ", text[start:stop])
            fault, remedy = f"'{what}' does not begin a comment in PDDL", "begin comments with ';'"
        else:
            continue
        pieces += [text[end:start], instead]
        end = stop
        defects.setdefault(what, syntax_defect(fault, remedy, source.position(start)))
    return "".join([*pieces, text[end:]]), [*defects.values(), *invisible]
