"""What one warp holds while its integers are computed, and how operands are read from it."""
import re

from .lanes import MASK, blend, first, lift

REGISTER = re.compile(r"^([-~|]*)(UR|R)(\d+|Z)(?:\.(\w+))?\|?(?:\.(\w+))*$")
CONSTANT = re.compile(r"^([-~|]*)c\[(0x[0-9a-f]+)\]\[(?:(U?R\d+|URZ|RZ)\+?)?(-?0x[0-9a-f]+)?\]\|?(?:\.\w+)*$")
INTEGER = re.compile(r"^(-?)(0x[0-9a-f]+|\d+)$")
PREDICATE = re.compile(r"^(!?)(UP|P)([0-9T])$")
ADDRESS = re.compile(r"^(?:desc\[(UR\d+|URZ)\])?\[(.*)\]$")
PLAIN, UNIFORM = 256, 64  # registers, the last of which is zero


class State:
    """Registers, uniform registers and predicates of a warp, its constant banks and the lanes that run."""

    def __init__(self, constants: dict):
        self.plain = [None] * (PLAIN - 1) + [0]
        self.uniform = [None] * (UNIFORM - 1) + [0]
        self.predicates = {False: [None] * 7 + [True], True: [None] * 7 + [True]}
        self.constants = constants
        self.mask = True  # or a tuple of bool, of which one is True at least

    def write(self, bank: str, number: int, value) -> None:
        if bank == "UR":
            if number != UNIFORM - 1:
                self.uniform[number] = first(value, self.mask)
        elif number != PLAIN - 1:
            self.plain[number] = value if self.mask is True else blend(self.mask, value, self.plain[number])

    def read(self, bank: str, number: int):
        return self.uniform[number] if bank == "UR" else self.plain[number]

    def set_predicate(self, is_uniform: bool, number: int, value) -> None:
        if number == 7:
            return
        held = self.predicates[is_uniform]
        held[number] = first(value, self.mask) if is_uniform else blend(self.mask, value, held[number])


def register_of(text: str):
    """(bank, number) of "R12", "UR4", "RZ"; None of other texts."""
    found = REGISTER.match(text)
    if not found:
        return None
    bank = found[2]
    return bank, (PLAIN if bank == "R" else UNIFORM) - 1 if found[3] == "Z" else int(found[3])


def reader(text: str, upper: bool = False):
    """A function of a State that gives an operand's 32 bits; with `upper` those of the register after it. A negated operand is
    2^32 minus the value, 2^32 for zero, so that carries of sums come out as the adder's."""
    if found := REGISTER.match(text):
        bank, number = register_of(text)
        zero = number == (PLAIN if bank == "R" else UNIFORM) - 1
        number += upper and not zero
        plain = (lambda s: s.uniform[number]) if bank == "UR" else (lambda s: s.plain[number])
        return signed_reader(found[1], plain)
    if found := CONSTANT.match(text):
        bank, offset, base = int(found[2], 16), int(found[4] or "0", 16) + 4 * upper, register_of(found[3]) if found[3] else None
        if base is None:
            return signed_reader(found[1], lambda s: s.constants.get((bank, offset)))

        def indexed(s):
            at = s.read(*base)
            return s.constants.get((bank, (at + offset) & MASK)) if isinstance(at, int) else None
        return signed_reader(found[1], indexed)
    if found := INTEGER.match(text):
        number = int(found[2], 0)
        number = -number if found[1] else number
        value = (number >> 32 if upper else number) & MASK
        return lambda s: value
    return lambda s: None


def signed_reader(sign: str, plain):
    if sign == "-":
        return lambda s: negative(plain(s))
    if sign == "~":
        return lambda s: inverse(plain(s))
    if sign:
        return lambda s: None
    return plain


negative = lift(lambda v: (1 << 32) - v)
inverse = lift(lambda v: v ^ MASK)
opposite = lift(lambda v: not v)
joined_words = lift(lambda low, high: high << 32 | low)
added = lift(lambda a, b: a + b)


def predicate_reader(text: str):
    """A function of a State that gives True, False, None where it is unknown, or a tuple of bool."""
    found = PREDICATE.match(text)
    if not found:
        return lambda s: None
    negated, is_uniform, number = bool(found[1]), found[2] == "UP", 7 if found[3] == "T" else int(found[3])

    if negated:
        return lambda s: opposite(s.predicates[is_uniform][number])
    return lambda s: s.predicates[is_uniform][number]


def predicate_of(text: str):
    """(is uniform, number) of "P0", "UPT"; None of other texts."""
    found = PREDICATE.match(text)
    return (found[2] == "UP", 7 if found[3] == "T" else int(found[3])) if found else None


def address_reader(text: str):
    """A function of a State that gives the address in "desc[UR18][R2.64+0x4]" or "[R20+UR4+0x2400]": an int, a tuple, or None."""
    found = ADDRESS.match(text)
    if not found:
        return lambda s: None
    terms = []
    is_long = ".64" in found[2]
    for term in re.sub(r"(?<=[^\[+])-", "+-", found[2]).split("+"):
        name, _, kind = term.partition(".")
        place = register_of(name)
        if place is None:
            number = int(term, 0) if INTEGER.match(term) else 0
            terms.append(lambda s, n=number: n)
        elif kind.startswith("64") or (place[0] == "UR" and is_long):
            terms.append(lambda s, low=reader(name), high=reader(name, True): joined_words(low(s), high(s)))
        else:
            scale = int(kind[1:]) if kind.startswith("X") else 1
            terms.append(lambda s, value=reader(name), by=scale: scaled(value(s), by))

    def read(s):
        total = terms[0](s)
        for term in terms[1:]:
            total = added(total, term(s))
        return total
    return read


scaled = lift(lambda value, by: value * by)
