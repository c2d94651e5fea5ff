"""Reads plans: plan files, the output of planners, and the answers of models.

A step is a list, `(go x y)`, a call, `go(x, y)`, or a line of a planner's log, `0: GO X Y` or `go x y (1)`. In a task
with time it is written `TIME: (go x y) [DURATION]`. Numbers, bullets, quotes and other markup around it do not matter.
Other lines are skipped and counted.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from pddlego.pddl import Defect, Domain, PddlSyntaxError, Problem
from pddlego.pddl.constraints import constraints_in
from pddlego.pddl.costs import needs_time
from pddlego.pddl.rules import Position, syntax_defect
from pddlego.pddl.sexpr import MAX_NUMBER, Source
from pddlego.planning.result import Plan, PlanStep, TimedStep
from pddlego.planning.unconstrained import constraints_of
from pddlego.util.answers import blanked, unspoken
from pddlego.util.text import count, one_line


@dataclass(frozen=True)
class PlanReading:
    """A plan, and the position of each of its steps in the text. `note` describes skipped lines; empty without any."""

    plan: Plan
    places: tuple[Position, ...]
    note: str = ""


TIMED_FORM = "TIME: (action object …) [DURATION]"
"""How a step of a durative action is written."""


def read_plan(text: str, domain: Domain, problem: Problem) -> PlanReading:
    """Read a plan file or the output of a planner. Steps with time stamps are sorted by time.

    `;` begins a comment. Of several plans the last counts. Raises `PddlSyntaxError` with everything that looks like a
    step and cannot be read, and for a text that has words but no steps.
    """
    return _Reader(text, domain, problem, prose=False).read()


def plan_in(answer: str, domain: Domain, problem: Problem) -> PlanReading:
    """Read the plan in a model's answer. Of several plans the last counts. An answer without steps is an empty plan.

    From an answer that breaks off, the complete steps are read. Raises `PddlSyntaxError` for texts that look like steps
    and cannot be read.
    """
    return _Reader(answer, domain, problem, prose=True).read()


_MOST_FAULTS = 20

_FENCE = re.compile(r"```+|^[ \t>]*~~~+", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+.-]*[ \t]*\r?\n")
_COMMENT = re.compile(r"(?<!&nbsp);[^\r\n]*")
_COMMENT_LINE = re.compile(r"^[ \t]*;[^\r\n]*", re.MULTILINE)
_CLOSED = re.compile(r"\([^()]*\)")
_LINE = re.compile(r"[^\r\n]+")

_LIST = re.compile(r"(?:(?<![\w-])(?P<head>\w[\w-]*)(?P<blank>[ \t]?))?(?P<open>\()(?P<body>[^()]*)(?P<close>\))?")
"""A list or a call; without `close` it is not complete."""

_NAME = re.compile(r"\??\w[\w-]*")
_WORD = re.compile(r"[\w?][\w-]*")
_NUMBER = re.compile(r"\s*[\d.]+\s*")

_BETWEEN = re.compile(
    r"(?:\[t=[^\]]*\]|\b\d[\d.,]{0,20}e[-+]?\d{1,4}|[\s\d\ufeff,;.:|>*_\"'`\[\]{}=→•·–—+-]|\\[nrt]|\b(?:step|then|and|next|finally|first|plan)\b)*",
    re.IGNORECASE,
)
"""The text that may be between two steps of a list, and before the first: markup, numbers, connecting words."""

_ITEM = re.compile(r"[\s>#*_]*(?:[-+•|]|\*\s|\d[\d.]*\s*[.):]|step\s*\d)", re.IGNORECASE)
"""The beginning of an item of a list, or of a row of a table."""

_MARKUP = re.compile(r"<[^<>]{0,20}>|&\w{1,8};")
"""A tag or a character of HTML."""

_LABEL = re.compile(r"(?<![\w.])([-+]?(?:\d+(?:[.,]\d*)?|\.\d+)(?:e[-+]?\d{1,4})?)\s*([:.)])", re.IGNORECASE)

_DURATION = re.compile(
    r"\s*\[\s*(?:d(?:uration)?:\s*)?([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,4})?)\s*(?:;[^\[\]]*)?\]", re.I
)
"""The duration after a step. Planners also write `[D:5.000; C:1.000]`."""

_CUT = re.compile(r"\s*\[\s*(?:d(?:uration)?:)?[\d.,\s]*(?:;[^\[\]]*)?(?:\[|\Z)", re.I)
"""A duration without its end, after a step."""

_CUT_STEP = re.compile(r"(?:\([^()]*|^[ \t]*[\d.]+:?\s*)\Z", re.MULTILINE)
"""A step without its end, or the time of one, at the end of a text."""

_COMMA = re.compile(r"\s*\[\s*(?:d(?:uration)?:\s*)?(\d+,\d+)", re.I)
"""A duration with a decimal comma."""

_SEGMENT = re.compile(r"(?:[^\"|`\\]|\\(?![nrt]))+")
"""A cell of a table, a text of JSON, or code inside of a line."""

_LEAD = re.compile(
    r"[\s\ufeff>*_#•+-]*(?:\[t=[^\]]*\]\s*)?(?:step\b\s*)?(?:\d+(?:[.,]\d+)?(?:e[-+]?\d{1,4})?\s*[:.)])?[\s*_-]*",
    re.IGNORECASE,
)
_COST = re.compile(r"(?:\([ \d.]+\)|\[[\d.:;DC ]*\])\s*\Z")

_PLAN_WORD = re.compile(r"\b(?:plan|solution)\b", re.IGNORECASE)
_FOUND = re.compile(r"\b(?:found|follows|computed)\b", re.IGNORECASE)
_CORRECTION = re.compile(r"\b(?:correct|corrected|correction|revised|instead|fixed|final|improved)\b", re.IGNORECASE)
_STEP_WORD = re.compile(r"\b(?:step|action|move)\b", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:because|explanation|explained|why|works?|reasons?|reasoning|step|action|move|state|goal)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class _Label:
    """The number before a step. With a colon it is a time stamp."""

    value: Decimal
    is_time: bool
    text: str = ""


@dataclass(frozen=True)
class _Candidate:
    """A text at an offset that looks like a step; `step` is None if it cannot be read.

    `known`: the first word is the name of an action. `listed`: it is an item of a list of steps, not a mention in a
    sentence. `begins`: the text before it announces a plan. `broken_off`: the text, or its duration, ends in it.
    `rest`: the text after it.
    """

    offset: int
    step: PlanStep | None
    known: bool
    listed: bool = True
    label: _Label | None = None
    begins: bool = False
    broken_off: bool = False
    rest: str = ""


@dataclass(frozen=True)
class _Run:
    """The steps of one plan. `decisive`: in a block of code, or announced as the corrected plan."""

    candidates: tuple[_Candidate, ...]
    decisive: bool

    @property
    def is_known(self) -> bool:
        return any(candidate.known for candidate in self.candidates)


@dataclass(frozen=True)
class _Part:
    """A block of code, or the text between two blocks. `strict`: parentheses and semicolons are PDDL, not punctuation.

    `text` has the length of `raw`, but no comments and no line breaks inside of parentheses.
    """

    start: int
    raw: str
    fenced: bool
    strict: bool

    @property
    def text(self) -> str:
        text = (_COMMENT if self.strict else _COMMENT_LINE).sub(lambda match: " " * len(match[0]), self.raw)
        return _CLOSED.sub(lambda match: re.sub(r"[\r\n]", " ", match[0]), text)


class _Reader:
    """Reads one text. `prose`: it is an answer, in which parentheses and semicolons may be punctuation."""

    def __init__(self, text: str, domain: Domain, problem: Problem, prose: bool) -> None:
        self.text, self.prose = _JSON_STEP.sub(_as_list, blanked(text, unspoken(text))), prose
        self.arities = {action.name: len(action.parameters) for action in domain.schemas}
        self.durative = {action.name for action in domain.durative}
        self.is_timed = needs_time(domain, problem) is not None
        self.keeps_times = any(constraint.times for constraint in constraints_in(constraints_of(domain, problem)))
        self.objects = {obj.name for obj in (*domain.constants, *problem.objects)}
        self.predicates = domain.predicates_by_name
        self._place = Source(self.text).position
        self._lines: list[int] = []
        opened = self.text.rfind("(")
        tail = self.text[opened:].rstrip()
        self._broken_off = -1 if opened < 0 or {")", "\n"} & {*tail} or "```" in tail else opened

    def read(self) -> PlanReading:
        runs = [run for part in self._parts() for run in self._runs(part)]
        candidates = _chosen(runs)
        plans = [run.candidates for run in runs if any(one.known and one.listed for one in run.candidates)]
        others = [one for plan in plans for one in plan] if len(plans) > 1 else []
        notes = []
        if len(plans) > 1:
            is_last = candidates[-1] in plans[-1]
            which = "the last one" if is_last else f"the one from line {self._place(candidates[0].offset)[0]} on"
            notes.append(f"{len(plans)} plans found; {which} is used")
        candidates = self._once(candidates) if self.prose else candidates
        broken_off = self.prose and len(candidates) > 1 and candidates[-1].broken_off
        candidates = candidates[:-1] if broken_off else candidates
        unreadable = [self._unreadable(one.offset) for one in candidates if one.step is None or one.broken_off]
        *_, end = self._parts()
        cut = None if self.prose or unreadable else _CUT_STEP.search(end.text)
        unreadable += [self._unreadable(end.start + cut.start())] if cut and (self.is_timed or cut[0][0] == "(") else []
        if unreadable:
            raise PddlSyntaxError(unreadable[:_MOST_FAULTS])
        used = {bisect.bisect(self._lines, one.offset) - 1 for one in (*candidates, *others)}
        skipped = [self._place(at) for number, at in enumerate(self._lines) if number not in used]
        if skipped and not candidates and not self.prose:
            fault = f"no action of the domain is in the text (for example: {', '.join([*self.arities][:3])})"
            raise PddlSyntaxError([syntax_defect(fault, self._one_a_line, skipped[0])])
        lines = f"{count(len(skipped), 'line')} without a step of the plan skipped, the first is line "
        notes += [f"{lines}{skipped[0][0]}"] if skipped else []
        notes += ["the text ends inside of a step"] if broken_off else []
        if self.is_timed:
            return self._timed(candidates, "; ".join(notes))
        candidates = self._in_order(candidates)
        times = [one.label.value for one in candidates if one.label is not None and one.label.is_time]
        parallel = any(one == other for one, other in pairwise(times)) or self.keeps_times
        kept = tuple(times) if parallel and len(times) == len(candidates) else ()
        plan = Plan(tuple(one.step for one in candidates if one.step is not None), kept)
        places = tuple(self._place(one.offset) for one in candidates)
        return PlanReading(plan, places, "; ".join(notes))

    def _timed(self, candidates: Sequence[_Candidate], note: str) -> PlanReading:
        """The plan with the times and durations of its steps."""
        steps = sorted((self._timed_step(one) for one in candidates), key=lambda step: step[0].start)
        return PlanReading(Plan.of(step for step, _ in steps), tuple(place for _, place in steps), note)

    def _timed_step(self, one: _Candidate) -> tuple[TimedStep, Position]:
        """A step with its time and, if it is durative, its duration. Raises `PddlSyntaxError`."""
        place = self._place(one.offset)
        fault, advice = f"{one.step} has no time", f"write {TIMED_FORM}"
        comma = _COMMA.match(one.rest)
        if wrong := comma[1] if comma else one.label.text if one.label and "," in one.label.text else "":
            fault, advice = f"{wrong} is not a number", f"write {wrong.replace(',', '.')}, not {wrong}"
        elif one.step is not None and one.label is not None and one.label.is_time:
            match = _DURATION.match(one.rest) if one.step.action in self.durative else None
            duration = Decimal(match[1]) if match else None
            if all(len(f"{value:f}") <= MAX_NUMBER for value in (one.label.value, duration or 0)):
                return TimedStep(one.label.value, one.step, duration), place
            fault, advice = f"a number has more than {MAX_NUMBER} characters", self._one_a_line
        raise PddlSyntaxError([syntax_defect(f"line {place[0]}: {fault}", advice, place)])

    # parts of the text

    def _parts(self) -> Iterator[_Part]:
        start, fenced = 0, False
        for fence in _FENCE.finditer(self.text):
            yield _Part(start, self.text[start : fence.start()], fenced, fenced or not self.prose)
            start, fenced = fence.end(), not fenced
            language = _LANGUAGE.match(self.text, start) if fenced else None
            start = language.end() if language else start
        yield _Part(start, self.text[start:], fenced, fenced or not self.prose)

    def _runs(self, part: _Part) -> Iterator[_Run]:
        """The plans of a part. One begins where it is announced, or where a list begins again with its first number."""
        run: list[_Candidate] = []
        labels: list[_Label] = []
        decisive = part.fenced
        for line in _LINE.finditer(part.text):
            at = part.start + line.start()
            if re.search(r"\w", line[0]):
                self._lines.append(at)
            candidates = _as_sentence(list(self._candidates(line[0], at, part)), line[0], at)
            before = line[0][: candidates[0].offset - at] if candidates else part.raw[line.start() : line.end()]
            begins = _announces(before)
            entries: list[_Candidate | None] = [*candidates] or [None]
            for one in entries:
                again = one is not None and (one.begins or self._is_first(one.label, labels))
                if run and (begins or again):
                    yield _Run(tuple(run), decisive)
                    run, labels = [], []
                if begins:
                    decisive = part.fenced or _CORRECTION.search(before) is not None
                begins = False
                run += [one] if one is not None else []
                labels += [one.label] if one is not None and one.label is not None else []
        if run:
            yield _Run(tuple(run), decisive)

    def _is_first(self, label: _Label | None, labels: Sequence[_Label]) -> bool:
        """Whether a list begins again with its first number. Times in a file need not be in order."""
        if label is None or not labels or (label.is_time and not self.prose):
            return False
        return label.value == labels[0].value != labels[-1].value

    # steps

    def _candidates(self, line: str, at: int, part: _Part) -> Iterator[_Candidate]:
        """The texts in a line that look like steps."""
        end, is_list, empty, is_item = 0, True, True, _ITEM.match(line) is not None
        for number, match in enumerate(_LIST.finditer(line)):
            call = [match["head"]] if self._is_call(match) else []
            start = match.start() if call else match.start("open")
            gap, words, end = line[end:start], [*call, *_words(match["body"])], match.end()
            begins = _announces(gap)
            known = bool(words) and words[0].lower() in self.arities
            is_next = not empty and known and (part.strict or not re.search(r"[^\W\d]", _MARKUP.sub("", gap)))
            is_list = is_list and (is_next or _BETWEEN.fullmatch(gap) is not None)
            listed = is_list or begins or (empty and (is_item or _names_step(gap)))
            label = _label(gap) if listed else None
            step = _step(words) if match["close"] and words else None
            if words and self._is_step(words, listed, label, part.strict):
                empty, is_list = False, listed
                rest = part.raw[at - part.start + end : at - part.start + min(end + 300, len(line))]
                broken_off = at + match.start("open") == self._broken_off or _CUT.match(rest) is not None
                yield _Candidate(at + start, step, known, listed, label, begins, broken_off=broken_off, rest=rest)
            elif not number and step and step.action not in self.predicates and _WORD.findall(line) == words:
                yield _Candidate(at + start, step, known=False, listed=False)  # alone on its line
        if empty:
            yield from self._bare(line, at, part)

    def _is_step(self, words: list[str], listed: bool, label: _Label | None, strict: bool) -> bool:
        """Whether a list is a step, maybe a wrong one, and not a fact or a remark."""
        head, *args = (word.lower() for word in words)
        if head in self.arities:
            return True
        readable, names_object = _step(words) is not None, not self.objects.isdisjoint(args)
        if strict:
            return listed and (readable or names_object)
        return listed and readable and head not in self.predicates and (names_object or label is not None)

    def _is_call(self, match: re.Match[str]) -> bool:
        """Whether a list is the arguments of the action before it, not a cost as in `go x y (1)`."""
        if match["head"] is None or match["head"].lower() not in self.arities or _NUMBER.fullmatch(match["body"]):
            return False
        return not match["blank"] or "," in match["body"] or not match["body"].strip()

    def _bare(self, line: str, at: int, part: _Part) -> Iterator[_Candidate]:
        """The steps of a line without parentheses, such as `0: GO X Y` or `go x y (1)`."""
        for segment in _SEGMENT.finditer(line):
            lead = _LEAD.match(segment[0])
            assert lead is not None
            rest = segment[0][lead.end() :]
            cost = _COST.search(rest)
            words = _words((rest[: cost.start()] if cost else rest).rstrip(" \t.,;*'_"))
            if not words:
                continue
            label = _label(lead[0])
            head, *args = [word.lower() for word in words]
            names_object, known = not self.objects.isdisjoint(args), head in self.arities
            is_marked = cost is not None or (label is not None and label.is_time)
            if known:
                as_declared = len(args) == self.arities[head] and (part.strict or self.objects.issuperset(args))
                like_step = (
                    is_marked or part.fenced or as_declared or (names_object and (part.strict or label is not None))
                )
            else:
                like_step = names_object and (is_marked or (part.strict and self.objects.issuperset(args)))
            if like_step:
                yield _Candidate(
                    at + segment.start() + lead.end(), _step(words), known, label=label, rest=cost[0] if cost else ""
                )

    # the plan

    def _once(self, candidates: Sequence[_Candidate]) -> Sequence[_Candidate]:
        """The steps without their repetition in an explanation after the plan."""
        half, odd = divmod(len(candidates), 2)
        steps = [one.step for one in candidates]
        if odd or half < 2 or steps[:half] != steps[half:]:
            return candidates
        between = [candidates[half - 1].offset < line < candidates[half].offset for line in self._lines]
        return candidates[:half] if sum(between) > 1 else candidates

    def _in_order(self, candidates: Sequence[_Candidate]) -> Sequence[_Candidate]:
        """The steps by time, if all have one. Raises `PddlSyntaxError` if only some do and they are not in order."""
        timed = [one for one in candidates if one.label is not None and one.label.is_time]
        times = [one.label.value for one in timed if one.label is not None]
        if len(timed) == len(candidates):
            order = sorted(range(len(candidates)), key=times.__getitem__)
            return [candidates[number] for number in order]
        for one, (time, following) in zip(timed[1:], pairwise(times), strict=True):
            if following <= time:
                fault = f"time {following} follows time {time}, and other steps have no time"
                raise PddlSyntaxError([syntax_defect(fault, "give each step a time, or none", self._place(one.offset))])
        return candidates

    def _unreadable(self, offset: int) -> Defect:
        place = self._place(offset)
        quoted = one_line(self.text[offset : offset + 200].splitlines()[0], 60)
        return syntax_defect(f"line {place[0]}, '{quoted}', is not an action", self._one_a_line, place)

    @property
    def _one_a_line(self) -> str:
        return f"write one action a line: {TIMED_FORM if self.is_timed else '(action object …)'}"


_JSON_STEP = re.compile(
    r"""\{\s*"(?:action|name|step)"\s*:\s*"(?P<name>[\w-]{1,200})"\s*,
        \s*"(?:args|arguments|parameters|params|objects)"\s*:\s*\[(?P<arguments>[^\[\]{}]*)\]\s*\}""",
    re.IGNORECASE | re.VERBOSE,
)
"""A step as a JSON object: `{"action": "go", "args": ["x", "y"]}`."""


def _as_list(match: re.Match[str]) -> str:
    """The step of a JSON object as a list, with as many characters and lines."""
    words = re.findall(r"[^\s\",']+", match["arguments"])
    lines = match[0].count("\n")
    return f"({' '.join((match['name'], *words))})".ljust(len(match[0]) - lines) + "\n" * lines


def _as_sentence(candidates: list[_Candidate], line: str, at: int) -> list[_Candidate]:
    """The steps of a line. In a sentence, as in `First (go x y), after which I (rest)`, all of them are mentions."""
    if all(one.listed for one in candidates) or candidates[0].begins or _ITEM.match(line):
        return candidates
    has_words = re.search(r"[^\W\d]", line[: candidates[0].offset - at]) is not None
    return [replace(one, listed=False) for one in candidates] if has_words else candidates


def _chosen(runs: Sequence[_Run]) -> Sequence[_Candidate]:
    """The steps of the last plan. Steps that sentences mention are left out, unless there are no others."""
    known = [run for run in runs if run.is_known] or runs
    preferred = [run for run in known if run.decisive] or known
    candidates = preferred[-1].candidates if preferred else ()
    return [one for one in candidates if one.listed] or candidates


def _announces(text: str) -> bool:
    """Whether a plan follows a text: `Plan:`, `The correct plan is:`, `Solution found!`."""
    line = text.strip(" \t*_#`\"'[{(")
    if not line:
        return False
    about_plan, is_result = _PLAN_WORD.search(line) is not None, _FOUND.search(line) is not None
    if line.startswith(";") or not line.endswith(":"):
        return about_plan and is_result
    return (about_plan or _CORRECTION.search(line) is not None) and _OTHER.search(line) is None


def _names_step(text: str) -> bool:
    """Whether a step follows a text: `Final step:`."""
    return text.rstrip(" \t*_`\"'").endswith(":") and _STEP_WORD.search(text) is not None


def _label(text: str) -> _Label | None:
    match = _LABEL.search(text)
    return _Label(Decimal(match[1].replace(",", ".")), match[2] == ":", match[1]) if match else None


def _step(words: Sequence[str]) -> PlanStep | None:
    """The step of a name and arguments; None if the words are not names."""
    head, *args = (word.lower() for word in words)
    return PlanStep(head, tuple(args)) if head[0].isalpha() and all(map(_NAME.fullmatch, words)) else None


def _words(text: str) -> list[str]:
    """The words of a step, which blanks or commas separate, without quotes."""
    return [word for word in (word.strip("\"'") for word in text.replace(",", " ").split()) if word]
