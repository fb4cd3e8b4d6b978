"""What writers of GGUF files share: names, keys of decoders, rotary positions, and how tensors are renamed.

The rules are those of llama.cpp's conversion/base.py."""
import array
import math
import re

from gguf_file import Tensor, stacked

# What several architectures share: a checkpoint's name, the file's, and what is done.
OUTER = {r"model\.embed_tokens": "token_embd", r"model\.norm": "output_norm", r"lm_head": "output"}
LAYER = {r"input_layernorm": "attn_norm", r"post_attention_layernorm": "ffn_norm",
         r"self_attn\.([qkv])_proj": r"attn_\1", r"self_attn\.o_proj": "attn_output",
         r"self_attn\.([qk])_norm": r"attn_\1_norm", r"mlp\.(gate|up|down)_proj": r"ffn_\1"}
MAMBA = {r"in_proj": "ssm_in", r"conv1d": "ssm_conv1d", r"x_proj": "ssm_x", r"dt_proj": "ssm_dt",
         r"out_proj": "ssm_out", r"A_log": "ssm_a", r"D": "ssm_d", r"norm": "ssm_norm", r"dt_bias": "ssm_dt.bias",
         r"(dt|b|c)_layernorm": r"ssm_\1_norm"}
QWEN_EXPERTS = {r"mlp\.gate": "ffn_gate_inp", r"mlp\.experts\.\d+\.(gate|up|down)_proj": r"ffn_\1_exps",
                r"mlp\.shared_expert_gate": "ffn_gate_inp_shexp",
                r"mlp\.shared_expert\.(gate|up|down)_proj": r"ffn_\1_shexp"}
NUMBERED = {"w1": "gate", "w2": "down", "w3": "up"}
LATENT = {r"self_attn\.q_a_layernorm": "attn_q_a_norm", r"self_attn\.q_([ab])_proj": r"attn_q_\1",
          r"self_attn\.kv_a_proj_with_mqa": "attn_kv_a_mqa", r"self_attn\.kv_a_layernorm": "attn_kv_a_norm",
          r"self_attn\.kv_b_proj": "attn_kv_b"}


def f32(number):
    return array.array("f", [number])[0]


def keys_and_values(config, given, tensor):
    """What makes both of a compressed row, apart: each head's matrix for keys turned, and that for values."""
    heads, keys, values = (config[key] for key in ("num_attention_heads", "qk_nope_head_dim", "v_head_dim"))
    stride, rank = keys + values, tensor.shape[1]
    own = [tensor.gather(range(h * stride, h * stride + keys)).transposed() for h in range(heads)]
    others = [tensor.gather(range(h * stride + keys, (h + 1) * stride)) for h in range(heads)]
    return [(given.replace("kv_b", "k_b"), stacked(own, [heads, rank, keys])),
            (given.replace("kv_b", "v_b"), stacked(others, [heads, values, rank]))]


def queries_first(tensor, heads):
    """Rows that each head has in turn, queries, keys and values: those of all heads, one after the other."""
    width = tensor.shape[0] // heads // 3
    return tensor.gather([(head * 3 + part) * width + i for part in range(3) for head in range(heads)
                          for i in range(width)])


