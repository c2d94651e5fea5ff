"""Forms of other languages in PDDL files, such as `!=`, `//` and commas, with the forms that PDDL has for them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from pddlego.pddl.rules import Defect, syntax_defect
from pddlego.pddl.sexpr import Sexpr, Source, show

_IMPLY = "(imply {0} {1})"

_OPERATORS = {
    word: form
    for form, words in (
        ("(= {0} {1})", "== === eq eql equal equals same identical"),
        ("(not (= {0} {1}))", "!= !== <> /= =/= ~= \\= ≠ ne neq not= not-equal not-equals unequal different distinct"),
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

TYPE_SIGNS = frozenset((":", "::", "--", "->", "<:", "=", "<"))
"""Words between a name and its type in other languages."""

LEVELS = "model levels as objects, such as (level ?x l2), (next l1 l2)"
"""The advice for numbers, which are not planned with."""


def form_of(word: str, parts: Sequence[Sexpr], in_effect: bool = False) -> str:
    """The PDDL form of an expression that begins with an operator of another language; empty for any other.

    Words between names, as in `(same ?x ?y)`, are such operators only if they compare two names.
    """
    names = len(parts) - sum(isinstance(part, tuple) for part in parts)
    if names and word[0].isalpha() and not (names == len(parts) == 2 and "(= {0} {1})" in _OPERATORS.get(word, "")):
        return ""
    form = "(when {0} {1})" if in_effect and _OPERATORS.get(word) == _IMPLY else _OPERATORS.get(word, "")
    return _filled(form, parts)


def infix_form(parts: Sequence[Sexpr]) -> str:
    """The PDDL form of an expression with its operator between its parts, as in `(?x = ?y)`; empty for any other."""
    signs = set(parts[1::2])
    if len(parts) < 3 or len(parts) % 2 == 0 or len(signs) > 1:
        return ""
    sign, first = show(signs.pop()), parts[0]
    is_operand = not isinstance(first, str) or first.startswith("?")  # else `or` may be the name of an object
    return _filled(_OWN.get(sign) or _OPERATORS.get(sign, ""), parts[::2]) if sign in _SYMBOLS or is_operand else ""


def _filled(form: str, parts: Sequence[Sexpr]) -> str:
    texts = [text if len(text) <= 60 else "(…)" for text in map(show, parts)]
    return form.format(*texts, *("(…)" for _ in range(2)), all=" ".join(texts) or "(…)")


def plain_name(name: str) -> str:
    """A name without the characters by which other languages mark variables, as in `$x` or `x?`."""
    return re.sub(r"[^a-z0-9_-]+", "", name)


_FOREIGN = re.compile(
    r";[^\r\n]*|\(\s*(?:problem|:?domain)\s[^()]*\)|(?<![^\s()])(/\*(?s:.{0,2000}?)\*/|<!--(?s:.{0,2000}?)-->|(?://|--|%|#(?![0-9]|t\b))[^\r\n]*)"
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

_QUOTE = ("a quote", " ", "write names without quotes, as in living_room")


def foreign_comments(text: str) -> Iterator[re.Match[str]]:
    """The comments of other languages in a text: `//`, `#`, `--` and `%` to the end of a line, `/* */`, `<!-- -->`."""
    return (match for match in _FOREIGN.finditer(text) if _is_comment(match))


def _is_comment(match: re.Match[str]) -> bool:
    """Whether a match is a comment: its parentheses are balanced, and it is not a type as in `a -- room`."""
    depths = [0, *itertools.accumulate(1 if sign == "(" else -1 for sign in re.findall("[()]", match[1] or ""))]
    line = 0
    if re.fullmatch(r"--\s+\S+\s*", match[0]):
        line = max(match.string.rfind(end, 0, match.start()) for end in "\r\n") + 1
    is_type = line and match.string[line : match.start()].strip()
    return bool(match[1]) and min(depths) == depths[-1] == 0 and not is_type


def without_foreign(text: str) -> tuple[str, list[Defect]]:
    """The text with blanks or parentheses in place of what PDDL does not have, and a defect for each kind of that.

    The text keeps its length.
    """
    source, defects, end, pieces = Source(text), dict[str, Defect](), 0, list[str]()
    for match in _FOREIGN.finditer(text, 0, text.rfind(")") + 1):
        if match[2]:
            what, instead, remedy = _CHARACTERS.get(match[2], _QUOTE)
            message = f"{what}, which PDDL does not have; {remedy}"
        elif match[1] and _is_comment(match):
            what = _SIGN.findall(match[1])[0]
            instead = re.sub(r"[^\r\n]", " ", match[1])
            message = f"'{what}' does not begin a comment in PDDL; begin comments with ';'"
        else:
            continue
        pieces += [text[end : match.start()], instead]
        end = match.end()
        defects.setdefault(what, syntax_defect(message, source.position(match.start())))
    return "".join([*pieces, text[end:]]), list(defects.values())
