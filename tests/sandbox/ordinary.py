"""The attacks, made by an ordinary user: where tests run as root, by one that owns nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pddlego.errors import PddlegoError
from pddlego.sandbox import Sandbox
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
    """What came of each attack, in lines. As root the interpreter is mounted where everybody may read it."""
    with tempfile.TemporaryDirectory(prefix="pddlego-ordinary-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        package = place / "pddlego"
        for room in ("sandbox", "util"):
            shutil.copytree(ROOT / "pddlego" / room, package / room)
        shutil.copy(ROOT / "pddlego" / "errors.py", package / "errors.py")
        (package / "__init__.py").write_text("")  # nothing but the sandbox is needed, and nothing but Python
        if os.getuid() != 0:
            command = [sys.executable, "-c", _PROBE]
        else:
            (place / "python").mkdir()
            base = Path(sys.base_prefix)
            interpreter = place / "python" / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
            mount = f"mount --bind '{base}' '{place}/python'"
            drop = "exec setpriv --reuid=65533 --regid=65533 --clear-groups"
            command = ["unshare", "-m", "sh", "-c", f'{mount} && {drop} "$@"', "sh", str(interpreter), "-c", _PROBE]
        done = subprocess.run(
            command,
            cwd=place,
            env={"PYTHONPATH": str(place), "PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-secret"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()
