"""The names of options: how many there are, and which forms of output read them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego.cli.commands import COMMANDS, load_command
from tests.cli.command import run_at_once

MOST_NAMES, MOST_OF_EVAL, MOST_OF_PLAY = 75, 38, 30


def options_in(command: Any) -> Iterator[str]:
    """The long names of the options of a command and of its subcommands, without `--help`."""
    for inner in getattr(command, "commands", {}).values():
        yield from options_in(inner)
    for parameter in command.params:
        yield from (name for name in parameter.opts if name.startswith("--") and name != "--help")


def test_options_are_few_enough_to_remember() -> None:
    """`pytest -s` prints the counts."""
    by_command = {name: {*options_in(load_command(name))} for name in COMMANDS}
    names = {name for options in by_command.values() for name in options}
    counts = (len(names), len(by_command["eval"]), len(by_command["play"]))
    limits = (MOST_NAMES, MOST_OF_EVAL, MOST_OF_PLAY)
    for what, number, limit in zip(("in all", "of eval", "of play"), counts, limits, strict=True):
        sys.stdout.write(f"{number} names of options {what} (at most {limit})\n")
        assert number <= limit, what


WRITES = {
    "report": ("no-run", "x.html"),
    "show": ("no-run", "x.html"),
    "solve": ("no.pddl", "no.pddl", "x.plan"),
    "simulate": ("no.pddl", "no.pddl", "no.plan", "x.html"),
    "learn-domain": ("no-run", "x.pddl"),
    "audit": ("no.jsonl", "x.jsonl"),
    "export": ("no-run", "x.jsonl"),
    "build": ("domain", "no.txt", "--model", "m", ""),
}
"""The commands with -o: the arguments, which name files that do not exist, and the file to write."""


def test_a_file_that_cannot_be_written_is_noticed_before_anything_is_read(tmp_path: Path) -> None:
    assert {name for name in COMMANDS if "--output" in {*options_in(load_command(name))}} == {*WRITES}
    (tmp_path / "file").write_text("")
    for command, (*arguments, file) in WRITES.items():
        for folder in ("missing", "file") if file else ():
            code, printed = run_at_once(command, *arguments, "-o", f"{folder}/{file}", cwd=tmp_path)
            assert code == 3 and printed.startswith("Error: Cannot write "), command
            assert len(printed.splitlines()) == 3, command
            assert (f"Make the folder {tmp_path}/missing first" in printed) == (folder == "missing"), command
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "nothing is left there"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, a domain, a problem and a plan."""
    folder = tmp_path_factory.mktemp("forms")
    run_at_once("play", "coin", "--mode", "random", "--max-steps", "1", cwd=folder)
    (folder / "d.pddl").write_text("(define (domain d) (:predicates (p)) (:action a :effect (p)))")
    (folder / "p.pddl").write_text("(define (problem q) (:domain d) (:goal (p)))")
    return folder


SOLVE = ("solve", "d.pddl", "p.pddl")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("no plam", "Did you mean 'no plan'?"),
        ("step-limit", "Did you mean 'step limit'?"),
        ("won,lost", "selects nothing"),
        ("no plan,won", "selects nothing"),
        ("a map,a door", "selects nothing"),
    ],
)
def test_only_names_what_an_episode_can_be(place: Path, words: str, said: str) -> None:
    code, printed = run_at_once("show", "latest", "--only", words, cwd=place)
    assert code == 2 and said in printed


@pytest.mark.parametrize(
    ("arguments", "unread"),
    [
        (("show", "latest"), ("--size 80x24",)),
        (("show", "latest", "--problem"), ("--size 80x24", "--answers", "--requests", "-o a.svg")),
        (("show", "latest", "--answers"), ("--size 80x24", "--requests", "-o a.html")),
        (("show", "latest", "-o", "a.html"), ("--size 80x24",)),
        (("show", "latest", "-o", "a.gif"), ("--step 1",)),
        (("report", "latest", "-o", "figures/"), ("--format csv", "--format html", "--format text")),
        (("export", "latest", "--format", "preference"), ("--only accepted",)),
        (("export", "--expert", "coin"), ("--only lost", "--game coin")),
        (("play", "coin", "--format", "json"), ("--pace 1", "--confirm edits")),
        (("truth", "latest"), ("--base-url http://x", "--max-calls 1", "--max-tokens 1", "--prices x")),
        (("truth", "latest", "--with", "reader"), ("--max-calls 1",)),
        ((*SOLVE,), ("--isolation off", "--base-url http://x", "--set prune=relaxed", "--set kappa=1")),
        ((*SOLVE, "--planner", "graphplan"), ("--search bfs", "--plans 2", "--isolation off", "--set kappa=1")),
        ((*SOLVE, "--planner", "program:x.py"), ("--plans 2", "--set levels=1", "--base-url http://x")),
        ((*SOLVE, "-o", "a.html"), ("--plans 2",)),
        ((*SOLVE, "--planners"), ("-o a.plan", "--timeout 3", "--plans 2")),
    ],
)
def test_an_option_that_a_form_of_output_does_not_read_is_refused(
    place: Path, arguments: tuple[str, ...], unread: tuple[str, ...]
) -> None:
    for option in unread:
        code, printed = run_at_once(*arguments, *option.split(), cwd=place)
        assert (code, len(printed.splitlines())) == (2, 3), (option, printed)
