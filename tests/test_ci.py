"""The stages of `.ci/run`, and which tests its stage `tests` runs and limits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.landing import lands
from tests.scale import PATIENCE

CI = Path(__file__).parent.parent / ".ci"
WORKFLOWS = CI.parent / ".github" / "workflows"

pytestmark = pytest.mark.skipif(not CI.is_dir(), reason="the distribution has no .ci")

STAGES = """
LONG=(first)
LIGHT=(second third fourth)
. "{running}"
first() {{ false; echo "not reached"; }}
second() {{ echo "second runs"; }}
third() {{ echo "third runs"; exit 3; }}
fourth() {{ echo "fourth runs"; }}
"""


@pytest.mark.skipif(not (shutil.which("flock") or os.environ.get("CI") == "true"), reason="needs flock of util-linux")
def test_a_stage_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    stages = tmp_path / "stages.sh"
    stages.write_text(STAGES.format(running=CI / "running.sh"))
    variables = f"work={tmp_path} began=0 stages_file={stages}"
    script = f"set -eu; export {variables}; . {stages}; run_stages first second third fourth"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path
    )
    assert done.returncode == 1
    assert all(f"{stage} runs" in done.stdout for stage in ("second", "third", "fourth"))
    assert "not reached" not in done.stdout
    assert done.stdout.endswith("failed: first third\n")
    assert re.search(r"^third +\d+:\d\d  failed \(3\)$", done.stdout, re.MULTILINE)


def test_each_stage_is_a_function_and_is_in_one_list() -> None:
    text = (CI / "stages.sh").read_text(encoding="utf-8")
    lists = re.findall(r"^[A-Z]+=\((.*?)\)", text, re.MULTILINE)
    stages = " ".join(lists).split()
    assert len(lists) == 4
    assert len(set(stages)) == len(stages)
    assert all(re.search(rf"^{name}\(\) {{", text, re.MULTILINE) for name in stages)


def test_actions_are_pinned_by_commit_and_the_same_everywhere() -> None:
    used = [
        line.partition("uses:")[2].strip()
        for path in WORKFLOWS.glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(used) > 5
    assert not [action for action in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)]
    assert len(set(used)) == len({action.partition("@")[0] for action in used})


def test_only_stages_that_exist_are_run_before_a_release() -> None:
    text = (WORKFLOWS / "release.yml").read_text(encoding="utf-8")
    stages = " ".join(re.findall(r"\.ci/run (.+)", text)).split()
    assert "wheel" in stages
    assert all(re.search(rf"^{name}\(\) {{", (CI / "stages.sh").read_text(encoding="utf-8"), re.M) for name in stages)


def test_a_landing_runs_a_tenth_of_the_slow_tests_and_each_commit_another() -> None:
    tests = [f"tests/test_a.py::test_one[{number}]" for number in range(1_000)]
    first, second = ({test for test in tests if lands(commit, test)} for commit in ("3a5f", "77c0"))
    assert 70 < len(first) < 130
    assert first != second


BURNING = """
import subprocess, sys, threading, time, pytest
BURN = "import time\\nwhile time.process_time() < 0.3: pass"
def test_a_child(): subprocess.run([sys.executable, "-c", BURN])
def test_a_living_child():
    child = subprocess.Popen([sys.executable, "-c", BURN + "\\nprint(flush=True)\\ninput()"], stdin=-1, stdout=-1)
    child.stdout.readline()
def test_a_thread():
    thread = threading.Thread(target=exec, args=(BURN.replace("process", "thread"),))
    thread.start()
    thread.join()
@pytest.mark.slow
def test_a_slow_one(): subprocess.run([sys.executable, "-c", BURN])
def test_one_that_waits(): time.sleep(0.3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a living child has taken")
def test_tests_that_take_too_much_time_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "test_burning.py"
    file.write_text(BURNING)
    script = f"""
import pytest
from pathlib import Path
from tests.cpu import Guard
guard = Guard(Path({str(tmp_path / "list")!r}), lambda: 0.2 / 40)
pytest.main(["-p", "no:cacheprovider", "--rootdir", {str(tmp_path)!r}, {str(file)!r}], plugins=[guard])
"""
    subprocess.run([sys.executable, "-c", script], cwd=CI.parent, timeout=PATIENCE, check=True)
    listed = (tmp_path / "list").read_text().splitlines()
    assert [line.rpartition("::")[2] for line in listed] == ["test_a_child", "test_a_living_child", "test_a_thread"]
