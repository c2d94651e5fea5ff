"""Runs the templates of prompts within limits: a folder of prompts may come from anybody, and is data.

Only a small part of the template language is understood: what is put out, conditions, loops, parts that are included,
names that are set, and filters. Nothing is called but `range`, so that no method makes much out of little. What is done
counts as work, and the work of one rendering has an end. It is counted and not timed, so that the same template always
ends the same way.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jinja2
import jinja2.debug  # jinja2 itself imports it when a template fails, which may be for want of open files
import jinja2.sandbox
import jinja2.visitor
from jinja2 import nodes

MAX_PROMPT = 2_000_000
"""Characters of a rendered prompt, and of a text in it; the longest useful one has some hundred thousand."""

MAX_WORK = 5_000_000
"""Work of one rendering: characters and parts that are looked at, and parts of the template that are passed."""

MAX_WIDTH = 1_000
"""The widest field that a format may ask for."""

INCLUDE = 1_000
"""The work of including a part, besides what the part itself does."""

PASSED = frozenset(
    (
        *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Include, nodes.Assign),
        *(nodes.With, nodes.Const, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.CondExpr),
        *(nodes.Filter, nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Neg),
        *(nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Concat),
        *(nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.Call),
    )
)
"""The parts of the template language that prompts are made of."""

FILTERS = frozenset(
    (
        *("abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "int", "items"),
        *("join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse"),
        *("select", "selectattr", "sort", "string", "title", "trim", "truncate", "unique", "upper"),
    )
)
"""What a template may use: none of these makes much out of little but `join`, whose result is counted first."""

_SIZED = (str, bytes, list, tuple, dict, set, frozenset, range)


class TooMuchError(Exception):
    """A template asks for more than any prompt needs."""


class LimitedEnvironment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """A sandbox that understands `PASSED` and `FILTERS` only, and counts work."""

    intercepted_binops = frozenset({"*", "%", "+"})

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=self.put_out, **options)
        self._work = self._characters = 0
        self._weights: dict[str, int] = {}
        self.globals = {"range": self.globals["range"]}
        self.filters = {name: self._counting(each) for name, each in self.filters.items() if name in FILTERS}
        tests: dict[str, Any] = {**self.tests}
        self.tests = {name: self._counting(each) for name, each in tests.items()}

    def begin(self) -> None:
        """A template is about to be rendered."""
        self._work = self._characters = 0

    def charge(self, work: int) -> None:
        """Something is about to be done. Raises `TooMuchError` if all of it together is too much."""
        self._work += work
        if self._work > MAX_WORK:
            raise TooMuchError("it does more than any prompt needs")

    # what the changed templates call

    def put_out(self, value: Any) -> Any:
        """Something stands in the prompt."""
        text = value if isinstance(value, str) else str(self.weighed(value))
        self.charge(len(text))
        self._characters += len(text)
        if self._characters > MAX_PROMPT:
            raise TooMuchError(f"it is longer than {MAX_PROMPT:,} characters")
        return text

    def counted(self, values: Iterable[Any], weight: int) -> Iterator[Any]:
        """What a loop goes through; a round of it has this weight."""
        for value in values:
            self.charge(weight)
            yield value

    def weighed(self, value: Any) -> Any:
        """A value that is about to be looked at in full. What has no length yet is made into a list."""
        if isinstance(value, Iterator):
            value = list(self.counted(value, 1))
        waiting = [value]
        while waiting:
            part = waiting.pop()
            self.charge(1 + (len(part) if isinstance(part, _SIZED) else 0))
            if isinstance(part, dict):
                waiting += [*part.keys(), *part.values()]
            elif isinstance(part, (list, tuple, set, frozenset)):
                waiting += part
        return value

    def joined(self, *parts: Any) -> str:
        """What `~` makes of its parts."""
        return str(self._text("".join([str(self.weighed(each)) for each in parts])))

    # what the sandbox asks

    def is_safe_callable(self, obj: Any) -> bool:
        return obj in (self.counted, self.weighed, self.joined) or obj is self.globals["range"]

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Part of something; slices are copies."""
        found = super().getitem(obj, argument)
        return self.weighed(found) if isinstance(argument, slice) else found

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Refuses what makes a long text or a large number out of little."""
        before = self._work
        self.weighed(left)
        self.weighed(right)
        has_size = isinstance(left, _SIZED) or isinstance(right, _SIZED)
        if isinstance(left, str) and operator == "%":
            if any(int(each) > MAX_WIDTH for each in re.findall(r"\d{1,12}", left)) or "*" in left:
                raise TooMuchError("a field of a format is too wide")
            self.charge(left.count("%") * (self._work - before))
        elif has_size and operator != "+":
            raise TooMuchError(f"'{operator}' is for numbers in prompts")
        if not has_size and operator == "*" and max(abs(left), abs(right)) > MAX_PROMPT:
            raise TooMuchError("a number is too large")
        return self._text(super().call_binop(context, operator, left, right))

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> jinja2.Template:  # noqa: A002
        """A template, whose parts outside of loops are all passed once."""
        template = super().get_template(name, parent, globals)
        self.charge(INCLUDE + self._weights.get(template.name or "", 0))
        return template

    def _generate(self, source: nodes.Template, name: Any, *arguments: Any, **named: Any) -> str:
        for part in source.find_all(nodes.Node):
            _check_part(part)
        self._weights[str(name)] = _weight(source)
        return str(super()._generate(_Counts().visit(source), name, *arguments, **named))

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter or a test that counts what it is given and what it makes."""

        @functools.wraps(function)
        def counting(*arguments: Any, **named: Any) -> Any:
            given = [self.weighed(each) for each in arguments]
            more = {name: self.weighed(each) for name, each in named.items()}
            if function.__name__.endswith("do_join"):
                self._check_join(given, more)
            return self._text(function(*given, **more))

        return counting

    def _check_join(self, given: list[Any], named: dict[str, Any]) -> None:
        values = next((each for each in given if isinstance(each, _SIZED)), ())
        texts = [each for each in (*given, *named.values()) if isinstance(each, str)]
        self.charge(len(values) * max(map(len, texts), default=0))

    def _text(self, made: Any) -> Any:
        """What was made. Raises `TooMuchError` if it is too long a text."""
        if isinstance(made, str):
            self.charge(len(made))
            if len(made) > MAX_PROMPT:
                raise TooMuchError("a text is too long")
        return made


