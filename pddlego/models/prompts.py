"""Renders prompt templates. The text of a prompt is never in Python code."""

from __future__ import annotations

from typing import Any

import jinja2

from pddlego.errors import SettingError
from pddlego.models.templates import LimitedEnvironment, TooMuchError
from pddlego.util import resources

MAX_TEMPLATE = 200_000
"""Characters of a template; the longest of ours has some thousand."""


class Prompts:
    """The templates in `prompts/`, strict about undefined names. `folder` holds the parts that belong to one game.

    A file `NAME.txt` or `NAME.j2` in that folder takes the place of the shared `NAME.j2`; one that ends in `.txt` is no
    template, and is sent as it stands. Templates run in a sandbox and within limits: a folder of prompts may come from
    anybody, and is data.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._files: dict[str, str] = {}
        self._environment = LimitedEnvironment(
            loader=jinja2.FunctionLoader(_source),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )

    def render(self, name: str, **values: Any) -> str:
        """The text of a prompt. Raises `SettingError` if it is missing, wrong, or asks for too much."""
        self._environment.begin()
        found = self._file(name)
        try:
            if found.endswith(".txt"):
                return _source(found).strip()
            text = self._environment.get_template(found).render(folder=self.folder, **values)
        except (jinja2.TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise SettingError(f"The prompt {found} cannot be rendered", f"{error}.", "Mend the template.") from error
        except (TooMuchError, MemoryError) as error:
            why = f"{error or 'it needs too much memory'}.".capitalize()
            raise SettingError(f"The prompt {found} asks for too much", why, "Mend the template.") from error
        return text.strip()

    def _file(self, name: str) -> str:
        """The file of a prompt, looked for once: a conversation renders the same ones again and again."""
        if name not in self._files:
            own = (f"{self.folder}/{name}.txt", f"{self.folder}/{name}.j2")
            self._files[name] = next((file for file in own if resources.has("prompts", file)), f"{name}.j2")
        return self._files[name]


def _source(name: str) -> str:
    text = resources.read("prompts", name)
    if len(text) > MAX_TEMPLATE:
        raise TooMuchError(f"{name} is longer than {MAX_TEMPLATE:,} characters")
    return text
