"""An OpenEnv server: any setting and mode as an environment for TRL, verifiers, NeMo Gym, SkyRL and others."""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from openenv.core.env_server.types import ConcurrencyConfig, EnvironmentMetadata
from pydantic import Field, model_validator

from pddlego import __version__
from pddlego.api import environment
from pddlego.api.splits import Split, seeds_of
from pddlego.errors import UsageError

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


class PddlegoEnvironment(Environment[PddlegoAction, PddlegoObservation, PddlegoState]):
    """One session. Its environment is made by the first `reset`, so that a connection alone costs nothing."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, served: Served) -> None:
        super().__init__()
        self._served = served
        self._own: environment.Environment | None = None
        self._messages = False
        self._last = environment.Observation(NO_EPISODE)
        self._state = PddlegoState(game=served.game, mode=served.mode)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        messages: bool = False,
        **_: Any,
    ) -> PddlegoObservation:
        """Begin an episode: of a `seed`, of the task `index` of a `split`, or of the next seed.

        With `messages`, each observation has the whole request, for models that do not see the conversation.
        """
        served = self._served
        if index is not None:
            seed = served.get_task(split or served.split, index)["seed"]
        self._own = self._own or served.make()
        self._last, self._messages = self._own.reset(seed), messages
        seed = self._own.episode.seed
        self._state = PddlegoState(episode_id=episode_id, game=served.game, mode=served.mode, seed=seed)
        return self._question(first=True)

    def step(self, action: PddlegoAction, timeout_s: float | None = None, **_: Any) -> PddlegoObservation:
        """Take an answer. Without an open episode, nothing happens, and the text says so."""
        if self._own is None or self._last.done:
            return PddlegoObservation(text=NO_EPISODE, done=self._last.done, reward=0.0)
        self._last = self._own.step(action.answer)
        self._state.step_count += 1
        self._state.score, self._state.won = self._last.score, self._last.won
        return self._question()

    def _question(self, first: bool = False) -> PddlegoObservation:
        observed = self._last
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


@dataclass(frozen=True)
class Served:
    """What a server plays. Holding `template` keeps the planner open between sessions."""

    template: environment.Environment
    options: Mapping[str, Any]

    @property
    def game(self) -> str:
        return self.template.game

    @property
    def mode(self) -> str:
        return self.template.mode

    @property
    def split(self) -> Split:
        return self.template.split

    @cached_property
    def splits(self) -> Mapping[str, Sequence[int]]:
        """The seeds of each split that may be played: test seeds only if the server is for them."""
        names: tuple[Split, ...] = ("train", "dev", "test") if self.split == "test" else ("train", "dev")
        splits: dict[str, Sequence[int]] = {}
        for name in names:
            with suppress(UsageError):  # the setting has no such split
                splits[name] = seeds_of(self.template.setting, name)
        return splits

    def make(self) -> environment.Environment:
        """Another environment, which shares the planner of the template."""
        return environment.Environment(self.game, self.mode, split=self.split, **self.options)

    def seeds(self, split: str) -> Sequence[int]:
        """The seeds of a split. Raises `IndexError` for a split that this server does not play."""
        if split not in self.splits:
            raise IndexError(f"no split {split}: this server plays {', '.join(self.splits)}")
        return self.splits[split]

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """A task of a split. Raises `IndexError`."""
        seeds = self.seeds(split)
        if not 0 <= index < len(seeds):
            raise IndexError(f"{split} has the tasks 0 to {len(seeds) - 1}")
        seed = seeds[index]
        return {"id": f"{self.game}/{self.mode}/{seed}", "index": index, "split": split, "seed": seed}


def make_app(served: Served, sessions: int, idle: float, token: str = "") -> Any:
    """The application: at most so many `sessions`, each closed after `idle` seconds without a message.

    With a `token`, every request but `/health` needs the header `Authorization: Bearer TOKEN`.
    """
    limits = ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle)
    app = create_app(
        lambda: PddlegoEnvironment(served),
        PddlegoAction,
        PddlegoObservation,
        env_name=f"pddlego-{served.game}",
        concurrency_config=limits,
        state_cls=PddlegoState,
    )
    return _Guard(app, token) if token else app


class _Guard:
    """Refuses requests without the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kind = scope["type"]
        if kind in ("http", "websocket") and scope.get("path") != "/health":
            sent = dict(scope.get("headers", ())).get(b"authorization", b"")
            if not hmac.compare_digest(sent, self._expected):
                if kind == "websocket":
                    await send({"type": "websocket.close", "code": 4401, "reason": "a token is needed"})
                    return
                await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
                await send({"type": "http.response.body", "body": b""})
                return
        await self._app(scope, receive, send)


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


def serve(app: Any, listening: socket.socket) -> None:
    """Serve an application until the process is interrupted."""
    # uvicorn logs a traceback for each connection that a client drops
    config = uvicorn.Config(app, log_level="critical", ws_max_size=MAX_MESSAGE, timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[listening])