class _Counts(jinja2.visitor.NodeTransformer):
    """Makes loops, comparisons and `~` count what they go through."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 -- the names are the visitor's
        weight = nodes.Const(_weight(node))
        self.generic_visit(node)
        node.iter = _calls("counted", [node.iter, weight])
        return node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _calls("weighed", [node.expr])
        return node

    def visit_Operand(self, node: nodes.Operand) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _calls("weighed", [node.expr])
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        return _calls("joined", [self.visit(each) for each in node.nodes])


def _calls(method: str, arguments: list[Any]) -> nodes.Call:
    return nodes.Call(nodes.EnvironmentAttribute(method), arguments, [], None, None)


def _check_part(part: nodes.Node) -> None:
    """Raises `TemplateAssertionError` for what prompts are not made of."""
    name = type(part).__name__
    if isinstance(part, nodes.Call):
        called = part.node
        if not isinstance(called, nodes.Name) or called.name != "range":
            raise jinja2.TemplateAssertionError("nothing is called in prompts but 'range'", part.lineno)
    elif isinstance(part, nodes.For) and part.recursive:
        raise jinja2.TemplateAssertionError("loops of prompts are not recursive", part.lineno)
    elif isinstance(part, (nodes.Filter, nodes.Test)) and (part.dyn_args or part.dyn_kwargs):
        raise jinja2.TemplateAssertionError("'*' does not stand in prompts", part.lineno)
    elif type(part) not in PASSED:
        raise jinja2.TemplateAssertionError(f"'{name}' does not stand in prompts", part.lineno)


def _weight(part: nodes.Node) -> int:
    """How much is in a part of a template: its parts, and the characters of its texts."""
    weight = 1
    for inner in part.find_all(nodes.Node):
        weight += 1
        if isinstance(inner, nodes.TemplateData):
            weight += len(inner.data)
        elif isinstance(inner, nodes.Const) and isinstance(inner.value, str):
            weight += len(inner.value)
    return weight
