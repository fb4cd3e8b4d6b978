"""Recorded checkpoints for long_prompts.py, of families that people use: tiny, with random weights.

Those of the first list keep states of a fixed size and windows, so a token costs the same wherever it is. Those of the
second have layers whose attention reads all keys.
"""
import pathlib
import subprocess
import sys

GOLDENS = pathlib.Path(__file__).resolve().parents[2] / "test/goldens/families"
BOUNDED = ["mamba/biases_untied_bf16", "mamba2/flash_groups", "rwkv7/plain", "gla/plain", "gated_deltanet/plain",
           "hgrn2/lower_bounds", "recurrent_gemma/plain", "samba/plain", "rodimus/plus", "xlstm/single"]
GROWING = ["llama/llama3_scaling", "gemma3/text_linear", "jamba/experts", "qwen3_next/plain", "kimi_linear/plain",
           "minimax/plain", "olmo_hybrid/plain", "deepseek_v3/plain"]


def compile_all(effc, folder, longest, only=None):
    """Compiles each checkpoint for texts of `longest` tokens; returns the artifacts' paths."""
    folder.mkdir(parents=True, exist_ok=True)
    artifacts = []
    for case in BOUNDED + GROWING:
        family = case.split("/")[0]
        if only and family not in only:
            continue
        artifacts.append(folder / f"{family}.effc")
        subprocess.run([effc, "compile", GOLDENS / case, "--max-context", str(longest), "--max-batch", "1",
                        "-o", artifacts[-1]], check=True, stdout=subprocess.DEVNULL)
    if not artifacts:
        sys.exit(f"none of {only} is among {[case.split('/')[0] for case in BOUNDED + GROWING]}")
    return artifacts
