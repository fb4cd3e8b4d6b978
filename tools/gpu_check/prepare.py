"""Makes the folder that is taken to a machine with a GPU."""
import concurrent.futures
import json
import pathlib
import shutil
import tarfile
import tempfile

from . import code_facts, gather, kernel_cases, machine, models, peer_wheels, programs, shapes
from .console import Failure, folder_bytes, run, say
from .cores import usable_cores

LIMIT_BYTES = 64 << 20


class Compiler:
    """`effc compile`, for all targets of a prepared folder."""

    def __init__(self, effc: pathlib.Path, targets: list[str], jobs: int):
        self.effc, self.targets, self.jobs = effc, targets, jobs

    def compile(self, model: pathlib.Path, output: pathlib.Path, *options, targets: list[str] | None = None) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        run([self.effc, "compile", model, "-o", output, "--strip-ir", "--target", ",".join(targets or self.targets), *options])

    def all(self, jobs: list) -> None:
        """Calls functions, as many at once as there are to be jobs."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for done in [pool.submit(job) for job in jobs]:
                done.result()


def targets_for(chips: list[str], simulated: bool) -> list[str]:
    """The chips, and what plays them where no GPU is: the host, and each chip's simulated twin."""
    twins = {chip: chip.replace("sm_", "sim_") for chip in machine.SIMULATED}
    unknown = [chip for chip in chips if chip not in twins]
    if unknown:
        raise Failure(f"no such GPU target: {', '.join(unknown)}; there are {', '.join(twins)}")
    return [*(["host", *(twins[chip] for chip in chips)] if simulated else []), *chips]


def describe_code(data: pathlib.Path, compiler: Compiler, chips: list[str]) -> dict:
    """What is compared with known numbers, and what is timed, by chip: what code it is, and what spills."""
    files = {case / "case.effc": kernel_cases.products_of(case) for case in sorted((data / "cases").iterdir())}
    files |= {model / "model.effc": models.products_of(model) for model in sorted((data / "models").iterdir())}
    facts: dict[str, dict] = {}

    def look(file: pathlib.Path, products: str) -> None:
        facts[file.parent.name] = code_facts.facts_of(compiler.effc, file, chips, products)

    compiler.all([lambda file=file, products=products: look(file, products) for file, products in files.items()])
    summary = code_facts.summarise(facts, chips)
    for chip, found in summary.items():
        say(f"compared on {chip}: {', '.join(f'{count} files with {kind}' for kind, count in found['files_with'].items())}; "
            f"{len(found['spills'])} kernels spill{f', of {n} it is unknown' if (n := found['unknown']) else ''}")
    return summary


def pack(folder: pathlib.Path, archive: pathlib.Path) -> None:
    with tarfile.open(archive, "w:xz", preset=6) as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, path.name)


def prepare(source: pathlib.Path, build: pathlib.Path, target: pathlib.Path, chips: list[str], jobs: int, *, small: bool,
            simulated: bool, with_peers: bool) -> dict:
    """Fills `target`; returns what is in it. A `small` one is for trying the script out; `simulated`: code for the simulated GPUs too."""
    effc = build / "bin/effc"
    for program in (effc, build / "bin/effc-compile", build / "bin/effc-device-check"):
        if not program.exists():
            raise Failure(f"{program} is missing: build it first (tools/build release)")
    if target.exists() and any(target.iterdir()):
        raise Failure(f"{target} is not empty")
    target.mkdir(parents=True, exist_ok=True)
    compiler = Compiler(effc, targets_for(chips, simulated), jobs)
    gather.gather_runtime(source, build, target)
    programs.take(build, target)
    if with_peers:
        peer_wheels.fetch(target / "wheels")
    with tempfile.TemporaryDirectory() as scratch:
        data = pathlib.Path(scratch) / "data"
        cases = kernel_cases.prepare(build, data / "cases", compiler, small)
        goldens, left_out = models.prepare(source / "test/goldens", data / "models", compiler, small)
        compared = describe_code(data, compiler, chips)
        code_facts.require(compared)
        # The simulated GPU is too slow for what a real one is timed on.
        timed = shapes.prepare(data / "timed-small", compiler, chips, small=True) if simulated else []
        if not small:
            timed = shapes.prepare(data / "timed", compiler, chips, small=False)
        pack(data, target / "data.tar.xz")
    shutil.copy2(source / "tools/gpu-check", target / "gpu-check")
    shutil.copytree(pathlib.Path(__file__).parent, target / "gpu_check", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    version = run([effc, "--version"]).stdout.strip()
    about = {"version": version, "targets": compiler.targets, "small": small, "simulated": simulated, "cases": cases, "models": goldens,
             "compared": compared, "models_left_out": left_out, "timed": timed}
    (target / "prepared.json").write_text(json.dumps(about, indent=1) + "\n")
    size = folder_bytes(target)
    if size >= LIMIT_BYTES:
        raise Failure(f"{target} has {size} bytes, but {LIMIT_BYTES} are the limit")
    say(f"{target}: {size / 1e6:.1f} MB, {cases['count']} kernel tests, {len(goldens)} models, {len(timed)} to time; "
        f"start {target}/gpu-check on the machine with the GPU")
    return about


def default_jobs() -> int:
    return usable_cores()
