"""What was found, judged and as Markdown."""
import json
import pathlib

from .console import run

SLOW = 5  # times its floor: needs a reason
# What rounding an operand of a product loses of it at most; f32 is multiplied exactly.
LOSSES = {"f32": 0.0, "tf32": 2.0**-12, "bf16": 2.0**-9, "f16": 2.0**-12}


def most_error(products: str) -> float:
    """How far a mixer may be from float64, |y - exact| / |exact|: sums of f32 lose 1e-5 at most; where operands are rounded, queries, keys,
    values and the states (or scores) that they meet each lose so much (test/unit/contract/ChunkProductsTest.cpp)."""
    return 1e-5 + 4 * LOSSES[products]


def registers(effc: pathlib.Path, folder: pathlib.Path, device: str) -> list[dict]:
    """Kernels of the timed files, as the compiler left them."""
    rows = []
    for file in sorted(folder.glob("*.effc")):
        about = json.loads(run([effc, "inspect", "--kernels", "--json", file]).stdout)
        for target in about["targets"]:
            if target["name"].startswith("sim_") != (device == "sim"):
                continue
            rows += [{"file": file.stem, "target": target["name"], **{key: kernel.get(key) for key in (
                "name", "threads", "shared_bytes", "registers", "spill_bytes", "instructions")}} for kernel in target["kernels"]]
    return rows


def peer_seconds(peer: dict) -> float | None:
    """The better of its two times."""
    times = [peer[key] for key in ("seconds", "graph_seconds") if peer.get(key)]
    return min(times) if times else None


def best_peer(mixer: dict) -> dict | None:
    """The fastest public kernel that ran."""
    ran = [peer for peer in mixer.get("beside", {}).get("peers", []) if peer_seconds(peer)]
    return min(ran, key=peer_seconds, default=None)


def listed(names: list[str], most: int = 5) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def says_launch(found: dict) -> str:
    """What a case said that was run again, waiting for each launch."""
    return f"; waiting for each launch: {found['each_launch']}" if "each_launch" in found else ""


def judge(result: dict, notes: dict) -> None:
    """Lists what is wrong in result["problems"], and fills the reasons of slow kernels from the notes."""
    problems = [f"{step['name']}: {step['error']}" for step in result["steps"] if step["error"]]
    problems += [f"{step['name']}: {step['left_out']}" for step in result["steps"] if step.get("left_out") == "not asked for"]
    cases = result.get("cases") or {"cases": [], "devices": []}
    problems += [f"device {one['name']}: {one['error']}" for one in cases["devices"] if one["error"]]
    if cases.get("stopped"):
        problems.append(cases["stopped"])
    if cases.get("not_begun"):
        problems.append(f"{len(cases['not_begun'])} kernel tests were not begun{'' if cases.get('stopped') else ': the time was over'}: "
                        f"{listed(cases['not_begun'])}")
    for kind, list_of in (("kernel test", cases["cases"]), ("model", result.get("models") or [])):
        for one in list_of:
            problems += [f"{kind} {one['name']} on {device}: {found.get('error') or 'too far from float64'}{says_launch(found)}"
                         for device, found in one["devices"].items() if not found.get("passed", True)]
            if device := "cuda" if "left_out" in one["devices"].get("cuda", {}) else None:
                problems.append(f"{kind} {one['name']} on {device}: left out: {one['devices'][device]['left_out']}")
    known = notes["gpus"].get(result["machine"]["gpu"].get("name", ""), {})
    for one in result.get("mixers") or []:
        problems += judge_mixer(one, result.get("device", "cuda"))
        if one.get("main") and (one.get("times_floor") or 0) > SLOW:
            one["why_slow"] = known.get(row_name(one), "no note yet (tools/gpu_check/notes.json)")
    for tool, one in (result.get("sanitizer") or {}).items():
        if one.get("errors") or one.get("stopped"):
            problems.append(f"compute-sanitizer {tool}: {listed(one['errors'], 3) or one['stopped']}")
    for one in result.get("timed") or []:
        problems += [f"{one['name']}: {one[key]['error']}" for key in ("bench", "decode_kernels", "prefill_kernels")
                     if isinstance(one.get(key), dict) and "error" in one[key]]
    result["spills"] = [f"{row['file']}: kernel {row['name']} spills {row['spill_bytes']} bytes on {row['target']}" for row in spilling(result)]
    problems += result["spills"]
    result["problems"], result["left_out"], result["passed"] = problems, what_is_left_out(result), not problems


