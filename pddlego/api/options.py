"""The keyword options of the Python interface. Made from the configuration by `python -m tests.options`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class EndpointOptions(TypedDict, total=False):
    """Options of a model's endpoint."""

    base_url: str | None
    """URL of an OpenAI-compatible server."""
    temperature: float | None
    """Sampling temperature."""
    reasoning_effort: str | None
    """none, low, medium, high, …"""
    extra_body: Mapping[str, Any]
    """An additional field of the request. Repeatable."""
    stream: bool
    """Stream answers as they are generated."""
    cache: Literal["off", "use", "refresh"]
    """Cached answers: off, use or refresh."""
    model_timeout: float
    """Seconds without a new part of an answer."""
    max_answer_tokens: int | None
    """Tokens per answer: sent to the model and reserved."""


class BuildKeywords(EndpointOptions, total=False):
    """Options of `build`."""

    timeout: float
    """Seconds per planning call; 0: no limit."""
    memory: int
    """Memory of the planner in MiB; 0: no limit."""
    max_seconds: float | None
    """Seconds per episode."""
    retries: int
    """Retries after an unusable answer (tos: --set answers=N)."""
    max_calls: int | None
    """Requests in total, including retries."""


class EpisodeOptions(BuildKeywords, total=False):
    """Options of an episode."""

    set: Mapping[str, object] | Sequence[str]
    """An option of the method (see 'pddlego config') or parameter of the game. Repeatable."""
    planner: str | None
    """auto, pyperplan, fast-downward, mimir, kairos or graphplan (solve --planners)."""
    max_tokens: int | None
    """Input and output tokens in total."""
    max_cost: float | None
    """Cost in total, in US dollars; requires --prices."""
    prices: str | None
    """A TOML file with prices in US dollars per million tokens."""
    from_: str | None
    """Begin with the domain or rules of this run or file."""
    fold: str | None
    """The part of the game: train, dev or test."""
    max_steps: int | None
    """Commands per episode."""
    search: str | None
    """bfs, astar(lmcut), gbf(hff), …"""
    replan: Literal["on-surprise", "every-step"]
    """Ask the model on-surprise or every-step."""
    history: Literal["news", "all"]
    """What the model is sent: news, or all (the whole history)."""
    valid_actions: Literal["last", "all"]
    """Mode act: show valid actions of the last turn, or of all."""
    rewind: bool
    """After a refused command, restart and repeat what worked."""
    constraint: str
    """What plans must keep: a sentence, PDDL, or a file with either."""
    unknown: Literal["avoid", "allow", "never"]
    """With a constraint: avoid, allow or never enter rooms without a name."""
    truth: bool
    """Show live which facts of the model are true."""
    java: str | None
    """Path of a Java runtime."""
    searches: Mapping[str, str]
    isolation: Literal["required", "best-effort", "off"]
    """Sandbox: required, best-effort or off."""
    eval_timeout: float | None
    """Seconds of CPU time per evaluation task."""
    patience: float | None
    parity: Literal["off", "paper"]
    """paper: behave like the paper's code."""
    prompts: str | None
    """The authors' prompts: llm-genplan:PATH or autotos:PATH (docs/papers.md)."""
    tasks: str | None
    """Your own tasks: a folder or tar archive (docs/programs.md)."""
    tasks_no_names: str | None
    debug_rounds: int
    task_timeout: float
    task_memory: int
    curve: bool
    hurry: bool
    horizon: int
    candidates: int | None
    training_timeout: float | None
    baseline: Literal["hff", "hadd", "hgc", "hlmc", "hcg", "hcea"] | None
    strategy: Literal["pseudocode"] | None
    strategy_rounds: int | None
    programs: int | None
    problem: str | None
    answers: int
    call_timeout: float
    search_timeout: float
    states: int | None
    search_memory: int
    instances: int | None
    sampled: int
    kappa: Sequence[float]
    """Probability that a level is pruned, one per pass: 0.8,0.64."""
    levels: int | None
    """Maximum levels of the planning graph."""
    task: int
    corrupt: float | None
    damage: Literal["each", "pooled", "numbers"]
    judge: Literal["damaged", "intact"]
    bound: Literal["levels", "actions", "none"]
    coin: Literal["level", "pass"]
    memo: bool
    extraction: Literal["plain"] | None
    feedback: Literal["none", "model"]
    """model: a model reviews the result."""
    rounds: int
    """Maximum rounds of a model's review."""


class EvaluationOptions(EpisodeOptions, total=False):
    """Options of an evaluation."""

    modes: str | Sequence[str]
    """Modes, separated by commas (default: the first one of each game)."""
    ablate: str | Sequence[str]
    """Also play without these parts: feedback, tolerance, feedback+tolerance, …"""
    seeds: str | int | Sequence[int | str] | range
    """dev, test, or a list such as 0-9,20."""
    repeats: int
    """Episodes per seed."""
    workers: int
    """Parallel episodes; 1 with a local model."""
    llm_jobs: int
    """Parallel requests."""
    executor: Literal["threads", "ray"]
    """threads, or ray (extra 'cluster')."""
    address: str | None
    """Address of the Ray cluster."""
    carry: bool
    """Begin with the domain or rules of the last won episode."""
    runs: str
    """Folder that contains the run folders."""
