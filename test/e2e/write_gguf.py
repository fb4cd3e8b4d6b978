#!/usr/bin/env python3
"""Writes a recorded checkpoint as a GGUF file, as llama.cpp's converter would.

  test/e2e/write_gguf.py test/goldens/families/llama/llama3_scaling /tmp/m.gguf [--shards 2] [--checkpoint DIR]

The rules are those of conversion/*.py in llama.cpp, written the way the converter goes: names, rows of queries and
keys put in pairs, -exp of logarithms of decays, norms' weights + 1, experts stacked. effc's tables go the other way.
Keys that the converter has no place for are refused; `--checkpoint` writes a folder whose configuration differs from
the recorded one in what the format cannot say, so that effc's two readings can be compared. Standard library alone.
"""
import argparse
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # beside the sources
from gguf_decoders import (Cohere2, Exaone4, Gemma2, Gemma3, GptOss, Granite, Lfm2, Llama, Mixtral, Olmo2, Phi3, Qwen2, Qwen2Moe,
                           Qwen3, Qwen3Moe, Qwen3Next, Qwen35, Qwen35Moe, SmolLm3)
from gguf_experts import (BailingMoe2, BailingMoe3, DeepSeek, Gemma4, Glm4Moe, Glm4MoeLite, GraniteMoe, GraniteSwa,
                          Lfm2Moe, MiniMaxM2, Mistral3)
from gguf_file import read_safetensors, write_gguf, write_safetensors
from gguf_gpt import Bloom, Gpt2, GptNeoX
from gguf_qwen_rwkv import Arwkv7, Plamo2, Plamo3, QwenRwkv6
from gguf_recurrent import Jamba, Kimi, Mamba, Mamba2, MiniMax, Rwkv6, Rwkv7
from gguf_state_space import Bamba, FalconH1, GraniteHybrid, NemotronH

WRITERS = {"llama": Llama, "mistral": Llama, "granite": Granite, "qwen2": Qwen2, "qwen3": Qwen3, "qwen2_moe": Qwen2Moe,
           "qwen3_moe": Qwen3Moe, "qwen3_next": Qwen3Next, "qwen3_5_text": Qwen35,
           "qwen3_5_moe_text": Qwen35Moe, "phi3": Phi3, "gemma2": Gemma2, "gemma3_text": Gemma3,
           "mamba": Mamba, "falcon_mamba": Mamba, "mamba2": Mamba2, "jamba": Jamba, "kimi_linear": Kimi,
           "minimax_text_01": MiniMax, "rwkv6": Rwkv6, "rwkv7": Rwkv7,
           "mixtral": Mixtral, "smollm3": SmolLm3, "olmo2": Olmo2, "olmo3": Olmo2, "lfm2": Lfm2,
           "gpt_oss": GptOss, "exaone4": Exaone4, "cohere2": Cohere2,
           "granitemoehybrid": GraniteHybrid, "bamba": Bamba, "falcon_h1": FalconH1, "nemotron_h": NemotronH,
           "deepseek_v2": DeepSeek, "deepseek_v3": DeepSeek, "glm4_moe_lite": Glm4MoeLite, "lfm2_moe": Lfm2Moe,
           "gemma4_text": Gemma4, "gemma4": Gemma4, "minimax_m2": MiniMaxM2, "bailing_moe": BailingMoe2,
           "bailing_hybrid": BailingMoe3, "sarvam_moe": Glm4Moe,
           "ministral3": Mistral3, "mistral3": Mistral3, "granite_swa": GraniteSwa, "granitemoe": GraniteMoe,
           "gpt2": Gpt2, "gpt_neox": GptNeoX, "bloom": Bloom, "plamo2": Plamo2, "plamo3": Plamo3,
           "rwkv6qwen2": QwenRwkv6, "rwkv_hybrid": Arwkv7}


def read(folder):
    """A checkpoint's configuration and tensors; of one that sees or hears the text's alone, by its own names."""
    config = json.loads((folder / "config.json").read_text())
    tensors = read_safetensors(folder / "model.safetensors")
    if "text_config" not in config:
        return config["model_type"], config, tensors
    tensors = {name.replace("language_model.", ""): tensor for name, tensor in tensors.items()
               if not re.match(r"(model\.)?(vision_tower|embed_vision|multi_modal_projector)\.", name)}
    return config["model_type"], config["text_config"], tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="a recorded checkpoint")
    parser.add_argument("out", type=pathlib.Path, help="the file, or the first shard")
    parser.add_argument("--shards", type=int, default=1, help="files to write")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="folder for what the format can say of it")
    parser.add_argument("--as", dest="kind", help="a writer by another type of models than the checkpoint's")
    parser.add_argument("--old", action="store_true", help="as earlier releases of the converter wrote it")
    options = parser.parse_args()
    kind, config, tensors = read(options.folder)
    writer = WRITERS[options.kind or kind](config, tensors)
    writer.old = options.old
    keys, tensors = writer.write()
    if options.checkpoint:
        options.checkpoint.mkdir(parents=True)
        (options.checkpoint / "config.json").write_text(json.dumps(writer.config))
        write_safetensors(options.checkpoint / "model.safetensors", writer.tensors)
    names, count = list(tensors), options.shards
    for shard in range(count):
        path = options.out
        if count > 1:
            path = path.with_name(path.name.replace("-00001-of-", f"-{shard + 1:05}-of-"))
            keys = (keys if shard == 0 else {}) | {"split.no": shard, "split.count": count,
                                                   "split.tensors.count": len(tensors)}
        write_gguf(path, keys, {name: tensors[name] for name in names[shard::count]})


if __name__ == "__main__":
    main()
