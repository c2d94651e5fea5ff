"""Trains a small transformer from scratch on expert data, serves it, and lets it play Coin Collector on test seeds.

    pip install '.[local]' gguf torch tokenizers
    python examples/train_small.py

prints a table of success by number of training episodes, beside random play and the built-in reader, and writes
everything to the folder `small/`. The expert data are those of `pddlego export --expert coin`; the server is that of
llama.cpp; the episodes are played by `pddlego.evaluate`, as with any endpoint.

The model has 1.9 million parameters: too few to follow instructions, which are the same for every request. Its chat
template leaves them out, so that it learns and sends only what changes: problem file and observations.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import gguf
import torch
import xllamacpp
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn import functional

import pddlego
from pddlego import training
from pddlego.evaluation.statistics import wilson

GAME, MODE = "coin", "edit"
FIRST_SEED = 60
"""Training seeds begin here: seeds 0-9 are the split `dev`, and 10-59 the split `test`."""

WIDTH, HEADS, INNER, LAYERS, CONTEXT, WORDS = 192, 6, 512, 4, 8192, 768
END, BEGIN, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}{% if m['role'] != 'system' or m['content'] | length < 100 %}"
    "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Renders short system messages: llama.cpp tries one, and copies instructions into the user's message if it is lost."""

DIRECTIONS = ("north", "south", "east", "west")
"""In the order in which the game describes a room."""

EPSILON = 1e-5

BATCH = 4096
"""Tokens of a batch."""

PROMPT_WEIGHT = 0.1
"""Weight of a prompt's tokens in the loss, relative to the answer's. Predicting them teaches the format of facts."""

Pair = tuple[str, str]
"""A prompt without instructions, and the expert's answer."""


@dataclass(frozen=True)
class Example:
    """The tokens of a prompt and its answer, and the position at which the answer begins."""

    tokens: list[int]
    answer: int


def expert_pairs(seed: int) -> list[Pair]:
    """What the expert answers in the episode of a seed."""
    rows = [row for episode in training.expert(GAME, MODE, [seed]) for row in training.chat_rows(episode)]
    return [(row["messages"][-2]["content"], row["messages"][-1]["content"]) for row in rows]


def in_reading_order(pair: Pair) -> str:
    """The answer with its additions in the order in which the text mentions them, in fewer tokens.

    An edit is a set of changes. In alphabetical order each line would need a look at the whole text.
    """
    edit, text = json.loads(pair[1]), pair[0][pair[0].index(":goal") :].lower()
    facts = [line.strip("()").split() for line in edit["init"]["add"]]
    ways = {(fact[1], fact[2]): fact[3] for fact in facts if fact[0] == "connected"}

    def entered(room: str) -> float:
        position = text.find(f"in the {room.replace('_', ' ')}.")
        return position if position >= 0 else math.inf

    def place(fact: Sequence[str]) -> tuple[float, int, int, str]:
        if fact[0] == "at":
            return math.inf, 0, 0, ""
        if fact[0] not in ("connected", "closed_door"):
            return entered(fact[-1]), -1, fact[0] != "visited", fact[-1]
        here, there = sorted(fact[1:3], key=entered)
        direction = DIRECTIONS.index(ways[here, there]) if (here, there) in ways else len(DIRECTIONS)
        return entered(here), direction, 2 if fact[0] == "closed_door" else fact[1] == there, there

    def mentioned(line: str) -> tuple[float, int, str]:
        name = line.split()[0]
        position = -1 if name.startswith("loc") else text.find(name.replace("_", " "))
        return position if position >= 0 else math.inf, len(name), name

    edit["init"]["add"] = [f"({' '.join(fact)})" for fact in sorted(facts, key=place)]
    edit["objects"]["add"].sort(key=mentioned)
    return json.dumps(edit, separators=(",", ": "))


