"""Recorded checkpoints: compiled here, evaluated there on every device against their float64 logits."""
import concurrent.futures
import json
import math
import pathlib
import shutil
import subprocess

from . import safetensors
from .console import Budget, folder_bytes, last_line, leave_out, run, say

# Where states or products are f32 on a GPU, 2^-21 of a product is lost in each of some layers; four times what the
# public library loses in f32 where that is more.
WITHIN = 2e-5
# Where they are rounded to bf16, as test/e2e/SimulatedGpuTest.cpp has it: of two layers some 24 operands lie on the way to a logit, each
# off by 2^-9 / sqrt(3) in the mean, which makes 5.5e-3; four times that where norms divide by little.
WITHIN_ROUNDED = 2e-2
MOST_BYTES = 60 * 10**6  # of all compiled models; a third of it when packed
SPLITS = ["all", "5,1,1,64"]
# Checkpoints of bf16, one of each kind of mixer and feed-forward, which are taken once more with their matrices as they are stored: by exact
# products and by rounded ones. What chooses by comparing scores is not here, since a rounded score may choose another.
NARROW = [f"families/{name}" for name in (
    "bloom/normed_tokens_bf16", "delta_net/one_rate_bf16", "falcon_mamba/untied_bf16", "linear_attn/elu_bf16", "mistral/no_window_bf16",
    "rwkv6/no_first_norm_bf16")] + ["mamba2/bf16_groups3"]
NARROW_PRODUCTS = {"f32": "exact", "bf16": "rounded"}
SAMPLE_TOKENS = [(37 * i + 5) % 2000 + 3 for i in range(90)]


def goldens_of(folder: pathlib.Path, small: bool) -> list[pathlib.Path]:
    """Recorded checkpoints with logits: the first of every family, then the second ones, and so on."""
    found = sorted(path.parent for name in ("families", "mamba2") for path in (folder / name).rglob("golden.safetensors"))
    rank = {golden: sum(other.parent == golden.parent and other < golden for other in found) for golden in found}
    return found[:1] if small else sorted(found, key=lambda golden: (rank[golden], golden))


def options_of(golden: pathlib.Path) -> list[str]:
    """How a checkpoint is to be compiled, where that is not as it is."""
    file = golden / "options.json"
    return [text for name, value in json.loads(file.read_text()).items() for text in (f"--{name}", str(value))] if file.exists() else []


def products_of(model: pathlib.Path) -> str:
    return json.loads((model / "about.json").read_text())["products"]


