"""The package keeps the rules of `docs/design.md`: who may import whom, and how large things may be."""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import pytest

from pddlego.util.files import parse_toml

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pddlego"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")

FUNCTION, POSITIONAL = 60, 6
"""Lines of a function, positional arguments of a call."""

REGISTRIES = ("pddlego.methods.registry", "pddlego.cli.parts")
"""They name the methods of the package and their commands as entry points do, and import them when they are used."""

PUBLIC = ("pddlego", "pddlego.games")
"""They hold public names, some of which are of methods; a name of `pddlego` is imported when it is used."""

ALSO_WORDS = {
    "graphplan": ("pddlego.planning.", "pddlego.planners", "pddlego.cli.solve", "pddlego.methods.planning_settings")
}
"""Names of methods that mean another thing somewhere: `graphplan` is an engine of the planner, a table of settings."""

FLOORS = ("command", "python")
"""Modules of a part whose names begin so have a row of their own: they may import more than the part."""


@lru_cache(maxsize=1)
def modules() -> dict[str, Path]:
    result = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        result[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = path
    return result


@lru_cache(maxsize=512)
def nodes(path: Path) -> list[ast.AST]:
    """The syntax tree of a file as a list."""
    gc.disable()  # which visits all trees again and again takes more time than parsing
    try:
        return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    finally:
        gc.enable()


@lru_cache(maxsize=512)
def imports(module: str) -> frozenset[str]:
    """The modules of the package that a module imports anywhere: also in functions, and for a type checker only."""
    named = set(modules()) - {"pddlego"}
    imported: set[str] = set()
    for node in nodes(modules()[module]):
        if isinstance(node, ast.ImportFrom):
            alone = module.startswith("pddlego.sandbox.jail")  # it is loaded as a package of its own
            assert not node.level or alone, f"{module} imports something by a relative name"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            imported.update(name if name in named else str(node.module) for name in full)
        elif isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and module not in REGISTRIES and node.value in named:
            imported.add(str(node.value))  # what is imported by its name: import_module("pddlego.runs.store")
    return frozenset(imported & set(modules()))


def row(module: str) -> str:
    """The row of a module in the table: `methods.textgames` for `pddlego.methods.textgames.agent`."""
    above = re.match(rf"pddlego\.(methods|tools)\.\w+\.({'|'.join(FLOORS)})", module)
    return f"{above[1]}.{above[2]}" if above else home(module)


def home(module: str) -> str:
    """The package of a module: that of its method or its part of the tools, or its row."""
    parts = module.split(".")[1:]
    part = ".".join(parts[:2])
    return part if part in PARTS else parts[0] if parts else "pddlego"


METHODS = {path.parent.name for path in (PACKAGE / "methods").glob("*/__init__.py")}
PARTS = {f"methods.{name}" for name in METHODS}
PARTS |= {f"tools.{path.parent.name}" for path in (PACKAGE / "tools").glob("*/__init__.py")}


def table() -> dict[str, set[str]]:
    """What the modules of each row may import, as the page says."""
    rows = re.findall(r"^\| `([\w./]+)` \| ([^|]*) \|[^|]*\|$", PAGE, re.MULTILINE)
    return {
        name.removesuffix(".py").replace("/", "."): set(re.findall(r"`([\w.]+)`", allowed)) for name, allowed in rows
    }


@pytest.mark.whole
def test_the_table_has_a_row_for_every_package() -> None:
    assert {row(module) for module in modules()} == set(table())


def test_a_module_imports_only_what_its_row_allows() -> None:
    rows = table()
    wrong = {
        f"{name} may not import {item}"
        for name in modules()
        for item in imports(name)
        if row(item) not in rows[row(name)] | {home(name)} and (row(item), home(item)) != (row(name), home(name))
    }
    assert not wrong


def test_nothing_but_registries_and_public_names_names_a_method() -> None:
    """What is of one method only is in its folder, and an installed method can do what ours can."""
    wrong = []
    for module in modules().keys() - {*REGISTRIES, *PUBLIC}:
        constants = [node.value for node in nodes(modules()[module]) if isinstance(node, ast.Constant)]
        texts = [value for value in constants if isinstance(value, str)]
        for name in METHODS:
            is_word = module.startswith(ALSO_WORDS.get(name, ()))
            imported = any(home(item) == f"methods.{name}" for item in imports(module))
            named = any(text == name or f"methods.{name}" in text or f"methods/{name}" in text for text in texts)
            if home(module) != f"methods.{name}" and (imported or (named and not is_word)):
                wrong.append(f"{module} names {name}")
    assert not sorted(wrong)


def test_no_row_allows_an_import_that_allows_the_opposite_import() -> None:
    rows = table()
    order: list[str] = []
    while len(order) < len(rows):
        ready = [name for name, allowed in rows.items() if name not in order and allowed <= set(order)]
        assert ready, f"a circle among {sorted(set(rows) - set(order))}"
        order += ready


def test_modules_import_each_other_in_no_circle() -> None:
    graph = {name: imports(name) - {name} for name in modules()}
    done: set[str] = set()
    while len(done) < len(graph):
        ready = {name for name, needs in graph.items() if name not in done and needs <= done}
        assert ready, f"a circle among {sorted(set(graph) - done)}"
        done |= ready


def _length(argument: ast.expr) -> int:
    """Number of arguments that an expression passes: the elements of a tuple that is unpacked in the call count."""
    if isinstance(argument, ast.Starred):
        return len(argument.value.elts) if isinstance(argument.value, (ast.Tuple, ast.List)) else 0
    return 1


def test_nothing_is_too_large() -> None:
    wrong = []
    for name, path in modules().items():
        for node in nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or 0) - node.lineno + 1
                wrong += [f"{name}: {node.name} has {lines} lines"] if lines > FUNCTION else []
            if isinstance(node, ast.Call):
                number = sum(_length(arg) for arg in node.args)
                wrong += [f"{name}, line {node.lineno}: {number} positional arguments"] if number > POSITIONAL else []
    assert not wrong


