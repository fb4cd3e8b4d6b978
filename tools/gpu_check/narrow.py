"""What is asked of kernel tests that fail on a GPU: which of its ways of running the same kernels is to blame."""
import pathlib

from . import kernel_cases
from .console import Budget, say

# What is tried, and the environment that asks for it (runtime/src/devices/cuda/CudaSwitches.h, CudaChoice.h).
WAYS = {"one launch after the other": {"EFFC_CUDA_OVERLAP": "0"},
        "without recorded calls": {"EFFC_CUDA_GRAPHS": "0"},
        "neither, waiting for each launch": {"EFFC_CUDA_OVERLAP": "0", "EFFC_CUDA_GRAPHS": "0", "EFFC_CUDA_CHECK_LAUNCHES": "1"},
        "from PTX": {"EFFC_CUDA_CODE": "ptx"}}
MOST_CASES = 12


def failing(cases: list[dict]) -> list[dict]:
    return [case for case in cases if not case["devices"].get("cuda", {}).get("passed", True)]


def narrow(program: pathlib.Path, folder: pathlib.Path, cases: list[dict], others: list[str], budget: Budget) -> None:
    """Runs the first of those that failed in each way, and on `others`, devices that are no GPU and for which the folder has code; what came is
    kept as "ways" of each."""
    for case in failing(cases)[:MOST_CASES]:
        if budget.left() < 5:
            return
        place, found = folder / case["folder"], {}
        for name, environment in WAYS.items():
            alone = kernel_cases.run_alone(program, place, ["cuda"], environment, budget.share(0.3, 20))
            found[name] = alone.get("cuda", {"passed": False, "error": "it did not end"})
        if others:
            found |= kernel_cases.run_alone(program, place, others, {}, budget.share(0.3, 40))
        case["ways"] = found
        say(f"{case['name']}: " + ", ".join(f"{name}: {'passes' if one.get('passed') else one.get('error') or one.get('largest')}"
                                            for name, one in found.items()))
