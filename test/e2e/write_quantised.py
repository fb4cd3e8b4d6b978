#!/usr/bin/env python3
"""Writes a small model of random numbers twice: in a layout of quantised checkpoints, and as its dense f32 weights.

  test/e2e/write_quantised.py llama gptq4 /tmp/quantised /tmp/dense

Codes, scales and zeros are drawn; the dense folder has the numbers that they stand for by the formula of the layout,
rounded to f32 once. Packing goes number by number, as the public formats are described, and not as effc reads them.
Standard library alone.
"""
import argparse
import array
import json
import pathlib
import random
import struct

LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 67, "hidden_size": 64,
         "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0,
         "tie_word_embeddings": False, "torch_dtype": "bfloat16"}
QWEN3 = dict(LLAMA, architectures=["Qwen3ForCausalLM"], model_type="qwen3", head_dim=32, attention_bias=False)
QWEN3_WIDE = dict(QWEN3, hidden_size=512, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1)
QWEN3_MOE = dict(QWEN3, architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe", num_experts=5,
                 num_experts_per_tok=2, moe_intermediate_size=32, norm_topk_prob=True, decoder_sparse_step=1,
                 mlp_only_layers=[])
MAMBA2 = {"architectures": ["Mamba2ForCausalLM"], "model_type": "mamba2", "vocab_size": 67, "hidden_size": 64,
          "num_hidden_layers": 2, "num_heads": 8, "head_dim": 16, "state_size": 24, "expand": 2, "n_groups": 1,
          "conv_kernel": 4, "use_bias": False, "use_conv_bias": True, "hidden_act": "silu",
          "layer_norm_epsilon": 1e-5, "time_step_limit": [0.0, float("inf")], "tie_word_embeddings": False,
          "torch_dtype": "bfloat16"}


