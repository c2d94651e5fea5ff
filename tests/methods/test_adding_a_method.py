"""The page that adds a method, followed literally; and everything that its method gets for nothing.

The package of the page is the only thing that knows of it: it is found by its entry point, as pip would install it.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego import Environment
from pddlego.errors import UsageError
from pddlego.methods import registry
from tests.children import started
from tests.cli.command import run
from tests.model_server import ModelServer, Reply, answer
from tests.pages import files_of, write_files
from tests.report.pages import pages_in
from tests.scale import PATIENCE

PAGE = (Path(__file__).parent.parent.parent / "docs" / "adding-a-method.md").read_text(encoding="utf-8")
FILES = files_of(PAGE)
PLAY = "    def play(\n"
IN_GUESS = r"an error in package guess \(guess/__init__.py, line \d+\)"
OR_GUESS = "a bug in pddlego, or in package guess"
MODEL = ("--models", "m", "--modes", "guess", "--seeds", "0-3", "--run", "all", "--set", "highest=20")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder without anything, and a site with what pip makes of the files of the page."""
    site = tmp_path / "site"
    write_files(PAGE, site)
    about = site / "guess-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guess\nVersion: 1.0\n")
    entries = FILES["pyproject.toml"].partition('[project.entry-points."pddlego.methods"]\n')[2].partition("\n\n")[0]
    (about / "entry_points.txt").write_text(f"[pddlego.methods]\n{entries.replace(chr(34), '')}\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    forget()
    (tmp_path / "elsewhere").mkdir()
    yield tmp_path / "elsewhere"
    forget()


def forget() -> None:
    """What was found of methods is looked for anew, as in another process."""
    registry.forget()
    sys.modules.pop("guess", None)


def test_the_method_is_small() -> None:
    files = {"guess/envs/numbers.toml", "guess/prompts/guess/ask.j2", "guess/__init__.py", "pyproject.toml"}
    assert set(FILES) == files
    assert len(FILES["guess/__init__.py"].splitlines()) <= 90


def test_the_page_followed_literally(folder: Path) -> None:
    (block,) = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    session = block.split("$ ")[1:]
    assert len(session) == 5
    for text in session:
        command, _, wanted = text.partition("\n")
        done = run(*command.split()[1:], cwd=folder)
        printed = re.sub(r"\d+\.\d s( played)?$", r"0.0 s\1", done.stdout, flags=re.MULTILINE)
        assert doctest.OutputChecker().check_output(wanted, printed, doctest.ELLIPSIS), f"{command}: {printed}"


class Halves:
    """A language model that reads what was said, from the last line of the prompt."""

    def __init__(self, highest: int) -> None:
        self.highest = highest

    def __call__(self, body: dict[str, Any]) -> Reply:
        low, high = 1, self.highest
        for number, what in re.findall(r"(\d+) is too (low|high)", body["messages"][-1]["content"]):
            low, high = (int(number) + 1, high) if what == "low" else (low, int(number) - 1)
        return answer(f"I say {(low + high) // 2}.")


def test_a_budget_holds_and_what_is_left_is_played_later(folder: Path, model_server: ModelServer) -> None:
    model_server.replies = [Halves(20)]
    arguments = ("eval", "numbers", *MODEL, "--base-url", model_server.url, "--workers", "1")
    first = run(*arguments, "--max-calls", "5", cwd=folder)
    assert first.returncode == 3, first.stderr
    assert len(model_server.requests) == 5
    assert "the budget is spent" in first.stdout
    dry = run(*arguments, "--dry-run", cwd=folder)
    assert dry.stdout.splitlines()[2].split()[:5] == ["numbers", "guess", "m", "3", "12"], "as in the finished episode"
    again = run(*arguments, "--max-calls", "50", cwd=folder)
    assert again.returncode == 0, again.stderr
    rows = [line.split(",") for line in (folder / "runs/all/results.csv").read_text().splitlines()[1:]]
    assert [row[5] for row in rows] == ["won"] * 4
    assert len(model_server.requests) == sum(int(row[8]) for row in rows) + 1, "the cell that was cut short began anew"


def test_answers_are_kept_and_given_again(folder: Path, model_server: ModelServer) -> None:
    model_server.replies = [Halves(20)]
    arguments = ("eval", "numbers", *MODEL, "--base-url", model_server.url, "--cache", "use")
    for name in ("first", "second"):
        done = run(*arguments, "--run", name, cwd=folder, PDDLEGO_CACHE_DIR=str(folder / "cache"))
        assert done.returncode == 0, done.stderr
    sent = len(model_server.requests)
    assert "from cache" in done.stdout
    assert (folder / "runs/second/ledger.jsonl").read_text() == ""
    assert sent == len((folder / "runs/first/ledger.jsonl").read_text().splitlines()) // 2


def test_an_answer_without_a_number_goes_back_with_the_reason(folder: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("I would rather not.")]
    done = run("play", "numbers", "--mode", "guess", "--model", "m", "--base-url", model_server.url, cwd=folder)
    assert done.returncode == 1
    assert "attempt 1 rejected: the answer holds no number." in done.stdout
    assert "no plan after 0 steps: 6 answers in a row were rejected" in done.stdout


@pytest.mark.slow
def test_an_interrupt_ends_it_and_the_same_command_continues(folder: Path, model_server: ModelServer) -> None:
    go = threading.Event()
    model_server.replies = [answer("10", hold=go), Halves(20)]
    arguments = ("eval", "numbers", *MODEL, "--base-url", model_server.url, "--workers", "1")
    command = [sys.executable, "-m", "pddlego", *arguments]
    with started(command, cwd=folder, env=dict(os.environ), stdout=subprocess.PIPE, text=True) as process:
        model_server.wait_for_requests()
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert "Interrupted: waiting for 1 episode" in process.stdout.readline()
        go.set()
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Run the same command again to resume." in text
    assert run(*arguments, cwd=folder).returncode == 0


def test_it_is_watched_shown_and_reported_in_every_format(folder: Path) -> None:
    arguments = ("--modes", "guess", "--models", "halving", "--seeds", "0-3", "--run", "all")
    assert run("eval", "numbers", *arguments, cwd=folder).returncode == 0
    assert "4 episodes, 4 ended, 4 won" in run("watch", "runs/all", cwd=folder).stdout
    assert "2  25 is too low" in run("show", "runs/all", "--seed", "3", "--step", "2", cwd=folder).stdout
    done = run("show", "runs/all", "--seed", "3", "-o", "picture.svg", cwd=folder)
    assert "31" in (folder / "picture.svg").read_text(), done.stderr
    for to in ("text", "markdown", "csv", "json", "html"):
        done = run("report", "runs/all", "--format", to, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "guesses" in done.stdout
    items = json.loads(run("report", "runs/all", "--format", "json", cwd=folder).stdout)
    assert items["rows"][0]["median_guesses"] > 1
    assert "numbers" in run("games", cwd=folder).stdout
    assert "guess.highest" in run("config", cwd=folder).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("play", "coin", "--mode", "guess", "--model", "halving"), "It is of the kind 'text game'"),
        (("play", "numbers", "--mode", "edit"), "It is of the kind 'number'"),
        (("play", "numbers", "--mode", "guess"), "Mode guess has no built-in model"),
        (("play", "numbers", "--mode", "guess-no-hope"), "guess has no parts to take out"),
        (("play", "numbers", "--mode", "guess", "--model", "halving", "--search", "bfs"), "--search has no effect"),
        (("play", "numbers", "--mode", "guess", "--model", "halving", "--set", "lowest=1"), "no option 'lowest'"),
        (("play", "numbers", "--mode", "guess", "--model", "halving", "--set", "highest=x"), "highest = x"),
        (("play", "numbers", "--mode", "guess", "--model", "halving", "--confirm", "plans"), "nothing to confirm"),
        (("resume", "runs/all", "--from-step", "1"), "is not a text game"),
    ],
)
def test_what_does_not_fit_is_refused(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    if arguments[0] == "resume":
        run("eval", "numbers", "--modes", "guess", "--models", "halving", "--seeds", "3", "--run", "all", cwd=folder)
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_package_its_runs_are_still_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("--modes", "guess", "--models", "halving", "--seeds", "0-3", "--run", "all")
    run("eval", "numbers", *arguments, cwd=folder)
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.delitem(sys.modules, "guess")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(folder.parent / "site")])
    registry.forget()
    shown = run("show", "runs/all", "--seed", "3", cwd=folder)
    assert "guessed: of a method that is not installed" in shown.stdout
    assert "4 episodes, 4 ended, 4 won" in run("watch", "runs/all", cwd=folder).stdout
    table = run("report", "runs/all", "--format", "csv", cwd=folder).stdout
    assert table.startswith("game,mode,model,seed,repeat,outcome,score,guesses,")
    refused = run("replay", "runs/all", cwd=folder)
    assert refused.returncode == 2
    assert "Unknown method 'guess'" in refused.stderr


