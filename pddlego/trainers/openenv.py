"""An OpenEnv server: any setting and mode as an environment for TRL, verifiers, NeMo Gym, SkyRL and others."""

from __future__ import annotations

import hmac
import itertools
import json
import logging
import re
import socket
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from openenv.core.env_server.types import ConcurrencyConfig, EnvironmentMetadata
from pydantic import Field, model_validator

from pddlego import __version__
from pddlego.api import environment
from pddlego.api.splits import Split, check_split, seeds_of, split_of
from pddlego.errors import PddlegoError, UsageError
from pddlego.methods.base import check_seed

NO_EPISODE = "No question is open: reset begins an episode."


class PddlegoAction(Action):
    """The model's answer: a command, an edit, a file, a program or a plan, as the mode expects it."""

    answer: str = Field(description="The model's answer to the last observation, as it wrote it.")

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """Accept an answer that is a JSON object, such as an edit: many clients send it as the whole action."""
        if not isinstance(value, Mapping) or set(value) == {"metadata"}:
            return value
        answer = value["answer"] if "answer" in value and set(value) <= {"answer", "metadata"} else value
        return value if isinstance(answer, str) else {"answer": json.dumps(answer, ensure_ascii=False)}


class PddlegoObservation(Observation):
    """The next question to the model, and the verdict on its last answer (see `pddlego.Environment`).

    The sum of all rewards is the value of the episode, from 0 to 1.
    """

    text: str = Field(default="", description="What to show the model next: what is new since the last answer.")
    messages: list[dict[str, str]] = Field(default=[], description="The whole request, after reset with messages.")
    valid_commands: list[str] = Field(default=[], description="The commands that the question lists.")
    accepted: bool | None = Field(default=None, description="Whether the last answer was accepted.")
    reasons: list[str] = Field(default=[], description="Why it was rejected, and what lowered its reward.")
    won: bool = Field(default=False, description="Whether the episode is over and won.")
    score: float = Field(default=0.0, description="The score of the game, from 0 to 1.")


class PddlegoState(State):
    """The episode: what is played, and how far it is."""

    game: str = ""
    mode: str = ""
    seed: int | None = None
    score: float = 0.0
    won: bool = False
    system_error: str = ""


class PddlegoEnvironment(Environment[PddlegoAction, PddlegoObservation, PddlegoState]):
    """One session. Its environment is made by the first `reset`, so that a connection alone costs nothing."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, served: Served) -> None:
        super().__init__()
        self._served = served
        self._own: environment.Environment | None = None
        self._messages = False
        self._last = environment.StepResult(NO_EPISODE)
        self._state = PddlegoState(game=served.game, mode=served.mode)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        messages: bool = False,
        **unknown: Any,
    ) -> PddlegoObservation:
        """Begin an episode: of a `seed`, of the task `index` of a `split`, or of the next seed of the split.

        With `messages`, each observation has the whole request, for models that do not see the conversation. Raises
        `UsageError` for unknown arguments, and for arguments that contradict each other.
        """
        served = self._served
        if unknown:
            known = "Known are: seed, episode_id, split, index, messages."
            raise UsageError(f"Unknown arguments of reset: {', '.join(unknown)}", known, "Correct or remove them.")
        seed = served.seed_of(seed, split, index)
        self.close()
        own = served.make(seed)
        self._last = own.reset(seed)
        self._own, self._messages = own, messages
        self._state = PddlegoState(episode_id=episode_id, game=served.game, mode=served.mode, seed=seed)
        return self._question(first=True)

    def step(self, action: PddlegoAction, timeout_s: float | None = None, **_: Any) -> PddlegoObservation:
        """Take an answer. Without an open episode, nothing happens, and the text says so.

        Raises `PddlegoError` if the system and not the model ended the episode: many clients count a reward that is
        missing as 0.
        """
        if self._own is None or (self._last.done and not self._last.system_error):
            return PddlegoObservation(text=NO_EPISODE, done=self._last.done, reward=0.0)
        if not self._last.system_error:
            self._last = self._own.step(action.answer)
            self._state.step_count += 1
            self._state.score, self._state.won = self._last.score, self._last.won
        return self._question()

    def _question(self, first: bool = False) -> PddlegoObservation:
        observed = self._last
        if observed.system_error:
            self._state.system_error = observed.system_error
            advice = "Leave the episode out, and begin another one with reset."
            raise PddlegoError("The episode has no reward", observed.system_error, advice)
        messages = [{"role": m.role, "content": m.content} for m in observed.messages if self._messages]
        return PddlegoObservation(
            text=observed.text,
            messages=messages,
            valid_commands=list(observed.valid_commands),
            accepted=observed.accepted,
            reasons=list(observed.reasons),
            won=observed.won,
            score=observed.score,
            done=observed.done,
            reward=None if first and not observed.done else observed.reward,
        )

    @property
    def state(self) -> PddlegoState:
        return self._state

    def close(self) -> None:
        """End the episode."""
        if self._own is not None:
            self._own.close()
        self._own, self._last = None, environment.StepResult(NO_EPISODE)

    def get_metadata(self) -> EnvironmentMetadata:
        about = f"{self._served.game} in mode {self._served.mode}: PDDL, a planner, and rewards proved by true facts"
        return EnvironmentMetadata(name=f"pddlego-{self._served.game}", description=about, version=__version__)

    def list_splits(self) -> list[str]:
        """The names of the splits that may be played."""
        return list(self._served.splits)

    def num_tasks(self, split: str) -> int:
        return len(self._served.seeds(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        return self._served.get_task(split, index)

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The first tasks of a split, at most 1,000."""
        return self.get_task_range(split, 0, 1000)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        return [self.get_task(split, index) for index in range(self.num_tasks(split))[start:stop]]


