"""A file with code for a GPU, read and disassembled."""
import functools
import pathlib
import tempfile

from . import sass, toolkit


@functools.lru_cache(maxsize=4)
def functions_of(cubin: bytes) -> dict:
    """Name to instructions. MissingTool where there is no nvdisasm."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "kernels.cubin")
        path.write_bytes(cubin)
        return sass.parse(toolkit.disassemble(path))