def broken(folder: Path, old: str, new: str) -> None:
    """The package with a fault in it."""
    text = FILES["guess/__init__.py"].replace(old, new)
    assert text != FILES["guess/__init__.py"]
    (folder.parent / "site" / "guess" / "__init__.py").write_text(text, encoding="utf-8")
    forget()


def test_what_an_episode_learned_is_carried_to_the_next_and_kept_as_a_file(folder: Path) -> None:
    carrying = FILES["guess/__init__.py"]
    for old, new in (
        ('plays="number"),', 'plays="number", carries=Carried("tip", "txt")),'),
        ("import Column,", "import Carried, Column,"),
        ("import Event,", "import Accepted, Event,"),
        (
            "            budget.step()\n",
            "            yield Accepted('tip', f'{tools.first_text}{guess} ')\n            budget.step()\n",
        ),
        (", history=history)", ", history=tools.first_text + history)"),
    ):
        assert old in carrying, old
        carrying = carrying.replace(old, new)
    broken(folder, FILES["guess/__init__.py"], carrying)
    arguments = ("eval", "numbers", "--modes", "guess", "--models", "halving", "--run", "all", "--carry")
    assert run(*arguments, "--seeds", "3,1", cwd=folder).returncode == 0
    tip = folder / "runs/all/carried/numbers-guess-halving.txt"
    first = tip.read_text(encoding="utf-8")
    assert run(*arguments, "--seeds", "3,1,0", cwd=folder).returncode == 0
    assert tip.read_text(encoding="utf-8").startswith(first), "seed 0 began from what the other two left"
    replayed = run("replay", "runs/all", cwd=folder)
    assert replayed.stdout.count("identical") == 3, replayed.stdout + replayed.stderr
    (folder / "runs/all/carried").rename(folder / "gone")
    assert run(*arguments, "--seeds", "3,1,0", cwd=folder).returncode == 0
    assert tip.read_text(encoding="utf-8") == (folder / "gone" / tip.name).read_text(encoding="utf-8")


