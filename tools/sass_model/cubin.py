"""Cubins without an artifact: the kernels of an ELF file with their registers, shared memory and parameters."""
import dataclasses
import struct

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SIZED = 4  # an attribute of .nv.info with a length


class CubinError(ValueError):
    """Bytes that are no cubin."""


@dataclasses.dataclass
class Kernel:
    """`parameters`: (offset, bytes) of each; `threads`: the most a block may have, 0 where the file does not say."""
    name: str
    registers: int
    shared_bytes: int
    threads: int
    parameters: list


def sections_of(data: bytes) -> list:
    if len(data) < HEADER.size or data[:4] != b"\x7fELF":
        raise CubinError("it is no cubin: expected an ELF file")
    fields = HEADER.unpack_from(data)
    at, size, count, names = fields[6], fields[11], fields[12], fields[13]
    if size != SECTION.size or at + size * count > len(data):
        raise CubinError("the table of its sections lies outside the file")
    raw = [SECTION.unpack_from(data, at + size * k) for k in range(count)]
    start = raw[names][4]
    return [(data[start + one[0]:data.index(b"\0", start + one[0])].decode(), one) for one in raw]


def architecture_of(data: bytes) -> int:
    """80 of sm_80: bits of the header's flags, which CUDA 13 has moved."""
    sections_of(data)
    fields = HEADER.unpack_from(data)
    flags = fields[7]
    return flags >> 8 & 0xFF if fields[0][8] >= 8 else flags & 0xFF


def kernels_of(data: bytes) -> list:
    sections = sections_of(data)
    by_name = dict(sections)
    registers = register_counts(data, by_name.get(".nv.info"))
    result = []
    for name, section in sections:
        if not name.startswith(".text."):
            continue
        kernel = name[len(".text."):]
        shared = by_name.get(f".nv.shared.{kernel}")
        info = by_name.get(f".nv.info.{kernel}")
        threads, parameters = attributes(data[info[4]:info[4] + info[5]]) if info else (0, [])
        result.append(Kernel(kernel, section[7] >> 24 or registers.get(section[7] & 0xFFFFFF, 0), shared[5] if shared else 0, threads, parameters))
    return result


def register_counts(data: bytes, section) -> dict:
    """Registers of a thread by the number of the kernel's symbol, where files of CUDA 13 say so: in .nv.info, as symbol and count."""
    counts, at = {}, section[4] if section else 0
    end = at + (section[5] if section else 0)
    while at + 4 <= end:
        kind, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if kind == SIZED:
            if attribute == 0x2F:
                symbol, count = struct.unpack_from("<II", data, at)
                counts[symbol] = count
            at += size
    return counts


def attributes(info: bytes) -> tuple:
    """(most threads of a block, parameters in order) of a kernel's .nv.info."""
    at, threads, parameters = 0, 0, []
    while at + 4 <= len(info):
        key, = struct.unpack_from("<H", info, at)
        number, = struct.unpack_from("<H", info, at + 2)
        kind, attribute = key & 0xFF, key >> 8
        at += 4
        if kind != SIZED:
            continue
        if attribute == 0x05 and number >= 12:
            x, y, z = struct.unpack_from("<III", info, at)
            threads = x * y * z
        elif attribute == 0x10 and number >= 12 and not threads:
            x, y, z = struct.unpack_from("<III", info, at)
            threads = x * y * z
        elif attribute == 0x17 and number >= 12:
            _, ordinal, offset, flags = struct.unpack_from("<IHHI", info, at)
            parameters.append((ordinal, offset, flags >> 18))
        at += number
    return threads, [(offset, size) for _, offset, size in sorted(parameters)]
