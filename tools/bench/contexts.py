#!/usr/bin/env python3
"""Tokens per second by how much sequences hold, and how many of them memory has room for: a recurrent model beside one
of attention.

Makes the shape of Mamba-2 130M with random weights (make_model.py), fetches SmolLM2-135M-Instruct (gguf_models.py),
compiles both, and has `effc bench` draw tokens for some sequences together behind some tokens each, in turn, so that
what else runs on the machine meets both. Every round's numbers go into a JSON file; what is printed are medians.

  tools/bench/contexts.py --folder /tmp/models --threads 2 --out tools/bench/results/NAME.json
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from gguf_models import LEVELS, find, run_json
from levels import processor
from real_models import ROOT, effc

NEW = 16


def compiled(build, folder, batch):
    """The compiled files by name."""
    checkpoint = folder / "mamba2-130m"
    if not (checkpoint / "model.safetensors").exists():
        subprocess.run([sys.executable, ROOT / "tools" / "bench" / "make_model.py", checkpoint], check=True)
    sources = {"Mamba-2 130M, f32": checkpoint, "SmolLM2-135M, Q4_1": find("smollm2", folder)}
    files = {}
    for name, source in sources.items():
        files[name] = folder / f"{source.stem}-contexts-{batch}.effc"
        effc(build, "compile", source, "-o", files[name], "--no-sync", "--target", LEVELS, "--max-batch", batch)
    return files


def measure(build, file, options):
    report = json.loads(run_json(build / "bin" / "effc", "bench", file, "-t", options.threads, "-p", 0, "-n", NEW, "-b",
                                 options.batch, "-d", options.depth, "--temp", 1, "-r", options.repeat, "--json"))
    return {key: report[key] for key in ("isa", "machine", "room", "results")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where models are kept")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--batch", default="1,16", help="sequences together")
    parser.add_argument("--depth", default="512,4096", help="tokens that each holds before")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each case in a round")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the numbers of every round")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    files = compiled(options.build, options.folder, max(map(int, options.batch.split(","))))
    rounds = [{"load": os.getloadavg()[0]} | {name: measure(options.build, file, options) for name, file in files.items()}
              for _ in range(options.rounds)]
    if options.out:
        about = {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "threads": options.threads}
        options.out.write_text(json.dumps(about | {"rounds": rounds}, indent=1) + "\n")
    depths = [int(depth) for depth in options.depth.split(",")]
    print("| model | sequences | " + " | ".join(f"behind {depth:,}" for depth in depths) + " | the last of the first |")
    print("|---" * (3 + len(depths)) + "|")
    for name in files:
        for batch in map(int, options.batch.split(",")):
            speeds = [statistics.median(case["tokens_per_second"] for one in rounds for case in one[name]["results"]
                                        if (case["batch"], case["depth"]) == (batch, depth)) for depth in depths]
            print(f"| {name} | {batch} | " + " | ".join(f"{speed:.0f}" for speed in speeds)
                  + f" | {speeds[-1] / speeds[0]:.0%} |")
        for room in rounds[-1][name]["room"]:
            print(f"| {name} | room for | {room['sequences']:,} of {room['tokens']:,} tokens, {room['bytes']:,} bytes each")


if __name__ == "__main__":
    main()