class Writer:
    """Keys and tensors of one architecture; subclasses say what is special."""
    arch = None
    old = False  # as earlier releases of the converter wrote it
    outer, layer = OUTER, LAYER
    prefix = r"model\.layers\.(\d+)\."

    def __init__(self, config, tensors):
        self.config, self.tensors, self.keys = config, tensors, {"general.architecture": self.arch}

    def set(self, **keys):
        for key, value in keys.items():
            if value is not None:
                self.keys[f"{self.arch}.{key.replace('__', '.')}"] = value

    def get(self, key, otherwise=None):
        value = self.config.get(key)
        return otherwise if value is None else value

    def rope(self):
        """`rope_parameters` of release 5, or what release 4 had in their place."""
        rope = dict(self.get("rope_parameters", {}))
        if not rope:
            rope = dict(self.get("rope_scaling", {}))
            rope["rope_type"] = rope.pop("type", rope.get("rope_type", "default"))
            rope["rope_theta"] = self.get("rope_theta", 10000.0)
        return rope.get("full_attention", rope)

    def head_width(self):
        return self.get("head_dim", self.config["hidden_size"] // self.config["num_attention_heads"])

    def common(self):
        self.set(block_count=self.config["num_hidden_layers"], embedding_length=self.config["hidden_size"],
                 context_length=self.get("max_position_embeddings", 1 << 20))

    def decoder(self):
        self.common()
        self.set(feed_forward_length=self.get("intermediate_size"),
                 attention__head_count=self.config["num_attention_heads"],
                 attention__head_count_kv=self.get("num_key_value_heads", self.config["num_attention_heads"]),
                 attention__layer_norm_rms_epsilon=float(self.get("rms_norm_eps", 1e-6)))
        if self.get("head_dim"):
            self.set(attention__key_length=self.config["head_dim"], attention__value_length=self.config["head_dim"])

    def rotary(self, width=None):
        rope = self.rope()
        width = width or self.head_width()
        self.set(rope__freq_base=float(rope.get("rope_theta", 10000.0)))
        share = rope.get("partial_rotary_factor", self.get("partial_rotary_factor"))
        self.set(rope__dimension_count=int(width * share) if share else width)
        kind = rope.get("rope_type", "default")
        if kind in ("linear", "yarn"):
            self.set(rope__scaling__type=kind, rope__scaling__factor=float(rope["factor"]))
        if kind == "yarn":
            self.set(rope__scaling__original_context_length=rope.get("original_max_position_embeddings"),
                     rope__scaling__yarn_attn_factor=rope.get("attention_factor"),
                     rope__scaling__yarn_beta_fast=rope.get("beta_fast"),
                     rope__scaling__yarn_beta_slow=rope.get("beta_slow"))
        if kind == "llama3":
            self.special["rope_freqs.weight"] = self.llama3(rope)

    def scales(self):
        """Factors of Granite, which f32 holds."""
        for key, given in (("attention_multiplier", "attention__scale"), ("embedding_multiplier", "embedding_scale"),
                           ("residual_multiplier", "residual_scale"), ("logits_scaling", "logit_scale")):
            self.config[key] = f32(self.get(key, 1))
            self.set(**{given: self.config[key]})

    def llama3(self, rope):
        """The divisor of each pair's frequency."""
        divisors, width = array.array("f"), self.head_width()
        original, factor = rope["original_max_position_embeddings"], rope["factor"]
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        for pair in range(0, width, 2):
            wave = 2 * math.pi * rope["rope_theta"] ** (pair / width)
            if wave < original / high:
                divisors.append(1)
            elif wave > original / low:
                divisors.append(factor)
            else:
                smooth = (original / wave - low) / (high - low)
                divisors.append(1 / ((1 - smooth) / factor + smooth))
        return Tensor([len(divisors)], divisors)

    def named(self, name):
        """The file's name of a tensor without its suffix, or None."""
        for pattern, given in self.outer.items():
            if re.fullmatch(pattern, name):
                return re.sub(pattern, given, name)
        found = re.match(self.prefix, name)
        if found:
            for pattern, given in self.layer.items():
                rest = name[found.end():]
                if re.fullmatch(pattern, rest):
                    return f"blk.{found[1]}." + re.sub(pattern, given, rest)
        return None

    def changed(self, name, given, tensor):
        """What becomes of a tensor; a list of names and tensors."""
        if name.endswith("A_log"):
            tensor = tensor.map(lambda x: -math.exp(x))
        if "conv1d.weight" in name:
            tensor = tensor.reshaped(*[extent for extent in tensor.shape if extent != 1])
        return [(given, tensor)]

    def leaves(self, name):
        """Whether the converter leaves a tensor out."""
        return False

    def write(self):
        self.special = {}
        self.describe()
        out, experts = dict(self.special), {}
        for name, tensor in self.tensors.items():
            if self.leaves(name):
                continue
            stem, _, suffix = name.rpartition(".")
            if suffix not in ("weight", "bias"):
                stem, suffix = name, ""
            given = self.named(stem)
            if given is None:
                raise SystemExit(f"no name for {name}")
            number = re.search(r"experts\.(\d+)\.", name)
            whole = given + (f".{suffix}" if suffix and not given.endswith((".weight", ".bias")) else "")
            if number:
                experts.setdefault(whole, {})[int(number[1])] = tensor
                continue
            for other, changed in self.changed(name, whole, tensor):
                out[other] = changed
        for whole, parts in experts.items():
            out[whole] = stacked([parts[i] for i in range(len(parts))])
        return self.keys, out
