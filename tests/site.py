"""Writes what a builder of the documentation site reads into a new folder: `python -m tests.site FOLDER`.

FOLDER gets `mkdocs.yml`, whose navigation is the index `docs/README.md`, and `docs/`: the pages, with the help of the
commands and the docstrings of the Python interface filled in, and `llms.txt`. Zensical and MkDocs build a site from it.
"""

from __future__ import annotations

import ast
import copy
import inspect
import json
import pkgutil
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pddlego.cli.commands import ALL_OPTIONS, COMMANDS, SETTINGS, load_command

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
COMMANDS_MARK = "<!-- commands -->"
REFERENCE_MARK = "<!-- reference -->"

WIDTH = 98
"""Columns of the help, as in a terminal of 100 columns."""


@dataclass(frozen=True)
class Entry:
    """A page of the index. `group` is empty for pages before the first group."""

    group: str
    title: str
    page: str
    about: str


def index() -> list[Entry]:
    """The pages in the order of `docs/README.md`."""
    group, entries = "", []
    for cell, about in re.findall(r"^\| (.+?) \| (.*?) ?\|$", (DOCS / "README.md").read_text(encoding="utf-8"), re.M):
        if heading := re.fullmatch(r"\*\*(.+)\*\*", cell):
            group = heading[1]
        elif link := re.fullmatch(r"\[(.+)\]\((.+\.md)\)", cell):
            entries.append(Entry(group, link[1], link[2], about))
    return entries


def write_site(folder: Path) -> None:
    shutil.copytree(DOCS, folder / "docs")
    for name, text in (("commands.md", commands_page()), ("python.md", python_page()), ("llms.txt", llms_text())):
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (folder / "mkdocs.yml").write_text(configuration + navigation(), encoding="utf-8")


def navigation() -> str:
    """The key `nav` of `mkdocs.yml`."""
    lines, group = ["nav:", '  - "Overview": README.md'], ""
    for entry in index():
        if entry.group != group:
            group = entry.group
            lines.append(f"  - {json.dumps(group)}:")
        lines.append(f"{'      ' if group else '  '}- {json.dumps(entry.title)}: {entry.page}")
    return "\n".join(lines) + "\n"


def llms_text() -> str:
    """The index for language models (llmstxt.org): the introduction of the index, then each page with its content."""
    introduction = (DOCS / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
    lines, group = ["# pddlego", "", "> " + " ".join(introduction.split())], None
    for entry in index():
        if entry.group != group:
            group = entry.group
            lines += ["", f"## {group or 'Start'}", ""]
        lines.append(f"- [{entry.title}]({entry.page}): {entry.about}")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """The page of commands, with the help of each."""
    helps = "\n\n".join(f"## `{name}`\n\n```\n{_help(name)}\n```" for name in command_names())
    return (DOCS / "commands.md").read_text(encoding="utf-8").replace(COMMANDS_MARK, helps)


def command_names() -> list[str]:
    """Every command, in the order of the help; of a group of commands, such as `cache`, its commands."""
    names = []
    for name in COMMANDS:
        command = load_command(name)
        parts = getattr(command, "commands", {})
        names += [name] if not parts or getattr(command, "invoke_without_command", False) else []
        names += [f"{name} {part}" for part in parts]
    return names


def _help(name: str) -> str:
    group, _, part = name.partition(" ")
    command = load_command(group).commands[part] if part else load_command(group)
    context = command.make_context(
        f"pddlego {name}", [], resilient_parsing=True, **(SETTINGS | {"terminal_width": WIDTH})
    )
    context.meta[ALL_OPTIONS] = True
    return str(context.get_help()).strip()


def python_page() -> str:
    """The page about Python, with the docstrings of what its reference names."""
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    before, _, after = page.partition(REFERENCE_MARK)
    rest = after.strip().partition("\n\n")[2]
    return f"{before}{''.join(_described(name) for name in reference_names())}{rest}"


def reference_names() -> list[str]:
    """The dotted names of the list after the mark: `MODULE: NAME, NAME` or a name alone."""
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    listed = page.partition(REFERENCE_MARK)[2].strip().partition("\n\n")[0]
    names = []
    for item in re.findall(r"^- (.+(?:\n  .+)*)", listed, re.M):
        module, *members = re.findall(r"`([\w.]+)`", item)
        names += [f"{module}.{member}" for member in members]
    return names


def _described(name: str) -> str:
    """The signature and the docstring of a function or a class, and of the public members of a class."""
    item = pkgutil.resolve_name(name)
    assert not isinstance(item, ModuleType), name
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(item))).body
    head = f"### `{name}`\n\n```python\n{_signature(node)}\n```\n\n{_text(node)}"
    members = list(_members(node)) if isinstance(node, ast.ClassDef) else []
    return head + ("\n".join(members) + "\n\n" if members else "")


def _members(node: ast.ClassDef) -> Iterator[str]:
    for member, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            name, value = member.target.id, following.value if isinstance(following, ast.Expr) else None
            about = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
            shown = f"{name}: {ast.unparse(member.annotation)}"
        elif isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            name, about = member.name, ast.get_docstring(member) or ""
            alone = any(isinstance(part, ast.Name) and "property" in part.id for part in member.decorator_list)
            returned = ast.unparse(member.returns) if member.returns else "Any"
            shown = f"{name}: {returned}" if alone else _signature(member)
        else:
            continue
        if not name.startswith("_"):
            yield f"- `{shown}`" + (f"<br>{' '.join(about.split())}" if about else "")


def _signature(node: Any) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}" + (f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else "")
    alone = copy.copy(node)
    alone.body, alone.decorator_list = [ast.Pass()], []
    return ast.unparse(alone).partition("\n")[0].removesuffix(":")


def _text(node: Any) -> str:
    """The docstring as Markdown: examples become blocks of code."""
    paragraphs = (ast.get_docstring(node) or "").split("\n\n")
    blocks = [f"```python\n{part}\n```" if part.lstrip().startswith(">>>") else part for part in paragraphs if part]
    return "".join(f"{block}\n\n" for block in blocks)


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