def judge_mixer(one: dict, device: str) -> list[str]:
    """What is wrong with a mixer's numbers."""
    name, beside = row_name(one), one.get("beside", {})
    if "left_out" in one:
        # On a GPU the main shape is what proves the mixer; others, and simulated ones, may give way.
        return [f"{name}: left out: {one['left_out']}"] if device == "cuda" and one.get("main") else []
    if "error" in one:
        return [f"{name}: {one['error']}"]
    if "ours" not in beside:
        # The simulated GPU's numbers are those of the kernel tests; where it plays, packages need not be there.
        return [f"{name}: not compared with float64: {beside.get('error', 'nothing was')}"] if device == "cuda" else []
    ours, allowed = beside["ours"].get("relative"), most_error(one.get("products", "f32"))
    theirs = [peer["relative"] for peer in beside.get("peers", []) if peer.get("relative") is not None]
    if ours is None or ours > allowed:
        return [f"{name}: relative error {'that is no number' if ours is None else number(ours)}, but {number(allowed)} is allowed"]
    if theirs and ours > min(theirs):
        return [f"{name}: relative error {number(ours)}, but a public kernel's is {number(min(theirs))}"]
    return []


def spilling(result: dict) -> list[dict]:
    """Kernels that keep registers in memory: of what was timed, and of what was compared, which the compiler's machine has noted."""
    rows = [row for row in result.get("kernels") or [] if row.get("spill_bytes")]
    for chip, found in result.get("prepared", {}).get("compared", {}).items():
        rows += [{**spill, "target": chip} for spill in found["spills"]]
    return rows


def what_is_left_out(result: dict) -> list[str]:
    """All that was not begun, or not ended, since the time was over."""
    left = [f"{step['name']}: {step['left_out']}" for step in result["steps"] if step.get("left_out")]
    for list_of, name_of in (((result.get("cases") or {}).get("cases", []), "kernel test {}"), (result.get("models") or [], "{}")):
        by_reason: dict[str, list[str]] = {}
        for one in list_of:
            for device, found in one["devices"].items():
                if "left_out" in found:
                    by_reason.setdefault(f" on {device}: {found['left_out']}", []).append(name_of.format(one["name"]))
        left += [listed(names) + reason for reason, names in by_reason.items()]
    if names := (result.get("cases") or {}).get("not_begun"):
        left.append(f"kernel tests that were not begun: {listed(names)}")
    for one in result.get("timed") or []:
        left += [f"{one['name']}: {one['left_out']}"] if "left_out" in one else [
            f"{one['name']}, {key.replace('_', ' ')}: {one[key]['left_out']}" for key in ("bench", "decode_kernels", "prefill_kernels")
            if isinstance(one.get(key), dict) and one[key].get("left_out")]
    for one in result.get("mixers") or []:
        left += [f"{row_name(one)}: {one['left_out']}"] if "left_out" in one else []
    left += [f"compute-sanitizer {tool}: {one['left_out']}" for tool, one in (result.get("sanitizer") or {}).items() if "left_out" in one]
    if reasons := sorted({one["left_out"] for one in result.get("counters") or [] if "left_out" in one}):
        left.append(f"counters of some calls: {listed(reasons)}")
    return left


def row_name(mixer: dict) -> str:
    return f"{mixer['name']} {'decode' if mixer['decode'] else 'prefill'} {mixer['sequences']}x{mixer['tokens']}"


def number(value) -> str:
    return "-" if value is None else f"{value:.1e}"


def micros(seconds) -> str:
    return "-" if seconds is None else f"{1e6 * seconds:,.1f}"


def table(head: list[str], rows: list[list]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows), ""]


