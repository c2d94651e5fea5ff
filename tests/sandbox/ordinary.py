"""The attacks, made by an ordinary user: where tests run as root, by one that owns nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pddlego.errors import PddlegoError
from pddlego.sandbox.sandbox import Sandbox
from tests.scale import PATIENCE

ROOT = Path(__file__).parent.parent.parent

_PROBE = """
import sys
from pathlib import Path
from pddlego.sandbox.probes import try_all
for each in try_all():
    print("stopped" if each.stopped else "NOT STOPPED", each.name, each.how, flush=True)
"""


def _locks() -> bool:
    try:
        with Sandbox() as sandbox:
            return bool(sandbox.layers())
    except PddlegoError:
        return False


needs_locks = pytest.mark.skipif(
    os.environ.get("CI") != "true" and not _locks(), reason="this system cannot isolate programs"
)


def probes_as_ordinary_user() -> list[str]:
    """What came of each attack, in lines."""
    with tempfile.TemporaryDirectory(prefix="pddlego-ordinary-") as folder:
        place = Path(folder)
        package = place / "pddlego"
        for room in ("sandbox", "util"):
            shutil.copytree(ROOT / "pddlego" / room, package / room)
        shutil.copy(ROOT / "pddlego" / "errors.py", package / "errors.py")
        (package / "__init__.py").write_text("")  # nothing but the sandbox is needed, and nothing but Python
        done = _run_as_ordinary_user(place, ["-c", _PROBE], {}, PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


def run_tests_as_ordinary_user(*files: str) -> subprocess.CompletedProcess[str]:
    """Run files of tests with pytest, without slow ones: these measure how long our own process takes."""
    packages = Path(pytest.__file__).parent.parent
    with tempfile.TemporaryDirectory(prefix="pddlego-ordinary-") as folder:
        place = Path(folder)
        mounts = {ROOT: place / "repository", packages: place / "packages"} if os.getuid() == 0 else {}
        for folder_to_make in (*mounts.values(), place / "tmp"):
            folder_to_make.mkdir()
        (place / "tmp").chmod(0o777)
        repository = mounts.get(ROOT, ROOT)
        command = [
            "-m",
            "pytest",
            "-m",
            "not slow",
            "-p",
            "no:cacheprovider",
            *(str(repository / file) for file in files),
        ]
        return _run_as_ordinary_user(place, command, mounts, 10 * PATIENCE)


def _run_as_ordinary_user(
    place: Path, arguments: list[str], mounts: Mapping[Path, Path], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run Python. Where tests run as root, it and the other `mounts` are mounted below `place`, where all may read."""
    place.chmod(0o755)
    packages, repository = list(mounts.values())[::-1] or (place, place)
    environment = {
        "PYTHONPATH": f"{repository}{os.pathsep}{packages}",
        "PATH": os.environ["PATH"],
        "CI": os.environ.get("CI", ""),
        "OPENAI_API_KEY": "sk-secret",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(place / "tmp") if mounts else str(place),
    }
    command = [sys.executable, *arguments]
    if os.getuid() == 0:
        (place / "python").mkdir()
        mounts = {Path(sys.base_prefix): place / "python", **mounts}
        interpreter = place / "python" / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        steps = [f"mount --bind '{source}' '{target}'" for source, target in mounts.items()]
        steps.append('exec setpriv --reuid=65533 --regid=65533 --clear-groups "$@"')
        command = ["unshare", "-m", "sh", "-c", " && ".join(steps), "sh", str(interpreter), *arguments]
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=timeout)