def make_tokenizer(texts: Sequence[str]) -> Tokenizer:
    """A tokenizer of byte pairs, in the form of GPT-2, which llama.cpp reads."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS, special_tokens=[END, BEGIN, STOP], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, pairs: Iterable[Pair]) -> list[Example]:
    """The examples of pairs, as the chat template writes them."""
    examples = []
    for pair in pairs:
        tokens = tokenizer.encode(f"{BEGIN}user\n{pair[0]}{STOP}\n{BEGIN}assistant\n").ids
        examples.append(Example(tokens + tokenizer.encode(in_reading_order(pair) + STOP).ids, len(tokens)))
    return examples


class Block(nn.Module):
    """A layer of a Llama model. Its parts have the names of llama.cpp."""

    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.ffn_norm = nn.RMSNorm(WIDTH, EPSILON), nn.RMSNorm(WIDTH, EPSILON)
        self.attn_q, self.attn_k = nn.Linear(WIDTH, WIDTH, False), nn.Linear(WIDTH, WIDTH, False)
        self.attn_v, self.attn_output = nn.Linear(WIDTH, WIDTH, False), nn.Linear(WIDTH, WIDTH, False)
        self.ffn_gate, self.ffn_up = nn.Linear(WIDTH, INNER, False), nn.Linear(WIDTH, INNER, False)
        self.ffn_down = nn.Linear(INNER, WIDTH, False)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        normed = self.attn_norm(x)
        q, k, v = (
            part(normed).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.attn_q, self.attn_k, self.attn_v)
        )
        seen = functional.scaled_dot_product_attention(
            _turned(q, turns).to(v.dtype), _turned(k, turns).to(v.dtype), v, is_causal=True
        )
        x = x + self.attn_output(seen.transpose(1, 2).flatten(2))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


def _turned(x: Tensor, turns: Tensor) -> Tensor:
    """Rotary position embedding of neighbouring pairs, as llama.cpp has it."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * turns[0] - b * turns[1], a * turns[1] + b * turns[0]), -1).flatten(-2)


class SmallModel(nn.Module):
    """A Llama model whose output shares the weights of its embedding."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(words, WIDTH)
        self.blk = nn.ModuleList(Block() for _ in range(LAYERS))
        self.output_norm = nn.RMSNorm(WIDTH, EPSILON)
        nn.init.normal_(self.token_embd.weight, std=0.02)
        size = WIDTH // HEADS
        angles = torch.arange(CONTEXT)[:, None] / 10_000 ** (torch.arange(0, size, 2) / size)
        self.register_buffer("turns", torch.stack((angles.cos(), angles.sin())), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x, turns = self.token_embd(tokens), self.turns[:, : tokens.shape[1]]
        for block in self.blk:
            x = block(x, turns)
        return self.output_norm(x)


def loss_of(model: SmallModel, batch: Sequence[Example]) -> Tensor:
    """The mean loss per token of a batch; a token of a prompt counts a tenth of one of an answer."""
    longest = max(len(example.tokens) for example in batch)
    tokens, weights = torch.zeros(len(batch), longest, dtype=torch.long), torch.zeros(len(batch), longest)
    for row, example in enumerate(batch):
        tokens[row, : len(example.tokens)] = torch.tensor(example.tokens)
        weights[row, : len(example.tokens)] = PROMPT_WEIGHT
        weights[row, example.answer : len(example.tokens)] = 1.0
    with torch.autocast("cpu", torch.bfloat16):
        logits = (model(tokens[:, :-1]) @ model.token_embd.weight.T).float()
    losses = functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    return (losses * weights[:, 1:]).sum() / weights[:, 1:].sum()


def batches(examples: Sequence[Example], chance: random.Random) -> list[list[Example]]:
    """All examples in batches of nearly the same length."""
    made: list[list[Example]] = [[]]
    for example in sorted(examples, key=lambda example: len(example.tokens) + 40 * chance.random()):
        if len(example.tokens) * (len(made[-1]) + 1) > BATCH:
            made.append([])
        made[-1].append(example)
    chance.shuffle(made)
    return [batch for batch in made if batch]


def train(pairs: Sequence[Pair], tokenizer: Tokenizer, tokens: float) -> SmallModel:
    """A model that has read so many tokens. It is the same at every call: one thread adds in one order."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    chance, model = random.Random(0), SmallModel(tokenizer.get_vocab_size())
    matrices = [weight for weight in model.blk.parameters() if weight.ndim == 2]
    others = [model.token_embd.weight, *(weight for weight in model.parameters() if weight.ndim == 1)]
    optimizers = [torch.optim.Muon(matrices, lr=0.01, weight_decay=0.0), torch.optim.AdamW(others, lr=2e-3)]
    rates = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]
    examples = encode(tokenizer, pairs)
    steps, read = 0, 0
    while True:
        for batch in batches(examples, chance):
            left = 1 - read / tokens
            if left <= 0:
                return model
            for optimizer, rate in zip(optimizers, rates, strict=True):
                optimizer.param_groups[0]["lr"] = rate * min(1.0, steps / 50, left / 0.7)
                optimizer.zero_grad()
            loss_of(model, batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
            steps, read = steps + 1, read + sum(len(example.tokens) for example in batch)


def write_gguf(model: SmallModel, tokenizer: Tokenizer, path: Path) -> None:
    """Write the model as llama.cpp reads it."""
    vocabulary = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(vocabulary["vocab"], key=vocabulary["vocab"].get)
    special = {END, BEGIN, STOP}
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in vocabulary["merges"]])
    writer.add_bos_token_id(tokens.index(END))
    writer.add_eos_token_id(tokens.index(STOP))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, weight in model.state_dict().items():
        writer.add_tensor(name, weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: Path) -> xllamacpp.Server:
    """The server of llama.cpp with a model, at its `listening_address`."""
    options = xllamacpp.CommonParams()
    options.model.path = str(path)
    options.hostnames = ["127.0.0.1"]
    options.port, options.n_ctx, options.n_parallel, options.n_predict = 0, 2 * CONTEXT, 2, CONTEXT // 2
    options.warmup, options.verbosity = False, 0
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(options)