def markdown(result: dict) -> str:
    """The report for people."""
    machine, gpu = result["machine"], result["machine"]["gpu"]
    lines = [f"# {gpu.get('name', 'no GPU') if result['device'] == 'cuda' else 'Simulated GPU'}, {result['started'][:10]}", "",
             f"**{'Everything passed' if result['passed'] else 'Not everything passed'}**, in {result['seconds']:.0f} s. "
             f"{result['prepared']['version']}, compiled for {', '.join(result['prepared']['targets'])}.", ""]
    if result["problems"]:
        lines += ["## What is wrong", "", *(f"- {problem}" for problem in result["problems"]), ""]
    if result.get("left_out"):
        lines += ["## What was left out", "", *(f"- {text}" for text in result["left_out"]), ""]
    lines += ["## Machine", "", *table(["what", "which"], [[key, value] for key, value in gpu.items()] + [
        [key, machine[key]] for key in ("cuda_toolkit", "compiler", "cmake", "python", "system", "cores")] + [
        [name, version or "not there"] for name, version in machine["packages"].items()] + [["wheels", result["wheels"]]])]
    if ceilings := result.get("ceilings"):
        lines += [ceilings_text(ceilings), ""]
    lines += steps(result) + cases(result) + checkpoints(result) + mixers(result) + models(result) + sanitizer(result) \
        + counted(result) + calibrated(result) + kernels(result)
    return "\n".join(lines).rstrip() + "\n"


def ceilings_text(ceilings: dict) -> str:
    """What floors are computed with, and why nothing else."""
    if ceilings["bytes_per_second"] is None:
        return f"Ceilings: none, so that no floors are given ({ceilings['reason']})."
    return (f"Ceilings: {ceilings['bytes_per_second'] / 1e12:.2f} TB/s, {ceilings['flops_per_second'] / 1e12:.0f} TFLOP/s "
            f"({ceilings['source']}{'; ' + ceilings['reason'] if 'reason' in ceilings else ''}).")


def steps(result: dict) -> list[str]:
    return ["## Steps", "", *table(["step", "seconds", "error"], [
        [s["name"], s["seconds"], s["error"] or s.get("left_out") or ""] for s in result["steps"]])]


def state_of(found: dict, key: str) -> str:
    """One device's cell."""
    if "left_out" in found:
        return "left out"
    if found.get("error"):
        return f"FAILED: {found['error']}"
    return number(found.get(key)) + ("" if found["passed"] else " FAILED") if key in found else ("passed" if found["passed"] else "FAILED")


def code_of(result: dict) -> list[str]:
    """Which of a chip's own instructions are compared with known numbers."""
    return [f"Of the files of kernel tests and checkpoints, for {chip}: "
            + ", ".join(f"{count} with {kind}" for kind, count in found["files_with"].items()) + ".\n"
            for chip, found in result["prepared"].get("compared", {}).items()]


def cases(result: dict) -> list[str]:
    if not (found := result.get("cases")):
        return []
    devices = [one["name"] for one in found["devices"]]
    left_out = result["prepared"]["cases"].get("left_out", [])
    lines = ["## Kernel tests", "", *code_of(result), *([f"Left out of the folder for their size: {', '.join(left_out)}.", ""] if left_out else []), "The largest difference from float64 over the largest number, of whole sequences and states; and of two "
             "devices from each other, the worst pair.", ""]
    lines += [f"- {one['name']}: {one['description'] or one['error']}" for one in found["devices"]] + [""]
    rows = [[one["name"], f"{one['tolerance']:g}", *(state_of(one["devices"].get(device, {"left_out": ""}), "largest") for device in devices),
             number(max((v for v in one["apart"].values() if v is not None), default=None))] for one in found["cases"]]
    lines += table(["test", "allowed", *devices, "apart"], rows)
    if tried := [one for one in found["cases"] if "ways" in one]:
        names = list(tried[0]["ways"])
        lines += ["What failed, run in other ways:", "", *table(["test", *names], [
            [one["name"], *(state_of(one["ways"].get(name, {"left_out": ""}), "largest") for name in names)] for one in tried])]
    return lines


def checkpoints(result: dict) -> list[str]:
    if not (found := result.get("models")):
        return []
    devices = list(found[0]["devices"])
    rows = [[one["name"], number(next((d["allowed"] for d in one["devices"].values() if "allowed" in d), None)),
             *(state_of(one["devices"][device], "relative") for device in devices), number(max(one["apart"].values(), default=None))]
            for one in found]
    left_out = result["prepared"].get("models_left_out", [])
    return ["## Recorded checkpoints", "", *([f"Left out of the folder for their size: {', '.join(left_out)}.", ""] if left_out else []), "|logits - float64| / |float64|, the worst of all sequences and ways of feeding them; of the sample "
            "|logits - the host's| / |the host's|, and whether it writes the public library's text.", "", *table(["model", "allowed", *devices, "apart"], rows)]