ODDS = '''"""A command of the package."""

from typing import Annotated

import typer


def odds(highest: Annotated[int, typer.Option(min=1, help="The highest number.")] = 100) -> None:
    """Print the odds of a first guess."""
    typer.echo(f"1 in {highest}")
'''


def test_a_package_adds_a_command(folder: Path) -> None:
    site = folder.parent / "site"
    with (site / "guess-1.0.dist-info/entry_points.txt").open("a") as entries:
        entries.write("\n[pddlego.commands]\nodds = guess.odds:odds\n")
    with (site / "guess-1.0.dist-info/METADATA").open("a") as about:
        about.write("Summary: Guess numbers\n")
    (site / "guess/odds.py").write_text("raise SystemExit(7)\n")
    assert "\n\nOther packages:\n  odds  Guess numbers\n" in run("--help", cwd=folder).stdout, "nothing is imported"
    (site / "guess/odds.py").write_text(ODDS)
    assert run("odds", "--highest", "8", cwd=folder).stdout == "1 in 8\n"
    assert "--highest N  The highest number." in run("odds", "--help", cwd=folder).stdout
    assert run("odds", "--highest", "0", cwd=folder).returncode == 2
    (site / "guess/odds.py").write_text(ODDS.replace("{highest}", "{highest // 0}"))
    sys.modules.pop("guess.odds", None)
    assert "Error: An error in package guess (guess/odds.py, line 10): ZeroDiv" in run("odds", cwd=folder).stderr
    assert "No such command 'evens'" in run("evens", cwd=folder).stderr
    assert run("check", "--help", cwd=folder).returncode == 0


@pytest.mark.parametrize("raised", ["SystemExit(7)", "BaseException('odd')", "GeneratorExit()", "SystemExit()"])
def test_whatever_an_import_raises_it_ends_in_three_lines(folder: Path, raised: str) -> None:
    site = folder.parent / "site"
    with (site / "guess-1.0.dist-info/entry_points.txt").open("a") as entries:
        entries.write("\n[pddlego.commands]\nodds = guess.odds:odds\n")
    (site / "guess/odds.py").write_text(f"raise {raised}\n")
    broken(folder, "import re\n", f"import re\n\nraise {raised}\n")
    for arguments in (("odds",), ("play", "numbers", "--mode", "guess")):
        sys.modules.pop("guess.odds", None)
        done = run(*arguments, cwd=folder)
        assert done.returncode == 2
        assert "cannot be loaded" in done.stderr
        assert raised.partition("(")[0] in done.stderr
        assert [line[:6] for line in done.stderr.splitlines()[:1]] == ["Error:"]
        assert "Traceback" not in done.stderr