class NoTaskError(UsageError, IndexError):
    """A split or a task does not exist. OpenEnv expects an `IndexError`."""


@dataclass(frozen=True)
class Served:
    """What a server plays. Holding `template` keeps the planner open between sessions.

    `turns` counts, by split, the episodes of all sessions that named no seed.
    """

    template: environment.Environment
    options: Mapping[str, Any]
    turns: Mapping[str, Iterator[int]] = field(default_factory=lambda: defaultdict(itertools.count))

    @property
    def game(self) -> str:
        return self.template.game

    @property
    def mode(self) -> str:
        return self.template.mode

    @property
    def split(self) -> Split:
        return self.template.split or "train"

    @cached_property
    def splits(self) -> Mapping[str, Sequence[int]]:
        """The seeds of each split that may be played: test seeds only if the server is for them."""
        names: tuple[Split, ...] = ("train", "dev", "test") if self.split == "test" else ("train", "dev")
        splits: dict[str, Sequence[int]] = {}
        for name in names:
            with suppress(UsageError):  # the setting has no such split
                splits[name] = seeds_of(self.template.setting, name)
        return splits

    def make(self, seed: int) -> environment.Environment:
        """Another environment, which shares the planner of the template, for the split of the seed."""
        split: Any = split_of(self.template.setting, seed)
        return environment.Environment(self.game, self.mode, split=split, **self.options)

    def seed_of(self, seed: int | None, split: str | None, index: int | None) -> int:
        """The seed of an episode: the one that is named, or the next one of the split over all sessions.

        Raises `UsageError` if the server does not play it, or if seed, split and index contradict each other.
        """
        for name, value in (("seed", seed), ("index", index)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise UsageError(f"{name} = {value!r} is invalid", "It must be a whole number.", "Pass one, or none.")
        setting, chosen = self.template.setting, self.split if split is None else split
        if seed is None or index is not None:
            number = len(self.seeds(chosen))
            task = self.get_task(chosen, next(self.turns[chosen]) % number if index is None else index)
            if seed not in (None, task["seed"]):
                reason = f"Task {index} of the split {chosen} has the seed {task['seed']}."
                raise UsageError(f"Seed {seed} contradicts index {index}", reason, "Pass one of the two.")
            return int(task["seed"])
        check_seed(setting, seed)
        if split is not None:
            self.seeds(split)
        if split is not None or self.split != "test":
            check_split(setting, seed, split)
        return seed

    def seeds(self, split: str) -> Sequence[int]:
        """The seeds of a split. Raises `NoTaskError` for a split that this server does not play."""
        if split not in self.splits:
            reason = f"This server plays: {', '.join(self.splits)}."
            raise NoTaskError(f"There is no split {split}", reason, "Choose another, or serve with --seeds test.")
        return self.splits[split]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """A task of a split. Raises `NoTaskError`."""
        seeds = self.seeds(split)
        if not 0 <= index < len(seeds):
            reason = f"The split {split} has the tasks 0 to {len(seeds) - 1}."
            raise NoTaskError(f"There is no task {index}", reason, "Choose another.")
        seed = seeds[index]
        return {"id": f"{self.game}/{self.mode}/{seed}", "index": index, "split": split, "seed": seed}


@dataclass(frozen=True)
class ServerAccess:
    """Who may use a server.

    With a `token`, every request but `/health` needs the header `Authorization: Bearer TOKEN`. Pages in a browser may
    come from a host in `names` only. The server itself must be called by one of them, too, unless it is `public`: then
    the token keeps out pages whose name was made to point to this machine.
    """

    names: Collection[str] = ("127.0.0.1", "localhost", "::1")
    token: str = ""
    public: bool = False

    def refusal(self, scope: Any) -> tuple[int, str]:
        """The status and the reason of a refused request; 0 if it may pass."""
        headers = scope.get("headers", ())
        checked = (b"origin",) if self.public else (b"origin", b"host")
        for value in (value.decode("latin-1") for header, value in headers if header in checked):
            host = _HOST.fullmatch(value)
            if host is None or host[1].strip("[]").lower() not in self.names:
                return 403, f"{value[:200]} is not a name of this server; --name adds one"
        sent = dict(headers).get(b"authorization", b"")
        allowed = not self.token or scope["path"] == "/health"
        if not allowed and not hmac.compare_digest(sent, f"Bearer {self.token}".encode()):
            return 401, "a token is needed"
        return 0, ""


_HOST = re.compile(r"(?:https?://)?(\[[\da-fA-F:.]+\]|[^\s:/@\[\]]+)(?::\d+)?")
"""The address of a server or of a page, with its host name."""


def make_app(served: Served, sessions: int, idle: float, access: ServerAccess = ServerAccess()) -> Any:
    """The application: at most so many `sessions`, each closed after `idle` seconds without a message."""
    limits = ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle)
    app = create_app(
        lambda: PddlegoEnvironment(served),
        PddlegoAction,
        PddlegoObservation,
        env_name=f"pddlego-{served.game}",
        concurrency_config=limits,
        state_cls=PddlegoState,
    )
    app.add_exception_handler(PddlegoError, _explained)
    return _Guard(app, access)