def trained(path: Path, pairs: Sequence[Pair], tokens: float) -> str:
    """Train a model on pairs and write it to a path. What it was trained on, for the table."""
    tokenizer = make_tokenizer([text for pair in pairs for text in pair])
    began = time.perf_counter()
    write_gguf(train(pairs, tokenizer, tokens), tokenizer, path)
    return f"{len(pairs)} answers, {time.perf_counter() - began:.0f} s"


def row(about: str, played: pddlego.Evaluation, training_data: str = "") -> str:
    """A line of the table."""
    results = played.results
    won, total = sum(result.won for result in results), len(results)
    shown = wilson(won, total)
    accepted = [row["accepted"] for episode in played.episodes for row in training.chat_rows(episode)]
    share = f"{sum(map(bool, accepted)) / len(accepted):.0%}" if accepted else ""
    return f"| {about} | {won}/{total} | {100 * shown.low:.0f}-{100 * shown.high:.0f} % | {share} | {training_data} |"


def played(path: Path, seeds: str, run: Path) -> pddlego.Evaluation:
    """What a model wins that llama.cpp serves."""
    server = serve(path)  # it ends with this function
    address = f"{server.listening_address}/v1"
    return pddlego.evaluate(
        GAME, run, models=run.name, modes=MODE, seeds=seeds, base_url=address, max_answer_tokens=1000
    ).wait()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--episodes", type=int, nargs="+", default=[100, 900], help="numbers of training episodes")
    options.add_argument("--tokens", type=float, default=8.0, help="millions of tokens to train on, for each number")
    options.add_argument("--seeds", default="test", help="seeds to play, as for pddlego eval")
    options.add_argument("--folder", type=Path, default=Path("small"), help="a new folder, for everything")
    asked = options.parse_args()
    asked.folder.mkdir(parents=True)
    began = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        episodes = list(pool.map(expert_pairs, range(FIRST_SEED, FIRST_SEED + max(asked.episodes)), chunksize=10))
    print(f"{len(episodes)} episodes of the expert with {sum(map(len, episodes))} answers", flush=True)
    rows = ["| model | won | 95 % | accepted | training |", "| --- | --- | --- | --- | --- |"]
    random_play = pddlego.evaluate(GAME, asked.folder / "random", modes="random", seeds=asked.seeds)
    rows.append(row("random play", random_play))
    for number in sorted(asked.episodes):
        path = asked.folder / f"{number}.gguf"
        training_data = trained(path, [pair for episode in episodes[:number] for pair in episode], 1e6 * asked.tokens)
        evaluation = played(path, asked.seeds, asked.folder / f"small-{number}")
        rows.append(row(f"trained on {number} episodes", evaluation, training_data))
        print(rows[-1], flush=True)
    reader = pddlego.evaluate(GAME, asked.folder / "reader", models="reader", modes=MODE, seeds=asked.seeds)
    rows.append(row("built-in reader", reader))
    print("\n".join([*rows, "", f"{time.perf_counter() - began:.0f} seconds in total"]))


if __name__ == "__main__":
    main()
