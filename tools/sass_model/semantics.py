"""What integer instructions compute. Floating-point results are unknown; so is what an instruction that is not listed here gives."""
import re
import struct

from . import lanes
from .lanes import MASK, lift, signed, spread
from .warp_state import predicate_of, predicate_reader, reader, register_of

# Registers that an instruction writes, by the modifier that says a width; one where none does.
WIDTHS = {"64": 2, "128": 4, "WIDE": 2, "96": 3}
# A carry out may stand behind the register, as the conditions of others stand at the end.
CARRYING = {"IADD3", "LEA", "IMAD"}
ONLY_PREDICATES = re.compile("SETP|PLOP3|FCHK|^R2P")
COMPARE = {
    "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b}
# The comparison of the upper halves of 64 bits, the lower ones compared before.
COMPARE_UPPER = {
    "LT": lambda a, b, low: a < b or a == b and low, "LE": lambda a, b, low: a < b or a == b and low,
    "GT": lambda a, b, low: a > b or a == b and low, "GE": lambda a, b, low: a > b or a == b and low,
    "EQ": lambda a, b, low: a == b and low, "NE": lambda a, b, low: a != b or low}

low_half = lift(lambda value: value & MASK)
high_half = lift(lambda value: value >> 32 & MASK)
add = lift(lambda *values: sum(values))


def base(opcode: str) -> str:
    """The plain instruction of a uniform one: "IADD3" of "UIADD3"."""
    return opcode[1:] if opcode[0] == "U" and opcode[1:] in COMPUTE else opcode


def results_of(instruction) -> tuple:
    """(predicates, register, the other operands): what an instruction writes, and what it reads. The register is None where none is
    written."""
    predicates, place, operands = [], None, list(instruction.operands)
    while operands and predicate_of(operands[0]) and len(predicates) < 2:
        predicates.append(predicate_of(operands.pop(0)))
    if operands and not ONLY_PREDICATES.search(instruction.opcode) and (place := register_of(operands[0])):
        operands.pop(0)
        while operands and predicate_of(operands[0]) and base(instruction.opcode) in CARRYING:
            predicates.append(predicate_of(operands.pop(0)))
    return predicates, place, operands


def registers_of(instruction) -> int:
    """How many neighbouring registers the result takes."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode.endswith("GMMA"):
        return max(1, int(re.search(r"64x(\d+)x", instruction.name)[1]) // (4 if "F16" in modifiers[1:2] else 2))
    if opcode in ("HMMA", "IMMA", "DMMA"):
        return 4
    if opcode == "CS2R":
        return 1 if "32" in modifiers else 2
    if opcode == "LDSM":
        return {"4": 4, "2": 2}.get(modifiers[-1], 1)
    return max([WIDTHS[m] for m in modifiers if m in WIDTHS], default=1)


def is_condition(text: str) -> bool:
    return predicate_of(text) is not None


def iadd3(i, predicates, place, rest):
    values = [reader(text) for text in rest if not is_condition(text)]
    uppers = [reader(text, True) for text in rest if not is_condition(text)] if "64" in i.modifiers else []
    carries = [predicate_reader(text) for text in rest if is_condition(text)] if "X" in i.modifiers else []

    def run(s):
        total = add(*(value(s) for value in values), *(carry(s) for carry in carries))
        s.write(*place, low_half(total))
        if uppers:
            total = add(*(value(s) for value in uppers), high_half(total))
            s.write(place[0], place[1] + 1, low_half(total))
        set_carries(s, predicates, total)
    return run


def set_carries(s, predicates, total, bits: int = 32):
    """A carry of a sum of three may be two: the first predicate has the first, the second the second."""
    for count, (is_uniform, number) in enumerate(predicates):
        s.set_predicate(is_uniform, number, carried(total, count, bits))


carried = lift(lambda total, count, bits: total >> bits > count)
multiply_add = lift(lambda a, b, c: (a & MASK) * (b & MASK) + c)
multiply_add_long = lift(lambda a, b, low, high: a * b + (high << 32 | low))
multiply_less_long = lift(lambda a, b, low, high: a * b - (high << 32 | low))
as_signed = lift(lambda value: signed(value & MASK))


def imad(i, predicates, place, rest):
    values = [text for text in rest if not is_condition(text)]
    a, b, c = (reader(text) for text in values)
    carry = next((predicate_reader(text) for text in rest if is_condition(text)), None) if "X" in i.modifiers else None
    if "WIDE" not in i.modifiers and "HI" not in i.modifiers:
        moves = values[0] in ("RZ", "URZ") or values[1] in ("RZ", "URZ")

        def short(s):
            total = c(s) if moves else multiply_add(a(s), b(s), c(s))
            s.write(*place, low_half(total if carry is None else add(total, carry(s))))
        return short
    less = values[2].startswith("-")
    c, upper = reader(values[2].lstrip("-")), reader(values[2].lstrip("-"), True)
    combine = multiply_less_long if less else multiply_add_long
    take = low_half if "U32" in i.modifiers else as_signed

    def long(s):
        total = combine(take(a(s)), take(b(s)), c(s), upper(s))
        if carry is not None:
            total = add(total, carry(s))
        if "HI" in i.modifiers:
            s.write(*place, high_half(total))
        else:
            s.write(*place, low_half(total))
            s.write(place[0], place[1] + 1, high_half(total))
        set_carries(s, predicates, total, 64)
    return long


def isetp(i, predicates, _, rest):
    a, b, other = reader(rest[0]), reader(rest[1]), predicate_reader(rest[2])
    take = low_half if "U32" in i.modifiers else as_signed
    joins = next((m for m in i.modifiers if m in ("AND", "OR", "XOR")), "AND")
    below = predicate_reader(rest[3]) if "EX" in i.modifiers else None
    compare = lift((COMPARE_UPPER if below else COMPARE)[i.modifiers[0]])

    def run(s):
        x, y = take(a(s)), take(b(s))
        result = compare(x, y, below(s)) if below else compare(x, y)
        set_joined(s, predicates, joins, result, other(s))
    return run


negate = lift(lambda value: not value)
JOINS = {"AND": lift(lambda a, b: bool(a and b)), "OR": lift(lambda a, b: bool(a or b)), "XOR": lift(lambda a, b: bool(a) != bool(b))}
DECIDES = {"AND": False, "OR": True}


def set_joined(s, predicates, joins, result, other):
    """The comparison joined with a condition, and in a second predicate its opposite joined with it."""
    for index, (is_uniform, number) in enumerate(predicates):
        value = negate(result) if index else result
        decided = DECIDES.get(joins)
        known = decided is not None and (value is decided or other is decided)
        s.set_predicate(is_uniform, number, decided if known else JOINS[joins](value, other))


lookup = lift(lanes.lookup)
is_set = lift(lambda value: value != 0)


def lop3(i, predicates, place, rest):
    a, b, c = (reader(text) for text in rest[:3])
    table = int(rest[3], 16)
    # Inputs that the table does not depend on may be unknown.
    needed = [any((table >> row & 1) != (table >> (row ^ bit) & 1) for row in range(8)) for bit in (4, 2, 1)]

    def run(s):
        values = [read(s) if used else 0 for read, used in zip((a, b, c), needed)]
        value = lookup(table, *values)
        if value is None and table == 0xC0 and 0 in values[:2]:
            value = 0
        s.write(*place, value)
        for is_uniform, number in predicates:
            s.set_predicate(is_uniform, number, is_set(value))
    return run


row_of_table = lift(lambda table, a, b, c: bool(table >> (4 * bool(a) + 2 * bool(b) + bool(c)) & 1))


def plop3(i, predicates, _, rest):
    inputs = [predicate_reader(text) for text in rest[:3]]
    tables = [int(text, 16) for text in rest[3:5]]

    def run(s):
        values = [read(s) for read in inputs]
        for table, (is_uniform, number) in zip(tables, predicates):
            s.set_predicate(is_uniform, number, truth(table, values))
    return run


def truth(table, values):
    """The table's row, or what all rows agree on that unknown inputs leave open."""
    if None not in values:
        return row_of_table(table, *values)
    at = values.index(None)
    either = [truth(table, values[:at] + [guess] + values[at + 1:]) for guess in (False, True)]
    return either[0] if either[0] == either[1] else None


def shf(i, _, place, rest):
    low, amount, high = (reader(text) for text in rest[:3])
    left, upper = i.modifiers[0] == "L", "HI" in i.modifiers
    narrow = "U32" in i.modifiers or "S32" in i.modifiers
    use_low = not (narrow and not left and upper)    # of 32 bits shifted right only the upper operand counts
    use_high = not (narrow and left and not upper)
    arithmetic = "S32" in i.modifiers or "S64" in i.modifiers
    wraps = "W" in i.modifiers

    @lift
    def shifted(x, count, y):
        count = count & (31 if narrow else 63) if wraps else min(count, 64)
        whole = (signed(y) if arithmetic else y) << 32 | x
        whole = whole << count if left else whole >> count
        return whole >> 32 & MASK if upper else whole & MASK

    def run(s):
        s.write(*place, shifted(low_half(low(s)) if use_low else 0, low_half(amount(s)), low_half(high(s)) if use_high else 0))
    return run


def lea(i, predicates, place, rest):
    values = [text for text in rest if not is_condition(text)]
    carry = next((predicate_reader(text) for text in rest if is_condition(text)), None) if "X" in i.modifiers else None
    high, extends = "HI" in i.modifiers, "SX32" in i.modifiers
    a, b = reader(values[0]), reader(values[1])
    c = reader(values[2]) if high and not extends else lambda s: 0
    shift = int(values[-1], 16)

    @lift
    def scaled(x, y, z):
        whole = signed(x & MASK) if extends else (z & MASK) << 32 | x & MASK
        return ((whole << shift) >> (32 if high else 0) & MASK) + y

    def run(s):
        total = scaled(a(s), b(s), c(s))
        if carry is not None:
            total = add(total, carry(s))
        s.write(*place, low_half(total))
        set_carries(s, predicates, total)
    return run


choose = lift(lambda condition, a, b: a if condition else b)


def sel(i, _, place, rest):
    a, b, condition = reader(rest[0]), reader(rest[1]), predicate_reader(rest[2])

    def run(s):
        which, x, y = condition(s), a(s), b(s)
        value = x if which is True or (x == y and which is None) else y if which is False else choose(which, x, y)
        s.write(*place, low_half(value))
    return run


def bound_of(i):
    """The lesser or the greater of two numbers, by a condition, and with RELU no less than zero."""
    least = 0 if "RELU" in i.modifiers else -1 << 32
    return lift(lambda x, y, lesser: max(least, min(x, y) if lesser else max(x, y)))


def minmax(i, _, place, rest):
    a, b, lesser = reader(rest[0]), reader(rest[1]), predicate_reader(rest[2])
    take = low_half if "U32" in i.modifiers else as_signed
    bound = bound_of(i)
    return lambda s: s.write(*place, low_half(bound(take(a(s)), take(b(s)), lesser(s))))


def sum_minmax(i, _, place, rest):
    """VIADDMNMX: the lesser, or the greater, of a sum and a number."""
    a, b, c, lesser = reader(rest[0]), reader(rest[1]), reader(rest[2]), predicate_reader(rest[3])
    take = low_half if "U32" in i.modifiers else as_signed
    bound = bound_of(i)
    return lambda s: s.write(*place, low_half(bound(take(low_half(add(a(s), b(s)))), take(c(s)), lesser(s))))


def of_one(compute):
    """An instruction of one operand."""
    compute = lift(compute)

    def build(i, _, place, rest):
        value = reader(rest[-1])
        return lambda s: s.write(*place, low_half(compute(low_half(value(s)))))
    return build


def viadd(i, _, place, rest):
    a, b = reader(rest[0]), reader(rest[1])
    return lambda s: s.write(*place, low_half(add(a(s), b(s))))


def sgxt(i, _, place, rest):
    a, width = reader(rest[0]), reader(rest[1])

    @lift
    def extended(x, bits):
        value = x & (1 << bits) - 1
        return value if "U32" in i.modifiers or not bits else value - ((value >> bits - 1 & 1) << bits)
    return lambda s: s.write(*place, low_half(extended(a(s), width(s))))


def prmt(i, _, place, rest):
    a, choice, b = (reader(text) for text in rest[:3])

    def run(s):
        x, k, y = a(s), choice(s), b(s)
        if not isinstance(k, int) or i.modifiers:
            s.write(*place, None)
            return
        nibbles = [k >> 4 * index & 15 for index in range(4)]
        x = x if any(not nibble & 4 for nibble in nibbles) else 0
        y = y if any(nibble & 4 for nibble in nibbles) else 0

        @lift
        def chosen(x, y):
            value = 0
            for index, nibble in enumerate(nibbles):
                byte = (y if nibble & 4 else x) >> 8 * (nibble & 3) & 255
                value |= ((byte >> 7) * 255 if nibble & 8 else byte) << 8 * index  # with 8: the byte's sign
            return value
        s.write(*place, chosen(x, y))
    return run


with_bit = lift(lambda value, bit, number: value | bool(bit) << number)


def p2r(i, _, place, rest):
    old, bits = reader(rest[1]), reader(rest[2])

    def run(s):
        value, chosen = old(s), bits(s)
        if value is not None and isinstance(chosen, int):
            value = lift(lambda v: v & ~chosen & MASK)(value)
            for number in range(7):
                if chosen >> number & 1:
                    value = with_bit(value, s.predicates[False][number], number)
        s.write(*place, value)
    return run


def r2p(i, _, place, rest):
    bits, mask = reader(i.operands[1]), reader(i.operands[2])

    def run(s):
        value, chosen = bits(s), mask(s)
        for number in range(7):
            if isinstance(chosen, int) and chosen >> number & 1:
                s.set_predicate(False, number, lift(lambda v, n=number: bool(v >> n & 1))(value))
    return run


def move(i, _, place, rest):
    value, upper = reader(rest[0]), reader(rest[0], True) if "64" in i.modifiers else None

    def run(s):
        number = value(s)
        s.write(*place, low_half(number))
        if upper:
            s.write(place[0], place[1] + 1, low_half(upper(s)))
    return run


def half_constant(i, _, place, rest):
    """HFMA2 RZ, RZ, a, b is how ptxas writes a constant: two halves."""
    if [text.lstrip("-") for text in rest[:2]] != ["RZ", "RZ"] or len(rest) != 4:
        return forget(i, (), place, rest)
    try:
        low, high = (struct.unpack("<H", struct.pack("<e", float(text)))[0] for text in (rest[3], rest[2]))
    except (ValueError, OverflowError):  # infinities and what is no number
        return forget(i, (), place, rest)
    return lambda s: s.write(*place, high << 16 | low)


def vote(i, predicates, place, rest):
    read = predicate_reader(i.operands[-1])
    if not rest:  # the last of the predicates is the one that votes
        predicates = predicates[:-1]

    def run(s):
        value = read(s)
        active = (True,) * lanes.LANES if s.mask is True else s.mask
        held = None if value is None else [bool(v) for v, a in zip(spread(value), active) if a]
        result = None if held is None else all(held) if "ALL" in i.modifiers else any(held)
        if place:
            s.write(*place, None if held is None else sum(1 << k for k, (v, a) in enumerate(zip(spread(value), active)) if v and a))
        for is_uniform, number in predicates:
            s.set_predicate(is_uniform, number, result)
    return run


def elect(i, predicates, place, rest):
    def run(s):
        leader = 0 if s.mask is True else s.mask.index(True)
        for is_uniform, number in predicates:
            s.set_predicate(is_uniform, number, tuple(lane == leader for lane in lanes.LANE))
        if place:
            s.write(*place, leader)
    return run


to_float = {True: lift(lanes.rounded_up), False: lift(lambda value: lanes.bits_of(float(value)))}
long_word = lift(lambda low, high: high << 32 | low)


def convert_from(i, _, place, rest):
    """To f32; divisions by a number that is not constant begin with it. Numbers are signed where nothing else is said."""
    if {"F16", "F64", "S64", "S8", "U8", "S16", "U16", "BF16"} & set(i.modifiers):
        return forget(i, (), place, rest)
    low, high = reader(rest[0]), reader(rest[0], True)
    convert = to_float["RP" in i.modifiers]

    def run(s):
        value = long_word(low(s), high(s)) if "U64" in i.modifiers else low_half(low(s))
        s.write(*place, convert(value if "U64" in i.modifiers or "U32" in i.modifiers else as_signed(value)))
    return run


def convert_to(i, _, place, rest):
    source = reader(rest[0])
    bits = 64 if "U64" in i.modifiers else 32
    convert = lift(lambda value: lanes.cut_off(value, (1 << bits) - 1))

    def run(s):
        value = convert(source(s)) if "U32" in i.modifiers or bits == 64 else None
        s.write(*place, low_half(value))
        if bits == 64:
            s.write(place[0], place[1] + 1, high_half(value))
    return run


def mufu(i, _, place, rest):
    source, compute = reader(rest[0]), lift(lanes.reciprocal)
    return lambda s: s.write(*place, compute(source(s)) if i.modifiers[0] == "RCP" else None)


def special(i, _, place, rest):
    return lambda s: s.write(*place, s.special.get(rest[0]))


def zero_pair(i, _, place, rest):
    value, count = (0 if rest[0] == "SRZ" else None), registers_of(i)

    def run(s):
        for index in range(count):
            s.write(place[0], place[1] + index, value)
    return run


def constant_load(i, _, place, rest):
    words = [reader(rest[0]), reader(rest[0], True)]

    def run(s):
        for index in range(registers_of(i)):
            s.write(place[0], place[1] + index, words[index](s) if index < 2 else None)
    return run


def shuffle(i, predicates, place, rest):
    source = reader(rest[0])

    def run(s):
        value = source(s)
        s.write(*place, value if isinstance(value, int) else None)
        for is_uniform, number in predicates:
            s.set_predicate(is_uniform, number, None)
    return run


def synchronise(i, predicates, place, rest):
    """A wait for a barrier in shared memory ends with true; the simulation says when."""
    def run(s):
        for is_uniform, number in predicates:
            s.set_predicate(is_uniform, number, True if "PHASECHK" in i.modifiers else None)
        if place:
            s.write(*place, None)
    return run


def forget(i, predicates, place, rest):
    count = registers_of(i)

    def run(s):
        if place:
            for index in range(count):
                if place[1] + index < 255:
                    s.write(place[0], place[1] + index, None)
        for is_uniform, number in predicates:
            s.set_predicate(is_uniform, number, None)
    return run


COMPUTE = {
    "IADD3": iadd3, "IMAD": imad, "ISETP": isetp, "LOP3": lop3, "PLOP3": plop3, "SHF": shf, "LEA": lea, "SEL": sel, "IMNMX": minmax,
    "VIMNMX": minmax, "PRMT": prmt, "P2R": p2r, "R2P": r2p, "MOV": move, "R2UR": move, "HFMA2": half_constant, "VOTE": vote, "VOTEU": vote,
    "ELECT": elect, "I2F": convert_from, "I2FP": convert_from, "F2I": convert_to, "MUFU": mufu, "S2R": special, "S2UR": special, "CS2R": zero_pair,
    "LDC": constant_load, "LDCU": constant_load, "SHFL": shuffle, "SYNCS": synchronise, "VIADD": viadd, "VIADDMNMX": sum_minmax, "SGXT": sgxt,
    "IABS": of_one(lambda x: abs(signed(x))), "FLO": of_one(lambda x: x.bit_length() - 1), "POPC": of_one(lambda x: x.bit_count()),
    "BREV": of_one(lambda x: int(f"{x:032b}"[::-1], 2))}


def computation(instruction):
    """A function of a State that does what the instruction does to registers and predicates."""
    predicates, place, rest = results_of(instruction)
    build = COMPUTE.get(base(instruction.opcode))
    if build is None or (place is None and not predicates and instruction.opcode not in ("R2P", "SYNCS")):
        return forget(instruction, predicates, place, rest)
    return build(instruction, predicates, place, rest)
