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

from . import gather, kernel_cases, machine, models, peers, report, shapes, timing
from .console import START, Budget, Failure, run, say
from .cores import usable_cores


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


def time_mixers(programs: pathlib.Path, folder: pathlib.Path, device: str, ceilings: dict, small: bool, scratch: pathlib.Path,
                budget: Budget) -> list[dict]:
    """Every mixer and call, public kernels beside it."""
    listed = shapes.SMALL_MIXERS if small else shapes.MIXERS
    # Main shapes first, for the time may not be enough for all.
    ordered = sorted(((index, mixer, call) for mixer, calls in listed for index, call in enumerate(calls)), key=lambda one: one[0])
    results = []
    for index, mixer, call in ordered:
        if budget.left() < 15:
            results.append({"mixer": mixer.op, "name": mixer.name, "decode": call[0], "sequences": call[1], "tokens": call[2],
                            "main": index == 0, "left_out": "the time is over"})
            continue
        one = timing.time_mixer(programs / "effc-device-check", folder, device, mixer, call, ceilings, scratch, budget.share(0.5, 60))
        one["main"] = index == 0
        if "error" not in one:
            one["beside"] = peers.compare(mixer, call, device, scratch, budget.share(0.4, 75))
        results.append(one)
        say(f"timed {mixer.name}, {'decode of' if call[0] else 'prefill of'} {call[1]} x {call[2]}")
    return results


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
    device = simulated if kind == "sim" else kind
    result: dict = {"started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "device": kind,
                    "simulated": simulated, "prepared": prepared, "machine": about, "wheels": wheels, "steps": []}

    def step(name: str, function, *, proves: bool = True):
        """What a step gives; its failure is kept, and the next begins while there is time. What proves nothing may be left out then."""
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
    programs = options.programs.resolve() if options.programs else step(
        "building the runtime", lambda: gather.build_runtime(data, work / "build", jobs))
    if files and programs:
        small = prepared["small"] or kind == "sim"
        timed = files / ("timed-small" if small else "timed")
        devices = [simulated, "host"] if kind == "sim" else ["cuda", simulated, "host"]
        result["kernels"] = step("what is in the files", lambda: report.registers(programs / "effc", timed, kind))
        result["cases"] = step("kernel tests", lambda: kernel_cases.check(
            programs / "effc-device-check", files / "cases", devices, budget.share(0.2, 60), budget.share(0.5, 200)))
        result["models"] = step("recorded checkpoints", lambda: models.check(
            programs / "effc", files / "models", devices, work, budget, budget.share(0.2, 60), max(1, jobs // 2)))
        ceilings = result["ceilings"] = step("what the machine can do", lambda: machine.ceilings(
            result["machine"], device), proves=False) \
            or machine.known_ceilings(result["machine"], device, "they could not be measured")
        # Mixers are compared with float64 and with public kernels there, models are only timed.
        result["mixers"] = step("mixers", lambda: time_mixers(
            programs, timed, device, ceilings, small, work, budget), proves=kind == "cuda")
        result["timed"] = step("models", lambda: timing.time_models(
            programs, timed, device, ceilings, small, budget), proves=False)
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
