"""Recorded checkpoints: compiled here, evaluated there on every device against their float64 logits."""
import concurrent.futures
import json
import math
import pathlib
import shutil

from . import safetensors
from .console import Budget, folder_bytes, last_line, leave_out, run, say

# Where states or products are f32 on a GPU, 2^-21 of a product is lost in each of some layers; four times what the
# public library loses in f32 where that is more.
WITHIN = 2e-5
MOST_BYTES = 60 * 10**6  # of all compiled models; a third of it when packed
SPLITS = ["all", "5,1,1,64"]


def goldens_of(folder: pathlib.Path, small: bool) -> list[pathlib.Path]:
    """Recorded checkpoints with logits: the first of every family, then the second ones, and so on."""
    found = sorted(path.parent for name in ("families", "mamba2") for path in (folder / name).rglob("golden.safetensors"))
    rank = {golden: sum(other.parent == golden.parent and other < golden for other in found) for golden in found}
    return found[:1] if small else sorted(found, key=lambda golden: (rank[golden], golden))


def prepare(goldens: pathlib.Path, folder: pathlib.Path, compiler, small: bool) -> tuple[list[str], list[str]]:
    """Compiles them, and the sample with its text; returns their names, and of what is left out for its size."""
    folder.mkdir(parents=True)
    found = goldens_of(goldens, small)
    say(f"compiling {len(found)} recorded checkpoints{'' if small else ' and the sample'}")

    def name_of(golden: pathlib.Path) -> str:
        return str(golden.relative_to(goldens)).replace("/", ".")

    def compile_golden(golden: pathlib.Path) -> None:
        place = folder / name_of(golden)
        compiler.compile(golden, place / "model.effc", "--dtype", "f32", "--prefill-rows", "64", "--max-batch", "1")
        for name in ("tokens.json", "golden.safetensors"):
            shutil.copy2(golden / name, place)

    def compile_sample() -> None:
        compiler.compile(goldens / "sample", folder / "sample/model.effc", "--prefill-rows", "16", "--max-batch", "1")
        shutil.copy2(goldens / "sample/expected.json", folder / "sample")

    if not small:
        compile_sample()
    done, each = [], 20
    for first in range(0, len(found), each):
        if folder_bytes(folder) > MOST_BYTES:
            break
        compiler.all([lambda golden=golden: compile_golden(golden) for golden in found[first:first + each]])
        done = found[:first + each]
    left_out = [name_of(golden) for golden in found[len(done):]]
    left_out += leave_out([folder / name_of(golden) for golden in done], MOST_BYTES)
    if left_out:
        say(f"left out for their size: {', '.join(left_out)}")
    return sorted(path.name for path in folder.iterdir()), sorted(left_out)


def distance(found, expected) -> float:
    """|found - expected| / |expected|; infinite for what is no number."""
    squares = math.fsum((a - b) ** 2 for a, b in zip(found, expected))
    norm = math.fsum(b * b for b in expected)
    result = math.sqrt(squares / norm) if norm > 0 else math.sqrt(squares)
    return result if math.isfinite(result) else math.inf


def evaluate(effc: pathlib.Path, model: pathlib.Path, device: str, scratch: pathlib.Path, timeout: float) -> dict:
    """The worst error of a model's logits on a device, over the ways of feeding it."""
    golden = safetensors.read(model / "golden.safetensors")
    worst, allowed, rows = 0.0, 0.0, []
    for split in SPLITS:
        output = scratch / f"{model.name}.{device}.logits"
        done = run([effc, "eval", model / "model.effc", "--device", device, "--tokens", model / "tokens.json", "--split", split,
                    "--logits", output], timeout=timeout, may_fail=True)
        if done.returncode != 0:
            return {"passed": False, "error": last_line(done.stderr)}
        logits = safetensors.read(output)
        output.unlink()
        for number in range(sum(name.startswith("logits_f64.") for name in golden)):
            exact = golden[f"logits_f64.{number}"][1]
            library = distance(golden[f"logits_f32.{number}"][1], exact)
            worst = max(worst, distance(logits[f"logits.{number}"][1], exact))
            allowed = max(allowed, WITHIN, 4 * library + 1e-6)
            rows.append(logits[f"logits.{number}"][1])
    return {"passed": worst <= allowed, "relative": worst if math.isfinite(worst) else None, "allowed": allowed, "logits": rows}


def continue_sample(effc: pathlib.Path, model: pathlib.Path, device: str, timeout: float) -> dict:
    """Whether the sample continues its prompt as the public library does, and draws without logits what it draws from them."""
    expected = json.loads((model / "expected.json").read_text())
    texts = []
    # The filter leaves every token that can win, and has the device give logits.
    for options in (["--temperature", "0"], ["--temperature", "0.8", "--seed", "7"],
                    ["--temperature", "0.8", "--seed", "7", "--min-p", "1e-30"]):
        done = run([effc, "run", model / "model.effc", "--device", device, "--prompt", expected["prompt"], *options,
                    "-n", len(expected["continuation_ids"])], timeout=timeout, may_fail=True)
        if done.returncode != 0:
            return {"passed": False, "error": last_line(done.stderr)}
        texts.append(done.stdout)
    if texts[0] != expected["continuation"] + "\n":
        return {"passed": False, "error": f"says {texts[0]!r}"}
    if texts[1] != texts[2]:
        return {"passed": False, "error": f"draws {texts[1]!r} without logits, but {texts[2]!r} from them"}
    return {"passed": True}


def check_one(effc: pathlib.Path, model: pathlib.Path, devices: list[str], scratch: pathlib.Path, budget: Budget, simulated: Budget) -> dict:
    """One model on every device."""
    one: dict = {"name": model.name, "devices": {}, "apart": {}}
    logits = {}
    for device in devices:
        # The sample has 48 tokens to write: too many for the simulated GPU.
        if device == "sim" and (simulated.left() <= 0 or model.name == "sample"):
            one["devices"][device] = {"left_out": "takes too long when simulated" if model.name == "sample"
                                      else "the time for simulation is over"}
            continue
        timeout = max(20.0, budget.share(0.5, 120))
        if model.name == "sample":
            found = continue_sample(effc, model, device, timeout)
        else:
            found = evaluate(effc, model, device, scratch, timeout)
            if rows := found.pop("logits", None):
                logits[device] = rows
        one["devices"][device] = found
    names = list(logits)
    for i, first in enumerate(names):
        for second in names[i + 1:]:
            one["apart"][f"{first} and {second}"] = max(distance(a, b) for a, b in zip(logits[first], logits[second]))
    failed = [f"{name} ({found.get('error', 'too far from float64')})" for name, found in one["devices"].items()
              if not found.get("passed", True)]
    say(f"{model.name}: {'FAILED on ' + ', '.join(failed) if failed else 'passed'}")
    return one


def check(effc: pathlib.Path, folder: pathlib.Path, devices: list[str], scratch: pathlib.Path, budget: Budget,
          simulated_seconds: float, jobs: int) -> list[dict]:
    """Every model on every device, several at once; the simulated GPU as long as it has time."""
    simulated = Budget.of(simulated_seconds)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda model: check_one(effc, model, devices, scratch, budget, simulated), sorted(folder.iterdir())))
