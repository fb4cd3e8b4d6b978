"""What the machine is: GPU, driver, toolkit, packages, and what it can do today."""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

from .console import Failure, last_line, run
from .cores import usable_cores

# Bytes and FLOPs per second of chips, and whose numbers these are: tools/effc/Chips.h, to which a test holds them. They are used where torch
# cannot measure the machine's own.
CHIPS = {"a100": (2.039e12, 312e12, "data sheet, 80 GB SXM"), "h100": (3.35e12, 989e12, "data sheet, SXM"),
         "h200": (4.3e12, 790e12, "measured on one, SXM")}
# What drivers call these, and no other: an H100 on a PCIe card moves less.
NAMES = {"NVIDIA A100-SXM4-80GB": "a100", "NVIDIA H100 80GB HBM3": "h100", "NVIDIA H200": "h200"}
# What plays the code for a chip, the newest last: of the targets of compiler/Target.cpp those that are simulated, to which a test holds
# them; and the chip that `effc inspect` takes for it.
SIMULATED = {"sm_80": "sim:80", "sm_90a": "sim:90"}
PLAYED = {"sim:80": "a100", "sim:90": "h200"}


def first_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(1) if found else ""


def gpu() -> dict:
    """Of the first GPU, by nvidia-smi."""
    names = ["name", "driver_version", "memory.total", "clocks.sm", "clocks.mem", "power.limit", "temperature.gpu"]
    done = run(["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader", "-i", "0"], may_fail=True, timeout=30)
    if done.returncode != 0:
        return {"error": last_line(done.stderr or done.stdout) or "nvidia-smi cannot be run"}
    return dict(zip(names, (field.strip() for field in done.stdout.strip().split(","))))


def capability() -> str:
    """Of the first GPU, "9.0"; empty where nobody says."""
    done = run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "-i", "0"], may_fail=True, timeout=30)
    return first_match(r"^([0-9]+\.[0-9]+)", done.stdout) if done.returncode == 0 else ""


def simulated(targets: list[str], asked: str, capability: str) -> str:
    """The simulated GPU to play, "sim:90": what is asked for, of "sim" the newest of a folder's targets; for a GPU that whose code it would
    run, which is that for sm_80 unless it is known better."""
    played = [(chip, name) for chip, name in SIMULATED.items() if chip in targets]
    if ":" in asked:
        if asked not in (names := [name for _, name in played]):
            raise Failure(f"{asked}: the folder was prepared for {', '.join(names)}")
        return asked
    # Code for sm_90a runs on chips of 9.0 alone.
    runs = [name for chip, name in played if asked == "sim" or (capability == "9.0") == (chip == "sm_90a")]
    return (runs or [name for _, name in played])[-1]


def packages() -> dict:
    """Versions of what public kernels need; null: not there."""
    names = ["torch", "triton", "flash-linear-attention", "fla-core", "mamba-ssm", "causal-conv1d", "numpy"]
    code = ("import importlib.metadata as m, json\n"
            f"out = {{}}\nfor n in {names!r}:\n"
            " try: out[n] = m.version(n)\n except m.PackageNotFoundError: out[n] = None\nprint(json.dumps(out))")
    done = run([sys.executable, "-c", code], may_fail=True, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def describe() -> dict:
    """Everything that does not need a GPU to work."""
    nvcc = run(["nvcc", "--version"], may_fail=True, timeout=30)
    compiler = run([os.environ.get("CXX", "c++"), "--version"], may_fail=True, timeout=30)
    return {"gpu": gpu(), "capability": capability(), "cuda_toolkit": first_match(r"release ([0-9.]+)", nvcc.stdout) or "not there",
            "compiler": compiler.stdout.splitlines()[0] if compiler.stdout else "not there",
            "cmake": first_match(r"version ([0-9.]+)", run(["cmake", "--version"], may_fail=True, timeout=30).stdout),
            "python": platform.python_version(), "packages": packages(), "system": platform.platform(),
            "cores": usable_cores()}


def known_ceilings(machine: dict, device: str, reason: str) -> dict:
    """Of the chip, where nothing was measured; why not is said. None of a chip of which nothing is known."""
    name = machine["gpu"].get("name", "")
    chip = NAMES.get(name) if device == "cuda" else PLAYED[device]
    if chip is None:
        return {"bytes_per_second": None, "flops_per_second": None, "source": None,
                "reason": f"{reason}, and those of '{name or 'a GPU without a name'}' are not known"}
    moved, products, source = CHIPS[chip]
    return {"bytes_per_second": moved, "flops_per_second": products, "source": f"{chip}, {source}", "reason": reason}


def ceilings(machine: dict, device: str) -> dict:
    """Bytes and FLOPs per second: measured in this run by torch, else of the chip, if it is known."""
    if device != "cuda":
        return known_ceilings(machine, device, "nothing is measured on a simulated GPU")
    try:
        done = subprocess.run([sys.executable, "-m", "gpu_check.measure_ceilings"], capture_output=True, text=True, timeout=90,
                              cwd=pathlib.Path(__file__).resolve().parent.parent)
    except subprocess.TimeoutExpired:
        return known_ceilings(machine, device, "measuring them took more than 90 s")
    return json.loads(done.stdout) if done.returncode == 0 else known_ceilings(machine, device, last_line(done.stderr))


def calibrate(seconds: float) -> dict:
    """Parameters of the chip by small kernels (calibrate.py), or {"error"}."""
    done = run([sys.executable, "-m", "gpu_check.calibrate", "--seconds", f"{seconds:.0f}"], may_fail=True, timeout=seconds + 30,
               cwd=pathlib.Path(__file__).resolve().parent.parent)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": last_line(done.stderr) or "it says nothing"}
