"""Machine code for tests: by hand, or of PTX by the CUDA toolkit where it is installed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from sass_model import cubin, launch, loading, sass, toolkit  # noqa: E402

NONE = sass.NO_BARRIER


def control(stall=1, write=NONE, read=NONE, waits=0) -> int:
    return stall << 41 | write << 46 | read << 49 | waits << 52


def code(text: str) -> list:
    """Instructions from lines "TEXT" or "TEXT | stall write read waits"; "name:" is a label, which branches name in `(name)."""
    instructions, labels = [], {}
    for line in text.strip().splitlines():
        line = line.strip()
        if line.endswith(":"):
            labels[line[:-1]] = len(instructions)
            continue
        words, _, bits = line.partition("|")
        numbers = [int(number) for number in bits.split()]
        instructions.append(sass.parse_instruction(16 * len(instructions), words.strip(), control(*numbers)))
    sass.resolve(instructions, labels)
    return instructions


def plain_launch(arguments=(), operands=(), grid=1, threads=32, **more) -> launch.Launch:
    return launch.Launch("kernel", (grid, 1, 1), (threads, 1, 1), more.pop("shared_bytes", 0), more.pop("registers", 32), 90, list(arguments),
                         list(operands), **more)


def ptxas():
    for folder in [os.environ.get("CUDA_HOME", "") + "/bin", "/usr/local/cuda/bin"]:
        if os.access(folder + "/ptxas", os.X_OK):
            return folder + "/ptxas"
    root = pathlib.Path(__file__).resolve().parents[4]
    return next((str(path) for path in root.glob("build/ptxas/nvidia/*/bin/ptxas")), None) or shutil.which("ptxas")


def missing_tools() -> str:
    """Why PTX cannot be assembled and disassembled here; "" where it can."""
    if not ptxas():
        return "not checked: there is no ptxas"
    try:
        toolkit.find_nvdisasm()
    except toolkit.MissingTool as error:
        return f"not checked: {error}"
    return ""


def assemble(ptx: str) -> tuple:
    """(functions, kernels of the cubin) of PTX for sm_90a."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = pathlib.Path(folder, "a.ptx"), pathlib.Path(folder, "a.cubin")
        source.write_text(ptx)
        subprocess.run([ptxas(), "-arch=sm_90a", str(source), "-o", str(result)], check=True)
        data = result.read_bytes()
    return loading.functions_of(data), cubin.kernels_of(data)
