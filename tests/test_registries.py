"""What registries and clients of agents read: `server.json`, skills, snippets of docs, the entry of Inspect."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import pddlego

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SKILLS = ROOT / "plugin" / "skills"
COMMAND = ["uvx", "--from", "pddlego[mcp]", "pddlego", "mcp"]

needs_repository = pytest.mark.skipif(not SKILLS.is_dir(), reason="the distribution has no plugin and no server.json")


def _read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


@needs_repository
def test_the_entry_of_the_mcp_registry_fits_its_schema() -> None:
    """The limits are those of the schema that `$schema` names (2025-12-11)."""
    server = _read("server.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["description"]) <= 100
    assert 1 <= len(server["title"]) <= 100
    assert set(server) <= {"$schema", "name", "title", "description", "version", "repository", "packages"}
    (package,) = server["packages"]
    assert server["version"] == package["version"] == pddlego.__version__
    assert package["transport"] == {"type": "stdio"}
    assert (package["registryType"], package["identifier"]) == ("pypi", "pddlego")


@needs_repository
def test_the_entry_of_the_mcp_registry_starts_the_server_as_the_plugin_does() -> None:
    (package,) = _read("server.json")["packages"]
    arguments = [
        text
        for argument in (*package["runtimeArguments"], {"value": package["identifier"]}, *package["packageArguments"])
        for text in (argument.get("name"), argument["value"])
        if text
    ]
    assert [package["runtimeHint"], *arguments] == [
        f"{word}=={pddlego.__version__}" if word.endswith("]") else word for word in COMMAND
    ]
    plugin = _read("plugin/.mcp.json")["mcpServers"]["pddlego"]
    assert [plugin["command"], *plugin["args"]] == COMMAND
    assert _read("plugin/.claude-plugin/plugin.json")["version"] == pddlego.__version__


@needs_repository
def test_the_readme_proves_the_name_in_the_mcp_registry() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)\s", readme) == [_read("server.json")["name"]]


@needs_repository
def test_skills_have_one_source_and_the_standard_form() -> None:
    """Names and lengths are those of the Agent Skills specification."""
    assert (ROOT / ".agents" / "skills").resolve() == SKILLS.resolve()
    skills = sorted(SKILLS.iterdir())
    assert len(skills) == 4
    for skill in skills:
        text = (skill / "SKILL.md").read_text(encoding="utf-8")
        header = re.match(r"---\nname: ([a-z0-9]+(?:-[a-z0-9]+)*)\ndescription: (.+)\n---\n\n# ", text)
        assert header
        assert header[1] == skill.name
        assert len(header[1]) <= 64
        assert len(header[2]) <= 1024


def test_the_snippets_for_clients_start_the_server() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    section = page.partition("## Adding it to a client\n")[2].partition("\n### ")[0]
    blocks = re.findall(r"^    ```(json|toml)\n(.*?)^    ```$", section, re.MULTILINE | re.DOTALL)
    read = [json.loads(text) if kind == "json" else tomllib.loads(text.replace("    ", "")) for kind, text in blocks]
    entry = {"command": "pddlego", "args": ["mcp"]}
    assert read == [
        {"mcp_servers": {"pddlego": entry}},
        {"mcpServers": {"pddlego": entry}},
        {"servers": {"pddlego": {"type": "stdio", **entry}}},
    ]
    assert re.findall(r"`(\w+) mcp add pddlego -- pddlego mcp`", section) == ["claude", "codex"]
    assert "`--from`, `pddlego[mcp]`, `pddlego` and `mcp`" in section


def test_the_entry_of_the_inspect_register_names_tasks_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields are those of its example; Inspect itself reads the files of tasks."""
    yaml = pytest.importorskip("yaml")
    inspect_ai = pytest.importorskip("inspect_ai")
    entry = yaml.safe_load((ROOT / "examples" / "inspect_register" / "eval.yaml").read_text(encoding="utf-8"))
    assert set(entry) == {"title", "description", "arxiv", "tasks", "source"}
    assert set(entry["source"]) == {"repository_url", "repository_commit", "maintainers"}
    assert re.fullmatch("[0-9a-f]{40}", entry["source"]["repository_commit"])
    monkeypatch.chdir(ROOT)
    for path in {task["task_path"] for task in entry["tasks"]}:
        found = {task.name for task in inspect_ai.list_tasks(path)}
        assert found == {task["name"] for task in entry["tasks"] if task["task_path"] == path}