def prepare(goldens: pathlib.Path, folder: pathlib.Path, compiler, small: bool) -> tuple[list[str], list[str]]:
    """Compiles them, and the sample with its text; returns their names, and of what is left out for its size."""
    folder.mkdir(parents=True)
    found = goldens_of(goldens, small)
    say(f"compiling {len(found)} recorded checkpoints{'' if small else ', some once more as bf16, and the sample'}")

    def name_of(golden: pathlib.Path) -> str:
        return str(golden.relative_to(goldens)).replace("/", ".")

    def compile_golden(golden: pathlib.Path, place: pathlib.Path, dtype: str, products: str) -> None:
        compiler.compile(golden, place / "model.effc", "--dtype", dtype, "--products", products, "--prefill-rows", "64", "--max-batch", "1",
                         *options_of(golden))
        (place / "about.json").write_text(json.dumps({"products": products}))
        for name in ("tokens.json", "golden.safetensors"):
            shutil.copy2(golden / name, place)

    def compile_sample(name: str, rows: str, products: str) -> None:
        """Its weights, which are bf16, lie beside it once. The host's logits are what a GPU's are held against."""
        place = folder / name
        compiler.compile(folder / "sample", place / "model.effc", "--weights", "reference", "--products", products, "--prefill-rows", rows,
                         "--max-batch", "1", targets=["host", *(one for one in compiler.targets if one != "host")])
        (place / "about.json").write_text(json.dumps({"products": products, "weights": "sample"}))
        (place / "tokens.json").write_text(json.dumps([SAMPLE_TOKENS]))
        if products == "f32":
            shutil.copy2(goldens / "sample/expected.json", place)

    jobs = []
    beside = ["config.json", "generation_config.json", "tokenizer.json"]  # that nothing but compiling reads
    if not small:
        (folder / "sample").mkdir()
        for name in beside:
            shutil.copy2(goldens / "sample" / name, folder / "sample")
        safetensors.copy_aligned(goldens / "sample/model.safetensors", folder / "sample/model.safetensors")
        jobs = [lambda: compile_sample("sample", "16", "f32")]
        for products, kind in NARROW_PRODUCTS.items():
            jobs.append(lambda products=products, kind=kind: compile_sample(f"sample.{kind}", "64", products))
            jobs += [lambda golden=goldens / name, products=products, kind=kind: compile_golden(
                golden, folder / f"{name_of(golden)}.{kind}", "bf16", products) for name in NARROW]
    compiler.all(jobs)
    if not small:
        for name in beside:
            (folder / "sample" / name).unlink()
    done, each = [], 20
    for first in range(0, len(found), each):
        if folder_bytes(folder) > MOST_BYTES:
            break
        compiler.all([lambda golden=golden: compile_golden(golden, folder / name_of(golden), "f32", "f32")
                      for golden in found[first:first + each]])
        done = found[:first + each]
    left_out = [name_of(golden) for golden in found[len(done):]]
    left_out += leave_out([folder / name_of(golden) for golden in done], MOST_BYTES - sum(
        folder_bytes(place) for place in folder.iterdir() if place.name not in {name_of(golden) for golden in done}))
    if left_out:
        say(f"left out for their size: {', '.join(left_out)}")
    return sorted(path.name for path in folder.iterdir()), sorted(left_out)


def distance(found, expected) -> float:
    """|found - expected| / |expected|; infinite for what is no number."""
    squares = math.fsum((a - b) ** 2 for a, b in zip(found, expected))
    norm = math.fsum(b * b for b in expected)
    result = math.sqrt(squares / norm) if norm > 0 else math.sqrt(squares)
    return result if math.isfinite(result) else math.inf


class Late(Exception):
    """The time is over: nothing more is begun."""


def start(command: list, budget: Budget, most: float = 60) -> subprocess.CompletedProcess:
    """A program, for as long as there is time."""
    if budget.left() < 1:
        raise Late("the time was over")
    done = run(command, timeout=min(most, budget.left()), may_fail=True)
    if done.returncode == 124 and budget.left() < 1:
        raise Late("the time was over while it ran")
    return done


def where_weights_are(model: pathlib.Path, about: dict) -> list:
    return ["--weights-folder", model.parent / about["weights"]] if "weights" in about else []


def evaluate(effc: pathlib.Path, model: pathlib.Path, about: dict, device: str, scratch: pathlib.Path, budget: Budget) -> dict:
    """A model's logits on a device, of every sequence in every way of feeding it, or {"passed", "error"}."""
    rows = []
    for split in SPLITS:
        output = scratch / f"{model.name}.{device}.logits"
        done = start([effc, "eval", model / "model.effc", "--device", device, *where_weights_are(model, about), "--tokens",
                      model / "tokens.json", "--split", split, "--logits", output], budget)
        if done.returncode != 0:
            return {"passed": False, "error": last_line(done.stderr)}
        logits = safetensors.read(output)
        output.unlink()
        rows += [logits[f"logits.{number}"][1] for number in range(len(logits))]
    return {"logits": rows}


def compare(found: dict, about: dict, golden: list | None, host: dict) -> dict:
    """How far logits are from float64, or from the host's where no others are recorded."""
    allowed = WITHIN if about["products"] == "f32" else WITHIN_ROUNDED
    if golden:
        exact = [one[0] for one in golden]
        if about["products"] == "f32":
            allowed = max(allowed, *(4 * library + 1e-6 for _, library in golden))
    elif "logits" in host:
        exact = host["logits"]
    else:
        return {"passed": False, "error": "the host gives nothing to compare it with"}
    rows = found["logits"]
    worst = max(distance(row, exact[i % len(exact)]) for i, row in enumerate(rows))
    return {"passed": worst <= allowed, "relative": worst if math.isfinite(worst) else None, "allowed": allowed, "logits": rows}


