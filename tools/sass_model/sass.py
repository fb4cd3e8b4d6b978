"""Machine code as nvdisasm prints it: instructions with their operands and the control bits that ptxas wrote."""
import dataclasses
import re

FUNCTION = re.compile(r"^\.text\.(\S+):$")
LABEL = re.compile(r"^(\.L_\S+|\$\S+):$")
LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(.*?)\s*;\s*\}?\s*/\* 0x([0-9a-f]{16}) \*/")
SECOND = re.compile(r"^\s+(?:\})?\s*/\* 0x([0-9a-f]{16}) \*/")
PREDICATE = re.compile(r"^@(!?)(U?P[0-9T])\s+")
TARGET = re.compile(r"`\(([^)]+)\)")
NO_BARRIER = 7  # the number of a scoreboard that says "none"


class SassError(ValueError):
    """The text of a disassembly that this reader does not understand, or a kernel that is not in it."""


@dataclasses.dataclass(slots=True)
class Instruction:
    """One instruction. Stall counts are cycles; scoreboards are numbers from 0 to 5, NO_BARRIER for none; `waits` has a bit for each."""
    address: int
    opcode: str                # "IMAD"
    modifiers: tuple           # ("WIDE", "U32")
    operands: tuple            # ("R2", "R2", "0x10", "RZ"), texts
    predicate: str             # "P0", "UP1"; "" where there is none
    negated: bool              # the predicate is
    stall: int
    write_barrier: int
    read_barrier: int
    waits: int
    target: int = -1           # index of the instruction that a branch goes to; -1: none, or in another function

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.modifiers))

    @property
    def text(self) -> str:
        guard = f"@{'!' if self.negated else ''}{self.predicate} " if self.predicate else ""
        return f"{guard}{self.name} {', '.join(self.operands)}".rstrip()


def split_operands(text: str) -> tuple:
    """Operands, which commas separate; brackets hold none."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_instruction(address: int, text: str, control: int) -> Instruction:
    """An instruction from its text and the upper 64 of its 128 bits. Bits 105 to 108 of the 128 are the stall count, 110 to 112 and
    113 to 115 the scoreboards that are set when the result is written and the operands are read, 116 to 121 those waited for."""
    found = PREDICATE.match(text)
    rest = text[found.end():] if found else text
    name, _, operands = rest.partition(" ")
    opcode, *modifiers = name.split(".")
    return Instruction(address, opcode, tuple(modifiers), split_operands(operands), found[2] if found else "", bool(found and found[1]),
                       control >> 41 & 15, control >> 46 & 7, control >> 49 & 7, control >> 52 & 63)


def parse(text: str) -> dict:
    """The functions of a disassembly (`nvdisasm -hex`): name to instructions, branches resolved to indices."""
    functions: dict[str, list] = {}
    code, labels, pending = None, {}, None
    for line in text.splitlines():
        if found := FUNCTION.match(line):
            if code is not None:
                resolve(code, labels)
            code, labels, pending = functions.setdefault(found[1], []), {}, None
        elif code is None:
            continue
        elif line.startswith("\t.section") or line.startswith("//--"):
            resolve(code, labels)
            code = None
        elif found := LABEL.match(line):
            labels[found[1]] = len(code)
        elif found := LINE.match(line):
            pending = (int(found[1], 16), found[2])
        elif (found := SECOND.match(line)) and pending is not None:
            code.append(parse_instruction(*pending, int(found[1], 16)))
            pending = None
    if code is not None:
        resolve(code, labels)
    if not any(functions.values()):
        raise SassError("the disassembly has no functions: expected what `nvdisasm -hex` prints of a cubin")
    return {name: code for name, code in functions.items() if code}


def resolve(code: list, labels: dict) -> None:
    for instruction in code:
        for operand in instruction.operands:
            if found := TARGET.search(operand):
                instruction.target = labels.get(found[1], -1)
