"""NVIDIA's disassembler, wherever it is installed."""
import os
import pathlib
import shutil
import subprocess
import sys

ADVICE = ("nvdisasm is neither in CUDA_HOME or CUDA_PATH nor on the PATH nor in /usr/local/cuda nor in a wheel of this Python; "
          "install the CUDA toolkit, or: python3 -m pip install nvidia-cuda-nvdisasm")


class MissingTool(RuntimeError):
    """A program of the CUDA toolkit that is not there; the text says what to install."""


def places() -> list:
    folders = [pathlib.Path(os.environ[name]) / "bin" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    folders.append(pathlib.Path("/usr/local/cuda/bin"))
    root = pathlib.Path(__file__).resolve().parents[2]
    for path in [root / "build" / "nvdisasm", *map(pathlib.Path, sys.path)]:
        folders.extend(sorted(path.glob("nvidia/*/bin")))
    return folders


def find_nvdisasm() -> str:
    """The program's path; MissingTool where there is none."""
    for folder in places():
        if os.access(folder / "nvdisasm", os.X_OK):
            return str(folder / "nvdisasm")
    found = shutil.which("nvdisasm")
    if not found:
        raise MissingTool(ADVICE)
    return found


def disassemble(cubin: pathlib.Path) -> str:
    """The text of a cubin with the bits of each instruction; RuntimeError with the tool's message where it fails."""
    done = subprocess.run([find_nvdisasm(), "-hex", str(cubin)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"nvdisasm cannot read {cubin}: {done.stderr.strip()}")
    return done.stdout
