"""Finds missing and surplus parentheses by the structure of PDDL files.

One pass keeps the open lists. A token that its list cannot hold, such as `:effect` in a condition or a list in an atom,
shows that a list before it was not closed, or was closed too early.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from pddlego.pddl.rules import Defect, syntax_defect
from pddlego.pddl.sexpr import TOKEN, Source

Edit = tuple[int, int, str]
"""The start and the end of a replaced text, and the new text."""

MISSPELT = {
    ":requirement": ":requirements",
    ":type": ":types",
    ":constant": ":constants",
    ":predicate": ":predicates",
    ":actions": ":action",
    ":object": ":objects",
    ":initial": ":init",
    ":initial-state": ":init",
    ":goals": ":goal",
    ":metrics": ":metric",
    ":parameter": ":parameters",
    ":params": ":parameters",
    ":preconditions": ":precondition",
    ":precond": ":precondition",
    ":preconds": ":precondition",
    ":pre": ":precondition",
    ":effects": ":effect",
    ":eff": ":effect",
    ":postcondition": ":effect",
    ":postconditions": ":effect",
}
"""Wrong names of sections and fields in files by models, with the right names."""

_MEANT = MISSPELT | {":actions": ":actions"}  # may hold actions

_SECTIONS = {
    ":actions": "actions",
    **dict.fromkeys((":requirements", ":domain", "domain", "problem"), "words"),
    **dict.fromkeys((":types", ":constants", ":objects"), "names"),
    **dict.fromkeys((":predicates", ":functions"), "heads"),
    **dict.fromkeys((":action", ":durative-action", ":process", ":event"), "action"),
    **dict.fromkeys((":metric", ":constraints", ":length"), "any"),
    ":init": "facts",
    ":goal": "one",
    ":derived": "quantified",
    "define": "define",
}
"""The first words of sections, each with the kind of its list."""

_FIELDS = frozenset((":parameters", ":precondition", ":effect", ":duration", ":condition"))
_JOINED = frozenset((":precondition", ":condition", ":effect"))
"""Fields with one condition or effect: several need `and`."""

_CONNECTIVES = {
    "and": "many",
    "or": "many",
    "not": "one",
    "imply": "two",
    "implies": "two",
    "when": "two",
    **dict.fromkeys(("forall", "exists"), "quantified"),
    **dict.fromkeys(["=", "<", ">", "<=", ">=", "increase", "decrease", "assign", "scale-up", "scale-down"], "numbers"),
    **dict.fromkeys(["preference", "+", "-", "*", "/"], "any"),
}
"""The words of conditions and effects, each with the kind of its list; other words are predicates."""

_MOST = {"one": 1, "two": 2, "quantified": 2}
"""The number of lists in a list of a kind."""

_WORDY = ("words", "actions", "names", "head", "atom", "numbers", "foreign", "any", "file")
"""The kinds of lists that hold words."""

_JOINS = re.compile(r"start|end|all|[\d.]+|begin|beginning|finish|over|by|to|then|do|and|or|[^\w?]+")
"""Words before a list in an atom: times behind `at` and `over`, and operators as in `pddlego.pddl.foreign`."""

_AND = "(and "
"""The edit for an action whose conditions or effects are side by side, and end with one parenthesis too many."""

_MAX_DEPTH = 100


@dataclass(eq=False)
class _List:
    """An open list: its offset, its column, that of the first token of its line, and its kind.

    `size` is the number of lists in it, and `word` the last word behind these. `late` and `early` are where the layout
    says that a parenthesis is missing, or surplus. `single` is the offset of the condition or effect of an action if it
    is an atom, comparison, change or negation, and `beside` the number of lists since its field.
    """

    start: int
    column: int
    indent: int
    kind: str
    size: int = 0
    word: str = ""
    late: int = -1
    early: int = -1
    single: int = -1
    beside: int = 0

    @property
    def is_unfinished(self) -> bool:
        return self.size < _MOST.get(self.kind, int(self.kind == "many")) or self.word in _FIELDS


class _Scanner:
    """Collects the `edits` that balance a text. `spare` is the number of closing parentheses that are too many.

    If it `is_lenient`, no opening parenthesis is surplus, as in `((wet ?x) (dark ?x))`.
    """

    def __init__(self, text: str, is_lenient: bool = False) -> None:
        self._is_lenient = is_lenient
        self.source = Source(text)
        self.tokens = [
            (_MEANT.get(match[0].lower(), match[0].lower()), match.start(), match.end())
            for match in TOKEN.finditer(text)
            if match[0][0] != ";"
        ]
        self.edits: list[Edit] = []
        self.laid_out: list[Edit] = []  # the same edits where the layout says that they belong
        self.spare = sum(token == ")" for token, *_ in self.tokens) - sum(token == "(" for token, *_ in self.tokens)
        pairs = [(before == "(", token) for (before, *_), (token, *_) in pairwise(self.tokens)]
        self._heads = Counter(token for is_head, token in pairs if is_head)
        self._before_lists = Counter(
            head for (is_head, head), (_, token) in pairwise(pairs) if is_head and token == "("
        )
        self._arguments = Counter(token for is_head, token in pairs if not is_head)
        self.is_split = False  # a list was closed, and what followed belonged to it
        self._open = [_List(0, 0, 0, "file")]
        self._line = self._indent = self._column = 0
        self._closed: list[tuple[_List, int]] = []  # the lists that end right before the token, with their ends
        self._outer = self._open[0]  # the list that ended last
        self._last = 0  # the end of the token before

    def scan(self) -> bool:
        """Read all tokens. Returns whether the text could be read."""
        end = 0  # of the last parenthesis
        for (token, start, stop), (head, *_) in zip(self.tokens, (*self.tokens[1:], (")", 0, 0)), strict=False):
            line, self._column = self.source.position(start)
            if line > self._line:
                self._line, self._indent = line, self._column
                self._look(token)
            if token == "(" and start == self.tokens[-1][1]:  # the file is cut off, or still being written
                self._push(start, "empty")
            elif token == "(":
                self._begin(start, head)
            elif token == ")":
                self._end(start)
            elif not (self._open[-1].start == self._last - 1 and self.source.text[self._last - 1] == "("):
                self._word(token, start)
            if token != ")":
                self._closed.clear()
            self._last, end = stop, stop if token in "()" else end
            if len(self._open) > _MAX_DEPTH:
                return False
        self._last = end if len(self._open) == 2 else self._last  # prose may follow the file
        self._close(0)
        return True

    def _look(self, token: str) -> None:
        """Compare the column of the first token of a line with the columns of the lists around and before it."""
        closes = token == ")"
        for one in reversed(self._open[1:]):
            if (
                one.late < 0
                and (one.size or one.word)
                and (self._column < one.indent if closes else self._column <= one.indent)
            ):
                one.late = self._last
        for one, end in self._closed:
            over = self._open[-1]
            is_inside = one.indent == self._column > over.indent if closes else self._column > one.column
            if over.early < 0 and is_inside and (one.size or one.kind != "many"):
                over.early = end

    def _begin(self, start: int, head: str) -> None:
        """Begin a list with the word `head`, or a parenthesis."""
        fits = bool(self._kind(self._open[-1], head))  # then an empty `and` is complete
        short = [number for number, (one, _) in enumerate(self._closed) if one.is_unfinished]
        early = [number for number in short if not (fits and self._closed[number][0].kind == "many")]
        if self.spare > 0 and early and self._kind(self._closed[early[-1]][0], head):
            self._reopen(early[-1])
        kind = self._kind(self._open[-1], head)
        if head == ")" and self.spare >= 0 and kind != "head":
            self._push(start, "empty")
            return
        kind = kind or self._resolved(head)
        if kind or self.spare >= 0 or not self._is_surplus(head):
            self._push(start, kind or "any")
        else:
            self._edit(start, 1, "")

    def _is_surplus(self, head: str) -> bool:
        if self._is_lenient:
            return False
        if head in _FIELDS:
            return sum(self._heads[field] for field in _FIELDS) == 1
        return head in "()" or head.startswith("?") or (self._heads[head] == 1 and self._arguments[head] > 0)

    def _resolved(self, head: str) -> str:
        """The kind of a list that does not fit, after lists before it were closed or reopened; empty without one."""
        certain = head in _SECTIONS or head in _FIELDS or self._open[-1].kind in ("atom", "head", "define", "file")
        if self.spare < 0 and self._is_surplus(head) and head not in _SECTIONS:
            return ""
        if self.spare > 0 or (certain and self._open[-1].kind in ("define", "file")):
            for number in range(len(self._closed) - 1, -1, -1):
                one = self._closed[number][0]
                if self._kind(one, head) and (self.spare > 0 or one.kind != "names"):
                    self._reopen(number)
                    return self._kind(one, head)
        for number in range(len(self._open) - 2, 0, -1) if self.spare < 0 or certain else ():
            kind = self._kind(self._open[number], head)
            if kind:
                self._close(number)
                return kind
        return ""

    def _kind(self, parent: _List, head: str) -> str:
        """The kind of a list that begins with `head` in another list; empty if it does not fit there."""
        kind, bare = parent.kind, head in "()"
        if kind == "define":
            return _SECTIONS.get(head, _SECTIONS.get(f":{head}", "")) or "any" * head.startswith(":")
        if kind == "file":
            return "define" if head == "define" else ""
        if kind == "actions":
            return "action" * (head == ":action" or head not in _SECTIONS)
        if head in _SECTIONS:
            return ""
        if kind == "action":
            if head in _FIELDS:
                return "any" * (self.spare >= 0 or not self._is_surplus(head))
            if parent.word not in _FIELDS:
                return self._condition(head) * (self.spare > 0 and parent.single >= 0 and not parent.word)
            return "head" if parent.word == ":parameters" else self._condition(head)
        if kind == "any":
            return "any"
        if head in _FIELDS or (self.spare and parent.size >= _MOST.get(kind, parent.size + 1)):
            return ""
        if kind in ("names", "head"):
            fits = kind == "names" or (head[0] in "?()" and (self.spare >= 0 or self._is_lenient))
            return "words" if head == "either" else kind * fits
        if kind == "heads":
            return "head" * (not bare and not head.startswith("?"))
        if kind == "quantified" and not parent.size:
            return "head"
        if kind == "atom":
            return self._condition(head) * (_JOINS.fullmatch(parent.word) is not None)
        if kind == "foreign":
            return self._condition(head) * (not parent.word or _JOINS.fullmatch(parent.word) is not None)
        if kind == "numbers":
            number = bool(_JOINS.fullmatch(parent.word)) and (parent.size == 0 or parent.word in ("by", "to"))
            fits = parent.size < 2 and (not parent.word or number) and self._condition(head) not in ("many", *_MOST)
            return "numbers" * bool(fits)
        if kind == "words":
            return ""
        if bare and self.spare < 0 and not self._is_lenient:
            return ""
        return "facts" if kind == "facts" and (bare or head in ("and", "not")) else self._condition(head)

    def _condition(self, head: str) -> str:
        if head in "()":
            return "foreign" * (self.spare >= 0 or self._is_lenient)
        is_sure = self._is_lenient or self._heads[":predicates"] or _JOINS.fullmatch(head)  # else it may be (wet)
        is_operator = is_sure and self._before_lists[head] == self._heads[head]
        return _CONNECTIVES.get(head, "foreign" if is_operator else "atom")

    def _word(self, word: str, start: int) -> None:
        if self._open[-1].kind == "actions" and word in _FIELDS and not self._closed:
            self._open[-1].kind = "action"
        if self._open[-1].kind == "action" and f":{word}" in _FIELDS:
            word = f":{word}"
        if not self._holds(self._open[-1], word):
            closed = [number for number, (one, _) in enumerate(self._closed) if self._holds(one, word)]
            over = [number for number, one in enumerate(self._open) if self._holds(one, word)][1:]
            kind = self._kind(self._open[-1], word)
            if self._closed and self._closed[-1][0].kind == "empty" and self.spare > 0:
                self._reopen(len(self._closed) - 1)
                self._open[-1].kind = kind or "any"
                return
            argument = not kind or word.startswith("?") or (self._arguments[word] > 1 and word not in _CONNECTIVES)
            if closed and (word in _FIELDS or (self.spare > 0 and argument)):
                self._reopen(closed[-1])
            elif word in _FIELDS and over:
                self._close(over[-1])
            elif self.spare > 0 and kind:
                self.is_split = True
                self._edit(start, 0, "(")
                self._push(start, kind)
        self._open[-1].word = word

    def _push(self, start: int, kind: str) -> None:
        over = self._open[-1]
        if over.word:
            is_single = over.word in _JOINED and kind in ("atom", "numbers", "one")
            over.single, over.beside = start if is_single else -1, 0
        over.size += 1
        over.beside += 1
        over.word = ""
        self._open.append(_List(start, self._column, self._indent, kind))

    def _close(self, number: int) -> None:
        """Close the open lists in list `number`, which the token before ends."""
        for one in reversed(self._open[number + 1 :]):
            self._edit(self._last, 0, ")", one.late)
        del self._open[number + 1 :]

    def _edit(self, start: int, length: int, new: str, other: int = -1) -> None:
        self.edits.append((start, start + length, new))
        other = start if other < 0 else other
        self.laid_out.append((other, other + length, new))
        self.spare += 1 if new == ")" or (not new and self.source.text[start] == "(") else -1

    def _holds(self, one: _List, word: str) -> bool:
        if one.kind == "action":
            return word in _FIELDS or not (one.size or one.word)
        if one.kind in ("heads", "file"):
            return word in ("-", "number") if one.kind == "heads" else word != "define"
        return one.kind in _WORDY and word not in _FIELDS and word not in _SECTIONS

    def _end(self, start: int) -> None:
        if len(self._open) == 1:
            self._edit(start, 1, "", self._outer.early)
            return
        one, outer = self._open.pop(), self._open[-1]
        outer.late = max(outer.late, one.late) if outer.late < 0 else outer.late
        outer.early = max(outer.early, one.early) if outer.early < 0 else outer.early
        self._outer = one
        self._closed.append((one, start))

    def _reopen(self, number: int) -> None:
        """Reopen the lists that ended right before the token, from the last one to a number."""
        self.is_split |= self.spare > 0 or any(one.kind == "action" for one, _ in self._closed[number:])
        for one, end in reversed(self._closed[number:]):
            self._open.append(one)
            if one.kind == "action" and one.single >= 0 and one.beside > 1:
                self._edit(one.single, 0, _AND)
            else:
                self._edit(end, 1, "", one.early)
        del self._closed[number:]


@lru_cache(maxsize=4)  # a file is checked, repaired and checked again
def balancing(text: str) -> list[Edit]:
    """The edits that add missing parentheses and remove surplus ones; empty if none is found. Takes linear time."""
    scanner = _Scanner(text)
    is_balanced = scanner.spare == 0
    if not any(token == "define" for token, *_ in scanner.tokens) or not scanner.scan():
        return []
    if is_balanced and scanner.is_split:
        return []  # the list that follows the missing parenthesis is misplaced, and no parenthesis is missing
    if len(scanner.edits) > 1:
        other = _Scanner(text, is_lenient=True)
        scanner = other if other.scan() and len(other.edits) < len(scanner.edits) else scanner
    edits, laid_out = (sorted(some, key=lambda edit: edit[:2]) for some in (scanner.edits, scanner.laid_out))
    if laid_out == edits:
        return edits
    again = _Scanner(edited(text, laid_out))
    return laid_out if again.scan() and not again.edits else edits


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    pieces, done = list[str](), 0
    for start, end, new in edits:
        pieces += (text[done:start], new)
        done = end
    return "".join((*pieces, text[done:]))


def unbalanced(text: str) -> tuple[tuple[Defect, ...], str]:
    """The defects of missing and surplus parentheses, and the text without them.

    Positions stay, except in a line with a missing parenthesis whose place is not a blank.
    """
    edits = balancing(text)
    blank = [(start, end + (bool(new) and text[start : start + 1] == " "), new or " ") for start, end, new in edits]
    fixed = edited(text, edits if len({start for start, *_ in edits}) < len(edits) else blank)
    places = groupby(edits, key=lambda edit: edit[:2] if edit[2] else edit)
    groups = [(start, "".join(edit[2] for edit in group)) for (start, *_), group in places]
    source = Source(text)
    return tuple(_defect(source, start, new) for start, new in groups[:_MOST_DEFECTS]), fixed


_MOST_DEFECTS = 50
_BEFORE = re.compile(r"(\(?[^\s()][^()]*?)[ \t\r\n]*(\)?)[\s)]*\Z")
_FOLLOWING = re.compile(r"\([^()\n]{1,60}\)|[^\s]{1,40}")
_COMMENT = re.compile(r";[^\r\n]*")


def place_of_edit(text: str, start: int, new: str) -> str:
    """Where an edit is: after an atom or a word, or before one."""
    if new[:1] == "(":
        following = _FOLLOWING.match(text, start)
        return f"before {following[0] if following else '('}"
    before = _BEFORE.search(_COMMENT.sub("", text[max(0, start - 200) : start]))
    words = before[1].split() if before else ["("]
    return f"after {' '.join(words)})" if before and before[2] else f"after {words[-1]}"


def _defect(source: Source, start: int, new: str) -> Defect:
    line, _ = place = source.position(start)
    many = f"{len(new)} parentheses are" if len(new) > 1 else "a parenthesis is"
    what = "(and is missing" if new == _AND else f"{many} missing" if new else "a parenthesis is surplus"
    remedy = f"write {new.strip()} there" if new else "remove it"
    return syntax_defect(f"{what} here: line {line}, {place_of_edit(source.text, start, new)}", remedy, place)
