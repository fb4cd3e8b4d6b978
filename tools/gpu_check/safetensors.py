"""Reading and writing safetensors files with the standard library."""
import array
import json
import pathlib
import struct

CODES = {"F32": "f", "F64": "d"}
BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2}


def count_of(shape: list[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def read(path: pathlib.Path) -> dict[str, tuple[list[int], array.array]]:
    """Tensors of f32 and f64: name -> shape, elements."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__" or about["dtype"] not in CODES:
            continue
        elements = array.array(CODES[about["dtype"]])
        begin, end = about["data_offsets"]
        elements.frombytes(data[begin:end])
        tensors[name] = (about["shape"], elements)
    return tensors


def copy_aligned(source: pathlib.Path, target: pathlib.Path) -> None:
    """A copy whose tensors begin at a multiple of 64 bytes: the simulated GPU reads them where they lie, and says where a load is misaligned."""
    with open(source, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = file.read(size), file.read()
    header += b" " * (-(8 + size) % 64)
    target.write_bytes(struct.pack("<Q", len(header)) + header + data)


def header_of(tensors: dict[str, tuple[str, list[int]]]) -> tuple[bytes, dict[str, int]]:
    """The first bytes of a file of these tensors (name -> type, shape), and where each begins in the file."""
    header, places, at = {}, {}, 0
    for name, (dtype, shape) in tensors.items():
        size = count_of(shape) * BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        places[name] = at
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    start = struct.pack("<Q", len(text)) + text
    return start, {name: len(start) + place for name, place in places.items()}
