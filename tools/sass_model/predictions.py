"""Predictions of released configurations, which are committed, and what must not become worse.

  python3 -m sass_model.predictions --effc build/release/bin/effc --record            all of them anew, minutes each
  python3 -m sass_model.predictions --effc build/release/bin/effc mamba2_130m         compared with what is recorded
  python3 -m sass_model.predictions --table                                           what is recorded, for predictions/README.md

A launch's role is its place in a layer and its kernel's family; of a role time may grow by GROWTH, and a budget holds what was recorded:
the part of instructions that are masks (selects and comparisons), divisions that may take a slow path, tensor instructions of an
iteration, and blocks that an SM holds.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from . import artifact, entry, loading, parameters, toolkit
from .__main__ import call_of
from .kernel import Predictor

FOLDER = pathlib.Path(__file__).with_name("predictions")
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "test" / "goldens" / "configs"
GROWTH = 0.03
ROUNDING = 0.02    # microseconds
MASK_POINTS = 1.0  # percentage points by which masks may grow


def configurations() -> dict:
    return json.loads((FOLDER / "configurations.json").read_text())


def compile_model(effc: pathlib.Path, configuration: dict, options: list, folder: pathlib.Path) -> pathlib.Path:
    """The artifact of a configuration without weights."""
    config = json.loads((CONFIGS / configuration["config"]).read_text())["config"] | configuration.get("change", {})
    model, result = folder / "model", folder / "model.effc"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(config))
    done = subprocess.run([str(effc), "compile", str(model), "-o", str(result), *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise artifact.ArtifactError(f"effc compile {configuration['config']}: {done.stderr.strip()}")
    return result


def role_of(prediction) -> str:
    """"in_proj linear" of "layers.3.in_proj" and "linear_2"."""
    place = re.sub(r"layers\.\d+\.", "", prediction.note)
    return f"{place} {re.sub(r'_[0-9]+', '', prediction.kernel)}"


def budget_of(prediction) -> dict:
    mix, total = prediction.mix, sum(prediction.mix.values())
    return {"masks_percent": round(100 * mix.get("masks", 0) / total, 1), "divisions": mix.get("division", 0) // max(1, prediction.iterations),
            "tensor_per_iteration": round(prediction.tensor_per_iteration), "blocks_per_core": prediction.blocks_per_core}


def worst(one, other: dict) -> dict:
    """The budget of two kernels with one role."""
    return {name: value if one is None else (min if name == "blocks_per_core" else max)(one[name], value) for name, value in other.items()}


def summary(made: entry.EntryPrediction) -> dict:
    """What is recorded of a call: its time, and of each role the time of all its launches, what bounds it, and its budget."""
    roles: dict[str, dict] = {}
    for prediction, times in made.launches:
        role = roles.setdefault(role_of(prediction), {"launches": 0, "microseconds": 0.0})
        role["launches"] += times
        role["microseconds"] = round(role["microseconds"] + times * prediction.seconds * 1e6, 2)
        role |= {"bound": prediction.bound, "registers": prediction.registers, "shared_bytes": prediction.shared_bytes,
                 "budget": worst(role.get("budget"), budget_of(prediction))}
        roles[role_of(prediction)] = role
    return {"milliseconds": round(made.seconds * 1e3, 4), "rows_per_second": round(made.rows_per_second), "roles": roles}


def options_of(every: dict, name: str) -> list:
    """Of `effc compile`; a configuration may have weights of another type."""
    options = list(every["options"])
    if weights := every["configurations"][name].get("weights"):
        options[options.index("--dtype") + 1] = weights
    return options


def predict(effc: pathlib.Path, name: str, calls: list, given) -> dict:
    """{"ptxas": its version, "spills": {kernel: bytes}, "calls": {call: summary}}"""
    every = configurations()
    with tempfile.TemporaryDirectory() as folder:
        program = artifact.read(compile_model(effc, every["configurations"][name], options_of(every, name), pathlib.Path(folder)))
    predictor = Predictor(loading.functions_of(program.cubin), given)
    made = {text: summary(entry.predict(program, predictor, *call_of(text, program))) for text in calls}
    return {"ptxas": program.program["provenance"].get("ptxas", ""), "spills": spills_of(program.target), "calls": made}


def spills_of(target: dict) -> dict:
    """{kernel: bytes of a thread that spill} of those that do, launched or not."""
    return {kernel["name"]: kernel["spill_bytes"] for kernel in target["kernels"] if kernel.get("spill_bytes")}


def spilling(now: dict) -> list:
    """Kernels that spill, as lines: none may, whatever was recorded."""
    return [f"kernel {name} spills {spilled} bytes" for name, spilled in now.get("spills", {}).items()]


def differences(recorded: dict, now: dict) -> list:
    """What has become worse, as lines."""
    worse = spilling(now)
    for call, new in now["calls"].items():
        old = recorded["calls"][call]
        if new["milliseconds"] > old["milliseconds"] * (1 + GROWTH):
            worse.append(f"{call}: {old['milliseconds']:.3f} ms have become {new['milliseconds']:.3f} ms")
        for role, after in new["roles"].items():
            before = old["roles"].get(role)
            if before is None:  # a new kind of launch: the call's time holds it
                continue
            if after["microseconds"] > before["microseconds"] * (1 + GROWTH) + ROUNDING:
                worse.append(f"{call}, {role}: {before['microseconds']:.1f} us have become {after['microseconds']:.1f} us")
            worse += [f"{call}, {role}: {text}" for text in broken(before["budget"], after["budget"])]
    return worse


def broken(before: dict, after: dict) -> list:
    """Budgets that do not hold."""
    lines = []
    if after["masks_percent"] > before["masks_percent"] + MASK_POINTS:
        lines.append(f"masks were {before['masks_percent']} % of instructions, now {after['masks_percent']} %")
    if after["divisions"] > before["divisions"]:
        lines.append(f"divisions of an iteration were {before['divisions']}, now {after['divisions']}")
    if after["tensor_per_iteration"] > before["tensor_per_iteration"]:
        lines.append(f"tensor instructions of an iteration were {before['tensor_per_iteration']}, now {after['tensor_per_iteration']}")
    if after["blocks_per_core"] < before["blocks_per_core"]:
        lines.append(f"an SM held {before['blocks_per_core']} blocks, now {after['blocks_per_core']}")
    return lines


def table() -> str:
    """What is recorded, as the table of predictions/README.md: tokens a second of each call."""
    every = configurations()
    lines = ["| configuration | " + " | ".join(f"`{call}`" for call in every["calls"]) + " |", "|---" * (1 + len(every["calls"])) + "|"]
    for name in every["configurations"]:
        calls = json.loads((FOLDER / f"{name}.json").read_text())["calls"]
        cells = [f"{calls[call]['rows_per_second']:,} ({calls[call]['milliseconds']:.3g} ms)" for call in every["calls"]]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="sass_model.predictions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="configurations (default: all)")
    parser.add_argument("--effc", type=pathlib.Path, help="the built effc")
    parser.add_argument("--record", action="store_true", help="write what is predicted now")
    parser.add_argument("--quick", action="store_true", help="what the test of the tree looks at: small configurations, two calls")
    parser.add_argument("--table", action="store_true", help="print what is recorded as a table, and predict nothing")
    options = parser.parse_args()
    if options.table:
        print(table(), end="")
        return 0
    if options.effc is None:
        parser.error("--effc is missing: the built effc, such as build/release/bin/effc")
    every = configurations()
    names = options.names or [name for name, one in every["configurations"].items() if one.get("quick") or not options.quick]
    worse, given = [], parameters.load()
    try:
        toolkit.find_nvdisasm()
    except toolkit.MissingTool as error:
        print(f"not checked: {error}")
        return 0
    for name in names:
        path = FOLDER / f"{name}.json"
        try:
            now = predict(options.effc, name, every["quick_calls" if options.quick else "calls"], given)
        except artifact.NoMachineCode:
            print("not checked: effc finds no ptxas, which makes machine code")
            return 0
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            print(f"sass_model: error: {name}: {error}", file=sys.stderr)
            return 1
        for call, new in now["calls"].items():
            print(f"{name} {call}: predicted {new['milliseconds']:.3f} ms, {new['rows_per_second']} rows/s", flush=True)
        if options.record:
            worse += [f"{name} {line}" for line in spilling(now)]
            path.write_text(json.dumps({"ptxas": now["ptxas"], "calls": now["calls"]}, indent=1) + "\n")
            continue
        recorded = json.loads(path.read_text())
        if not now["ptxas"] or recorded["ptxas"] != now["ptxas"]:
            print(f"not checked: {name} is recorded with ptxas {recorded['ptxas']}, and this machine has {now['ptxas'] or 'none'}")
            continue
        worse += [f"{name} {line}" for line in differences(recorded, now)]
    for line in worse:
        print(f"sass_model: error: {line}", file=sys.stderr)
    if worse:
        print("Where that is meant: python3 -m sass_model.predictions --record NAME, and the reason in the commit.", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
