"""Kernel tests as files: which tests of compiled kernels are written, and their models compiled."""
import array
import json
import math
import os
import pathlib
import re

from . import code_facts
from .console import Budget, Failure, Lines, leave_out, packed_bytes, run, say

# Binary of test/unit/contract, its tests, and which runners of each (EFFC_EXPORT_PICK; empty: all). What is not here
# runs on the simulated GPU alone: the same bits in any pieces, and the other shapes of the tests below.
EXPORTS = [
    ("BandTest", "*AgreesWithTheSum*", ""),
    ("BlockDiagonalTest", "*AgreesWithTheFormula*", ""),
    ("CausalMixTest", "*AgreeWithTheDefinition*", ""),
    ("ChannelKernelsTest", "*", ""),
    # Of one channel a short sequence is a number near 0, whose relative error says nothing.
    ("KernelWidthTest", "*AgreesWithTheFormula*:-*columns_1_3", ""),
    # Narrower states are rounded to what the test does not see here.
    ("WindowKernelsTest", "*Agree*:-*WithStatesOf*", "0,4,7,10,12,15,19,22"),
    ("RecurrencePiecesTest", "*", ""),
    # Between blocks that run at the same time nothing but the copied tail keeps a piece from another's.
    ("ConvolutionProloguesTest", "*/ssd_in_pieces", "0"),
    ("RetrievalKernelsTest", "*Agree*", "1,9,17,25"),
    # Shapes 3 and 4, with tables of f32 and of bf16.
    ("LinearKernelsContract", "*Agree*", "3,14"),
    # Weights of bf16, which warp groups multiply by exactly where a step has 64 of them; not those of so many outputs that a tile has 128,
    # for the size of what is expected.
    ("NarrowWeightsTest", "*NarrowWeights.*:-*_by_8456:*_by_5640", ""),
    # Blocks that queries choose by mean keys, and softmaxes over the means; of 279 tokens the choice among pieces of the keys.
    ("BlockChoiceTest", "*AgreeWithTheDefinition*", ""),
    # All but the head that has every row: such a model is refused.
    ("ChoiceKernelsTest", "Heads/*AreTheFirstOfTheLargest*:-*128to331", ""),
]
# States of bf16, of one mixer of each structure.
NARROW = ["linear_attention", "retention", "gated_linear_attention", "gated_delta_rule", "ssd", "rwkv7", "hgrn"]
NARROW_FILTER = ":".join(f"*AgreeWithTheDefinition/{name}" for name in NARROW)
# Shape 3 of products that are rounded to bf16, of every mixer whose tokens a GPU takes in chunks, and to f16 and tf32, of one of each structure.
ROUNDED = [("LinearKernelsContract", "*BothGatesAgree*", "11"),
           ("LinearKernelsContract", ":".join(f"*BothGatesAgree/{name}" for name in NARROW), "15,19"),
           # Tokens that lie in memory as bf16: by chunks, and one after another.
           ("LinearKernelsContract", "*NarrowTokensContract*", "1,2"),
           # What warp groups multiply by that is loaded or computed, as columns in depth and side by side.
           ("WindowProductsTest", "*AgreeWithTheReference/bf16", "0"),
           ("ChunkProductsTest", "*AgreeWithTheDefinition/decays_per_head_bf16:*/no_decay_f16", "")]
# Products whose tests know what the host gives, which rounds nothing; files hold no weights of f16. The first is of the largest tiles.
ROUNDED_ON_GPUS = [("NarrowWeightsTest", "*RoundedProducts.*:-*_f16_as_*", ""),
                   ("NarrowResultsTest", "*:-*_f16*", "0"),
                   # Items that share a tile's terms; not the long rows, for their size.
                   ("DepthPartsTest", "*of_70_rows*", "")]
