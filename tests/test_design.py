"""The house keeps its own rules: `docs/design.md` says who may import whom, and how large things may be."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from pddlego.util.files import parse_toml

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pddlego"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")

FUNCTION, POSITIONAL = 60, 6
"""Lines of a function, positional arguments of a call."""

REGISTRY = "pddlego.methods.registry"
"""Names the methods of ours as an entry point does, and loads one when something asks for it."""


@lru_cache(maxsize=1)
def modules() -> dict[str, Path]:
    result = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        result[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = path
    return result


@lru_cache(maxsize=512)
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(module: str) -> Iterator[str]:
    """The modules of the package that a module imports anywhere: also in functions, and for a type checker only."""
    named = set(modules()) - {"pddlego"}
    for node in ast.walk(tree(modules()[module])):
        if isinstance(node, ast.ImportFrom):
            alone = module.startswith("pddlego.sandbox.jail")  # it is loaded as a package of its own
            assert not node.level or alone, f"{module} imports something by a relative name"
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pddlego":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules() else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.Constant) and module != REGISTRY and node.value in named:
            yield str(node.value)  # what is imported by its name: import_module("pddlego.runs.store")


def room(module: str) -> str:
    """The row of a module: `pddlego.methods.textgames.agent` is in `methods.textgames`, `pddlego.api` in `api`."""
    parts = module.split(".")[1:]
    if parts[:1] == ["methods"] and len(parts) > 1 and (PACKAGE / "methods" / parts[1]).is_dir():
        return f"methods.{parts[1]}"
    return parts[0] if parts else "pddlego"


def table() -> dict[str, set[str]]:
    """What each room may import, as the page says."""
    rows = re.findall(r"^\| `([\w./]+)` \| ([^|]*) \|[^|]*\|$", PAGE, re.MULTILINE)
    return {
        name.removesuffix(".py").replace("/", "."): set(re.findall(r"`([\w.]+)`", allowed)) for name, allowed in rows
    }


def test_every_room_stands_in_the_table() -> None:
    assert {room(module) for module in modules()} == set(table())


@pytest.mark.parametrize("name", sorted(modules()))
def test_a_module_imports_only_what_its_room_may(name: str) -> None:
    allowed = table()[room(name)] | {room(name)}
    wrong = sorted({item for item in imports(name) if room(item) not in allowed})
    assert not wrong, f"{name} may not import {', '.join(wrong)}"


def test_no_room_may_import_one_that_may_import_it() -> None:
    rooms = table()
    order: list[str] = []
    while len(order) < len(rooms):
        ready = [name for name, allowed in rooms.items() if name not in order and allowed <= set(order)]
        assert ready, f"a circle among {sorted(set(rooms) - set(order))}"
        order += ready


def test_modules_import_each_other_in_no_circle() -> None:
    graph = {name: {each for each in imports(name) if each != name} for name in modules()}
    done: set[str] = set()
    while len(done) < len(graph):
        ready = {name for name, needs in graph.items() if name not in done and needs <= done}
        assert ready, f"a circle among {sorted(set(graph) - done)}"
        done |= ready


def _length(argument: ast.expr) -> int:
    """How many arguments it stands for: those of a tuple that is unpacked on the spot count, too."""
    if isinstance(argument, ast.Starred):
        return len(argument.value.elts) if isinstance(argument.value, (ast.Tuple, ast.List)) else 0
    return 1


@pytest.mark.parametrize("name", sorted(modules()))
def test_nothing_is_too_large(name: str) -> None:
    for node in ast.walk(tree(modules()[name])):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.lineno < FUNCTION, f"{node.name} is too long"
        if isinstance(node, ast.Call):
            number = sum(_length(arg) for arg in node.args)
            assert number <= POSITIONAL, f"line {node.lineno}: {number} positional arguments"


def test_broad_excepts_are_at_the_borders_that_the_page_lists() -> None:
    """A handler whose last statement raises what it caught only cleans up."""
    paragraph = PAGE[PAGE.index("A broad `except`") : PAGE.index("A handler that cleans up")]
    broad = set()
    for path in modules().values():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler) and not _raises_again(node):
                names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else {""}
                if names & {"", "Exception", "BaseException"}:
                    broad.add(path.relative_to(PACKAGE).as_posix())
    assert set(re.findall(r"`([\w/]+\.py)`", paragraph)) == broad


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_every_wait_of_a_test_has_an_end() -> None:
    """A child is started by `tests.children.started`, which ends it; everything else that waits has a time limit."""
    endless = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                limited = bool(node.args) or any(keyword.arg == "timeout" for keyword in node.keywords)
                if node.func.attr in ("wait", "join", "communicate") and not limited:
                    endless.append(f"{path.name}:{node.lineno}: {node.func.attr}")
                if node.func.attr == "Popen" and path.name != "children.py":
                    endless.append(f"{path.name}:{node.lineno}: Popen")
                if ast.unparse(node.func) == "subprocess.run" and "timeout=" not in ast.unparse(node):
                    endless.append(f"{path.name}:{node.lineno}: run")
    assert not endless


def test_what_the_package_imports_is_declared_as_a_dependency() -> None:
    """A package that is here only because another needs it, or only for tests, may be missing where a user installs."""
    declared = parse_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *declared["dependencies"],
        *(name for extra in declared["optional-dependencies"].values() for name in extra),
    ]
    names = {re.split(r"[\[<>=;]", requirement)[0].lower().replace("_", "-") for requirement in required}
    names |= {"pddlego", "pydantic-core", "numpy", "pyparsing"}  # pydantic, scipy and unified-planning need these
    top_levels = {"fast_downward": "fast-downward.translate", "PIL": "pillow"}
    for module, path in modules().items():
        if ".reference." in module:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            else:
                imported = [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            for top in {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names):
                assert top_levels.get(top, top.lower().replace("_", "-")) in names, f"{module} imports {top}"
