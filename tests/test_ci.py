"""The stages of `.ci/run`: jobs of the workflow run each of them, and one that fails does not stop the others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

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


def test_the_jobs_of_the_workflow_run_every_stage() -> None:
    text = (CI / "stages.sh").read_text(encoding="utf-8")
    stages = [
        name for names in re.findall(r"^(?:LONG|LIGHT|ALONE)=\((.*?)\)", text, re.MULTILINE) for name in names.split()
    ]
    workflow = (WORKFLOWS / "ci.yml").read_text(encoding="utf-8")
    matrix = workflow.partition("        stages:\n")[2].partition("    runs-on")[0]
    assert sorted(matrix.replace("- ", "").split()) == sorted(stages)
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
