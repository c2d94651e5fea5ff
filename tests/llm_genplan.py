"""Writes a clone in the layout of tomsilver/llm-genplan, with texts of our own or from recordings."""

from __future__ import annotations

import gzip
import json
import tarfile
from pathlib import Path

from tests.shared import RECORDED

PDDL, CACHE = "llm_genplan/envs/assets/pddl/pg3", "llm_genplan/llm_cache"

EXPERIMENTS = {
    "gpt-4": ("", "chatgpt4"),
    "gpt-4 no-cot": ("", "chatgpt4-no-cot"),
    "gpt-3.5": ("", "chatgpt3"),
    "gpt-4 no-names": ("-ablated", "chatgpt4-no-words"),
}
NUMBERS = {"summarize": 0, "strategy": 2, "implement": 3}

FERRY = """(define (domain ferry)
  (:predicates (not-eq ?x ?y) (car ?c) (location ?l) (at-ferry ?l) (at ?c ?l) (empty-ferry) (on ?c))
  (:action sail :parameters (?from ?to) :precondition (at-ferry ?from) :effect (at-ferry ?to))
  (:action board :parameters (?car ?loc) :precondition (at ?car ?loc) :effect (on ?car))
  (:action debark :parameters (?car ?loc) :precondition (on ?car) :effect (at ?car ?loc)))"""
TASK = "(define (problem p) (:domain ferry) (:objects c l) (:init (at-ferry l) (at c l)) (:goal (on c)))"
NAMELESS = "(define (domain d) (:predicates (p ?x)) (:action operator0 :parameters (?x) :effect (p ?x)))"
NAMELESS_TASK = "(define (problem q) (:domain d) (:objects a b) (:init) (:goal (p a)))"


def written_clone(root: Path, names: tuple[str, ...] = ("manyferry", "manyferry-ablated")) -> str:
    """Write the domains `names` with 12 tasks for training and 31 for evaluation for two seeds."""
    pddl = root / PDDL
    for name in names:
        domain, task = (NAMELESS, NAMELESS_TASK) if name.endswith("-ablated") else (FERRY, TASK)
        for folder, number in ((name, 12), (f"{name}_test", 31)):
            for seed in range(2):
                (pddl / folder / f"seed{seed}").mkdir(parents=True)
                for problem in range(number):
                    (pddl / folder / f"seed{seed}" / f"problem{problem}.pddl").write_text(task)
        (pddl / f"{name}.pddl").write_text(domain)
    return f"llm-genplan:{root}"


def write_turns(folder: Path, turns: list[tuple[str, str, str]]) -> None:
    """Write the purpose, prompt and answer of each turn of a conversation."""
    folder.mkdir(parents=True)
    corrections = 4
    for purpose, prompt, answer in turns:
        number = NUMBERS.get(purpose, corrections)
        corrections += purpose not in NUMBERS
        (folder / f"{number}-prompt.txt").write_text(prompt, encoding="utf-8")
        (folder / f"{number}-response.txt").write_text(answer, encoding="utf-8")


def recorded_clone(root: Path) -> str:
    """Write the recorded conversations and tasks of Ferry as their repository has them."""
    with gzip.open(RECORDED / "ferry" / "conversations.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            text = json.loads(line)
            ablated, experiment = EXPERIMENTS[text["variant"]]
            turns = [(turn["purpose"], turn["prompt"], turn["answer"]) for turn in text["turns"]]
            write_turns(root / CACHE / f"pg3-manyferry{ablated}_{text['seed']}_{experiment}", turns)
    for archive, ablated in (("tasks.tar.gz", ""), ("tasks-no-names.tar.gz", "-ablated")):
        with tarfile.open(RECORDED / "ferry" / archive) as tar:
            for member in tar:
                parts = member.name.removeprefix("./").split("/")
                folder = {"train": f"manyferry{ablated}", "eval": f"manyferry{ablated}_test"}.get(parts[0])
                path = root / PDDL / "/".join((folder, *parts[1:])) if folder else None
                path = root / PDDL / f"manyferry{ablated}.pddl" if parts == ["domain.pddl"] else path
                content = tar.extractfile(member) if member.isfile() and path else None
                if content is not None and path is not None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read())
    return f"llm-genplan:{root}"
