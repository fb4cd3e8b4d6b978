"""Measures what the static model of a GPU takes as given: rates and latencies of instructions, memories, copies, barriers and launches.

  python3 -m gpu_check.calibrate                 on a machine with an NVIDIA driver; from tools/, or a folder that holds gpu_check/
  python3 -m gpu_check.calibrate --dump-ptx DIR  writes the kernels, on any machine

Prints one JSON object: of each parameter its name, unit, value, spread over repeats, how it was measured and the numbers. Kernels are PTX
that the driver assembles; no toolkit and no package is needed. Each measurement may fail by itself: it is an "error" then. They run in
a process of their own, which is begun again for the rest when the GPU or the driver has given up on it.
"""
import argparse
import hashlib
import json
import pathlib
import queue
import subprocess
import sys
import threading
import time

from .calibrate_measures import MEASURES, Bench
from .driver import CudaError, Gpu

FOLDER = pathlib.Path(__file__).resolve().parent.parent
MOST_SECONDS = 12  # for one measurement
BEGINNING_SECONDS = 30  # for the driver to begin
MOST_BEGINNINGS = 8


class Recorder:
    """Takes the place of a GPU: keeps the kernels that are asked for; clocks go on by some cycles each time they are read."""

    def __init__(self):
        self.texts: dict[str, str] = {}
        self.sms, self.hopper, self.stream, self.measure = 132, True, None, ""
        self.next, self.clock = 1 << 20, 0

    def load(self, text: str):
        self.texts.setdefault(text, f"{self.measure.replace('.', '_')}_{hashlib.sha1(text.encode()).hexdigest()[:6]}")
        return self

    def launch(self, grid: int, block: int, *_) -> None:
        if not 0 < grid < 1 << 31 or not 0 < block <= 1024:
            raise CudaError(f"{grid} blocks of {block}")

    def alloc(self, size: int) -> int:
        self.next += size
        return self.next - size

    def read_u64(self, _: int, count: int) -> tuple[int, ...]:
        self.clock += 1000
        return tuple(self.clock + 1000 * i for i in range(count))

    def seconds(self, work) -> float:
        work()
        return 1e-3

    def graph(self, work) -> None:
        work()

    def tensor_map(self, *_) -> bytes:
        return bytes(128)

    def fill(self, *_) -> None:
        pass

    write = wait = call = fill


def dump(folder: pathlib.Path) -> int:
    """Writes the PTX of all measurements, a file each kernel."""
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder()
    bench = Bench(recorder)
    for name, (_, measure) in MEASURES.items():
        recorder.measure = name
        measure(bench)
    for text, name in recorder.texts.items():
        (folder / f"{name}.ptx").write_text(text)
    print(f"{len(recorder.texts)} kernels in {folder}")
    return 0


def tell(line: dict) -> None:
    print(json.dumps(line), flush=True)


def measure_all(names: list[str]) -> int:
    """In the process with the GPU: a line of JSON when a measurement begins, and one when it is over."""
    try:
        gpu = Gpu()
        bench = Bench(gpu)
        tell({"gpu": gpu.describe()})
    except CudaError as error:
        tell({"stop": str(error)})
        return 1
    for name in names:
        hopper, measure = MEASURES[name]
        tell({"begin": name})
        if hopper and not gpu.hopper:
            tell({"over": name, "left_out": "only chips of 9.0 have it"})
            continue
        begin = time.perf_counter()
        try:
            results, lost = {"parameters": measure(bench)}, False
        except CudaError as error:
            results, lost = {"error": str(error)}, error.lost
        except Exception as error:  # noqa: BLE001: one measurement never ends the others
            results, lost = {"error": f"{type(error).__name__}: {error}"}, False
        tell({"over": name, **results, "seconds": round(time.perf_counter() - begin, 3)})
        if lost:
            return 1
    return 0


def lines_of(process: subprocess.Popen, lines: queue.Queue) -> None:
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def end(process: subprocess.Popen, readers: list[threading.Thread]) -> None:
    """A process that a driver keeps from ending is left alone."""
    process.kill()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        return
    for reader in readers:
        reader.join(2)
    process.stdout.close()
    process.stderr.close()


def supervise(names: list[str], report: dict, deadline: float, command: list[str]) -> list[str]:
    """Runs measurements in a process until it ends; those that are still to be measured."""
    process = subprocess.Popen([*command, ",".join(names)], cwd=FOLDER, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines: queue.Queue = queue.Queue()
    errors: list[str] = []
    readers = [threading.Thread(target=lines_of, args=(process, lines), daemon=True),
               threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)]
    for reader in readers:
        reader.start()
    running, left, reason, begun = "", list(names), "", False
    try:
        while True:
            most = MOST_SECONDS if begun else BEGINNING_SECONDS
            line = lines.get(timeout=max(0.1, min(most, deadline - time.monotonic())))
            if line is None:
                process.wait(5)
                readers[1].join(2)
                reason = f"the process ended with status {process.returncode}: {' '.join(''.join(errors).split())[-400:]}"
                break
            try:
                told = json.loads(line)
            except ValueError:
                continue  # what a driver prints
            if "gpu" in told:
                report["gpu"], begun = told["gpu"], True
            elif "stop" in told:
                reason = told["stop"]
                break
            elif "begin" in told:
                running = told["begin"]
                left.remove(running)
            elif "over" in told:
                keep(report, told)
                running = ""
    except (queue.Empty, subprocess.TimeoutExpired):
        reason = "it took too long"
    finally:
        end(process, readers)
    if running:
        report["errors"].append({"name": running, "error": reason})
    elif not report["gpu"]:
        report["error"] = reason
        return []
    return left


def keep(report: dict, told: dict) -> None:
    name = told["over"]
    report["parameters"] += told.get("parameters", [])
    if "error" in told:
        report["errors"].append({"name": name, "error": told["error"]})
    if "left_out" in told:
        report["left_out"].append({"name": name, "reason": told["left_out"]})
    if "seconds" in told:
        report["seconds_each"][name] = told["seconds"]


def calibrate(names: list[str], seconds: float, command: list[str]) -> dict:
    begin = time.monotonic()
    report: dict = {"gpu": {}, "parameters": [], "errors": [], "left_out": [], "seconds_each": {}}
    left, beginnings = names, 0
    while left and beginnings < MOST_BEGINNINGS and time.monotonic() < begin + seconds:
        left = supervise(left, report, begin + seconds, command)
        beginnings += 1
    reason = "the time is over" if beginnings < MOST_BEGINNINGS else "too many processes ended"
    report["left_out"] += [{"name": name, "reason": reason} for name in left]
    report["seconds"] = round(time.monotonic() - begin, 1)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="after which nothing more is measured (default: 60)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the object there as well")
    parser.add_argument("--only", metavar="NAMES", help="measurements, separated by commas, each the beginning of names")
    parser.add_argument("--list", action="store_true", help="print the measurements' names")
    parser.add_argument("--dump-ptx", metavar="DIR", type=pathlib.Path, help="write the kernels, and run nothing")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        return measure_all(options.measure.split(","))
    names = [name for name in MEASURES if not options.only or name.startswith(tuple(options.only.split(",")))]
    if options.list:
        print("\n".join(names))
        return 0
    if options.dump_ptx:
        return dump(options.dump_ptx)
    report = calibrate(names, options.seconds, [sys.executable, "-m", "gpu_check.calibrate", "--measure"])
    text = json.dumps(report, indent=1)
    if options.json:
        options.json.write_text(text + "\n")
    print(text)
    return 0 if report["parameters"] and not report["errors"] else 1


if __name__ == "__main__":
    sys.exit(main())
