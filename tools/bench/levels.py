#!/usr/bin/env python3
"""The levels of the host's instruction set beside each other: one file, its code of each level in turn.

Compiles a checkpoint once for all levels and measures prefill and decode with `effc bench`, round after round, each
level once a round, so that what else runs on the machine meets all of them. Every round's numbers go into a JSON
file; what is printed are medians over the rounds, and how much faster a level is than the first.

  tools/bench/levels.py CHECKPOINT --out tools/bench/results/NAME.json [--dtype bf16] [--threads 1] [--rounds 7]
  tools/bench/levels.py MODEL.gguf --levels x86-64-v3,x86-64-v4-vnni --products int8 --out NAME.json
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEVELS = "x86-64-v3,x86-64-v4"


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def measure(effc, artifact, level, options):
    """The cases of one run, by name."""
    done = subprocess.run(
        [effc, "bench", artifact, "--device", f"host:{level}", "-t", str(options.threads), "-p", options.prefill,
         "-n", str(options.decode), "-b", options.batch, "-r", "1", "--json"],
        check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["isa"] == level, report["isa"]
    return {f"{case['call']} {case['tokens']} x {case['batch']}": case for case in report["results"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--levels", default=LEVELS)
    parser.add_argument("--dtype", help="as the checkpoint has them where it is not given")
    parser.add_argument("--products", default="exact")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--prefill", default="64,512")
    parser.add_argument("--decode", type=int, default=32)
    parser.add_argument("--batch", default="1,8")
    options = parser.parse_args()
    effc, levels = f"{options.build}/bin/effc", options.levels.split(",")
    types = ["--dtype", options.dtype] if options.dtype else []
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        artifact = f"{folder}/model.effc"
        subprocess.run([effc, "compile", options.checkpoint, "-o", artifact, "--no-sync", *types, "--products",
                        options.products, "--target", options.levels], check=True)
        for number in range(options.rounds):
            order = levels if number % 2 == 0 else levels[::-1]
            rounds.append({"load": os.getloadavg()[0]} | {level: measure(effc, artifact, level, options)
                                                          for level in order})
    names = list(rounds[0][levels[0]])
    print("| call | " + " | ".join(f"{level}, tokens/s" for level in levels) + " | " +
          " | ".join(f"{level} / {levels[0]}" for level in levels[1:]) + " |")
    print("|---" * (2 * len(levels)) + "|")
    for name in names:
        speeds = [[one[level][name]["tokens_per_second"] for one in rounds] for level in levels]
        # Of the same round: what else ran then is most alike.
        ratios = [statistics.median(b / a for a, b in zip(speeds[0], of)) for of in speeds[1:]]
        cells = [f"{statistics.median(of):.1f} ({min(of):.1f} to {max(of):.1f})" for of in speeds]
        print(f"| {name} | " + " | ".join(cells) + " | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
    options.out.write_text(json.dumps(
        {"checkpoint": pathlib.Path(options.checkpoint).name, "dtype": options.dtype, "products": options.products,
         "processor": processor(),
         "cores": len(os.sched_getaffinity(0)), "threads": options.threads, "rounds": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
