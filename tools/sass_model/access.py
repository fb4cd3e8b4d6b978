"""What one warp's instruction asks of memory: sectors of global memory, passes over shared memory, barriers."""
import collections
import dataclasses
import functools

from .lanes import LANES, MASK, first, spread

SECTOR, LINE, BANKS, WORD = 32, 128, 32, 4
# Lanes that are served together, by the bytes of each: shared memory gives 128 bytes at a time.
GROUPS = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}
COUNT_FIELD = 0x100000  # an mbarrier's first word is twice this less the arrivals that a phase needs


@dataclasses.dataclass(slots=True)
class Global:
    """`sectors` are numbers of 32-byte sectors, None where the address is unknown; `requested` bytes are those of active lanes."""
    kind: str            # load, store, copy
    operand: int         # -1: unknown
    sectors: tuple
    requested: int
    lines: int
    cached: bool         # whether the first cache keeps it


@dataclasses.dataclass(slots=True)
class Shared:
    kind: str            # read, write, matrix
    passes: int          # over shared memory, of 128 bytes each


@dataclasses.dataclass(slots=True)
class Box:
    """A copy by the tensor memory accelerator; `barrier` is the address of what it arrives at."""
    barrier: int
    operand: int


@dataclasses.dataclass(slots=True)
class Barrier:
    arrives_only: bool
    number: int
    threads: int         # None: all of the block


@dataclasses.dataclass(slots=True)
class Phase:
    """What SYNCS does to an mbarrier: init (count), arrive (arrivals, bytes), wait (parity)."""
    kind: str
    address: int
    number: int
    bytes: int


def width_of(i) -> int:
    """Bytes that each lane moves."""
    for modifier, width in (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1)):
        if modifier in i.modifiers:
            return width
    return 4


def active(at, mask) -> tuple:
    """What the active lanes have."""
    values = spread(at)
    return values if mask is True else tuple(value for value, used in zip(values, mask) if used)


def of_global(kind, at, width, mask, i, run):
    """The access of a load, a store or an asynchronous copy; `mask` is None where no lane moves anything."""
    cached = kind != "store" and "STRONG" not in i.modifiers and "BYPASS" not in i.modifiers
    if mask is None:
        return Global(kind, -1, (), 0, 1, cached)
    lanes = LANES if mask is True else mask.count(True)
    if at is None:
        run.trace.unknown_addresses[len(run.trace.issued) - 1] += 1
        return Global(kind, -1, None, lanes * width, max(1, lanes * width // LINE), cached)
    if isinstance(at, int):
        return Global(kind, run.operand_of(at), tuple(range(at // SECTOR, (at + width - 1) // SECTOR + 1)), width, 1, cached)
    addresses = active(at, mask)
    sectors = tuple({address // SECTOR for address in addresses})
    return Global(kind, run.operand_of(addresses[0]), sectors, lanes * width, len({sector // 4 for sector in sectors}), cached)


def of_shared(kind, at, width, mask, i):
    # Loops come to the same addresses again and again.
    count = {"4": 4, "2": 2}.get(i.modifiers[-1], 1) if kind == "matrix" else 0
    return shared_access(kind, at, width, mask, count)


@functools.lru_cache(maxsize=1 << 14)
def shared_access(kind, at, width, mask, count):
    """`count`: how many matrices of 8 rows are read; 0 of other accesses."""
    if count:
        if type(at) is not tuple:
            return Shared(kind, count)
        return Shared(kind, sum(most_frequent(row % 8 for row in {address // 16 for address in at[8 * part:8 * part + 8]})
                                for part in range(count)))
    if type(at) is not tuple:
        return Shared(kind, 1 if at is not None else max(1, LANES * width // LINE))
    used, size, passes = spread(mask), GROUPS[width], 0
    for start in range(0, LANES, size):
        words = {address // WORD + word for address, is_used in zip(at[start:start + size], used[start:start + size]) if is_used
                 for word in range(max(1, width // WORD))}
        passes += most_frequent(word % BANKS for word in words)
    return Shared(kind, max(1, passes))


def most_frequent(values) -> int:
    return max(collections.Counter(values).values(), default=0)


def of_barrier(i, at, number, mask):
    address, value = first(at, mask), first(number, mask)
    if "EXCH" in i.modifiers:
        return Phase("init", address, None if value is None else COUNT_FIELD - (value >> 1 & 0xFFFFF), 0)
    if "PHASECHK" in i.modifiers:
        return Phase("wait", address, None if value is None else value >> 31 & 1, 0)
    if "ARRIVE" in i.modifiers:
        lanes = LANES if mask is True else mask.count(True)
        counted = not any(modifier.startswith("A0") for modifier in i.modifiers)
        return Phase("arrive", address, lanes if counted else 0, 0 if "A1T0" in i.modifiers else (value or 0) & MASK)
    return Phase("other", address, 0, 0)