# Processes after which all that fails on a GPU is taken as it comes.
MOST_RESTARTS = 10
CASE_SECONDS = 30  # of one case on one device, of which the simulated GPU needs 12 at most
MOST_BYTES = 42 * 10**6  # of all compiled cases, each packed by itself; two thirds of it when packed together
SMALL = [("BandTest", "*AgreesWithTheSum/1_W4_N3_f32", ""),
         ("NarrowWeightsTest", "*/NarrowWeights.AgreeWithTheFormula/150_times_128_by_200", ""),
         ("NarrowWeightsTest", "*/RoundedProducts.AgreeWithTheFormula/150_times_128_by_200_bf16_as_bf16", ""),
         ("LinearKernelsContract", "*LinearKernelsContract.AgreeWithTheDefinition/ssd", "0"),
         ("LinearKernelsContract", "*LinearKernelsContract.AgreeWithTheDefinition/gated_delta_rule", "22")]


def export(build: pathlib.Path, folder: pathlib.Path, small: bool) -> None:
    """Has the tests write their cases."""
    exports = SMALL if small else [*EXPORTS, ("LinearKernelsContract", NARROW_FILTER, "23"), *ROUNDED, *ROUNDED_ON_GPUS]
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


def cut_numbers(case: pathlib.Path) -> None:
    """Sets bits of the expected numbers to zero that are less than 2^-10 of what is tolerated: they take half of the folder otherwise."""
    about = json.loads((case / "case.json").read_text())
    kept = 10 + math.ceil(-math.log2(about["tolerance"]))
    low = (1 << 52 - kept) - 1
    numbers = bytearray((case / "numbers.bin").read_bytes())
    for step in about["steps"]:
        if "count" not in step:  # a slot's bytes
            continue
        part = slice(step["at"], step["at"] + 8 * step["count"])
        bits = array.array("Q", bytes(numbers[part]))
        numbers[part] = array.array("Q", ((one + (low + 1 >> 1)) & ~low for one in bits)).tobytes()
    (case / "numbers.bin").write_bytes(numbers)


def products_of(case: pathlib.Path) -> str:
    options = json.loads((case / "case.json").read_text())["compile"]
    return options[options.index("--products") + 1] if "--products" in options else "f32"


def test_of(name: str) -> str:
    """The test that a case is of; of mixers' tests the family as well, since each has kernels of its own."""
    return name.rpartition(".")[0] if name.startswith("Mixers_") else re.match(r"[^.]*\.[^_.]*", name)[0]


def by_worth(cases: list[pathlib.Path], has_own_code) -> list[pathlib.Path]:
    """What has code that only its chip has, then of each test the first case, then the second ones, and so on."""
    count: dict[str, int] = {}
    rank = {}
    for case in sorted(cases):
        test = test_of(case.name)
        count[test] = count.get(test, 0) + 1
        rank[case] = 0 if has_own_code(case) else count[test]
    return sorted(cases, key=lambda case: (rank[case], case))


def prepare(build: pathlib.Path, folder: pathlib.Path, compiler, small: bool) -> dict:
    """Writes and compiles the cases; says how many there are."""
    folder.mkdir(parents=True)
    export(build, folder, small)
    cases = sorted(path.parent for path in folder.glob("*/case.json"))
    say(f"compiling {len(cases)} kernel tests")

    def compile_case(case: pathlib.Path) -> None:
        options = json.loads((case / "case.json").read_text())["compile"]
        compiler.compile(case / "model.mlir", case / "case.effc", "--weights-from", case, *options)
        cut_numbers(case)
        (case / "model.mlir").unlink()
        (case / "model.safetensors").unlink()

    compiler.all([lambda case=case: compile_case(case) for case in cases])
    cases = by_worth(cases, lambda case: code_facts.has_own_code(compiler.effc, case / "case.effc", compiler.targets, products_of(case)))
    left_out = leave_out(cases, MOST_BYTES, packed_bytes)
    if left_out:
        say(f"left out for their size: {', '.join(left_out)}")
    return {"count": len(cases), "left_out": left_out, "exports": [list(one) for one in (SMALL if small else EXPORTS)],
            "bf16_states": [] if small else NARROW}


