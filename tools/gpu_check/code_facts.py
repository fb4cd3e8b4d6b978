"""What kernels of compiled files are made of, by `effc inspect`: instructions, tensor maps, spills."""
import json
import pathlib

from .console import Failure, run

# Chips whose warp groups multiply together, by operands that are copied in boxes: code that no other chip has. A test
# holds them to compiler/Target.h.
WARP_GROUPS = ("sm_90a",)
# Of what is compared with known numbers on such a chip, at least so many files have each.
LEAST = {"tma": 2, "exact wgmma": 1, "rounded wgmma": 1}


def targets_of(effc: pathlib.Path, file: pathlib.Path) -> list[dict]:
    return json.loads(run([effc, "inspect", "--kernels", "--json", file]).stdout)["targets"]


def facts_of(effc: pathlib.Path, file: pathlib.Path, chips: list[str], products: str) -> dict:
    """Of each chip: which of LEAST the file has, kernels that spill, and those of which nobody knows, for ptxas says it."""
    facts = {}
    for target in targets_of(effc, file):
        if target["name"] not in chips:
            continue
        counts = {name: sum((kernel.get("instructions") or {}).get(name, 0) for kernel in target["kernels"]) for name in ("tma", "wgmma")}
        kind = "rounded wgmma" if products in ("bf16", "f16") else "exact wgmma"
        facts[target["name"]] = {
            "has": [name for name, there in (("tma", counts["tma"] and any(kernel["box_maps"] for kernel in target["kernels"])),
                                             (kind, counts["wgmma"])) if there],
            "spills": [{"name": kernel["name"], "spill_bytes": kernel["spill_bytes"]} for kernel in target["kernels"] if kernel.get("spill_bytes")],
            "unknown": [kernel["name"] for kernel in target["kernels"] if kernel.get("registers") is None]}
    return facts


def has_own_code(effc: pathlib.Path, file: pathlib.Path, chips: list[str], products: str) -> bool:
    """Whether a file has code that only one of these chips has."""
    return any(facts["has"] for facts in facts_of(effc, file, [chip for chip in chips if chip in WARP_GROUPS], products).values())


def summarise(files: dict[str, dict], chips: list[str]) -> dict:
    """Of each chip: how many files have each of LEAST, what spills, and of how many kernels that is unknown. `files`: facts by file."""
    return {chip: {"files_with": {kind: sum(kind in facts[chip]["has"] for facts in files.values()) for kind in LEAST},
                   "spills": [{"file": name, **spill} for name, facts in sorted(files.items()) for spill in facts[chip]["spills"]],
                   "unknown": sum(len(facts[chip]["unknown"]) for facts in files.values())}
            for chip in chips}


def require(summary: dict) -> None:
    """Fails where it is unknown what spills, and where a chip's own code would be compared with nothing."""
    for chip, found in summary.items():
        if found["unknown"]:
            raise Failure(f"the registers and spills of {found['unknown']} kernels for {chip} are unknown, since ptxas is missing: it comes "
                          "with CUDA's toolkit (CUDA_HOME, PATH) and the wheel nvidia-cuda-nvcc of python3")
    for chip in WARP_GROUPS:
        if chip not in summary:
            continue
        for kind, least in LEAST.items():
            if (found := summary[chip]["files_with"][kind]) < least:
                raise Failure(f"of what is compared on {chip}, {found} files have {kind}, but {least} are the least")
