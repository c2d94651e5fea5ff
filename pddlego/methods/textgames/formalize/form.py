"""The form of an answer that is one edit or one problem file and nothing else, which rewards require.

The readers of answers are tolerant, because a model's slips should not lose an episode. Rewards are strict, because a
trained model finds every text that is read like the right answer and says something else.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pddlego.episode.ask import MAX_ANSWER
from pddlego.methods.textgames.formalize import Formalizer, ProblemProposal, PromptContext
from pddlego.pddl import EntryKind, Problem
from pddlego.pddl.edit import read_edit
from pddlego.pddl.names import is_name
from pddlego.pddl.nearly_json import EditSyntaxError
from pddlego.pddl.problem import read_problem
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show
from pddlego.util.answers import reasoning, unspoken

_FENCED = re.compile(r"```[a-z]{0,10}[ \t]*\n((?:(?!```).)*)```\Z", re.DOTALL | re.IGNORECASE)
"""A text that is one fenced block."""

_MARK = re.compile(r"\s*<\|\w{1,20}\|>\s*")
"""A special token alone, such as the end of a Harmony message."""

_FOREIGN = re.compile(r"[^\t\r\n -:<-~]")
"""A semicolon, which begins a comment, or a character that is not printable ASCII or white space."""

_NAMES = r"(?:(?!- )[^\s();]+ )+- [^\s();]+"
_OBJECTS = re.compile(_NAMES)
_SECTION = re.compile(rf"(?:{_NAMES}(?: |\Z))*")
_FACT = re.compile(r"\([^\s();]+(?: [^\s();]+)*\)")


def reward_fault(answer: str, purpose: str, situation: PromptContext, strict: Formalizer) -> str:
    """Why an answer gets no reward: a fault of its form, or the reason why the `strict` formalizer refuses it.

    An episode goes on with what the tolerant reader makes of such an answer. Lines of an edit that change nothing are
    no reason: they count as wrong facts.
    """
    if fault := form_fault(answer, purpose, situation.knowledge.problem):
        return fault
    proposal = strict.read(_text_of(answer)[0], situation)
    assert isinstance(proposal, ProblemProposal), "only modes that write problems have rewards"
    if proposal.feedback is None:
        return ""
    reasons = [defect.message for defect in proposal.defects if defect.blocking]
    reasons += [str(line) for line in proposal.entries if line.kind in (EntryKind.REFUSED, EntryKind.TOLERATED)]
    idle = proposal.report is not None and not reasons
    return "" if idle else " ".join((proposal.feedback.message, *reasons[:1]))


def form_fault(answer: str, purpose: str, before: Problem) -> str:
    """Why an answer is not one edit (purpose `edit`) or one problem file (`gen`) and nothing else; empty if it is.

    Reasoning before it and one code fence around it do not count. Comments do: they may say anything. A file has the
    name, the domain and the goal of the problem `before`, which its question shows.
    """
    text, fault = _text_of(answer)
    if fault:
        return fault
    if _FOREIGN.search(text):
        return "there is a comment, or a character that PDDL does not have"
    if len(text) > 2 * len(" ".join(text.split())) + 1000:
        return "it is mostly white space"
    return _edit_fault(text) if purpose == "edit" else _file_fault(text, before)


def _text_of(answer: str) -> tuple[str, str]:
    """The text of an answer without its reasoning and the code fence around it, and the fault of what is left out."""
    if len(answer) > MAX_ANSWER:
        return "", f"the answer has more than {MAX_ANSWER:,} characters"
    end, stop, thoughts = 0, len(answer), reasoning(answer)
    for start, after in unspoken(answer):
        if after == len(answer) and ((start, after) not in thoughts or _MARK.fullmatch(answer, start)):
            stop = start  # markers, and what follows the turn
        elif answer[end:start].strip():
            return "", "there is text before the reasoning"
        else:
            end = after
    text = answer[end:stop].strip()
    fenced = _FENCED.match(text)
    text = fenced[1].strip() if fenced else text
    if not text:
        return "", "there is no answer after the reasoning" if end else "the answer is empty"
    if answer.count("<|channel|>final") > 1:
        return "", "there are two final messages"
    return text, ""


def _edit_fault(text: str) -> str:
    """Why a text is not a JSON object with the lines of an edit, each of them once."""
    try:
        json.loads(text, object_pairs_hook=_once)
        edit, _ = read_edit(text, tolerant=False, look=True)  # where it is not offered, the strict reader refuses it
    except (EditSyntaxError, ValueError, RecursionError) as error:
        return f"it is not an edit: {error}"
    for section, form in ((edit.objects, _OBJECTS), (edit.init, _FACT)):
        once = [*section.add, *section.delete, *(old for old, _ in section.replace)]
        lines = [*once, *(new or "" for _, new in section.replace)]  # two things may get one new name
        wrong = [line for line in lines if not (form.fullmatch(line) and _has_only_names(line))]
        wrong += [line for line, number in Counter(once).items() if number > 1]
        if wrong:
            return f"a line of the edit is not in its form, or is there twice: '{wrong[0][:100]}'"
    return ""


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Raises `ValueError` for a key that is there twice."""
    keys = Counter(key.lower() for key, _ in pairs)
    if len(keys) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _file_fault(text: str, before: Problem) -> str:
    """Why a text is not a problem file with the sections of the question, and each object and fact once."""
    reading, expected = read_sexprs(text), read_sexprs(str(before)).expressions[0]
    if reading.defects or len(reading.expressions) != 1 or not _FILE.fullmatch(text):
        return "it is not one problem file"
    sections, wanted = _sections(reading.expressions[0]), _sections(expected)
    if sections is None or wanted is None or sections.keys() != wanted.keys():
        return "it has other sections than the file of the question"
    if any(sections[name] != wanted[name] for name in sections if name not in (":objects", ":init")):
        return "its name, domain or goal is not that of the question"
    problem, facts, words = read_problem(text).problem, sections[":init"], list(map(show, sections[":objects"]))
    if len(facts) != len(problem.facts) or len(set(facts)) < len(facts):
        return "a fact is not in its form, or is there twice"
    names = len(words) - 2 * words.count("-")  # besides each `-` and its type
    if not _SECTION.fullmatch(" ".join(words)) or names != len({obj.name for obj in problem.objects}):
        return "an object is not in its form, or is there twice"
    wrong = [line for line in (*words, *map(show, facts)) if not _has_only_names(line)]
    return f"there is a character that PDDL does not have: {wrong[0][:100]}" if wrong else ""


def _has_only_names(line: str) -> bool:
    """Whether each word of a line of objects, or of a fact, is a name of PDDL or the `-` before a type."""
    return line.isascii() and all(word == "-" or is_name(word) for word in line.lower().strip("()").split())


_FILE = re.compile(r"\(\s*define\b.*\)", re.DOTALL | re.IGNORECASE)
"""A text from the first to the last parenthesis of a file."""


def _sections(file: Sexpr) -> dict[str, tuple[Sexpr, ...]] | None:
    """The sections of a problem file by name; None if one is there twice, or if the file has other parts."""
    if not isinstance(file, tuple) or file[:1] != ("define",):
        return None
    sections: dict[str, tuple[Sexpr, ...]] = {}
    for part in file[1:]:
        if not isinstance(part, tuple) or not part or not isinstance(part[0], str) or part[0] in sections:
            return None
        sections[part[0]] = part[1:]
    return sections
