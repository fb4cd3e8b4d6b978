"""Values of a warp's registers: an int (of predicates a bool) where all 32 lanes agree, a tuple of 32 where they do not, None where they
are unknown. What instructions compute is written for one lane and lifted to all."""
import struct

LANES = 32
MASK = 0xFFFFFFFF
LANE = tuple(range(LANES))


def lift(compute):
    """A function of lanes from one of numbers: unknown where an argument is."""
    def lifted(*values):
        varied = False
        for value in values:
            if value is None:
                return None
            varied = varied or type(value) is tuple
        if not varied:
            return compute(*values)
        return joined(tuple(map(compute, *(value if type(value) is tuple else (value,) * LANES for value in values))))
    return lifted


def joined(values: tuple):
    """One number where all lanes agree."""
    return values[0] if values.count(values[0]) == LANES else values


def spread(value) -> tuple:
    return value if type(value) is tuple else (value,) * LANES


def first(value, mask):
    """What the first active lane has."""
    if type(value) is not tuple:
        return value
    return value[0] if mask is True else value[mask.index(True)]


def blend(mask, new, old):
    """`new` in the lanes of `mask`, `old` in the others. Where either is unknown the lanes of `mask` are what counts."""
    if mask is True or new is None or old is None:
        return new
    return joined(tuple(a if m else b for m, a, b in zip(mask, spread(new), spread(old))))


def narrowed(mask, condition):
    """The lanes of `mask` in which a known condition holds: True for all 32, None for no lane."""
    if condition is True:
        return mask
    if condition is False:
        return None
    both = condition if mask is True else tuple(a and b for a, b in zip(mask, condition))
    return True if all(both) else both if any(both) else None


def signed(value: int) -> int:
    """The number that 32 bits stand for as two's complement."""
    return value - (1 << 32) if value >> 31 & 1 else value


def lookup(table: int, a: int, b: int, c: int) -> int:
    """What a truth table of three inputs, a byte, gives for each bit of three words."""
    result = 0
    for row in range(8):
        if table >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result & MASK


def float_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits & MASK))[0]


def bits_of(value: float) -> int:
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def rounded_up(value: int) -> int:
    """The bits of the least f32 that is not below an unsigned number."""
    bits = bits_of(float(value))
    return bits + 1 if float_of(bits) < value else bits


def reciprocal(bits: int) -> int:
    """The bits of 1 / x, as MUFU.RCP gives it to one unit in the last place."""
    value = float_of(bits)
    return 0x7F800000 if value == 0 else bits_of(1.0 / value)


def cut_off(bits: int, most: int) -> int:
    """The unsigned number that an f32 is cut off to."""
    value = float_of(bits)
    return 0 if value != value or value <= 0 else min(most, int(min(value, 2.0 ** 64)))
