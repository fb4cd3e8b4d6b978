"""Everything that happens on the machine with the GPU."""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import sys
import tarfile
import time

from . import counters, kernel_cases, machine, models, narrow, peers, programs, report, sanitize, shapes, timing
from .console import START, Budget, Failure, run, say
from .cores import usable_cores
from .mixer_models import Mixer


# Steps without which no other can be done.
ALWAYS = ("unpacking", "finding the programs")


def unpack(data: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """The artifacts, in a folder of their own."""
    place = work / "data"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with tarfile.open(data / "data.tar.xz") as tar:
        tar.extractall(place, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(place)
    return place


def install_wheels(data: pathlib.Path, work: pathlib.Path) -> str:
    """Wheels that were brought along, on the path of programs that are started; what was done."""
    wheels = sorted(str(path) for path in (data / "wheels").glob("*.whl"))
    if not wheels:
        return "no folder of wheels"
    site = work / "site"
    done = run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--upgrade", "--target", site,
                *wheels], may_fail=True, timeout=120)
    if done.returncode != 0:
        return f"the wheels cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    return f"installed {len(wheels)} wheels"


def mixer_calls(small: bool) -> list[tuple[int, Mixer, tuple]]:
    """Main shapes first (index 0), for the time may not be enough for all."""
    listed = shapes.SMALL_MIXERS if small else shapes.MIXERS
    return sorted(((index, mixer, call) for mixer, calls in listed for index, call in enumerate(calls)), key=lambda one: one[0])


def place_of(scratch: pathlib.Path, mixer: Mixer, call: tuple) -> pathlib.Path:
    """Where operands and results of a call are left for what compares them."""
    return scratch / f"{mixer.name}-{'-'.join(map(str, call))}"


def time_mixers(program: pathlib.Path, folder: pathlib.Path, device: str, ceilings: dict, small: bool, scratch: pathlib.Path,
                budget: Budget) -> list[dict]:
    """Every mixer and call by itself."""
    results = []
    for index, mixer, call in mixer_calls(small):
        if budget.left() < 15:
            one = {"mixer": mixer.op, "name": mixer.name, "decode": call[0], "sequences": call[1], "tokens": call[2],
                   "left_out": "the time is over"}
        else:
            place = place_of(scratch, mixer, call)
            place.mkdir(parents=True, exist_ok=True)
            one = timing.time_mixer(program, folder, device, mixer, call, ceilings, place, budget.share(0.5, 60))
            say(f"timed {mixer.name}, {'decode of' if call[0] else 'prefill of'} {call[1]} x {call[2]}")
        results.append({**one, "main": index == 0})
    return results


def compare_mixers(found: list[dict], device: str, small: bool, scratch: pathlib.Path, jobs: int, budget: Budget) -> None:
    """Holds what was timed against float64 and public kernels, as "beside" of each."""
    calls = [(one, mixer, call) for one, (_, mixer, call) in zip(found, mixer_calls(small)) if "error" not in one and "left_out" not in one]
    if device == "cuda":
        # Other numbers of tokens are the same kernels.
        first = [(mixer, call, place_of(scratch, mixer, call)) for one, mixer, call in calls if one["main"] or one["decode"]]
        peers.compile_all(first, device, min(jobs, len(first)), budget.share(0.55, 110))
        say("compiled public kernels")
    for one, mixer, call in calls:
        if budget.left() < 8:
            one["beside"] = {"error": "the time is over"}
            continue
        one["beside"] = peers.compare(mixer, call, device, place_of(scratch, mixer, call), budget.share(0.6, 45))
        say(f"compared {report.row_name(one)}: {len([1 for peer in one['beside'].get('peers', []) if 'seconds' in peer])} public kernels")