def mixers(result: dict) -> list[str]:
    if not (found := result.get("mixers")):
        return []
    rows = []
    for one in found:
        if "error" in one or "left_out" in one:
            rows.append([row_name(one), one.get("error") or one["left_out"]] + [""] * 10)
            continue
        peer, ours = best_peer(one), one.get("beside", {}).get("ours", {})
        theirs = peer_seconds(peer) if peer else None
        rows.append([row_name(one), micros(one["seconds"]), micros(one["floor"]["seconds"]), micros(one["own_floor"]["seconds"]),
                     f"{one['times_floor']:.1f}" if one.get("times_floor") else "-", peer["name"] if peer else "-", micros(theirs),
                     f"{theirs / one['seconds']:.2f}" if theirs and one["seconds"] else "-", number(ours.get("relative")),
                     number(most_error(one.get("products", "f32"))), number(peer["relative"]) if peer else "-", one.get("why_slow", "")])
    lines = ["## Mixers", "", "One call; microseconds, medians of 30 by the device's events, every launch after 256 MiB were written elsewhere. "
             "The floor takes operands of bf16, as public kernels do; effc's are f32 (its own floor), rounded where they are multiplied. effc computes gates inside, public "
             "kernels are given them. Of public kernels the fastest that ran, the better of its times with cold caches and as a replayed "
             "graph with warm ones. Errors: |y - float64| / |float64| on the same operands, drawn at random in +-[2^-7, 2^-5).", "",
             *table(["call", "effc", "floor", "own floor", "x floor", "fastest public", "its time", "ratio", "effc's error", "allowed", "its error",
                     "why over 5 x"], rows)]
    absent = sorted({f"{peer['name']}: {peer['error']}" for one in found for peer in one.get("beside", {}).get("peers", []) if "error" in peer}
                    | {f"comparing ended early: {one['beside']['error']}" for one in found if "error" in one.get("beside", {})})
    every = [[row_name(one), peer["name"], micros(peer.get("seconds")), micros(peer.get("graph_seconds")), number(peer.get("largest")),
              number(peer.get("relative")), f"{peer['first_call_seconds']:.1f}"] for one in found
             for peer in one.get("beside", {}).get("peers", []) if "first_call_seconds" in peer]
    if every:
        lines += ["Every public kernel:", "", *table(["call", "kernel", "cold", "graph, warm", "largest error", "relative error",
                                                      "first call, s"], every)]
    if absent:
        lines += ["What did not run:", "", *(f"- {text}" for text in absent), ""]
    return lines


def models(result: dict) -> list[str]:
    if not (found := result.get("timed")):
        return []
    timed = result["device"] == "cuda"
    lines = ["## Models", "", "`effc bench`, weights drawn at random; times by the device's clock"
             + (", bytes the weights once and states read and written." if timed else ": the simulated GPU keeps none."), ""]
    rows = []
    for one in found:
        if "results" not in one.get("bench", {}):
            bench = one.get("bench", {})
            rows.append([one["name"], one.get("left_out") or bench.get("left_out") or bench["error"]] + [""] * 5)
            continue
        for call in one["bench"]["results"]:
            calls = call["tokens"] if call["call"] == "decode" else 1
            rows.append([one["name"], "decode" if call["call"] == "decode" else f"prefill {call['tokens']}", call["batch"],
                         f"{call['tokens_per_second']:,.0f}" if timed else "-", micros(call["seconds_median"] / calls) if timed else "-",
                         micros(call["floor"]["seconds"]), f"{call['times_floor']:.1f}" if call["times_floor"] else "-"])
    lines += table(["model", "call", "batch", "tokens/s", "us per call", "floor", "x floor"], rows)
    for one in found:
        if ways := one.get("ways", {}).get("found"):
            lines += [f"{one['name']}, a step of one sequence: " + ", ".join(
                f"{way['way']} {micros(way['seconds']) + ' us' if 'seconds' in way else way['error']}" for way in ways) + ".", ""]
    for one in found:
        for key in ("decode_kernels", "prefill_kernels"):
            if not isinstance(one.get(key), list):
                continue
            rows = [[k["kernel"], k["example"], k["launches"], k["blocks"], k["threads"], micros(k["seconds"]), micros(k["floor_seconds"])]
                    for k in one[key][:12]]
            lines += [f"{one['name']}, {key.split('_')[0]} of one sequence: "
                      f"{len(one[key])} kernels, {sum(k['launches'] for k in one[key])} launches"
                      + (", the slowest" if len(one[key]) > 12 else "") + ":", "",
                      *table(["kernel", "such as", "launches", "blocks", "threads", "us in all", "floor"], rows)]
    return lines


