"""A small language model with random weights, in the format of llama.cpp: well-formed nonsense within seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LAYERS, WIDTH, HEADS, KEY_HEADS, INNER, CONTEXT = 2, 64, 4, 2, 128, 32_768
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def _bytes() -> list[str]:
    """A printable sign for each byte, as the tokenizer of GPT-2 has them."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def write_model(path: Path, seed: int = 0) -> None:
    """Write a model of two layers whose answers end by themselves: quotes and brackets are likelier than the rest."""
    import gguf
    import numpy as np

    signs = _bytes()
    merges = [(signs[32], sign) for sign in "taiosw"] + [("t", "h"), ("th", "e"), ("i", "n"), ("e", "r")]
    tokens = [*signs, *(a + b for a, b in merges), *SPECIAL]
    kinds = [gguf.TokenType.NORMAL] * (len(tokens) - len(SPECIAL)) + [gguf.TokenType.CONTROL] * len(SPECIAL)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([f"{a} {b}" for a, b in merges])
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    chance = np.random.default_rng(seed)

    def weights(rows: int, columns: int, scale: float) -> Any:
        return (chance.standard_normal((rows, columns)) * scale).astype(np.float32)

    likely = np.full(len(tokens), -6.0)
    likely[32:127] = 0.0
    likely[256 : 256 + len(merges)] = 0.0
    likely[[ord('"'), ord("}"), ord("]")]] = 1.5
    likely[tokens.index("<|im_end|>")] = 1.0
    embedding, head = weights(len(tokens), WIDTH, 1.0), weights(len(tokens), WIDTH, 0.12)
    embedding[:, 0] = 4.0  # the same for every token: what stands against it in the head is a bias
    head[:, 0] = likely / 3.5
    ones, keys = np.ones(WIDTH, np.float32), WIDTH // HEADS * KEY_HEADS
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("output.weight", head)
    shapes = {"attn_q": (WIDTH, WIDTH), "attn_k": (keys, WIDTH), "attn_v": (keys, WIDTH), "attn_output": (WIDTH, WIDTH)}
    shapes |= {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", ones)
        for name, (rows, columns) in shapes.items():
            writer.add_tensor(f"blk.{layer}.{name}.weight", weights(rows, columns, 0.08))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