def decoder_tensors(config):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    width = config.get("head_dim", hidden // config["num_attention_heads"])
    queries, keys = config["num_attention_heads"] * width, config["num_key_value_heads"] * width
    yield "model.embed_tokens.weight", (config["vocab_size"], hidden), False
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"{at}{norm}.weight", (hidden,), False
        if config["model_type"].startswith("qwen3"):
            for norm in ("q_norm", "k_norm"):
                yield f"{at}self_attn.{norm}.weight", (width,), False
        for name, rows, columns in (("self_attn.q_proj", queries, hidden), ("self_attn.k_proj", keys, hidden),
                                    ("self_attn.v_proj", keys, hidden), ("self_attn.o_proj", hidden, queries)):
            yield f"{at}{name}.weight", (rows, columns), True
        experts = config.get("num_experts", 0)
        if experts:
            yield f"{at}mlp.gate.weight", (experts, hidden), False
        for expert in range(max(experts, 1)):
            part = f"{at}mlp.experts.{expert}." if experts else f"{at}mlp."
            rows = config["moe_intermediate_size"] if experts else inner
            yield f"{part}gate_proj.weight", (rows, hidden), True
            yield f"{part}up_proj.weight", (rows, hidden), True
            yield f"{part}down_proj.weight", (hidden, rows), True
    yield "model.norm.weight", (hidden,), False
    yield "lm_head.weight", (config["vocab_size"], hidden), False


def mamba2_tensors(config):
    hidden, heads = config["hidden_size"], config["num_heads"]
    inner = heads * config["head_dim"]
    convolved = inner + 2 * config["n_groups"] * config["state_size"]
    yield "backbone.embeddings.weight", (config["vocab_size"], hidden), False
    for layer in range(config["num_hidden_layers"]):
        at = f"backbone.layers.{layer}."
        yield f"{at}norm.weight", (hidden,), False
        yield f"{at}mixer.in_proj.weight", (inner + convolved + heads, hidden), True
        yield f"{at}mixer.conv1d.weight", (convolved, 1, config["conv_kernel"]), False
        yield f"{at}mixer.conv1d.bias", (convolved,), False
        for name in ("dt_bias", "A_log", "D"):
            yield f"{at}mixer.{name}", (heads,), False
        yield f"{at}mixer.norm.weight", (inner,), False
        yield f"{at}mixer.out_proj.weight", (hidden, inner), True
    yield "backbone.norm_f.weight", (hidden,), False
    yield "lm_head.weight", (config["vocab_size"], hidden), False


FAMILIES = {"llama": (LLAMA, decoder_tensors), "qwen3": (QWEN3, decoder_tensors),
            "qwen3_wide": (QWEN3_WIDE, decoder_tensors), "qwen3_moe": (QWEN3_MOE, decoder_tensors),
            "mamba2": (MAMBA2, mamba2_tensors)}


# ---- bits and bytes --------------------------------------------------------------------------------------------------
def words(integers, bits):
    """Integers one after another from bit 0 of 32-bit words on."""
    stream = 0
    for i, integer in enumerate(integers):
        stream |= integer << i * bits
    count = -(-len(integers) * bits // 32)
    return [stream >> 32 * i & 0xFFFFFFFF for i in range(count)]


def turned(rows):
    return [list(column) for column in zip(*rows)]


def flat(rows):
    return [number for row in rows for number in row]


def u32(rows):
    return "I32", [len(rows), len(rows[0])], struct.pack(f"<{len(rows) * len(rows[0])}I", *flat(rows))


def u8(rows, dtype="U8"):
    return dtype, [len(rows), len(rows[0])], bytes(number & 255 for number in flat(rows))


def floats(rows, dtype):
    numbers = flat(rows)
    if dtype == "F16":
        data = struct.pack(f"<{len(numbers)}e", *numbers)
    elif dtype == "BF16":
        data = b"".join(struct.pack("<f", number)[2:] for number in numbers)
    else:
        data = struct.pack(f"<{len(numbers)}f", *numbers)
    return dtype, [len(rows), len(rows[0])], data


def rounded(number, dtype):
    """The nearest number of the type, but for bf16 the next towards zero."""
    if dtype == "F16":
        return struct.unpack("<e", struct.pack("<e", number))[0]
    raw = struct.pack("<f", number)
    return struct.unpack("<f", b"\0\0" + raw[2:] if dtype == "BF16" else raw)[0]


def eighth(bits):
    """e4m3: 4 bits of exponent with a bias of 7, 3 of fraction."""
    exponent, fraction = bits >> 3 & 15, bits & 7
    value = fraction * 2.0 ** -9 if exponent == 0 else (8 + fraction) * 2.0 ** (exponent - 10)
    return -value if bits & 128 else value


# ---- layouts: (random, stem, rows, columns) -> tensors, and the numbers ----------------------------------------------
class Layout:
    """`ordered`: inputs were sorted by their activations, which modules that read the same ones have alike."""
    def __init__(self, bits=4, group=32, scale="BF16", zeros=False, ordered=False):
        self.bits, self.group, self.scale, self.zeros, self.ordered = bits, group, scale, zeros, ordered

    def groups(self, stem, columns):
        """The group of each input."""
        groups = [k // (self.group or columns) for k in range(columns)]
        if self.ordered:
            parent, module = stem.rsplit(".", 1)
            random.Random(f"{parent}.{'inputs' if module[0] in 'qkvgu' else module}").shuffle(groups)
        return groups

    def draw(self, draw, stem, rows, columns):
        """Codes, and scales and zeros of each group of a row."""
        group = self.group or columns
        groups, most = columns // group, (1 << self.bits) - 1
        of = self.groups(stem, columns)
        codes = [[draw.randint(0, most) for _ in range(columns)] for _ in range(rows)]
        scales = [[rounded(draw.uniform(0.005, 0.02) / (1 << self.bits - 4), self.scale) for _ in range(groups)]
                  for _ in range(rows)]
        zeros = [[draw.randint(1, most) if self.zeros else 1 << self.bits - 1 for _ in range(groups)]
                 for _ in range(rows)]
        numbers = [[scales[n][of[k]] * (codes[n][k] - zeros[n][of[k]]) for k in range(columns)] for n in range(rows)]
        return codes, scales, zeros, numbers


class Packed(Layout):
    """compressed-tensors, pack-quantized."""
    def config(self):
        weights = {"num_bits": self.bits, "type": "int", "symmetric": not self.zeros, "dynamic": False,
                   "strategy": "group" if self.group else "channel", "group_size": self.group or None,
                   "actorder": "group" if self.ordered else None, "block_structure": None, "observer": "minmax",
                   "observer_kwargs": {}}
        return {"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": ["lm_head"],
                "quantization_status": "compressed", "version": "0.11.0", "kv_cache_scheme": None,
                "global_compression_ratio": None, "sparsity_config": {}, "transform_config": {},
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights,
                                              "input_activations": None, "output_activations": None}}}

    def write(self, draw, stem, rows, columns):
        codes, scales, zeros, numbers = self.draw(draw, stem, rows, columns)
        tensors = {f"{stem}.weight_packed": u32([words(row, self.bits) for row in codes]),
                   f"{stem}.weight_scale": floats(scales, self.scale),
                   f"{stem}.weight_shape": ("I64", [2], struct.pack("<qq", rows, columns))}
        if self.ordered:
            groups = struct.pack(f"<{columns}i", *self.groups(stem, columns))
            tensors[f"{stem}.weight_g_idx"] = ("I32", [columns], groups)
        if self.zeros:
            tensors[f"{stem}.weight_zero_point"] = u32(turned([words(c, self.bits) for c in turned(zeros)]))
        return tensors, numbers


class Bytes(Packed):
    """compressed-tensors, int-quantized: codes in two's complement."""
    def config(self):
        config = super().config()
        config["format"] = "int-quantized"
        return config

    def write(self, draw, stem, rows, columns):
        codes, scales, _, numbers = self.draw(draw, stem, rows, columns)
        return {f"{stem}.weight": u8([[code - 128 for code in row] for row in codes], "I8"),
                f"{stem}.weight_scale": floats(scales, self.scale)}, numbers


class Blocks:
    """fp8: a scale for 16 x 32 numbers."""
    def config(self):
        return {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [16, 32]}

    def write(self, draw, stem, rows, columns):
        codes = [[draw.choice([code for code in range(256) if code & 127 < 127]) for _ in range(columns)]
                 for _ in range(rows)]
        scales = [[rounded(draw.uniform(1e-4, 4e-4), "F32") for _ in range(-(-columns // 32))]
                  for _ in range(-(-rows // 16))]
        numbers = [[eighth(codes[n][k]) * scales[n // 16][k // 32] for k in range(columns)] for n in range(rows)]
        return {f"{stem}.weight": u8(codes, "F8_E4M3"), f"{stem}.weight_scale_inv": floats(scales, "F32")}, numbers


class Gptq(Layout):
    def config(self):
        return {"quant_method": "gptq", "bits": self.bits, "group_size": self.group or -1, "desc_act": self.ordered,
                "sym": False, "checkpoint_format": "gptq"}

    def write(self, draw, stem, rows, columns):
        codes, scales, zeros, numbers = self.draw(draw, stem, rows, columns)
        less = turned([[zero - 1 for zero in row] for row in zeros])
        groups = struct.pack(f"<{columns}i", *self.groups(stem, columns))
        return {f"{stem}.qweight": u32(turned([words(row, self.bits) for row in codes])),
                f"{stem}.qzeros": u32([words(row, self.bits) for row in less]),
                f"{stem}.scales": floats(turned(scales), self.scale),
                f"{stem}.g_idx": ("I32", [columns], groups)}, numbers


class Awq(Layout):
    def config(self):
        return {"quant_method": "awq", "bits": 4, "group_size": self.group, "version": "gemm", "zero_point": True}

    @staticmethod
    def mixed(row):
        return [row[i + j] for i in range(0, len(row), 8) for j in (0, 2, 4, 6, 1, 3, 5, 7)]

    def write(self, draw, stem, rows, columns):
        codes, scales, zeros, numbers = self.draw(draw, stem, rows, columns)
        return {f"{stem}.qweight": u32([words(self.mixed(column), 4) for column in turned(codes)]),
                f"{stem}.qzeros": u32([words(self.mixed(column), 4) for column in turned(zeros)]),
                f"{stem}.scales": floats(turned(scales), self.scale)}, numbers


class Table:
    """bitsandbytes, nf4: a scale for 64 numbers, the first code in the upper half of a byte."""
    NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
           -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
           0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]

    def config(self):
        return {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False,
                "bnb_4bit_quant_type": "nf4", "bnb_4bit_quant_storage": "uint8"}

    def write(self, draw, stem, rows, columns):
        codes = [draw.randint(0, 15) for _ in range(rows * columns)]
        scales = [rounded(draw.uniform(0.1, 0.2), "F32") for _ in range(-(-len(codes) // 64))]
        numbers = [self.NF4[code] * scales[i // 64] for i, code in enumerate(codes)]
        state = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [rows, columns]})
        at = f"{stem}.weight"
        return {at: u8([[a << 4 | b] for a, b in zip(codes[::2], codes[1::2])]),
                f"{at}.absmax": ("F32", [len(scales)], struct.pack(f"<{len(scales)}f", *scales)),
                f"{at}.quant_map": ("F32", [16], struct.pack("<16f", *self.NF4)),
                f"{at}.quant_state.bitsandbytes__nf4": ("U8", [len(state)], state.encode())}, [
                    numbers[n * columns:(n + 1) * columns] for n in range(rows)]


class Halves(Packed):
    """compressed-tensors, mxfp4-pack-quantized: the first code in the lower half of a byte."""
    VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6]

    def config(self):
        config = super().config()
        config["format"] = "mxfp4-pack-quantized"
        config["config_groups"]["group_0"]["weights"].update(type="float", group_size=32, scale_dtype="torch.uint8")
        return config

    def write(self, draw, stem, rows, columns):
        codes = [[draw.randint(0, 15) for _ in range(columns)] for _ in range(rows)]
        scales = [[draw.randint(118, 121) for _ in range(columns // 32)] for _ in range(rows)]
        numbers = [[(-1) ** (codes[n][k] >> 3) * self.VALUES[codes[n][k] & 7] * 2.0 ** (scales[n][k // 32] - 127)
                    for k in range(columns)] for n in range(rows)]
        return {f"{stem}.weight_packed": u8([[a | b << 4 for a, b in zip(row[::2], row[1::2])] for row in codes]),
                f"{stem}.weight_scale": u8(scales)}, numbers


LAYOUTS = {"int4": Packed(), "int4_ordered": Packed(ordered=True), "int4_zeros": Packed(zeros=True),
           "int4_channel": Packed(group=0, scale="F16", zeros=True),
           "int8": Bytes(bits=8, group=0), "fp8": Blocks(), "gptq4": Gptq(scale="F16", zeros=True),
           "gptq4_ordered": Gptq(scale="F16", zeros=True, ordered=True),
           "gptq8": Gptq(bits=8, group=0, scale="F16", zeros=True), "awq": Awq(scale="F16", zeros=True),
           "nf4": Table(), "mxfp4": Halves()}


def write(folder, config, tensors):
    """Tensors take turns between two files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    names = {}
    for shard in range(2):
        header, data, file = {}, bytearray(), f"model-{shard + 1:05}-of-00002.safetensors"
        for name, (dtype, shape, raw) in list(tensors.items())[shard::2]:
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
            names[name] = file
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        (folder / file).write_bytes(struct.pack("<Q", len(text)) + text + data)
    index = {"metadata": {"total_size": 0}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("layout", choices=LAYOUTS)
    parser.add_argument("quantised", type=pathlib.Path)
    parser.add_argument("dense", type=pathlib.Path)
    options = parser.parse_args()
    (config, tensors_of), layout = FAMILIES[options.family], LAYOUTS[options.layout]
    quantised, dense = {}, {}
    for name, shape, is_quantised in tensors_of(config):
        draw = random.Random(name)
        if is_quantised:
            tensors, numbers = layout.write(draw, name.removesuffix(".weight"), *shape)
            quantised.update(tensors)
            dense[name] = ("F32", list(shape), array.array("f", flat(numbers)).tobytes())
            continue
        count = 1
        for extent in shape:
            count *= extent
        low, high = (0.5, 1.5) if len(shape) == 1 else (-0.5, 0.5)
        data = array.array("f", (draw.uniform(low, high) for _ in range(count))).tobytes()
        quantised[name] = dense[name] = ("F32", list(shape), data)
    write(options.quantised, dict(config, quantization_config=layout.config()), quantised)
    write(options.dense, config, dense)


if __name__ == "__main__":
    main()