def sanitizer(result: dict) -> list[str]:
    if not (found := result.get("sanitizer")):
        return []
    rows = [[tool, f"{one['begun']} of {one['cases']}", "; ".join(one["errors"][:5]) or one.get("stopped", "nothing")] if "cases" in one
            else [tool, "-", one["left_out"]] for tool, one in found.items()]
    return ["## compute-sanitizer", "", *table(["tool", "kernel tests", "found"], rows)]


def counted(result: dict) -> list[str]:
    """What the hardware counted of each mixer's kernels."""
    if not (found := result.get("counters")):
        return []
    rows = []
    for one in found:
        name = row_name({**one, "name": one["mixer"]})
        if not isinstance(one.get("kernels"), list):
            rows.append([name, (one.get("kernels") or {}).get("error") or one.get("left_out", "")] + [""] * 6)
            continue
        for kernel in one["kernels"]:
            stalls = {key.partition("_")[2]: value for key, value in kernel.items() if key.startswith("stalled_") and value}
            percent = lambda key, kernel=kernel: f"{kernel[key]:.0f}" if kernel.get(key) is not None else "-"
            moved = sum(kernel.get(key) or 0 for key in ("dram_read_bytes", "dram_written_bytes"))
            rows.append([name, kernel["kernel"], micros(kernel.get("seconds")), f"{moved / 1e6:.1f}", percent("warps_percent"),
                         percent("issue_percent"), percent("tensor_percent"),
                         ", ".join(f"{key} {value:.1f}" for key, value in sorted(stalls.items(), key=lambda pair: -pair[1])[:3])])
    return ["## Counters", "", "By the hardware, cold caches, one launch at a time: of the cycles in which a scheduler could issue, how many did; "
            "how many cycles the tensor pipe worked; what a warp waited for between two instructions, in cycles.", "",
            *table(["call", "kernel", "us", "MB of DRAM", "warps %", "issue %", "tensor %", "waits for"], rows)]


def calibrated(result: dict) -> list[str]:
    """Parameters of the chip as small kernels found them."""
    found = result.get("calibration") or {}
    if "parameters" not in found:
        return ["## Parameters of the chip", "", found["error"], ""] if found else []
    lines = ["## Parameters of the chip", "", "By small kernels (`tools/gpu_check/calibrate.py`); how each was measured, and its raw numbers, stand "
             "in the JSON.", "", *table(["parameter", "value", "unit", "spread"], [
                 [one["name"], f"{one['value']:.4g}", one["unit"], f"{100 * one['spread']:.1f} %"] for one in found["parameters"]])]
    failed = [f"- {one['name']}: {one['error']}" for one in found["errors"]] + [f"- {one['name']}: {one['reason']}" for one in found["left_out"]]
    return lines + (["Not measured:", "", *failed, ""] if failed else [])


def kernels(result: dict) -> list[str]:
    if not (found := result.get("kernels")):
        return []
    rows = []
    for row in found:
        counts = row.get("instructions") or {}
        rows.append([row["file"], row["name"], row["threads"], row["shared_bytes"], *("-" if row[key] is None else row[key] for key in ("registers", "spill_bytes")),
                     ", ".join(f"{name} {count}" for name, count in counts.items()) or "-"])
    unknown = sum(row["registers"] is None for row in found)
    return ["## Kernels of the timed files", "", f"{len(result['spills'])} spill{f'; of {unknown} it is unknown' if unknown else ''}.", "",
            *table(["file", "kernel", "threads", "shared bytes", "registers", "spilled bytes", "instructions"], rows)]
