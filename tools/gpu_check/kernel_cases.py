"""Kernel tests as files: which tests of compiled kernels are written, and their models compiled."""
import json
import os
import pathlib

from .console import Budget, Failure, last_line, leave_out, run, say

# Binary of test/unit/contract, its tests, and which runners of each (EFFC_EXPORT_PICK; empty: all). What is not here
# runs on the simulated GPU alone: the same bits in any pieces, and the other shapes of the tests below.
EXPORTS = [
    ("BandTest", "*AgreesWithTheSum*", ""),
    ("BlockDiagonalTest", "*AgreesWithTheFormula*", ""),
    ("CausalMixTest", "*AgreeWithTheDefinition*", ""),
    ("ChannelKernelsTest", "*", ""),
    # Of one channel a short sequence is a number near 0, whose relative error says nothing.
    ("KernelWidthTest", "*AgreesWithTheFormula*:-*columns_1_3", ""),
    # States of bf16 are rounded to what the test does not see here.
    ("WindowKernelsTest", "*Agree*:-*Bf16*", "0,4,7,10,12,15,19,22"),
    ("RecurrencePiecesTest", "*", ""),
    # Between blocks that run at the same time nothing but the copied tail keeps a piece from another's.
    ("ConvolutionProloguesTest", "*/ssd_in_pieces", "0"),
    ("RetrievalKernelsTest", "*Agree*", "1,9,17,25"),
    # Shapes 3 and 4, with tables of f32 and of bf16.
    ("LinearKernelsContract", "*Agree*", "3,14"),
]
# States of bf16, of one mixer of each structure.
NARROW = ["linear_attention", "retention", "gated_linear_attention", "gated_delta_rule", "ssd", "rwkv7", "hgrn"]
NARROW_FILTER = ":".join(f"*AgreeWithTheDefinition/{name}" for name in NARROW)
# Shape 3 of products that are rounded to bf16, of every mixer whose tokens a GPU takes in chunks, and to f16 and tf32, of one of each structure.
ROUNDED = [("LinearKernelsContract", "*BothGatesAgree*", "11"),
           ("LinearKernelsContract", ":".join(f"*BothGatesAgree/{name}" for name in NARROW), "15,19"),
           # What warp groups multiply by that is loaded or computed, as columns in depth and side by side.
           ("WindowProductsTest", "*AgreeWithTheReference/bf16", "0"),
           ("ChunkProductsTest", "*AgreeWithTheDefinition/decays_per_head_bf16:*/no_decay_f16", "")]
# Processes after which all that fails on a GPU is taken as it comes.
MOST_RESTARTS = 10
MOST_BYTES = 52 * 10**6  # of all compiled cases; half of it when packed
SMALL = [("BandTest", "*AgreesWithTheSum/1_W4_N3_f32", ""),
         ("LinearKernelsContract", "*LinearKernelsContract.AgreeWithTheDefinition/ssd", "0"),
         ("LinearKernelsContract", "*LinearKernelsContract.AgreeWithTheDefinition/gated_delta_rule", "22")]


def export(build: pathlib.Path, folder: pathlib.Path, small: bool) -> None:
    """Has the tests write their cases."""
    exports = SMALL if small else [*EXPORTS, ("LinearKernelsContract", NARROW_FILTER, "23"), *ROUNDED]
    for binary, tests, picked in exports:
        program = build / "test/unit/contract" / binary
        if not program.exists():
            raise Failure(f"{program} is missing: build it first (tools/build release)")
        env = {**os.environ, "EFFC_EXPORT_DIR": str(folder)}
        if picked:
            env["EFFC_EXPORT_PICK"] = picked
        if (binary, tests, picked) in ROUNDED:
            env["EFFC_TEST_TARGET"] = "sim_90a"
        before = len(list(folder.glob("*/case.json")))
        run([program, f"--gtest_filter={tests}"], env=env)
        # A filter that no test's name fits is no error to the program.
        if len(list(folder.glob("*/case.json"))) == before:
            raise Failure(f"{binary} has written no case for '{tests}' (runners: {picked or 'all'})")


def prepare(build: pathlib.Path, folder: pathlib.Path, compiler, small: bool) -> dict:
    """Writes and compiles the cases; says how many there are."""
    folder.mkdir(parents=True)
    export(build, folder, small)
    cases = sorted(path.parent for path in folder.glob("*/case.json"))
    say(f"compiling {len(cases)} kernel tests")

    def compile_case(case: pathlib.Path) -> None:
        options = json.loads((case / "case.json").read_text())["compile"]
        compiler.compile(case / "model.mlir", case / "case.effc", "--weights-from", case, *options)
        (case / "model.mlir").unlink()
        (case / "model.safetensors").unlink()

    compiler.all([lambda case=case: compile_case(case) for case in cases])
    # Of each test the first case, then the second ones, and so on, as far as there is room.
    rank = {case: sum(other.stem == case.stem and other < case for other in cases) for case in cases}
    cases.sort(key=lambda case: (rank[case], case))
    left_out = leave_out(cases, MOST_BYTES)
    if left_out:
        say(f"left out for their size: {', '.join(left_out)}")
    return {"count": len(cases), "left_out": left_out, "exports": [list(one) for one in (SMALL if small else EXPORTS)],
            "bf16_states": [] if small else NARROW}


def run_cases(program: pathlib.Path, cases: list[pathlib.Path], devices: list[str], simulated_seconds: float, timeout: float,
              env: dict | None = None) -> dict:
    """What effc-device-check says of cases."""
    done = run([program, "cases", "--device", ",".join(devices), "--simulated-seconds", simulated_seconds, *cases],
               timeout=timeout, may_fail=True, env=env)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        raise Failure(f"effc-device-check: status {done.returncode}: {last_line(done.stderr) or 'it says nothing'}")
    return json.loads(done.stdout)


def check(program: pathlib.Path, folder: pathlib.Path, devices: list[str], simulated_seconds: float, timeout: float) -> dict:
    """Runs all cases on all devices. Where a launch fails a driver gives the process up: the rest goes on in another, and the launch is
    asked for."""
    left = sorted(path.parent for path in folder.glob("*/case.json"))
    budget, result = Budget.of(timeout), {"devices": [], "cases": [], "not_begun": 0}
    for restart in range(len(left)):
        if not left or budget.left() < 1:
            break
        found = run_cases(program, left, devices, simulated_seconds, budget.left())
        result["devices"] = found["devices"]
        failed = next((i for i, case in enumerate(found["cases"]) if case["devices"].get("cuda", {}).get("error")), None)
        if restart == MOST_RESTARTS:
            failed = None
        ended = len(left) if failed is None else failed + 1
        result["cases"] += found["cases"][:ended]
        if failed is not None:
            alone = run_cases(program, [left[failed]], ["cuda"], 0, max(10.0, budget.left()), {**os.environ, "EFFC_CUDA_CHECK_LAUNCHES": "1"})
            result["cases"][-1]["devices"]["cuda"]["each_launch"] = alone["cases"][0]["devices"]["cuda"].get("error", "passes")
        left = left[ended:]
    result["not_begun"] = len(left)
    for case in result["cases"]:
        case["folder"] = pathlib.Path(case["folder"]).name
    return result
