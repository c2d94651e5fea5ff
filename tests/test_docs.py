"""The examples in the documentation are run."""

from __future__ import annotations

import doctest
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

import pddlego
from pddlego.cli.commands import COMMANDS, load_command
from pddlego.planning import PlanStatus
from tests.scale import PATIENCE
from tests.site import (
    command_names,
    commands_page,
    index,
    llms_text,
    navigation,
    python_page,
    reference_names,
    write_site,
)

pytestmark = pytest.mark.whole

DOCS = Path(__file__).parent.parent / "docs"


def test_the_examples_in_formats_md() -> None:
    result = doctest.testfile(str(DOCS / "formats.md"), module_relative=False, encoding="utf-8")
    assert result.attempted >= 12
    assert result.failed == 0


def test_the_examples_in_evaluating_md(tmp_path: Path) -> None:
    place = {"run": tmp_path / "run"}
    result = doctest.testfile(str(DOCS / "evaluating.md"), module_relative=False, encoding="utf-8", extraglobs=place)
    assert result.attempted >= 4
    assert result.failed == 0


def test_the_snippets_in_python_md(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("run", "saved", "own_run")}
    page = DOCS / "python.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8", extraglobs=places)
    assert page.read_text(encoding="utf-8").count("```python") >= 15
    assert result.failed == 0


def test_the_examples_for_trainers() -> None:
    for page, examples in (("training.md", 5), ("environments.md", 9)):
        result = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
        assert (result.failed, result.attempted) == (0, examples), page


def test_the_examples_in_docstrings_of_the_public_modules() -> None:
    """The modules are those of the reference at the end of python.md."""
    objects = [pkgutil.resolve_name(name) for name in reference_names()]
    modules = {item if isinstance(item, ModuleType) else sys.modules[item.__module__] for item in objects}
    results = [doctest.testmod(module) for module in modules]
    assert sum(result.attempted for result in results) >= 2
    assert not any(result.failed for result in results)


PHRASES = (
    r"\bfor each in\b",
    r"\b(is|are|was|were) none\b",
    r"\b[Mm]end(s|ed|ing)?\b",
    r"\b(told|tells)\b",
    r"\b([Ss]omebody|[Nn]obody|[Ww]hoever|[Aa]nybody|[Ee]verybody)\b",
)
"""The worst phrases of the style guide."""


def test_the_documentation_is_in_plain_english() -> None:
    root = DOCS.parent
    pages = [
        *DOCS.glob("*.md"),
        *root.glob("*.md"),
        *(root / "pddlego").rglob("*.py"),
        *(root / "prompts").rglob("*.j2"),
    ]
    found = [
        f"{page.relative_to(root)}: {match.group()}"
        for page in pages
        for phrase in PHRASES
        for match in re.finditer(phrase, re.sub(r"{%.*?%}", "", page.read_text(encoding="utf-8")))
        if "paper" not in page.parts
    ]
    assert not found


