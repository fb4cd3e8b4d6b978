#!/usr/bin/env python3
"""Writes the weights of a checkpoint that come as Python pickles as safetensors.

    convert_pickle.py DIR

reads pytorch_model.bin in DIR, or the files that pytorch_model.bin.index.json names,
or other *.bin, *.pt and *.pth where neither is there, and writes
DIR/model.safetensors. No code of the checkpoint runs: torch.load with
weights_only=True refuses a pickle that holds anything but tensors. Needs torch and
safetensors (pip install torch safetensors), and memory for all weights.
"""
import argparse
import importlib.util
import json
import pathlib
import sys

ENDINGS = (".bin", ".pt", ".pth")
# What trainers wrap weights in.
WRAPPERS = ("state_dict", "model", "module")


def require_libraries():
    for name in ("torch", "safetensors"):
        if not importlib.util.find_spec(name):
            sys.exit(f"convert_pickle.py needs {name}, which this Python lacks: "
                     f"{sys.executable} -m pip install torch safetensors")


def find_files(folder):
    index = folder / "pytorch_model.bin.index.json"
    if index.exists():
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        if bad := [name for name in names if pathlib.PurePath(name).name != name]:
            sys.exit(f"{index.name} names {bad[0]!r}, which is not in this folder")
        return [folder / name for name in names]
    if (folder / "pytorch_model.bin").exists():
        return [folder / "pytorch_model.bin"]
    # Weights of an optimiser and of a trainer are no model's.
    return [path for path in sorted(folder.iterdir())
            if path.suffix in ENDINGS
            and path.stem not in ("optimizer", "scheduler", "training_args", "rng_state")]


def read_tensors(path):
    import torch
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = str(error).splitlines()[0]
        sys.exit(f"{path.name} holds more than tensors, or is damaged: {reason}")
    while isinstance(loaded, dict) and not any(torch.is_tensor(v) for v in loaded.values()):
        inner = next((loaded[key] for key in WRAPPERS if isinstance(loaded.get(key), dict)), None)
        if inner is None:
            sys.exit(f"{path.name} holds no tensors by name")
        loaded = inner
    others = [key for key, value in loaded.items() if not torch.is_tensor(value)]
    if others:
        print(f"left aside in {path.name}, since they are no tensors: {', '.join(map(str, others))}",
              file=sys.stderr)
    return {key: value for key, value in loaded.items() if torch.is_tensor(value)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    folder = parser.parse_args().folder
    output = folder / "model.safetensors"
    if output.exists():
        sys.exit(f"{output} is there already")
    if not folder.is_dir():
        sys.exit(f"{folder} is no folder")
    files = find_files(folder)
    if not files:
        sys.exit(f"{folder} holds no {', '.join('*' + ending for ending in ENDINGS)}")
    require_libraries()
    import torch
    from safetensors.torch import save_file
    tensors = {}
    for path in files:
        for name, tensor in read_tensors(path).items():
            if name in tensors:
                sys.exit(f"tensor {name!r} is in two files")
            # Each has bytes of its own in the new file, tied ones too.
            tensors[name] = tensor.detach().clone(memory_format=torch.contiguous_format)
    save_file(tensors, output, metadata={"format": "pt"})
    print(f"{output}: {len(tensors)} tensors of {len(files)} file{'s' * (len(files) > 1)}")


if __name__ == "__main__":
    main()