def recorded(model: pathlib.Path) -> list | None:
    """Of each sequence the logits in float64, and how far the public library is from them."""
    if not (model / "golden.safetensors").exists():
        return None
    golden = safetensors.read(model / "golden.safetensors")
    exact = [golden[f"logits_f64.{number}"][1] for number in range(sum(name.startswith("logits_f64.") for name in golden))]
    return [(one, distance(golden[f"logits_f32.{number}"][1], one)) for number, one in enumerate(exact)]


def continue_sample(effc: pathlib.Path, model: pathlib.Path, about: dict, device: str, budget: Budget) -> str | None:
    """Whether the sample continues its prompt as the public library does, and draws without logits what it draws from them; what is wrong."""
    expected = json.loads((model / "expected.json").read_text())
    texts = []
    # The filter leaves every token that can win, and has the device give logits.
    for options in (["--temperature", "0"], ["--temperature", "0.8", "--seed", "7"],
                    ["--temperature", "0.8", "--seed", "7", "--min-p", "1e-30"]):
        done = start([effc, "run", model / "model.effc", "--device", device, *where_weights_are(model, about), "--prompt",
                      expected["prompt"], *options, "-n", len(expected["continuation_ids"])], budget)
        if done.returncode != 0:
            return last_line(done.stderr)
        texts.append(done.stdout)
    if texts[0] != expected["continuation"] + "\n":
        return f"says {texts[0]!r}"
    if texts[1] != texts[2]:
        return f"draws {texts[1]!r} without logits, but {texts[2]!r} from them"
    return None


def check_one(effc: pathlib.Path, model: pathlib.Path, devices: list[str], scratch: pathlib.Path, budget: Budget, simulated: Budget) -> dict:
    """One model on every device."""
    one: dict = {"name": model.name, "devices": {}, "apart": {}}
    about, golden, logits = json.loads((model / "about.json").read_text()), recorded(model), {}
    host: dict = {}
    if golden is None and "host" not in devices:
        devices = [*devices, "host"]
    # The host first, where it is what others are compared with.
    for device in sorted(devices, key=lambda device: device != "host") if golden is None else devices:
        if device.startswith("sim") and simulated.left() <= 0:
            one["devices"][device] = {"left_out": "the time for simulation is over"}
            continue
        try:
            found = evaluate(effc, model, about, device, scratch, budget)
            if device == "host":
                host = dict(found)
            if "logits" in found:
                found = compare(found, about, golden, host)
            if rows := found.pop("logits", None):
                logits[device] = rows
            # 48 tokens to write are too many for the simulated GPU.
            if found["passed"] and (model / "expected.json").exists() and not device.startswith("sim"):
                if wrong := continue_sample(effc, model, about, device, budget):
                    found |= {"passed": False, "error": wrong}
        except Late as late:
            found = {"left_out": str(late)}
        one["devices"][device] = found
    one["devices"] = {device: one["devices"][device] for device in devices}
    names = [device for device in devices if device in logits]
    for i, first in enumerate(names):
        for second in names[i + 1:]:
            one["apart"][f"{first} and {second}"] = max(distance(a, b) for a, b in zip(logits[first], logits[second]))
    failed = [f"{name} ({found.get('error', 'too far from what it should be')})" for name, found in one["devices"].items()
              if not found.get("passed", True)]
    left = [name for name, found in one["devices"].items() if "left_out" in found]
    outcome = f"FAILED on {', '.join(failed)}" if failed else "passed" if len(left) < len(devices) else "not begun"
    say(f"{model.name}: {outcome}{'; left out on ' + ', '.join(left) if left else ''}")
    return one


def check(effc: pathlib.Path, folder: pathlib.Path, devices: list[str], scratch: pathlib.Path, budget: Budget,
          simulated_seconds: float, jobs: int) -> list[dict]:
    """Every model on every device, several at once; the simulated GPU as long as it has time."""
    simulated = Budget.of(simulated_seconds)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda model: check_one(effc, model, devices, scratch, budget, simulated), sorted(folder.iterdir())))
