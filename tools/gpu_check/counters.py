"""Hardware counters of single kernels by NVIDIA's Nsight Compute, where it is there: what a model of the chip is held against."""
import csv
import io
import pathlib
import shutil

from . import shapes
from .console import Budget, last_line, run, say

METRICS = {
    "gpu__time_duration.sum": "seconds",
    "sm__cycles_elapsed.max": "cycles",
    "sm__inst_executed.sum": "instructions",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps_percent",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    "sm__inst_executed_pipe_tensor.sum": "tensor_instructions",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": "tensor_percent",
    "dram__bytes_read.sum": "dram_read_bytes",
    "dram__bytes_write.sum": "dram_written_bytes",
    "lts__t_bytes.sum": "l2_bytes",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "shared_wavefronts",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "stalled_memory",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio": "stalled_shared",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": "stalled_barrier",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": "stalled_wait",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio": "stalled_pipe",
    "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio": "stalled_gmma",
}
UNITS = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1.0, "s": 1.0,
         "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def rows_of(text: str) -> list[dict]:
    """Kernels in the order in which they ran, by ncu's table of one metric a line."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None:
        return []
    kernels: dict[str, dict] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[first:]))):
        name = METRICS.get(row.get("Metric Name", ""))
        if name is None:
            continue
        one = kernels.setdefault(row["ID"], {"kernel": row["Kernel Name"], "grid": row.get("Grid Size"), "block": row.get("Block Size")})
        try:
            one[name] = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
        except ValueError:  # "n/a"
            one[name] = None
    return list(kernels.values())


def of_call(profiler: str, program: pathlib.Path, file: pathlib.Path, call: tuple, timeout: float) -> list[dict] | dict:
    """The kernels of a call, each with cold caches, or {"error"}."""
    decode, sequences, tokens = call
    done = run([profiler, "--clock-control", "none", "--csv", "--page", "details", "--print-units", "base", "--metrics", ",".join(METRICS),
                program, "time", file, "--device", "cuda", "--sequences", sequences, "--tokens", tokens, "--warm-ups", "0", "--runs", "1",
                *(["--decode"] if decode else [])], may_fail=True, timeout=timeout)
    # A kernel runs more than once: to warm up, by itself, in the call. The last of them counts.
    last = {row["kernel"]: row for row in rows_of(done.stdout)}
    return list(last.values()) or {"error": last_line(done.stderr) or last_line(done.stdout)}


def check(program: pathlib.Path, folder: pathlib.Path, budget: Budget) -> list[dict]:
    """Every mixer's main shape and its decode."""
    profiler = shutil.which("ncu")
    found = []
    for mixer, calls in shapes.MIXERS:
        for call in calls[:2]:
            about = {"mixer": mixer.name, "decode": call[0], "sequences": call[1], "tokens": call[2]}
            if not profiler or budget.left() < 12:
                found.append({**about, "left_out": "the time is over" if profiler else "ncu is not there"})
                continue
            found.append({**about, "kernels": of_call(profiler, program, folder / f"{mixer.name}.effc", call, budget.share(0.5, 40))})
            say(f"counted {mixer.name}, {'decode' if call[0] else 'prefill'}")
    return found
