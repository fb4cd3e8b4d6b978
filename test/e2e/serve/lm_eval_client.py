#!/usr/bin/env python3
"""lm-eval's own client against a server of a small Llama with random weights, and its results by check_scores.py.

    python lm_eval_client.py --effc EFFC --tokenizer test/goldens/sample

Needs the packages lm-eval[api], gguf and numpy; without one the exit status is 77. The model has the sample's
tokenizer. It knows nothing, so acc is chance, but what it says is certain: weights are large enough that the likeliest
tokens stand out.
"""
import argparse
import array
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from served import Served, skip_without

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from gguf_file import Tensor, read_safetensors, write_gguf, write_safetensors
from write_gguf import WRITERS

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 48, "intermediate_size": 80,
          "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 3, "hidden_act": "silu",
          "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": False,
          "torch_dtype": "float32"}


def write_model(folder, tokenizer, seed):
    """A checkpoint with random weights, and the same as a GGUF file."""
    given = json.loads((tokenizer / "config.json").read_text())
    config = CONFIG | {key: given[key] for key in ("vocab_size", "bos_token_id", "eos_token_id") if key in given}
    draw = random.Random(seed)

    def drawn(*shape):
        """Rows whose products with numbers of size 1 have size 1."""
        count = 1
        for extent in shape:
            count *= extent
        return Tensor(shape, array.array("f", (draw.gauss(0, 1.5 * shape[-1] ** -0.5) for _ in range(count))))

    def ones(width):
        return Tensor([width], array.array("f", (draw.uniform(0.5, 1.5) for _ in range(width))))

    width, inner, vocabulary = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    keys = width // config["num_attention_heads"] * config["num_key_value_heads"]
    tensors = {"model.embed_tokens.weight": drawn(vocabulary, width), "model.norm.weight": ones(width),
               "lm_head.weight": drawn(vocabulary, width)}
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        tensors |= {prefix + "input_layernorm.weight": ones(width), prefix + "post_attention_layernorm.weight": ones(width),
                    prefix + "self_attn.q_proj.weight": drawn(width, width),
                    prefix + "self_attn.k_proj.weight": drawn(keys, width),
                    prefix + "self_attn.v_proj.weight": drawn(keys, width),
                    prefix + "self_attn.o_proj.weight": drawn(width, width),
                    prefix + "mlp.gate_proj.weight": drawn(inner, width),
                    prefix + "mlp.up_proj.weight": drawn(inner, width),
                    prefix + "mlp.down_proj.weight": drawn(width, inner)}
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", tensors)
    shutil.copy(tokenizer / "tokenizer.json", folder)
    shutil.copy(tokenizer / "generation_config.json", folder)
    written_keys, written = WRITERS["llama"](dict(config), read_safetensors(folder / "model.safetensors")).write()
    if isinstance(config.get("eos_token_id"), int):
        written_keys |= {"tokenizer.ggml.eos_token_id": config["eos_token_id"]}
    write_gguf(folder / "model.gguf", written_keys, written)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effc", required=True, help="the program effc")
    parser.add_argument("--tokenizer", required=True, type=pathlib.Path, help="a folder with tokenizer.json")
    parser.add_argument("--seed", type=int, default=1, help="of the weights")
    arguments = parser.parse_args()
    skip_without("lm_eval", "gguf", "numpy", "aiohttp", "tenacity")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "llama").mkdir()
        write_model(folder / "llama", arguments.tokenizer, arguments.seed)
        subprocess.run([arguments.effc, "compile", folder / "llama", "-o", folder / "llama.effc", "--no-optimise",
                        "--prefill-rows", "16"], check=True)
        with Served(arguments.effc, [folder / "llama.effc"], "--slots", "8") as server:
            about = f"base_url={server.url}/v1/completions,model=llama,num_concurrent=4,tokenizer_backend=remote"
            quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
            subprocess.run([sys.executable, "-m", "lm_eval", "--model", "local-completions", "--batch_size", "4",
                            "--tasks", "effc_mc,effc_gen", "--include_path", "tasks", "--log_samples",
                            "-o", folder / "out", "--model_args", about], cwd=HERE, check=True, env=os.environ | quiet)
            checked = [sys.executable, "-B", HERE / "check_scores.py", "--samples", folder / "out",
                       "--gguf", folder / "llama" / "model.gguf", "--url", server.url]
            sys.exit(subprocess.run(checked).returncode)


if __name__ == "__main__":
    main()