async def _explained(_: Any, error: Any) -> Any:
    """The response to an HTTP request that failed."""
    return _response(400 if isinstance(error, UsageError) else 503, str(error))


def _response(status: int, reason: str) -> Any:
    """A response with a reason, in the form of FastAPI's."""
    body = json.dumps({"detail": reason}).encode()

    async def respond(_scope: Any, _receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return respond


class _Guard:
    """Refuses requests that have no access, bodies that are too long, and messages that would end a session."""

    def __init__(self, app: Any, access: ServerAccess) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        status, reason = self._access.refusal(scope)
        if scope["type"] == "websocket":
            if status:
                await send({"type": "websocket.close", "code": 4000 + status, "reason": reason})
                return
            await self._app(scope, lambda: _readable(receive), send)
            return
        body = b"" if status else await _body(receive)
        if body is None:
            status, reason = 413, f"a body may have {MAX_MESSAGE:,} bytes"
        if status:
            await _response(status, reason)(scope, receive, send)
            return
        messages = [{"type": "http.request", "body": body}]

        async def first_the_body() -> Any:
            return messages.pop() if messages else await receive()

        await self._app(scope, first_the_body, send)


async def _body(receive: Any) -> bytes | None:
    """The body of a request; None if it is longer than `MAX_MESSAGE`."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_MESSAGE:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


async def _readable(receive: Any) -> Any:
    """The next event of a session. A message that OpenEnv cannot read becomes one that it answers with an error."""
    event = await receive()
    if event["type"] != "websocket.receive":
        return event
    try:
        text = event.get("text")
        value = json.loads((event.get("bytes") or b"").decode() if text is None else text)
        text = json.dumps(value if isinstance(value, dict) else {"type": "(not an object)"}, ensure_ascii=False)
    except (ValueError, RecursionError):  # no JSON, or too deep, or with a number that is too long
        text = ""
    return {"type": "websocket.receive", "text": text.encode("utf-8", "replace").decode()}


MAX_MESSAGE = 1_000_000
"""The maximum length of a message of a client, in bytes."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `UsageError` if the port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise UsageError(
            f"Port {port} of {host} cannot be used", str(error), "Choose another --port or --host."
        ) from error


def serve_application(app: Any, listening: socket.socket) -> None:
    """Serve an application until the process is interrupted."""
    # py4j logs the end of a dead engine to the root logger, and uvicorn a traceback for each dropped connection.
    logging.getLogger().addHandler(logging.NullHandler())
    config = uvicorn.Config(app, log_level="critical", ws_max_size=MAX_MESSAGE, timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[listening])