def test_an_environment_says_whether_an_answer_was_accepted(folder: Path) -> None:
    with Environment("numbers", "guess") as environment:
        environment.reset(1)
        with pytest.raises(UsageError, match="numbers has no expert"):
            environment.expert()
        assert environment.step("I would rather not.").accepted is False
        assert environment.step("50").accepted is True


def test_training_data_have_verdicts(folder: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("I would rather not."), Halves(20)]
    run("eval", "numbers", *MODEL, "--base-url", model_server.url, "--workers", "1", cwd=folder)
    done = run("export", "all", "--format", "chat", cwd=folder)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (rows[0]["accepted"], rows[0]["feedback"]) == (False, "the answer holds no number."), done.stderr
    assert len(rows) > 4 and all(row["accepted"] for row in rows[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "import re\n",
            "import re\n\nraise RuntimeError('gone')\n",
            "package guess (guess/__init__.py, line 8): RuntimeError: gone.",
        ),
        ("import re\n", "import re\n\nraise SystemExit(7)\n", "SystemExit: 7"),
        ("import re\n", "import re\n\nraise BaseException('odd')\n", "BaseException: odd"),
        ("import re\n", "import re\n\nraise GeneratorExit\n", "GeneratorExit"),
        ("import re\n", "import\n", "SyntaxError"),
        ("METHOD = Guess()", "METHOD = 42", "it is not a Method"),
        ("    options = Options\n", "    options = None\n", "its options are not a pydantic model"),
        ('    name = "guess"\n', '    name = "other"\n', "it calls itself 'other'"),
        ('Column("guesses"', 'Column("calls"', "it has a column 'calls', which is a reserved name"),
        ('Column("guesses"', 'Column("tokens"', "it has a column 'tokens', which is a reserved name"),
    ],
)
def test_a_package_that_is_broken_harms_nobody_else(
    folder: Path, quick_doctor: None, old: str, new: str, reason: str
) -> None:
    broken(folder, old, new)
    done = run("eval", "coin", "--modes", "random", "--seeds", "0", "--dry-run", cwd=folder)
    assert done.returncode == 0, done.stderr
    refused = run("play", "numbers", "--mode", "guess", cwd=folder)
    assert refused.returncode == 2
    assert "The method 'guess' cannot be loaded" in refused.stderr
    assert reason in refused.stderr
    assert reason in run("doctor", cwd=folder).stdout


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "        while True:\n",
            "        raise RuntimeError('lost')\n        while True:\n",
            f"{IN_GUESS}: RuntimeError: lost",
        ),
        (r'r"\d+"', '"("', rf"{IN_GUESS}: (error|PatternError): "),  # inside the standard library
        (
            "partial(propose, request",
            "partial(len, request",
            rf"{OR_GUESS} \(guess/__init__.py, line \d+\), which called it: TypeError",
        ),
        (
            PLAY,
            f"    def play(self, *arguments):\n        pass\n\n{PLAY.replace('play', 'other')}",
            "an error in the method: 'play' ended without raising EpisodeOver",
        ),
        (PLAY, f"    def run(self, *arguments):\n        return None\n\n{PLAY}", f"{OR_GUESS}: TypeError"),
        (
            PLAY,
            f"    def run(self, *arguments):\n        return iter(())\n\n{PLAY}",
            f"{OR_GUESS}: RuntimeError: an episode ends with 'ended'",
        ),
        ("yield Guessed(", "yield 17 or Guessed(", f"{OR_GUESS}: TypeError: an episode yields events, and here 17"),
        ("str(guess), answer)", "str(guess), lambda: answer)", f"{OR_GUESS}: PydanticSerializationError"),
    ],
)
def test_a_method_that_breaks_down_ends_its_episode_only(folder: Path, old: str, new: str, reason: str) -> None:
    broken(folder, old, new)
    done = run("play", "numbers", "--mode", "guess", "--model", "halving", "--seed", "3", cwd=folder)
    assert done.returncode == 3
    assert "crashed after" in done.stdout
    assert re.search(reason, done.stdout), done.stdout
    (made,) = (folder / "runs").iterdir()
    assert '"outcome":"crashed"' in (made / "results.jsonl").read_text()
    done = run("eval", "numbers", "--modes", "guess", "--models", "halving", "--seeds", "3", "--run", "all", cwd=folder)
    assert re.search(reason, (folder / "runs/all/results.jsonl").read_text()), done.stdout


