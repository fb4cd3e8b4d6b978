"""Kernel tests as files: which tests of compiled kernels are written, and their models compiled."""
import json
import os
import pathlib
import shutil

from .console import Failure, run, say

# Binary of test/unit/contract, its tests, and which runners of each (EFFC_EXPORT_PICK; empty: all). What is not here
# runs on the simulated GPU alone: the same bits in any pieces, and the other shapes of the tests below.
EXPORTS = [
    ("BandTest", "*AgreesWithTheSum*", ""),
    ("BlockDiagonalTest", "*AgreesWithTheFormula*", ""),
    ("CausalMixTest", "*AgreeWithTheDefinition*", ""),
    ("ChannelKernelsTest", "*", ""),
    ("KernelWidthTest", "*AgreesWithTheFormula*", ""),
    # States of bf16 are rounded to what the test does not see here.
    ("WindowKernelsTest", "*Agree*:-*Bf16*", "0,4,7,10,12,15,19,22"),
    ("RetrievalKernelsTest", "*Agree*", "1,9,17,25"),
    # Shapes 3 and 4, with tables of f32 and of bf16.
    ("LinearKernelsContract", "*Agree*", "3,13"),
]
# States of bf16, of one mixer of each structure.
NARROW = ["linear_attention", "retention", "gated_linear_attention", "gated_delta_rule", "ssd", "rwkv7", "hgrn"]
NARROW_FILTER = ":".join(f"*AgreeWithTheDefinition/{name}" for name in NARROW)
SMALL = [("BandTest", "*AgreesWithTheSum/W4_N3", ""),
         ("LinearKernelsContract", "*LinearKernelsContract.AgreeWithTheDefinition/ssd", "0"),
         ("LinearKernelsContract", "*LinearKernelsContract.AgreeWithTheDefinition/gated_delta_rule", "20")]


def export(build: pathlib.Path, folder: pathlib.Path, small: bool) -> None:
    """Has the tests write their cases."""
    exports = SMALL if small else EXPORTS + [("LinearKernelsContract", NARROW_FILTER, "21")]
    for binary, tests, picked in exports:
        program = build / "test/unit/contract" / binary
        if not program.exists():
            raise Failure(f"{program} is missing: build it first (tools/build release)")
        env = {**os.environ, "EFFC_EXPORT_DIR": str(folder)}
        if picked:
            env["EFFC_EXPORT_PICK"] = picked
        run([program, f"--gtest_filter={tests}"], env=env)


def prepare(build: pathlib.Path, folder: pathlib.Path, compiler, small: bool) -> dict:
    """Writes and compiles the cases; says how many there are."""
    folder.mkdir(parents=True)
    export(build, folder, small)
    cases = sorted(path.parent for path in folder.glob("*/case.json"))
    if not cases:
        raise Failure("the tests have written no cases")
    say(f"compiling {len(cases)} kernel tests")

    def compile_case(case: pathlib.Path) -> None:
        options = json.loads((case / "case.json").read_text())["compile"]
        compiler.compile(case / "model.mlir", case / "case.effc", "--weights-from", case, *options)
        (case / "model.mlir").unlink()
        (case / "model.safetensors").unlink()

    compiler.all([lambda case=case: compile_case(case) for case in cases])
    return {"count": len(cases), "exports": [list(one) for one in (SMALL if small else EXPORTS)],
            "bf16_states": [] if small else NARROW}


def check(program: pathlib.Path, folder: pathlib.Path, devices: list[str], simulated_seconds: float, timeout: float) -> dict:
    """Runs all cases on all devices; what effc-device-check says."""
    cases = sorted(path.parent for path in folder.glob("*/case.json"))
    done = run([program, "cases", "--device", ",".join(devices), "--simulated-seconds", simulated_seconds, *cases],
               timeout=timeout, may_fail=True)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        tail = done.stderr.strip().splitlines()[-1:] or ["it says nothing"]
        raise Failure(f"effc-device-check: status {done.returncode}: {tail[0]}")
    result = json.loads(done.stdout)
    for case in result["cases"]:
        case["folder"] = pathlib.Path(case["folder"]).name
    return result


def remove(folder: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
