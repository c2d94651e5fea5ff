"""Renders prompt templates. The text of a prompt is never in Python code."""

from __future__ import annotations

from typing import Any

import jinja2
import jinja2.sandbox

from pddlego import resources
from pddlego.errors import SettingError


class Prompts:
    """The templates in `prompts/`, strict about undefined names. `folder` holds the parts that belong to one game.

    They run in a sandbox: a folder of prompts may come from anybody, and is data.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            loader=jinja2.FunctionLoader(lambda name: resources.read("prompts", name)),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )

    def render(self, name: str, **values: Any) -> str:
        """The text of `prompts/NAME.j2`. Raises `SettingError` if the template is missing or wrong."""
        try:
            text = self._environment.get_template(f"{name}.j2").render(folder=self.folder, **values)
        except (jinja2.TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise SettingError(f"The prompt {name}.j2 cannot be rendered", f"{error}.", "Mend the template.") from error
        return text.strip()
