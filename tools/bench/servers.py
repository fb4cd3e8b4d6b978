#!/usr/bin/env python3
"""What a server costs for each token, of `effc serve` and of llama.cpp's server, on the same GGUF file in the same run.

  tools/bench/servers.py --folder /tmp/models --threads 2 --out tools/bench/results/NAME.json
  tools/bench/servers.py --folder /tmp/models --models mamba2-130m-q8_0 --clients 8 --tokens 256

--clients connections ask at the same moment for --tokens greedy tokens each, as a stream of /v1/completions. In each
round each server is started, asked once for warmth, and measured; then its engine alone decodes as many sequences
together (`effc bench`, llama-batched-bench). Who is first changes from round to round. For each of them are printed

  wall       milliseconds from the first request to the last token, for each token of all clients
  processor  milliseconds of processor time of the server's process, for each token
  engine     wall of the engine alone, and what the server adds to it
  first      milliseconds until the last client has its first token

as medians over the rounds. Files and llama.cpp are those of gguf_models.py: its server is built with its other
programs. Needs a machine that nothing else uses.
"""
import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from gguf_models import DECODE, LEVELS, MADE, PEER, build_peer, find, run_json
from levels import processor
from real_models import MODELS, ROOT, effc

PROMPT = [1, 2, 3]
START = 120  # seconds that a server may take until it answers
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    """Of a process, with its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(command, port):
    """A server on that port; its process id."""
    log = tempfile.TemporaryFile()  # a pipe that nobody reads would stop one that says much
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=log)
    try:
        for _ in range(START * 20):
            if process.poll() is not None:
                log.seek(0)
                sys.exit(f"{command}: {log.read().decode(errors='replace')}")
            with contextlib.suppress(OSError, urllib.error.URLError):
                if urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200:
                    break
            time.sleep(0.05)
        else:
            sys.exit(f"{command}: does not answer /health")
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


async def stream(port, tokens):
    """Asks for `tokens` tokens; when the first one came, and when all were there."""
    body = json.dumps({"prompt": PROMPT, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "stream": True,
                       "cache_prompt": False}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise ValueError((head + await reader.read(2000)).decode(errors="replace"))
        first, reason = None, None
        # The lines of chunks lie between those of events, and are none of them.
        while line := await reader.readline():
            if line.strip() == b"data: [DONE]" and reason == "length":
                return first, time.perf_counter()
            if not line.startswith(b"data: {"):
                continue
            for choice in json.loads(line[6:]).get("choices", []):
                first = first or time.perf_counter()
                reason = choice.get("finish_reason") or reason
        raise ValueError(f"a stream ended early ({reason})")
    finally:
        writer.close()


async def all_streams(port, clients, tokens):
    begin = time.perf_counter()
    times = await asyncio.gather(*(stream(port, tokens) for _ in range(clients)))
    return max(end for _, end in times) - begin, max(first for first, _ in times) - begin


def cost(command, port, options):
    """Of one server: milliseconds for each token."""
    with serving(command, port) as pid:
        try:
            asyncio.run(all_streams(port, options.clients, 8))
            before = processor_seconds(pid)
            seconds, first = asyncio.run(all_streams(port, options.clients, options.tokens))
        except (ValueError, OSError, asyncio.IncompleteReadError) as error:
            sys.exit(f"{command}: {error}")
        used = processor_seconds(pid) - before
    count = options.clients * options.tokens
    return {"wall": 1e3 * seconds / count, "processor": 1e3 * used / count, "first": 1e3 * first}


def peer_cost(programs, gguf, options):
    port = free_port()
    context = options.clients * (options.tokens + 64)
    found = cost([programs / "llama-server", "-m", gguf, "--host", "127.0.0.1", "--port", port, "-t", options.threads, "-tb",
                  options.threads, "-np", options.clients, "-c", context], port, options)
    lines = run_json(programs / "llama-batched-bench", "-m", gguf, "-t", options.threads, "-tb", options.threads, "-c",
                     context, "-npp", len(PROMPT), "-ntg", options.tokens, "-npl", options.clients,
                     "--output-format", "jsonl").splitlines()
    (report,) = [json.loads(line) for line in lines if line.startswith("{")]
    return found | {"engine": 1e3 / report["speed_tg"]}


def effc_cost(build, compiled, options):
    port = free_port()
    found = cost([build / "bin" / "effc", "serve", compiled, "--port", port, "-t", options.threads, "--slots",
                  options.clients, "--cache-ram", 0, "--log", "none"], port, options)
    report = json.loads(run_json(build / "bin" / "effc", "bench", compiled, "-t", options.threads, "-p", 0, "-n",
                                 options.tokens, "-b", options.clients, "-d", len(PROMPT), "-r", 1, "--json"))
    (case,) = report["results"]
    return found | {"engine": 1e3 / case["tokens_per_second"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where models and llama.cpp are kept")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--models", nargs="*", default=list(MODELS)[:1], choices=[*MODELS, *MADE])
    parser.add_argument("--clients", type=int, default=8, help="at once")
    parser.add_argument("--tokens", type=int, default=4 * DECODE, help="that each client asks for")
    parser.add_argument("--threads", type=int, default=1, help="that compute")
    parser.add_argument("--products", nargs="*", default=["int8"], help="of effc's files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the numbers of every round")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    programs = build_peer(options.folder, "llama-server")
    results = {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "peer": PEER, "clients": options.clients,
               "tokens": options.tokens, "threads": options.threads, "models": {}}
    print("| file | server | wall, ms a token | processor, ms a token | engine, ms a token | added, ms a token | first, ms |")
    print("|---" * 7 + "|")
    for name in options.models:
        gguf, runs = find(name, options.folder), {}
        for products in options.products:
            compiled = options.folder / f"{name}-{products}-served-{options.clients}.effc"
            effc(options.build, "compile", gguf, "-o", compiled, "--no-sync", "--target", LEVELS, "--products", products,
                 "--prefill-rows", "64", "--max-batch", options.clients)
            runs[f"effc, {products}"] = lambda file=compiled: effc_cost(options.build, file, options)
        runs["llama-server"] = lambda: peer_cost(programs, gguf, options)
        rounds = []
        for number in range(options.rounds):
            order = list(runs) if number % 2 == 0 else list(runs)[::-1]
            rounds.append({"load": os.getloadavg()[0]} | {who: runs[who]() for who in order})
        results["models"][name] = rounds
        for who in runs:
            middle = lambda value: statistics.median(value(one[who]) for one in rounds)
            cells = [middle(lambda one, key=key: one[key]) for key in ("wall", "processor", "engine")]
            cells += [middle(lambda one: one["wall"] - one["engine"]), middle(lambda one: one["first"])]
            print(f"| {name} | {who} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
