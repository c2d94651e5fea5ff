"""Renders prompt templates. The text of a prompt is never in Python code."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from types import CodeType
from typing import Any

import jinja2
import jinja2.debug  # jinja2 itself imports it when a template fails, which may be for want of open files
import jinja2.sandbox
from jinja2.bccache import Bucket

from pddlego.errors import SettingError
from pddlego.util import resources


class _CompiledTemplates(jinja2.BytecodeCache):
    """The compiled templates of a process, by name; a template whose text has changed is compiled again."""

    def __init__(self) -> None:
        self._code: dict[str, tuple[str, CodeType | None]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._code.get(bucket.key, ("", None))
        bucket.code = code if checksum == bucket.checksum else None

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.checksum, bucket.code


_COMPILED = _CompiledTemplates()


class Prompts:
    """The templates in `prompts/`. An undefined name in a template is an error.

    A file `NAME.txt` or `NAME.j2` in `folder`, which belongs to one game, replaces the shared `NAME.j2`, and so does a
    shared `NAME.txt`. A `.txt` file is not a template and is sent unchanged, as are the `fixed` texts, by the names of
    the prompts that they replace. Templates run in Jinja's sandbox and can include files of `prompts/` only.
    """

    def __init__(self, folder: str, fixed: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._fixed = dict(fixed or {})
        self._files: dict[str, str] = {}
        self._environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            loader=jinja2.FunctionLoader(_load),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            bytecode_cache=_COMPILED,
        )

    def render(self, name: str, **values: Any) -> str:
        """The text of a prompt. Raises `SettingError`, with the file and the line, if it cannot be rendered."""
        if name in self._fixed:
            return self._fixed[name].strip()
        file = self._file(name)
        if file.endswith(".txt"):
            return resources.read("prompts", file).strip()
        try:
            return self._environment.get_template(file).render(folder=self.folder, **values).strip()
        except (jinja2.TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            message = (error.message if isinstance(error, jinja2.TemplateError) else str(error)) or type(error).__name__
            reason = f"{_place(error)}: {message.rstrip('.')}."
            raise SettingError(f"The prompt {file} cannot be rendered", reason, "Fix the template.") from error

    def has_own(self, name: str) -> bool:
        """Whether the folder has a file of its own for a prompt."""
        return name in self._fixed or self._file(name).startswith(f"{self.folder}/")

    def _file(self, name: str) -> str:
        """The file of a prompt, cached because a conversation renders the same prompts many times."""
        if name not in self._files:
            files = [f"{place}{name}{suffix}" for place in (f"{self.folder}/", "") for suffix in (".txt", ".j2")]
            self._files[name] = resources.first("prompts", files)
        return self._files[name]


def _load(name: str) -> tuple[str, str, None]:
    """The text of a template, and the name of its file in tracebacks."""
    return resources.read("prompts", name), f"prompts/{name}", None


def _place(error: Exception) -> str:
    """The file and the line of a template in which it failed."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename}, line {error.lineno}"
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return next((f"{file}, line {line}" for file, line in reversed(frames) if file.startswith("prompts/")), "prompts/")
