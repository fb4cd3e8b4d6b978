"""Tensors as the tests' writer of GGUF files has them, and the two formats. Standard library alone."""
import array
import json
import struct

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


class Tensor:
    def __init__(self, shape, numbers):
        self.shape, self.numbers = list(shape), numbers

    def row(self):
        return len(self.numbers) // self.shape[0]

    def gather(self, rows, shape=None):
        width = self.row()
        numbers = array.array("f")
        for row in rows:
            numbers.extend(self.numbers[row * width:(row + 1) * width])
        return Tensor(shape or [len(rows)] + self.shape[1:], numbers)

    def map(self, function):
        return Tensor(self.shape, array.array("f", map(function, self.numbers)))

    def transposed(self):
        rows, columns = self.shape
        return Tensor([columns, rows], array.array("f", (self.numbers[r * columns + c] for c in range(columns)
                                                        for r in range(rows))))

    def reshaped(self, *shape):
        return Tensor(shape, self.numbers)


def stacked(tensors, shape=None):
    numbers = array.array("f")
    for tensor in tensors:
        numbers.extend(tensor.numbers)
    return Tensor(shape or [len(tensors)] + tensors[0].shape, numbers)


def read_safetensors(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, about in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = about["data_offsets"]
        raw = data[8 + length + begin:8 + length + end]
        if about["dtype"] == "BF16":
            raw = b"".join(b"\0\0" + raw[i:i + 2] for i in range(0, len(raw), 2))
        elif about["dtype"] != "F32":
            raise SystemExit(f"{name}: {about['dtype']} is not written")
        numbers = array.array("f")
        numbers.frombytes(raw)
        tensors[name] = Tensor(about["shape"], numbers)
    return tensors


def write_safetensors(path, tensors):
    header, data = {}, bytearray()
    for name, tensor in tensors.items():
        begin = len(data)
        data += tensor.numbers.tobytes()
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def text_bytes(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def value_bytes(value):
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", U32, value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    if isinstance(value, str):
        return struct.pack("<I", STRING) + text_bytes(value)
    kind, form = (BOOL, "?") if isinstance(value[0], bool) else (I32, "i")
    return struct.pack(f"<IIQ{len(value)}{form}", ARRAY, kind, len(value), *value)


def write_gguf(path, keys, tensors):
    infos, data = b"", bytearray()
    for name, tensor in tensors.items():
        data += b"\0" * (-len(data) % 32)
        shape = tensor.shape[::-1]
        infos += text_bytes(name) + struct.pack(f"<I{len(shape)}qiQ", len(shape), *shape, 0, len(data))
        data += tensor.numbers.tobytes()
    head = b"GGUF" + struct.pack("<Iqq", 3, len(tensors), len(keys))
    head += b"".join(text_bytes(key) + value_bytes(value) for key, value in keys.items()) + infos
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data + b"\0" * (-len(data) % 32))
