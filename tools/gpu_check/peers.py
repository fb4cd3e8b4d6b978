"""Public kernels beside effc's on the same inputs: started as a program, since a package may be missing or fail."""
import json
import os
import pathlib
import sys

from .console import last_line, run
from .mixer_models import Mixer


def compare(mixer: Mixer, call: tuple, device: str, scratch: pathlib.Path, timeout: float) -> dict:
    """What peer_kernels prints of a call whose operands and results lie in `scratch`, or {"error"}."""
    decode, sequences, tokens = call
    request = {"op": mixer.op, "H": mixer.H, "G": mixer.G, "K": mixer.K, "V": mixer.V, "decode": decode, "sequences": sequences,
               "tokens": tokens, "device": "cuda" if device == "cuda" else "cpu", "scratch": str(scratch)}
    done = run([sys.executable, "-m", "gpu_check.peer_kernels", json.dumps(request)], timeout=max(1.0, timeout), may_fail=True,
               cwd=pathlib.Path(__file__).resolve().parent.parent, env={**os.environ, "FLA_CACHE_RESULTS": "1"})
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