def run_steps(result: dict, step, files: pathlib.Path, place: pathlib.Path, kind: str, simulated: str, jobs: int, work: pathlib.Path,
              budget: Budget) -> None:
    """What proves something first, then what is timed, then what explains it."""
    on_gpu = kind == "cuda"
    device = kind if on_gpu else simulated
    small = result["prepared"]["small"] or not on_gpu
    timed = files / ("timed-small" if small else "timed")
    effc, checks = place / "effc", place / "effc-device-check"
    # On a machine that is there for minutes, what no GPU is needed for is done elsewhere.
    devices = ["cuda"] if on_gpu else [simulated, "host"]
    result["kernels"] = step("what is in the files", lambda: report.registers(effc, timed, kind))
    result["cases"] = step("kernel tests", lambda: kernel_cases.check(
        checks, files / "cases", devices, budget.share(0.2, 60), budget.share(0.4, 120)))
    result["models"] = step("recorded checkpoints", lambda: models.check(
        effc, files / "models", devices, work, budget, budget.share(0.2, 60), max(1, jobs // 2)))
    if on_gpu and result["cases"] and narrow.failing(result["cases"]["cases"]):
        step("narrowing down", lambda: narrow.narrow(
            checks, files / "cases", result["cases"]["cases"], [simulated, "host"] if result["prepared"]["simulated"] else [], Budget.of(budget.share(0.3, 60))), proves=False)
    ceilings = result["ceilings"] = step("what the machine can do", lambda: machine.ceilings(
        result["machine"], device), proves=False) \
        or machine.known_ceilings(result["machine"], device, "they could not be measured")
    result["mixers"] = step("mixers", lambda: time_mixers(
        checks, timed, device, ceilings, small, work / "mixers", budget), proves=on_gpu)
    result["timed"] = step("models", lambda: timing.time_models(
        place, timed, device, ceilings, small, Budget.of(budget.share(0.35, 240))), proves=False)
    if on_gpu:
        result["calibration"] = step("parameters of the chip", lambda: machine.calibrate(budget.share(0.3, 60)), proves=False)
        result["sanitizer"] = step("compute-sanitizer", lambda: sanitize.check(
            checks, files / "cases", Budget.of(budget.share(0.2, 60))), proves=False)
        result["counters"] = step("counters", lambda: counters.check(checks, timed, Budget.of(budget.share(0.25, 90))), proves=False)
    # Last, for it takes what is left: Triton compiles and tunes.
    if result["mixers"]:
        step("public kernels and float64", lambda: compare_mixers(
            result["mixers"], device, small, work / "mixers", jobs, budget), proves=on_gpu)


def check(data: pathlib.Path, options: argparse.Namespace) -> pathlib.Path:
    """Runs all steps and writes the report; returns its folder."""
    work = (options.work or data / "work").resolve()
    place = (options.report or data / "report").resolve()
    for folder in (work, place):
        folder.mkdir(parents=True, exist_ok=True)
    budget = Budget(options.seconds)
    prepared = json.loads((data / "prepared.json").read_text())
    wheels = install_wheels(data, work)  # before packages are looked for
    kind = options.device.partition(":")[0]  # cuda or sim
    about = machine.describe()
    simulated = machine.simulated(prepared["targets"], options.device, about["capability"])
    result: dict = {"started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "device": kind,
                    "simulated": simulated, "prepared": prepared, "machine": about, "wheels": wheels, "steps": []}

    def step(name: str, function, *, proves: bool = True):
        """What a step gives; its failure is kept, and the next begins while there is time. What proves nothing may be left out then."""
        if options.only and name not in (*ALWAYS, *options.only):
            result["steps"].append({"name": name, "seconds": 0.0, "error": None, "left_out": "not asked for"})
            return None
        if budget.left() <= 0:
            late = "the time is over"
            result["steps"].append({"name": name, "seconds": 0.0, "error": late if proves else None, "left_out": late})
            return None
        before = time.monotonic()
        say(name)
        error = None
        try:
            found = function()
        except Failure as failure:
            error, found = str(failure), None
        except Exception as failure:  # a mistake here must not cost the rest of the lease
            error, found = f"{type(failure).__name__}: {failure}", None
        if error:
            say(f"{name}: {error}")
        result["steps"].append({"name": name, "seconds": round(time.monotonic() - before, 1), "error": error})
        return found

    files = step("unpacking", lambda: unpack(data, work))
    jobs = options.jobs or usable_cores()
    place_of_programs = options.programs.resolve() if options.programs else step(
        "finding the programs", lambda: programs.find(data, work / "build", jobs))
    if files and place_of_programs:
        run_steps(result, step, files, place_of_programs, kind, simulated, jobs, work, budget)
    result["seconds"] = round(time.monotonic() - START, 1)
    notes = json.loads((pathlib.Path(__file__).parent / "notes.json").read_text())
    # What was found outlives a mistake in telling it.
    (place / "report.json").write_text(json.dumps({**result, "passed": False, "problems": ["not judged"]}, indent=1) + "\n")
    report.judge(result, notes)
    (place / "report.json").write_text(json.dumps(result, indent=1) + "\n")
    (place / "report.md").write_text(report.markdown(result))
    say(f"{place}/report.md: {'everything passed' if result['passed'] else 'NOT everything passed'}")
    return place


def passed(place: pathlib.Path) -> bool:
    return json.loads((place / "report.json").read_text())["passed"]