@pytest.mark.whole
def test_broad_excepts_are_at_the_borders_that_the_page_lists() -> None:
    """A handler whose last statement raises what it caught only cleans up."""
    paragraph = PAGE[PAGE.index("A broad `except`") : PAGE.index("A handler that cleans up")]
    broad = set()
    for path in modules().values():
        for node in nodes(path):
            if isinstance(node, ast.ExceptHandler) and not _raises_again(node):
                names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else {""}
                if names & {"", "Exception", "BaseException"}:
                    broad.add(path.relative_to(PACKAGE).as_posix())
    assert set(re.findall(r"`([\w/]+\.py)`", paragraph)) == broad


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


SHOWN = {
    *("api/inspect_tasks.py", "cli/explaining.py", "display/lines.py", "display/opened.py"),
    *("episode/ask.py", "evaluation/progress.py", "methods/programs/play.py", "methods/textgames/reader/__init__.py"),
    *("methods/textgames/doctor.py", "models/function.py", "planning/graphplan/search.py", "planning/worker.py"),
    "runs/journal.py",
}
"""Modules that measure how long something took, or how long ago it was, and decide nothing by it."""

OWN_ENDS = {
    *("evaluation/cluster.py", "evaluation/runner.py", "methods/graphplan/advisers.py", "planning/engines.py"),
    "util/guard.py",
}
"""Modules with limits of their own on the end of our processes and threads: no user sets them, no test waits."""


CONVENTIONS = {
    *("builtin_model", "check_recorded", "command", "load", "main", "measure", "panes", "play", "upper_bound"),
    "send",  # writes to a pipe: in the jail, and in a process of ours
}
"""Functions that every method, command or program has under the same name."""

MIRRORS = {
    **{
        f"tools/{name}.py": "the names of the commands, for Python and agents"
        for name in ("checking", "comparison", "execution", "repairing", "simulation", "solving")
    },
    "methods/programs/guide.py": "the names of pyperplan's classes, which heuristics use",
    "methods/textgames/games/fast_downward_shim.py": "the names of the library's classes that it replaces",
}
"""Modules that repeat names of others on purpose, and why."""


def test_a_public_name_has_one_meaning() -> None:
    """No two modules define a class, or a function, of the same name."""
    homes: dict[str, set[str]] = defaultdict(set)
    for path in modules().values():
        name = path.relative_to(PACKAGE).as_posix()
        if name not in MIRRORS and ".reference." not in name:
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.name[0] != "_":
                    homes[node.name].add(name)
    assert {name: places for name, places in homes.items() if len(places) > 1 and name not in CONVENTIONS} == {}


def test_whatever_has_a_limit_of_time_takes_a_clock() -> None:
    """Elsewhere the clock of the machine is the default of an argument, which a test replaces."""
    reading = set()
    for path in modules().values():
        for node in nodes(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.monotonic", "time.perf_counter"):
                reading.add(path.relative_to(PACKAGE).as_posix())
    assert reading == {name for name in SHOWN | OWN_ENDS if (PACKAGE / name).exists()}  # a method may be taken out


def test_what_the_package_imports_is_declared_as_a_dependency() -> None:
    """A package that is here only because another needs it, or only for tests, may be missing where a user installs."""
    declared = parse_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *declared["dependencies"],
        *(name for extra in declared["optional-dependencies"].values() for name in extra),
    ]
    names = {re.split(r"[\[<>=;]", requirement)[0].lower().replace("_", "-") for requirement in required}
    names |= {"pddlego", "pydantic-core", "pyparsing"}  # pydantic and unified-planning need these
    top_levels = {
        "fast_downward": "fast-downward.translate",
        "z3": "z3-solver",
        "kairos": "kairos-planner",
        "PIL": "pillow",
    }
    for module, path in modules().items():
        if ".reference." in module:
            continue
        for node in nodes(path):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            else:
                imported = [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            for top in {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names):
                assert top_levels.get(top, top.lower().replace("_", "-")) in names, f"{module} imports {top}"


def test_no_advice_names_a_package_that_is_not_published() -> None:
    """Until pddlego is published, its extras are installed from a copy of the repository."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    assert not [path for path, text in texts.items() if re.search(r"pip install '?pddlego", text)]
