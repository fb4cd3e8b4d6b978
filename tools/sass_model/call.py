"""The tables that a call of a compiled model copies to the device (SegmentRecord and its like in runtime/schema/program.fbs)."""
import dataclasses
import struct


@dataclasses.dataclass(frozen=True)
class Call:
    """`rows` tokens of `segments` sequences of equal length (the last has what is left), each of which has seen `position` tokens
    before; `outputs` rows are asked for logits or choices, the last of each sequence."""
    rows: int
    segments: int = 1
    position: int = 0
    choices: bool = True

    def __post_init__(self):
        if not 1 <= self.segments <= self.rows:
            raise ValueError(f"a call of {self.rows} rows has 1 to {self.rows} sequences, but {self.segments} were asked for")

    @property
    def outputs(self) -> int:
        return self.segments

    def lengths(self) -> list:
        each, more = divmod(self.rows, self.segments)
        return [each + (index < more) for index in range(self.segments)]

    def count(self, name: str) -> int:
        return {"Rows": self.rows, "Segments": self.segments, "Outputs": self.outputs, "One": 1}[name]

    def table(self, kind: str):
        """The bytes of one table; None of operands that are no table."""
        lengths, first = self.lengths(), 0
        records, slots, positions, outputs = b"", [], [], []
        for slot, length in enumerate(lengths):
            flags = (0 if self.position else 1) | 2  # what is fed ends with the call
            records += struct.pack("<iiiiq", slot, first, length, flags, self.position)
            slots += [slot] * length
            positions += range(self.position, self.position + length)
            first += length
            outputs.append(first - 1)
        return {"Segments": records, "RowSlots": struct.pack(f"<{len(slots)}i", *slots),
                "RowPositions": struct.pack(f"<{len(positions)}q", *positions), "OutputRows": struct.pack(f"<{len(outputs)}i", *outputs)}.get(kind)
