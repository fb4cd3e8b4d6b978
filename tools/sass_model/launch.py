"""One launch of a kernel as the model sees it: grid, arguments, and what of memory is known."""
import bisect
import dataclasses
import struct

REGION = 1 << 42  # bytes between the places that operands are given
# Byte of constant bank 0 where parameters begin, and where the descriptor of global memory and the parameters' generic address lie, by
# architecture; as ptxas 13.0 writes them ("c[0x0][0x210]").
PARAMETERS = {80: 0x160, 86: 0x160, 89: 0x160, 90: 0x210, 100: 0x380, 120: 0x380}
GENERIC = 0x198
GENERIC_ADDRESS = 1 << 60


class Tables:
    """Bytes of memory that loads may read, by address."""

    def __init__(self):
        self.held = []

    def add(self, address: int, data: bytes) -> None:
        bisect.insort(self.held, (address, data))

    def read(self, at, width: int):
        """A word for each 4 bytes of a load at one address that all lanes share; None where nothing is known."""
        if not isinstance(at, int) or width < 4:
            return None
        index = bisect.bisect_right(self.held, (at, b"\xff" * 64)) - 1
        if index < 0:
            return None
        start, data = self.held[index]
        if at + width > start + len(data):
            return None
        return struct.unpack_from(f"<{width // 4}I", data, at - start)


@dataclasses.dataclass
class Operand:
    """What an argument points at. `bytes`: what the launch can reach of it; `memory`: "dram" where it is not in the second cache when the
    launch begins, else "l2"."""
    name: str
    bytes: int
    memory: str


@dataclasses.dataclass
class Launch:
    """`arguments` are numbers of 8 bytes, or (offset, bytes, value) where offsets are given; operand k's pointer is (k + 1) * REGION."""
    kernel: str
    grid: tuple
    threads: tuple
    shared_bytes: int
    registers: int
    architecture: int
    arguments: list
    operands: list
    tables: Tables = dataclasses.field(default_factory=Tables)
    boxes: list = dataclasses.field(default_factory=list)   # operand of each tensor map
    box_offsets: list = dataclasses.field(default_factory=list)
    note: str = ""
    flops: int = 0
    constants: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        first = PARAMETERS[self.architecture]
        words = dict(zip(range(0, 24, 4), (*self.threads, *self.grid)))
        words |= {GENERIC: GENERIC_ADDRESS & 0xFFFFFFFF, GENERIC + 4: GENERIC_ADDRESS >> 32, 0x28: 0xFFFFFF, 0x208: 0, 0x20C: 0, 0x118: 0, 0x11C: 0}
        at = first
        for argument in self.arguments:
            offset, size, value = argument if isinstance(argument, tuple) else (at - first, 8, argument)
            for word in range(0, size, 4):
                words[first + offset + word] = value >> 8 * word & 0xFFFFFFFF
            at = first + offset + size
        map_at = -(-at // 128) * 128
        for _ in self.boxes:
            self.box_offsets.append(map_at)
            map_at += 128
        self.constants = {(0, offset): value for offset, value in words.items()} | self.constants

    @property
    def block_threads(self) -> int:
        return self.threads[0] * self.threads[1] * self.threads[2]

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    def block_of(self, index: int) -> tuple:
        return index % self.grid[0], index // self.grid[0] % self.grid[1], index // (self.grid[0] * self.grid[1])

    def operand_of(self, address: int) -> int:
        index = address // REGION - 1
        return index if 0 <= index < len(self.operands) else -1

    def box_of(self, address) -> int:
        """The operand of the tensor map whose address this is; its lower half is enough."""
        if not isinstance(address, int) or not self.boxes:
            return -1
        offset = (address - GENERIC_ADDRESS + PARAMETERS[self.architecture]) & 0xFFFFFFFF
        return self.boxes[self.box_offsets.index(offset)] if offset in self.box_offsets else -1


class LaunchError(ValueError):
    """A description of a launch that lacks something or has what no launch has."""


def described(kernel, architecture: int, description: dict) -> Launch:
    """A launch of a cubin's kernel (cubin.Kernel) from what --launch says; sizes of arguments that are not given are the cubin's."""
    if not isinstance(description, dict):
        raise LaunchError("a launch is an object with grid, threads, shared_bytes, arguments and flops")
    unknown = set(description) - {"grid", "threads", "shared_bytes", "arguments", "flops"}
    if unknown or "grid" not in description or "arguments" not in description:
        raise LaunchError(f"a launch has grid, threads, shared_bytes, arguments and flops, but got {', '.join(sorted(description))}")
    threads = description.get("threads", kernel.threads)
    threads = tuple(threads) if isinstance(threads, list) else (threads, 1, 1)
    arguments, operands, at = [], [], 0
    for number, argument in enumerate(description["arguments"]):
        argument = argument if isinstance(argument, dict) else {"value": argument}
        size = argument.get("size", kernel.parameters[number][1] if number < len(kernel.parameters) else 8)
        offset = argument.get("offset", kernel.parameters[number][0] if number < len(kernel.parameters) else at)
        if "bytes" in argument:
            operands.append(Operand(argument.get("name", f"argument {number}"), argument["bytes"], argument.get("memory", "l2")))
        arguments.append((offset, size, len(operands) * REGION if "bytes" in argument else argument["value"]))
        at = offset + size
    return Launch(kernel.name, tuple(description["grid"]), threads, kernel.shared_bytes + description.get("shared_bytes", 0),
                  kernel.registers, architecture, arguments, operands, flops=description.get("flops", 0))
