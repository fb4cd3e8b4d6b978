"""The programs of the runtime on the machine with the GPU: those that were brought along, else built there."""
import pathlib
import shutil

from . import gather
from .console import run, say

NAMES = ("effc", "effc-device-check")


def take(build: pathlib.Path, target: pathlib.Path) -> None:
    """Copies what `build` has made, whose libraries of C++ are linked in."""
    place = target / "programs"
    place.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        shutil.copy2(build / "bin" / name, place / name)
        run(["strip", place / name], may_fail=True)  # where it is there: a third of the bytes


def runs(place: pathlib.Path) -> bool:
    """Whether this machine can start all of them: another libc or processor may refuse to."""
    return all((place / name).exists() and run([place / name, "--help"], may_fail=True, timeout=30).returncode == 0 for name in NAMES)


def find(data: pathlib.Path, build: pathlib.Path, jobs: int) -> pathlib.Path:
    """The folder of programs that this machine can start."""
    if runs(data / "programs"):
        return data / "programs"
    say("the programs that were brought along do not start here: they are built")
    return gather.build_runtime(data, build, jobs)