@pytest.mark.parametrize("member", ["load", "builtin_model"])
def test_an_error_before_the_first_event_names_the_package_and_the_line(folder: Path, member: str) -> None:
    (head,) = re.findall(rf"    def {member}\(.*\n", FILES["guess/__init__.py"])
    broken(folder, head, f"{head}        1 / 0\n")
    done = run("play", "numbers", "--mode", "guess", "--model", "halving", cwd=folder)
    assert done.returncode == 3
    assert re.match(r"Error: An error in package guess \(guess/__init__.py, line \d+\): ZeroDivisionError", done.stderr)
    assert "report it to the authors of that package" in done.stderr


def test_the_limit_of_steps_holds_for_a_method_that_does_not_check_it(folder: Path) -> None:
    broken(folder, "            budget.check_steps()\n", "            low, high = 1, 1\n")
    done = run("play", "numbers", "--mode", "guess", "--model", "halving", "--seed", "3", cwd=folder)
    assert done.returncode == 1
    assert "step limit after 10 steps: not won within 10 steps" in done.stdout


@pytest.mark.parametrize("name", ["calls", "tokens", "seed", "won"])
def test_a_number_with_a_reserved_name_is_an_error_and_its_episodes_are_kept(folder: Path, name: str) -> None:
    broken(folder, 'Measures({"guesses": trace.usage.steps})', f'Measures({{"{name}": 1}})')
    options = ("--models", "halving", "--seeds", "0-2", "--workers", "1", "--run", "all")
    for arguments in (("play", "numbers", "--mode", "guess", "--model", "halving"), ("eval", "numbers", *options)):
        refused = run(*arguments, cwd=folder)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"Error: The method measures '{name}', which is a reserved name\n  why: ")
        assert len(refused.stderr.splitlines()) == 3
    broken(folder, "import re\n", "import re\n\n")
    done = run("eval", "numbers", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 of 3 episodes are finished already" in done.stdout


def test_what_cannot_be_measured_is_a_result_all_the_same(folder: Path) -> None:
    broken(folder, 'Measures({"guesses": trace.usage.steps})', 'Measures({"guesses": 1 // len(())})')
    done = run(
        "eval", "numbers", "--modes", "guess", "--models", "halving", "--seeds", "0-2", "--run", "all", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    fault = r"package guess \(guess/__init__.py, line \d+\): ZeroDivisionError: integer division"
    assert re.search(f"Not measured: {fault}", " ".join(done.stdout.split())), done.stdout
    report = run("report", "runs/all", "--format", "markdown", cwd=folder).stdout
    assert re.search(f"not measured: {fault}", report)
    assert "100%" in report


@pytest.mark.slow
def test_what_cannot_be_described_is_one_line(folder: Path) -> None:
    broken(folder, "{command} is {answer}", "{command} is {nothing}")
    assert run("play", "numbers", "--mode", "guess", "--model", "halving", "--seed", "3", cwd=folder).returncode == 0
    (made,) = (folder / "runs").iterdir()
    line = "guessed: cannot be described (KeyError"  # no line of the package is in the traceback
    assert line in run("show", str(made), cwd=folder).stdout
    run("report", str(made), "--format", "html", "-o", "report.html", cwd=folder)
    (page,) = pages_in((folder / "report.html").read_text(encoding="utf-8"))
    assert any(line in text for text in page["lines"])


def test_another_version_of_the_package_is_another_configuration(folder: Path) -> None:
    arguments = ("eval", "numbers", "--modes", "guess", "--models", "halving", "--run", "all", "--seeds")
    assert run(*arguments, "0-1", cwd=folder).returncode == 0
    about = folder.parent / "site" / "guess-1.0.dist-info" / "METADATA"
    about.write_text(about.read_text().replace("Version: 1.0", "Version: 2.0"))
    refused = run(*arguments, "0-2", cwd=folder)
    assert refused.returncode == 2
    assert 'versions.guess was "1.0" and is now "2.0"' in refused.stderr
