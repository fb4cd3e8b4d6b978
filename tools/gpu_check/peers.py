"""Public kernels beside effc's on the same inputs: started as a program, since a package may be missing or fail."""
import concurrent.futures
import json
import os
import pathlib
import sys

from .console import last_line, run
from .mixer_models import Mixer


def ask(mixer: Mixer, call: tuple, device: str, scratch: pathlib.Path, timeout: float, *, only_compile: bool) -> dict:
    """What peer_kernels prints of a call whose operands and results lie in `scratch`, or {"error"}."""
    decode, sequences, tokens = call
    request = {"op": mixer.op, "H": mixer.H, "G": mixer.G, "K": mixer.K, "V": mixer.V, "decode": decode, "sequences": sequences,
               "tokens": tokens, "device": "cuda" if device == "cuda" else "cpu", "scratch": str(scratch), "only_compile": only_compile}
    # What is tuned while others run beside it is not kept.
    environment = {**os.environ, "FLA_CACHE_RESULTS": "0" if only_compile else "1"}
    done = run([sys.executable, "-m", "gpu_check.peer_kernels", json.dumps(request)], timeout=max(1.0, timeout), may_fail=True,
               cwd=pathlib.Path(__file__).resolve().parent.parent, env=environment)
    found = {}
    for line in done.stdout.splitlines():
        try:
            said = json.loads(line)
        except ValueError:  # something else that was printed, or half a line
            continue
        found = said if isinstance(said, dict) else found
    if done.returncode != 0:
        found["error"] = last_line(done.stderr) or f"status {done.returncode}"
    return found


def compile_all(calls: list[tuple[Mixer, tuple, pathlib.Path]], device: str, jobs: int, timeout: float) -> None:
    """Has Triton compile what `compare` will run, several at once: compiling is most of a first call, and work for the processor."""
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        for done in [pool.submit(ask, mixer, call, device, scratch, timeout, only_compile=True) for mixer, call, scratch in calls]:
            done.result()


def compare(mixer: Mixer, call: tuple, device: str, scratch: pathlib.Path, timeout: float) -> dict:
    """Errors of both against float64, and times of public kernels."""
    return ask(mixer, call, device, scratch, timeout, only_compile=False)
