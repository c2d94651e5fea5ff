"""Renders prompt templates. The text of a prompt is never in Python code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import jinja2
import jinja2.sandbox
import jinja2.visitor
from jinja2 import nodes

from pddlego import resources
from pddlego.errors import SettingError

MAX_PROMPT = 2_000_000
"""Characters of a rendered prompt; the longest useful one has some hundred thousand."""

MAX_ROUNDS = 1_000_000
"""Rounds of all loops of one rendering. Counted and not timed, so that the same template always ends the same way."""

MAX_WIDTH = 1_000
"""The widest field that a format may ask for."""

FILTERS = frozenset(
    (
        *("abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "int", "items"),
        *("join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "round"),
        *("select", "selectattr", "sort", "string", "sum", "title", "trim", "truncate", "unique", "upper"),
    )
)
"""What a template may use: none of these makes much out of little."""


class TooMuchError(Exception):
    """A template asks for more than any prompt needs."""


class Prompts:
    """The templates in `prompts/`, strict about undefined names. `folder` holds the parts that belong to one game.

    They run in a sandbox and within limits: a folder of prompts may come from anybody, and is data.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._environment = _Limited(
            loader=jinja2.FunctionLoader(lambda name: resources.read("prompts", name)),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )

    def render(self, name: str, **values: Any) -> str:
        """The text of `prompts/NAME.j2`. Raises `SettingError` if it is missing, wrong, or asks for too much."""
        self._environment.begin()
        try:
            text = self._environment.get_template(f"{name}.j2").render(folder=self.folder, **values)
        except (jinja2.TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise SettingError(f"The prompt {name}.j2 cannot be rendered", f"{error}.", "Mend the template.") from error
        except (TooMuchError, MemoryError) as error:
            why = f"{error or 'it needs too much memory'}.".capitalize()
            raise SettingError(f"The prompt {name}.j2 asks for too much", why, "Mend the template.") from error
        return text.strip()


class _Limited(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """A sandbox that counts rounds of loops and characters that are put out, and looks at what is made of texts.

    Everything that doubles a text again and again passes one of `put_out`, `joined`, `call_binop` and the filters.
    """

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=self.put_out, **options)
        self._rounds = self._characters = 0
        self.filters = {name: self._bounded(each) for name, each in self.filters.items() if name in FILTERS}

    def begin(self) -> None:
        """A template is about to be rendered."""
        self._rounds = self._characters = 0

    def round(self) -> str:
        """A loop begins another round."""
        self._rounds += 1
        if self._rounds > MAX_ROUNDS:
            raise TooMuchError(f"its loops have more than {MAX_ROUNDS:,} rounds")
        return ""

    def put_out(self, value: Any) -> Any:
        """Something stands in the prompt, or in a part of it that is used later."""
        self._characters += len(value) if isinstance(value, str) else 1
        if self._characters > MAX_PROMPT:
            raise TooMuchError(f"it is longer than {MAX_PROMPT:,} characters")
        return value

    def joined(self, *parts: Any) -> str:
        """What `~` makes of its parts."""
        return "".join(map(str, map(self.put_out, parts)))

    def is_safe_callable(self, obj: Any) -> bool:
        return obj in (self.round, self.joined) or super().is_safe_callable(obj)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Refuses what makes a long text or a large number out of little."""
        sizes = [len(each) for each in (left, right) if isinstance(each, (str, list, tuple, bytes))]
        numbers = [abs(each) for each in (left, right) if isinstance(each, (int, float))]
        if operator == "*" and sizes and numbers and sizes[0] * numbers[0] > MAX_PROMPT:
            raise TooMuchError("a text is repeated too often")
        if operator in ("*", "**") and not sizes and any(each > MAX_PROMPT for each in numbers):
            raise TooMuchError("a number is too large")
        if operator == "**" and len(numbers) == 2 and numbers[1] > MAX_WIDTH:
            raise TooMuchError("a number is too large")
        if operator == "%" and isinstance(left, str):
            _check_format(left)
        if operator == "+" and sum(sizes) > MAX_PROMPT:
            raise TooMuchError("a text is too long")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, obj: Any, *arguments: Any, **named: Any) -> Any:
        """Methods of texts that make much out of little are not called."""
        text, method = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        if isinstance(text, str) and method in ("center", "ljust", "rjust", "zfill", "replace", "join", "expandtabs"):
            raise TooMuchError(f"'{method}' is not used in prompts")
        if isinstance(text, str) and method in ("format", "format_map"):
            _check_format(text)
        return super().call(context, obj, *arguments, **named)

    def _bounded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter whose result has an end."""

        @functools.wraps(function)
        def bounded(*arguments: Any, **named: Any) -> Any:
            made = function(*arguments, **named)
            if isinstance(made, str) and len(made) > MAX_PROMPT:
                raise TooMuchError("a text is too long")
            return made

        return bounded

    def _generate(self, source: nodes.Template, *arguments: Any, **named: Any) -> str:
        for loop in source.find_all(nodes.For):
            loop.body.insert(0, nodes.ExprStmt(_calls("round", [])))
        changed = _Joins().visit(source)
        return str(super()._generate(changed, *arguments, **named))


class _Joins(jinja2.visitor.NodeTransformer):
    """Turns `a ~ b` into a call, which looks how long the text becomes."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 -- the name is the visitor's
        parts = [self.visit(each) for each in node.nodes]
        return _calls("joined", parts)


def _calls(method: str, arguments: list[Any]) -> nodes.Call:
    return nodes.Call(nodes.EnvironmentAttribute(method), arguments, [], None, None)


def _check_format(text: str) -> None:
    if any(int(each) > MAX_WIDTH for each in re.findall(r"\d{1,12}", text)) or "*" in text:
        raise TooMuchError("a field of a format is too wide")
