# /// script
# requires-python = ">=3.11"
# dependencies = ["pddlego", "trl>=1.16,<2", "datasets", "transformers>=5.2"]
# ///
"""Trains a model with GRPO (TRL) on games whose rewards are proved by the true facts.

    pip install . 'trl>=1.16,<2'
    python examples/grpo.py --model Qwen/Qwen3-0.6B --game coin --mode act --steps 200

The dependencies above are for `uv run`, which needs a published pddlego.

Without `--model`, a tiny model is made and warmed up on the expert's tool calls, which needs no download and no GPU:
it shows that everything fits together, not that it learns. The script prints the reward of each step.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from pddlego import Environment
from pddlego.trainers import trl as pddlego_trl

END, BEGIN, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
MARKS = (END, BEGIN, STOP, "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")


def conversation(game: str, mode: str, seed: int) -> list[dict[str, Any]]:
    """The first question of an episode with a right tool call: in mode `act`, any valid command."""
    (row,) = pddlego_trl.dataset_rows(game, mode, [seed])
    with Environment(game, mode) as environment:
        observed = environment.reset(seed)
        answer = observed.valid_commands[-1] if mode == "act" else environment.expert()
    prompt = {**row["prompt"][0], "content": row["prompt"][0]["content"] + observed.text}
    call = {"type": "function", "function": {"name": "answer", "arguments": {"answer": answer}}}
    return [prompt, {"role": "assistant", "content": "", "tool_calls": [call]}]


def tiny_model(game: str, mode: str, steps: int) -> tuple[Any, Any]:
    """A model of 0.4 million parameters and its tokenizer, warmed up on the first answers of four episodes."""
    texts = [json.dumps(conversation(game, mode, seed), ensure_ascii=False) for seed in range(60, 64)]
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500, special_tokens=list(MARKS), initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    words.train_from_iterator(texts * 4, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token=STOP, pad_token=END)
    tokenizer.chat_template = qwen3_chat_template
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=16_384,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen3ForCausalLM(config)
    tools = [pddlego_trl.environment_factory(game, mode).answer]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(steps):
        said = conversation(game, mode, 60 + step % 4)
        prompt = tokenizer.apply_chat_template(
            said[:1], tools=tools, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        call = json.dumps(said[1]["tool_calls"][0]["function"], ensure_ascii=False)
        answer = f"<tool_call>\n{call}\n</tool_call>{STOP}"
        known, written = (tokenizer(text, return_tensors="pt").input_ids for text in (prompt, answer))
        ids = torch.cat([known, written], dim=1)
        labels = ids.clone()
        labels[:, : known.shape[1]] = -100
        loss = model(ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"warm-up: loss {loss.item():.2f} after {steps} steps")
    return model, tokenizer


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", help="a model with tool calls; default: a tiny one")
    arguments.add_argument("--game", default="coin")
    arguments.add_argument("--mode", default="act")
    arguments.add_argument("--steps", type=int, default=2)
    arguments.add_argument("--group", type=int, default=4, help="rollouts of each seed")
    arguments.add_argument("--warm-up", type=int, default=80, help="steps for the tiny model")
    arguments.add_argument("--output", default="grpo", help="folder of the trained model")
    chosen = arguments.parse_args()
    if chosen.model:
        model, tokenizer = (
            AutoModelForCausalLM.from_pretrained(chosen.model),
            AutoTokenizer.from_pretrained(chosen.model),
        )
    else:
        model, tokenizer = tiny_model(chosen.game, chosen.mode, chosen.warm_up)
    config = GRPOConfig(
        output_dir=chosen.output,
        max_steps=chosen.steps,
        num_generations=chosen.group,
        per_device_train_batch_size=chosen.group,
        max_completion_length=1024 if chosen.model is None else 8192,
        max_tool_calling_iterations=4 if chosen.model is None else 60,
        use_cpu=not torch.cuda.is_available(),
        chat_template_kwargs={"enable_thinking": False},
        logging_steps=1,
        save_strategy="no",
        report_to=[],
    )
    trainer = GRPOTrainer(
        model=model,
        args=config,
        train_dataset=Dataset.from_list(pddlego_trl.dataset_rows(chosen.game, chosen.mode)),
        processing_class=tokenizer,
        environment_factory=pddlego_trl.environment_factory(chosen.game, chosen.mode),
    )
    trainer.train()
    for entry in trainer.state.log_history:
        if "reward" in entry:
            calls, episodes = entry.get("tools/call_frequency", 0.0), chosen.group
            print(f"step {entry['step']}: {episodes} episodes, reward {entry['reward']:.2f}, {calls:.1f} calls each")


if __name__ == "__main__":
    main()