PAGES = {
    str(page.relative_to(DOCS.parent)): page.read_text(encoding="utf-8").replace("\\\n", " ")
    for page in (*(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *DOCS.glob("*.md"))
}
"""The pages by their paths, with each command on one line."""


def _find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words begin with, such as `cache clear`, and the other words."""
    command, words = load_command(words[0]), words[1:]
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


def test_the_commands_of_the_documentation_are_accepted() -> None:
    """Their arguments and options exist. What needs no model is run by the tests that follow a page."""
    lines = [
        (name, line.partition(" #")[0].strip())
        for name, text in PAGES.items()
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
        if language in ("", "console", "sh")
        for line in re.findall(r"(?:^|&& )(?:\$ )?pddlego ([^|>&;\n]+)", block, re.M)
        if line.split()[0] in COMMANDS
    ]
    assert len(lines) >= 80
    for page, line in lines:
        command, arguments = _find_command(shlex.split(line))
        try:
            command.make_context(line.split()[0], arguments)
        except typer.Exit:
            pass  # --help
        except Exception as error:
            raise AssertionError(f"{page}: pddlego {line}") from error


def test_the_commands_in_sentences_have_the_options_that_these_name() -> None:
    wrong = []
    for page, text in PAGES.items():
        for line in re.findall(r"`pddlego ([^`]+)`", text):
            words = re.sub(r"[][]", " ", line).split()
            if words[0] not in COMMANDS:
                assert words[0] in ("COMMAND", "--install-completion"), f"{page}: pddlego {line}"
                continue
            command, words = _find_command(words)
            options = {"--help", *(option for parameter in command.params for option in parameter.opts)}
            wrong += [f"{page}: pddlego {line}" for word in words if word.startswith("-") and word not in options]
    assert not wrong


def test_every_command_is_in_a_page() -> None:
    pages = "\n".join(text for name, text in PAGES.items() if name != "README.md")
    for name in COMMANDS:
        assert re.search(rf"\bpddlego {name}\b", pages), name


def test_the_readme_is_short_and_has_three_doors() -> None:
    readme = PAGES["README.md"]
    headings = re.findall(r"^## (.+)", readme, re.MULTILINE)
    assert headings == ["Install", "Play and watch", "Evaluate my model", "My own PDDL", "Develop"]
    assert len(readme.splitlines()) <= 80


METHOD_HEADINGS = ["What the model writes", "Try it", "How it works", "Options and ablations", "Results"]


def test_the_pages_of_methods_have_the_same_headings() -> None:
    pages = [entry.page for entry in index() if entry.group == METHOD_HEADINGS[0]]
    assert len(pages) == 8
    for page in pages:
        headings = re.findall(r"^## (.+)", _without_code(PAGES[f"docs/{page}"]), re.MULTILINE)
        assert headings == METHOD_HEADINGS, page


def test_the_index_has_every_page_once() -> None:
    pages = [entry.page for entry in index()]
    assert sorted(pages) == sorted(page.name for page in DOCS.glob("*.md") if page.name != "README.md")
    for entry in index():
        assert PAGES[f"docs/{entry.page}"].startswith(f"# {entry.title}\n"), entry.page
        assert f"- {json.dumps(entry.title)}: {entry.page}" in navigation()
        assert f"- [{entry.title}]({entry.page}): {entry.about}" in llms_text()


def test_every_file_of_the_documentation_is_used() -> None:
    text = "".join(PAGES.values())
    others = [path for path in DOCS.rglob("*") if path.is_file() and path.suffix != ".md"]
    assert not [path for path in others if path.relative_to(DOCS).as_posix() not in text]


def _without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_the_lines_of_prose_are_short() -> None:
    names = [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md")]
    long = [
        f"{page.name}: {line}"
        for page in (*names, *DOCS.glob("*.md"))
        for line in _without_code(page.read_text(encoding="utf-8")).splitlines()
        if len(line) > 150 and not line.startswith("|")
    ]
    assert not long


def test_the_pages_that_are_named_exist() -> None:
    """In the code, its messages, the tests, and on pages outside of the site, whose builder checks its own links."""
    root = DOCS.parent
    folders = ("pddlego", "tests", "examples", "benchmarks", "prompts", "envs", "plugin", ".github", ".ci")
    files = [path for folder in folders for path in (root / folder).rglob("*") if path.is_file()]
    named = []
    for path in (*files, *root.glob("*.md"), root / "pyproject.toml"):
        if "data" in path.parts or path.suffix in (".pyc", ".gz") or path.name == "CHANGELOG.md":
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        named += re.findall(r"\bdocs/([\w-]+\.(?:md|ipynb|svg|gif))", text)
        named += re.findall(r'"docs" / "([\w.-]+)"|DOCS / "([\w.-]+)"', text)
    pages = {name if isinstance(name, str) else "".join(name) for name in named}
    assert len(pages) > 20
    assert not [page for page in sorted(pages) if not (DOCS / page).exists()]


def test_the_files_that_the_design_and_the_text_games_name_exist() -> None:
    package = DOCS.parent / "pddlego"
    named = set()
    for page, folder in (("design.md", package), ("text-games.md", package / "methods" / "textgames")):
        names = re.findall(r"`((?:pddlego/)?[\w/-]+\.py)`", PAGES[f"docs/{page}"])
        if page == "design.md":  # not those of every method, such as `events.py` and `methods/METHOD/options.py`
            names = [name for name in names if "/" in name and (package / name.partition("/")[0]).exists()]
            names = [name for name in names if "METHOD" not in name and "PART" not in name]
        named |= {package.parent / name if name.startswith("pddlego/") else folder / name for name in names}
    assert len(named) > 30
    assert not [path for path in named if not path.exists()]


def test_the_page_of_commands_has_every_command() -> None:
    names = command_names()
    assert list(dict.fromkeys(name.split()[0] for name in names)) == list(COMMANDS)
    assert {"cache info", "cache clear"} <= set(names)
    assert [name for name in names if isinstance(_find_command(name.split())[0], TyperGroup)] == ["runs"]
    page = commands_page()
    assert [line for line in page.splitlines() if line.startswith("## ")] == [f"## `{name}`" for name in names]
    assert page.count("Usage: pddlego") == len(names)


def test_the_reference_of_python_has_every_public_name() -> None:
    public = {f"pddlego.{name}" for name in pddlego.__all__ if not isinstance(getattr(pddlego, name), ModuleType)}
    assert public <= set(reference_names())
    page = python_page()
    assert page.count("\n### `pddlego.") == len(reference_names())
    assert "to_pandas" in page and "## What is stable" in page


def test_both_pages_name_the_same_files_for_a_planner() -> None:
    contributing = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\nA planner is")[2]
    (row,) = re.findall(r"^\| a planner \|(.*)$", (DOCS / "design.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = [set(re.findall(r"`(planning/\w+\.py)`", text)) for text in (contributing.partition("\n\n")[0], row)]
    assert named[0] == named[1]
    assert all((DOCS.parent / "pddlego" / name).exists() for name in named[0])


@pytest.mark.slow
@pytest.mark.site
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    write_site(tmp_path / "site")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", "mkdocs.yml"]
    subprocess.run(command, cwd=tmp_path / "site", check=True, timeout=PATIENCE)
    built = tmp_path / "site" / "site"
    assert {entry.page.replace(".md", ".html") for entry in index()} <= {page.name for page in built.glob("*.html")}
    assert "--max-answer-tokens" in (built / "commands.html").read_text(encoding="utf-8")
    assert "to_pandas" in (built / "python.html").read_text(encoding="utf-8")
    assert (built / "llms.txt").exists()


def test_the_statuses_of_planning_calls_are_listed() -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^The status is (.*?)\n\n", page, re.MULTILINE | re.DOTALL)
    assert sorted(re.findall(r"`(.+?)`", listed)) == sorted(status.value for status in PlanStatus)


@pytest.mark.slow
def test_the_session_with_a_corrected_fact_is_as_shown(tmp_path: Path) -> None:
    """Every command of the session is run, in one shell; what it prints must be what the page shows."""
    text = (DOCS / "watching.md").read_text(encoding="utf-8")
    session = text.partition("<!-- session -->\n```\n")[2].partition("```")[0]
    commands = [line[2:] for line in session.splitlines() if line.startswith("$ ")]
    assert len(commands) == 7
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    script = "\n".join(f"printf '%s\\n' {shlex.quote('$ ' + command)}\n{command}" for command in commands)
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert not done.stderr
    assert re.sub(r"\d{8}-\d{6}", "20261121-110000", done.stdout) == session


def test_the_numbers_of_items_of_papers_are_those_of_the_tables() -> None:
    """The first table and the sentence below it count the rows, and every row has one of three states."""
    states = ("works", "differs", "missing")
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    introduction, *sections = page.split("\n## ")
    form = re.compile(
        r"^\| (?!R)[A-Z]+\d+ \| .+? \| (\w+) \| ", re.MULTILINE
    )  # R: a paper that follows one of the seven
    rows = list(filter(None, map(form.findall, sections)))
    assert {state for section in rows for state in section} == {*states}
    counted = [", ".join(str(section.count(state)) for state in states) for section in rows]
    assert re.findall(r"\| (\d+, \d+, \d+) \|$", introduction, re.MULTILINE) == counted
    total = [sum(section.count(state) for section in rows) for state in states]
    said = f"{sum(total)} items, of which {total[0]} work as printed, {total[1]} differ and {total[2]} are missing."
    assert said in " ".join(introduction.split())
