"""Times of kernels and models on a device, beside their floors. The simulated GPU keeps no time: what launches do is listed."""
import json
import os
import pathlib

from . import shapes
from .console import Budget, last_line, run, say
from .mixer_models import Mixer
from .narrow import WAYS

# Rewrites more than any cache holds, before each thing that is timed.
FLUSH_BYTES = 256 << 20
LEAST_SECONDS = 5  # that are left where something is begun
# Launches around a mixer that are not its own.
AROUND = ("embedding", "select_rows")


def time_call(program: pathlib.Path, file: pathlib.Path, device: str, decode: bool, sequences: int, tokens: int, *,
              runs: int, flush: bool, more: list, timeout: float) -> dict:
    """What effc-device-check says of a call, or {"error"}."""
    done = run([program, "time", file, "--device", device, "--sequences", sequences, "--tokens", tokens, "--runs", runs,
                *(["--decode"] if decode else []), *(["--flush", FLUSH_BYTES] if flush else []), *more],
               timeout=timeout, may_fail=True)
    if done.returncode != 0:
        return {"error": last_line(done.stderr)}
    return json.loads(done.stdout)


def floor_of(ceilings: dict, bytes_moved: int, flops: int) -> dict:
    """The least time for so much work, and what binds it; None where nobody knows what the GPU can do."""
    if ceilings["bytes_per_second"] is None:
        return {"seconds": None, "bound_by": None, "bytes": bytes_moved, "flops": flops}
    moving, computing = bytes_moved / ceilings["bytes_per_second"], flops / ceilings["flops_per_second"]
    return {"seconds": max(moving, computing), "bound_by": "bytes" if moving >= computing else "products",
            "bytes": bytes_moved, "flops": flops}


def medians(launches: list[dict]) -> float | None:
    """The sum of the launches' medians; None without times."""
    if any(launch["seconds"] is None for launch in launches):
        return None
    return sum(launch["seconds"]["median"] for launch in launches)


def time_mixer(program: pathlib.Path, folder: pathlib.Path, device: str, mixer: Mixer, call: tuple, ceilings: dict,
               scratch: pathlib.Path, timeout: float) -> dict:
    """One call of a mixer; its operands and results are left in `scratch`."""
    decode, sequences, tokens = call
    about = {"mixer": mixer.op, "products": shapes.PRODUCTS, "name": mixer.name, "extents": {"H": mixer.H, "G": mixer.G, "K": mixer.K, "V": mixer.V},
             "decode": decode, "sequences": sequences, "tokens": tokens}
    timed = time_call(program, folder / f"{mixer.name}.effc", device, decode, sequences, tokens, runs=30, flush=True,
                      more=["--outputs", scratch / "outputs.bin", "--weights-out", scratch / "weights.safetensors"], timeout=timeout)
    if "error" in timed:
        return {**about, **timed}
    own = [launch for launch in timed["launches"] if not launch["kernel"].startswith(AROUND) and launch.get("only_for") != "Choices"]
    flops = sum(launch["flops"] for launch in own)
    states = 4 * sequences * mixer.H * mixer.K * mixer.V if decode else 0  # read as well as written
    about |= {"device": timed["device"], "target": timed["target"], "launches": own, "seconds": medians(own),
              "nothing_seconds": timed["nothing_seconds"],
              # Operands of bf16, as public kernels take them; ours are f32.
              "floor": floor_of(ceilings, states + mixer.bytes_of(tokens, sequences, 2), flops),
              "own_floor": floor_of(ceilings, states + mixer.bytes_of(tokens, sequences, 4), flops)}
    if about["seconds"] and about["floor"]["seconds"]:
        about["times_floor"] = about["seconds"] / about["floor"]["seconds"]
    return about


# What `effc bench` is asked for: prompts of one sequence, since longer calls than the largest are several, and steps of many sequences.
BENCHES = [["--prefill", "512,4096", "--decode", "0", "--batch", "1", "--repeat", "5"],
           ["--prefill", "0", "--decode", "64", "--batch", "1,2,8,64,128", "--repeat", "3"]]
SMALL_BENCHES = [["--prefill", "16", "--decode", "2", "--batch", "1,2", "--repeat", "1"]]


