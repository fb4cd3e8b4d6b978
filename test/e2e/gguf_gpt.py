"""Writers for GPT-2, GPT-NeoX and BLOOM: conversion/gpt2.py, gptneox.py, bloom.py of llama.cpp."""
from gguf_writer import Writer, queries_first


class Gpt2(Writer):
    """Matrices turned. The names of the first release have no "transformer." before."""
    arch = "gpt2"
    outer = {r"(transformer\.)?wte": "token_embd", r"(transformer\.)?wpe": "position_embd",
             r"(transformer\.)?ln_f": "output_norm", r"lm_head": "output"}
    prefix = r"(?:transformer\.)?h\.(\d+)\."
    layer = {r"ln_1": "attn_norm", r"attn\.c_attn": "attn_qkv", r"attn\.c_proj": "attn_output", r"ln_2": "ffn_norm",
             r"mlp\.c_fc": "ffn_up", r"mlp\.c_proj": "ffn_down"}

    def describe(self):
        width = self.config["n_embd"]
        self.set(block_count=self.config["n_layer"], context_length=self.config["n_positions"], embedding_length=width,
                 feed_forward_length=4 * width, attention__head_count=self.config["n_head"],
                 attention__layer_norm_epsilon=self.config["layer_norm_epsilon"])

    def changed(self, name, given, tensor):
        turns = name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight"))
        return [(given, tensor.transposed() if turns else tensor)]


class GptNeoX(Writer):
    """Queries of all heads first. The converter has no key for the base of positions, which is 10000."""
    arch = "gptneox"
    outer = {r"gpt_neox\.embed_in": "token_embd", r"gpt_neox\.final_layer_norm": "output_norm", r"embed_out": "output"}
    prefix = r"gpt_neox\.layers\.(\d+)\."
    layer = {r"input_layernorm": "attn_norm", r"attention\.query_key_value": "attn_qkv",
             r"attention\.dense": "attn_output", r"post_attention_layernorm": "ffn_norm",
             r"mlp\.dense_h_to_4h": "ffn_up", r"mlp\.dense_4h_to_h": "ffn_down"}

    def describe(self):
        self.common()
        self.set(feed_forward_length=self.config["intermediate_size"],
                 rope__dimension_count=int(self.rope()["partial_rotary_factor"] * self.head_width()),
                 attention__head_count=self.config["num_attention_heads"],
                 use_parallel_residual=self.get("use_parallel_residual", True),
                 attention__layer_norm_epsilon=self.config["layer_norm_eps"])

    def heads(self):
        return self.config["num_attention_heads"]

    def changed(self, name, given, tensor):
        return [(given, queries_first(tensor, self.heads()) if "query_key_value" in name else tensor)]


class Bloom(GptNeoX):
    """The converter takes the width where no context is said; here it is the family's."""
    arch = "bloom"
    outer = {r"(transformer\.)?word_embeddings": "token_embd", r"(transformer\.)?ln_f": "output_norm",
             r"(transformer\.)?word_embeddings_layernorm": "token_embd_norm", r"lm_head": "output"}
    prefix = r"(?:transformer\.)?h\.(\d+)\."
    layer = GptNeoX.layer | {r"self_attention\.query_key_value": "attn_qkv", r"self_attention\.dense": "attn_output"}

    def heads(self):
        return self.config["n_head"]

    def describe(self):
        width = self.config["hidden_size"]
        self.set(context_length=self.get("seq_length", 2048), embedding_length=width, feed_forward_length=4 * width,
                 block_count=self.config["n_layer"], attention__head_count=self.heads(),
                 attention__head_count_kv=self.heads(), attention__layer_norm_epsilon=self.config["layer_norm_epsilon"])
