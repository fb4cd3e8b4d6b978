"""Public kernels beside effc's on the same inputs: started as a program, since a package may be missing or fail."""
import json
import os
import pathlib
import subprocess
import sys

from .console import last_line
from .mixer_models import Mixer


def compare(mixer: Mixer, call: tuple, device: str, scratch: pathlib.Path, timeout: float) -> dict:
    """What peer_kernels prints of a call whose operands and results lie in `scratch`, or {"error"}."""
    decode, sequences, tokens = call
    request = {"op": mixer.op, "H": mixer.H, "G": mixer.G, "K": mixer.K, "V": mixer.V, "decode": decode, "sequences": sequences,
               "tokens": tokens, "device": "cuda" if device == "cuda" else "cpu", "scratch": str(scratch)}
    try:
        done = subprocess.run([sys.executable, "-m", "gpu_check.peer_kernels", json.dumps(request)], capture_output=True, text=True,
                              timeout=max(1.0, timeout), cwd=pathlib.Path(__file__).resolve().parent.parent,
                              env={**os.environ, "FLA_CACHE_RESULTS": "1"}, errors="replace")
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {timeout:.0f} s"}
    if done.returncode != 0:
        return {"error": last_line(done.stderr)}
    return json.loads(done.stdout.strip().splitlines()[-1])
