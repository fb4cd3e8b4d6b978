#!/usr/bin/env python3
"""Gathers how much each input of each matrix counts, for effc compile --importance.

    gather_importance.py DIR TEXT.txt -o importance.dat

runs the checkpoint in DIR with the public library (transformers) over the text, window
after window, and writes the mean square of each input of each product, under the
names that the checkpoint has. llama-imatrix does the same with a GGUF file; this is for
models that it does not know. The file is of that tool's older form, whose names may be
of any length.

Products of `torch.nn.Linear` count. Experts that the library keeps in one tensor are
no such products: they get no entries, and effc says so. 20,000 tokens of the kind of
text that the model will read are enough; more change little.

Needs torch, transformers, and memory for the model in f32.
"""
import argparse
import importlib.util
import pathlib
import struct
import sys


def require_libraries():
    for name in ("torch", "transformers"):
        if not importlib.util.find_spec(name):
            sys.exit(f"gather_importance.py needs {name}, which this Python lacks: "
                     f"{sys.executable} -m pip install torch transformers")


def gather(model, windows):
    """Sums of squares of the inputs of each product, by the name of its weight, and tokens counted."""
    import torch

    sums, counts = {}, {}

    def watch(name):
        def hook(_, inputs):
            x = inputs[0].detach().reshape(-1, inputs[0].shape[-1]).double()
            sums[name] = sums.get(name, 0) + x.square().sum(0)
            counts[name] = counts.get(name, 0) + x.shape[0]
        return hook

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(watch(name + ".weight"))
    with torch.no_grad():
        for window in windows:
            model(torch.tensor([window]), use_cache=False)
    return sums, counts


def encode(sums, counts, windows, text):
    """The bytes of a file: sums of means over windows, and how many these are."""
    calls = len(windows)
    parts = [struct.pack("<i", len(sums))]
    for name, total in sums.items():
        numbers = [float(x) / counts[name] * calls for x in total]
        parts += [struct.pack("<i", len(name.encode())), name.encode(), struct.pack("<ii", calls, len(numbers)),
                  struct.pack(f"<{len(numbers)}f", *numbers)]
    parts += [struct.pack("<ii", calls, len(text.encode())), text.encode()]
    return b"".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("text", metavar="TEXT.txt", type=pathlib.Path)
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True)
    parser.add_argument("--window", type=int, default=512, help="tokens of a window, each by itself (default: 512)")
    parser.add_argument("--tokens", type=int, default=20000, help="at most so many of the text (default: 20000)")
    options = parser.parse_args()
    if options.window < 1 or options.tokens < 1:
        parser.error("expects --window and --tokens of at least 1")
    require_libraries()
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(options.folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.folder)
    ids = tokenizer(options.text.read_text())["input_ids"][:options.tokens]
    windows = [ids[at:at + options.window] for at in range(0, len(ids), options.window)]
    if not windows:
        sys.exit(f"{options.text} has no tokens")
    sums, counts = gather(model, windows)
    if not sums:
        sys.exit(f"the library runs {options.folder} without torch.nn.Linear: nothing is gathered")
    options.output.write_bytes(encode(sums, counts, windows, options.text.name))
    print(f"{options.output}: {len(sums)} matrices, {len(ids)} tokens")


if __name__ == "__main__":
    main()