class CaseRun:
    """effc-device-check over a list of cases, of which all is kept that it has said."""

    def __init__(self, program: pathlib.Path, cases: list[pathlib.Path], devices: list[str], simulated_seconds: float,
                 env: dict | None = None):
        self.count = len(cases)
        self.lines = Lines([program, "cases", "--device", ",".join(devices), "--simulated-seconds", max(0.01, simulated_seconds), *cases], env)
        self.devices: list[dict] = []
        self.ended: list[dict] = []
        self.begun: tuple[str, str] | None = None  # folder and device of what has not ended

    def follow(self, each: float, budget: Budget, stops_at_errors: bool) -> str | None:
        """Reads to the end, to the first case that fails to run on a GPU where that stops it, or to what hangs: a case has `each` seconds on
        a device. What ended the program before its time, if anything did."""
        while True:
            try:
                line = self.lines.next(min(each, budget.left()))
            except TimeoutError:
                self.lines.end(kill=True)
                return "the time was over while it ran" if budget.left() <= 0 else f"took more than {each:.0f} s"
            if line is None:
                status, said = self.lines.end(kill=False)
                whole = status in (0, 1) and len(self.ended) == self.count
                return None if whole else f"status {status}: {said or 'it says nothing'}"
            try:
                found = json.loads(line)
            except ValueError:  # the program died as it wrote
                continue
            if "begins" in found:
                self.begun = (found["begins"], found["device"])
            elif "name" in found:
                self.begun = None
                self.ended.append(found)
                if stops_at_errors and gpu_error(found):
                    self.lines.end(kill=True)
                    return None
            else:
                self.devices = found["devices"]


def gpu_error(case: dict) -> str | None:
    return case["devices"].get("cuda", {}).get("error")


def unfinished(begun: tuple[str, str], why: str) -> dict:
    """A case that did not end, as a result."""
    folder, device = begun
    about = json.loads((pathlib.Path(folder) / "case.json").read_text())
    return {"name": about.get("name", pathlib.Path(folder).name), "folder": folder, "tolerance": about.get("tolerance", 0),
            "devices": {device: {"error": why, "passed": False}}, "apart": {}}


def run_alone(program: pathlib.Path, folder: pathlib.Path, devices: list[str], environment: dict[str, str], seconds: float) -> dict:
    """One case on devices, with more in the environment: what each gave, {} of those it did not come to."""
    alone = CaseRun(program, [folder], devices, seconds, {**os.environ, **environment})
    alone.follow(seconds, Budget.of(seconds), False)
    return alone.ended[-1]["devices"] if alone.ended else {}


def say_launch(program: pathlib.Path, folder: str, each: float, budget: Budget) -> str:
    """Which launch of a case fails, found by waiting for each."""
    alone = CaseRun(program, [pathlib.Path(folder)], ["cuda"], 0, {**os.environ, "EFFC_CUDA_CHECK_LAUNCHES": "1"})
    why = alone.follow(each, Budget.of(max(10.0, budget.left())), False)
    return (gpu_error(alone.ended[-1]) or "passes") if alone.ended else why or "it did not end"


def check(program: pathlib.Path, folder: pathlib.Path, devices: list[str], simulated_seconds: float, timeout: float,
          each: float = CASE_SECONDS) -> dict:
    """Runs all cases on all devices. Where a launch fails a driver gives the process up, and one that hangs or dies is of no use: what has
    ended is kept, the rest goes on in another process behind the case that had begun, and a launch that failed is asked for."""
    left = sorted(path.parent for path in folder.glob("*/case.json"))
    budget, simulated = Budget.of(timeout), Budget.of(simulated_seconds)
    result: dict = {"devices": [], "cases": [], "stopped": None, "not_begun": []}
    restarts = 0
    while left and budget.left() >= 1:
        going = CaseRun(program, left, devices, simulated.left())
        why = going.follow(each, budget, restarts < MOST_RESTARTS)
        result["devices"] = going.devices or result["devices"]
        result["cases"] += going.ended
        left = left[len(going.ended):]
        if going.begun:
            result["cases"].append(unfinished(going.begun, why or "it did not end"))
            left = left[1:]
        elif why:  # no case is to blame
            result["stopped"] = f"effc-device-check: {why}"
            break
        elif gpu_error(going.ended[-1]) and restarts < MOST_RESTARTS:
            result["cases"][-1]["devices"]["cuda"]["each_launch"] = say_launch(program, going.ended[-1]["folder"], each, budget)
        restarts += 1
    result["not_begun"] = [path.name for path in left]
    for case in result["cases"]:
        case["folder"] = pathlib.Path(case["folder"]).name
    return result