def bench_model(effc: pathlib.Path, file: pathlib.Path, device: str, small: bool, timeout: float, environment: dict | None = None,
                benches: list | None = None) -> dict:
    """`effc bench` of a whole model with drawn weights."""
    result: dict = {}
    for arguments in benches or (SMALL_BENCHES if small else BENCHES):
        done = run([effc, "bench", file, "--device", device, "--draw-weights", "--json", *arguments], timeout=timeout, may_fail=True,
                   env={**os.environ, **(environment or {})})
        if done.returncode != 0:
            return {"error": last_line(done.stderr)}
        found = json.loads(done.stdout)
        found["file"] = file.name
        result = {**found, "results": [*result.get("results", []), *found["results"]]}
    return result


def time_ways(effc: pathlib.Path, file: pathlib.Path, timeout: float) -> list[dict]:
    """What a step of one sequence takes with launches that overlap and recorded calls, and without."""
    found = []
    for name, environment in {"as it is": {}, **{name: WAYS[name] for name in ("one launch after the other", "without recorded calls")}}.items():
        bench = bench_model(effc, file, "cuda", False, timeout, environment, [["--prefill", "0", "--decode", "64", "--batch", "1", "--repeat", "3"]])
        found.append({"way": name, **({"error": bench["error"]} if "error" in bench else {
            "seconds": bench["results"][0]["seconds_median"] / bench["results"][0]["tokens"]})})
    return found


def by_kernel(launches: list[dict], ceilings: dict) -> list[dict]:
    """Launches of one kernel together, the slowest kernel first."""
    kernels: dict[str, dict] = {}
    for launch in launches:
        one = kernels.setdefault(launch["kernel"], {"kernel": launch["kernel"], "example": launch["note"], "launches": 0, "seconds": None,
                                                    "bytes": 0, "flops": 0, "blocks": launch["blocks"], "threads": launch["threads"]})
        one["launches"] += 1
        one["bytes"] += launch["weight_bytes"] + launch["state_bytes"]
        one["flops"] += launch["flops"]
        if launch["seconds"]:
            one["seconds"] = (one["seconds"] or 0) + launch["seconds"]["median"]
    for one in kernels.values():
        # What passes between kernels is not counted: the floor is low for those that do little else.
        one["floor_seconds"] = floor_of(ceilings, one["bytes"], one["flops"])["seconds"]
    return sorted(kernels.values(), key=lambda one: -(one["seconds"] or 0))


def while_there_is_time(budget: Budget, function) -> dict:
    """What a function gives that takes its timeout, or {"left_out"}."""
    if budget.left() < LEAST_SECONDS:
        return {"left_out": "the time is over"}
    return function(budget.share(0.6, 60))


def time_model(programs: pathlib.Path, file: pathlib.Path, device: str, ceilings: dict, small: bool, budget: Budget) -> dict:
    """A whole model: its calls, and the kernels of a decode step and of a prefill."""
    result = {"name": file.stem, "bench": while_there_is_time(
        budget, lambda timeout: bench_model(programs / "effc", file, device, small, timeout))}
    for one in result["bench"].get("results", []):
        one["floor"] = floor_of(ceilings, one["bytes"], one["flops"])
        calls = one["tokens"] if one["call"] == "decode" else 1
        floor = one["floor"]["seconds"]
        one["times_floor"] = one["seconds_median"] / calls / floor if device == "cuda" and floor else None
    for key, decode, tokens in (("decode_kernels", True, 1), ("prefill_kernels", False, 16 if small else 4096)):
        timed = while_there_is_time(budget, lambda timeout, decode=decode, tokens=tokens: time_call(
            programs / "effc-device-check", file, device, decode, 1, tokens, runs=3 if small else 20, flush=False, more=[], timeout=timeout))
        result[key] = by_kernel(timed["launches"], ceilings) if "launches" in timed else timed
        if timed.get("call_seconds"):
            result[key.replace("kernels", "launches_seconds")] = timed["call_seconds"]["median"]
    return result


def time_models(programs: pathlib.Path, folder: pathlib.Path, device: str, ceilings: dict, small: bool, budget: Budget) -> list[dict]:
    results = []
    for name in shapes.SMALL_MODELS if small else shapes.MODELS:
        if budget.left() < 25:
            results.append({"name": name, "left_out": "the time is over"})
            continue
        one = time_model(programs, folder / f"{name}.effc", device, ceilings, small, budget)
        if device == "cuda" and not results:
            one["ways"] = while_there_is_time(budget, lambda timeout, name=name: {"found": time_ways(
                programs / "effc", folder / f"{name}.effc", timeout)})
        results.append(one)
        say(f"timed {name}")
    return results
