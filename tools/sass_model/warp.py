"""One warp of a block runs a kernel's machine code: its integers, predicates and branches are computed, and what it issues is recorded.

Numbers in floating point are unknown, and so is all that is loaded from memory except the call's tables. A branch whose condition is
unknown skips a slow path (a few instructions with a call), else it falls through; every such place is recorded."""
import collections
import dataclasses

from . import access
from .lanes import LANE, LANES, joined, lift, narrowed
from .semantics import computation
from .warp_state import State, address_reader, predicate_reader, reader, register_of

MOST_ISSUED = 4_000_000
SPAN = 8  # instructions between a branch and the slow path that it leaves out


class RunError(RuntimeError):
    """Machine code that the model cannot follow; the text names the instruction."""


@dataclasses.dataclass(slots=True)
class Trace:
    """What a warp issues: indices of instructions, and beside each what the memory or barrier instruction does, or None."""
    issued: list
    notes: list
    back_edges: collections.Counter   # index of a branch that goes back -> how often it did
    assumed: collections.Counter      # index of a branch on unknown numbers -> how often it was met
    unknown_addresses: collections.Counter
    stopped: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Off:
    """An instruction whose predicate is false in all lanes: it takes an issue slot alone."""


OFF = Off()
LOADS = {"LDG": "load", "LD": "load"}
STORES = {"STG": "store", "ST": "store", "RED": "store", "REDG": "store", "ATOMG": "store", "ATOM": "store"}
SHARED = {"LDS": "read", "STS": "write", "LDSM": "matrix", "STSM": "matrix", "ATOMS": "write"}


class Code:
    """A kernel's instructions, made ready to run."""

    def __init__(self, instructions: list):
        self.instructions = instructions
        self.guards = [predicate_reader(("!" if i.negated else "") + i.predicate) if i.predicate else None for i in instructions]
        self.steps = [self.step_of(i) for i in instructions]
        # Branches around a call, such as that of a division whose operands are not normal.
        self.slow_paths = {at for at, i in enumerate(instructions) if i.opcode == "BRA" and at < i.target
                           and any(other.opcode == "CALL" for other in instructions[at + 1:min(i.target, at + 1 + SPAN)])}

    def step_of(self, i):
        """("compute", function), ("memory", ...) or what the run loop does itself."""
        if i.opcode in ("BRA", "JMP", "BRX", "EXIT", "BSSY", "BSYNC", "CALL", "RET", "BREAK", "WARPSYNC"):
            extra = [text for text in i.operands if text.lstrip("!")[:1] in "PU" and "`" not in text]
            return i.opcode, predicate_reader(extra[0]) if extra and i.opcode == "BRA" else None
        if i.opcode in LOADS or i.opcode in STORES or i.opcode in SHARED or i.opcode in ("LDGSTS", "SYNCS", "UTMALDG", "UTMASTG", "BAR", "LDL", "STL", "UBLKCP"):
            return "memory", self.memory_of(i)
        return "compute", computation(i)

    @staticmethod
    def memory_of(i):
        compute = computation(i)
        texts = [text for text in i.operands if "[" in text and not text.startswith("c[")]
        addresses = [address_reader(text) for text in texts]
        width = access.width_of(i)
        if i.opcode in LOADS or i.opcode in STORES:
            kind = LOADS.get(i.opcode) or STORES[i.opcode]

            def note(s, run):
                at = addresses[0](s)
                value = run.load(at, width) if kind == "load" else None
                result = None if run.counts_only else access.of_global(kind, at, width, s.mask, i, run)
                if value is not None:
                    place = next(p for text in i.operands if (p := register_of(text)))
                    for index in range(max(1, width // 4)):
                        s.write(place[0], place[1] + index, value[index])
                elif kind == "load" or i.opcode.startswith("ATOM"):
                    compute(s)
                return result
        elif i.opcode in SHARED:
            def note(s, run):
                result = None if run.counts_only else access.of_shared(SHARED[i.opcode], addresses[0](s), width, s.mask, i)
                compute(s)
                return result
        elif i.opcode == "LDGSTS":
            # The source is guarded by a predicate operand: without it zeros are written.
            guards = [predicate_reader(text) for text in i.operands[2:] if text.lstrip("!").startswith("P")]

            def note(s, run):
                mask = s.mask
                for guard in guards:
                    condition = guard(s)
                    mask = narrowed(mask, True if condition is None else condition) if mask is not None else None
                return None if run.counts_only else access.of_global("copy", addresses[1](s), width, mask, i, run)
        elif i.opcode == "SYNCS":
            value = reader(i.operands[-1]) if len(i.operands) > 2 else reader("RZ")

            def note(s, run):
                at, number = addresses[0](s), value(s)
                compute(s)
                return access.of_barrier(i, at, number, s.mask)
        elif i.opcode in ("UTMALDG", "UBLKCP"):
            place = register_of(texts[0].strip("[]").split("+")[0])
            box = register_of(texts[1].strip("[]").split("+")[0]) if len(texts) > 1 else None

            def note(s, run):
                return access.Box(s.read(place[0], place[1] + 1), run.box_of(s.read(*box)) if box else None)
        elif i.opcode == "BAR":
            texts_ = [text for text in i.operands if register_of(text) or text[:1].isdigit()]
            numbers = [reader(text) for text in texts_]

            def note(s, run):
                values = [number(s) for number in numbers]
                return access.Barrier("ARV" in i.modifiers, values[0] if values else 0, values[1] if len(values) > 1 else None)
        else:
            def note(s, run):
                compute(s)
                return None
        return note


class Warp:
    """A run of one warp. `launch` gives constants and the tables that loads may read (launch.py). With `counts_only` the trace has no
    accesses to memory, for who asks how much is issued alone."""

    def __init__(self, code: Code, launch, block: int, warp: int, counts_only: bool = False):
        self.code, self.launch, self.counts_only = code, launch, counts_only
        self.state = State(launch.constants)
        x, y, z = launch.block_of(block)
        tid = tuple(lane + warp * LANES for lane in LANE)
        bx, by, _ = launch.threads
        self.state.special = {
            "SR_TID.X": tuple(t % bx for t in tid), "SR_TID.Y": joined(tuple(t // bx % by for t in tid)),
            "SR_TID.Z": joined(tuple(t // (bx * by) for t in tid)),
            "SR_CTAID.X": x, "SR_CTAID.Y": y, "SR_CTAID.Z": z, "SR_LANEID": LANE, "SR_CgaCtaId": 0, "SR_SWINHI": 0, "SR_NCTAID.X": launch.grid[0],
            "SR_CTAid.X": x, "SR_CLUSTERID.X": x, "SR_WARPID": warp, "SR_VIRTID": 0}
        self.trace = Trace([], [], collections.Counter(), collections.Counter(), collections.Counter())
        self.stack, self.calls, self.gone = [], [], None

    def load(self, at, width):
        """What the call's tables hold at an address, a word for each 4 bytes; None of other memory."""
        return self.launch.tables.read(at, width)

    def operand_of(self, at):
        return self.launch.operand_of(at)

    def box_of(self, at):
        return self.launch.box_of(at)

    def run(self, most: int = MOST_ISSUED, stop: tuple = (-1, 0)) -> Trace:
        """Runs to the end, or until the branch stop[0] has gone back stop[1] times; RunError after `most` instructions."""
        s, code, trace = self.state, self.code, self.trace
        issued, notes = trace.issued, trace.notes
        steps, guards, instructions = code.steps, code.guards, code.instructions
        at = 0
        while at is not None and at < len(steps):
            if len(issued) > most:
                raise RunError(f"more than {most} instructions in one warp, at {instructions[at].text}")
            kind, action = steps[at]
            condition = True if guards[at] is None else guards[at](s)
            issued.append(at)
            if kind != "compute" and kind != "memory":
                notes.append(None)
                before, at = at, self.flow(kind, at, condition, action)
                if before == stop[0] and trace.back_edges[before] >= stop[1]:
                    trace.stopped = True
                    return trace
                continue
            held = s.mask
            lanes = narrowed(held, True if condition is None else condition)
            if lanes is None:
                notes.append(OFF)
            else:
                s.mask = lanes
                notes.append(action(s) if kind == "compute" else action(s, self))
                s.mask = held
            at += 1
        return trace

    def flow(self, kind, at, condition, extra):
        """Where the warp goes on after an instruction that may branch; None: nowhere."""
        s, stack, i = self.state, self.stack, self.code.instructions[at]
        if kind == "BSSY":
            stack.append((at, i.target, s.mask))
        elif kind == "BSYNC":
            return self.converge(at)
        elif kind == "EXIT":
            return self.leave(at, condition)
        elif kind == "CALL" and condition is not False:
            if i.target < 0:
                raise RunError(f"a call that leaves the kernel: {i.text}")
            self.calls.append(at + 1)
            return i.target
        elif kind == "RET" and condition is not False:
            return self.calls.pop() if self.calls else None
        elif kind == "BRX":
            raise RunError(f"an indirect branch: {i.text}")
        elif kind in ("BRA", "JMP"):
            return self.branch(at, condition, extra)
        return at + 1

    # `stack` has entries of two kinds: (where a BSSY stands, its BSYNC, the lanes that meet there), and (None, where lanes that wait go
    # on, which lanes).
    def converge(self, at):
        s, stack = self.state, self.stack
        while stack:
            start, place, mask = stack.pop()
            if start is None:  # others arrive first
                s.mask = mask
                return place
            if place in (at, at + 1):
                s.mask = self.alive(mask)
                break
        return at + 1

    def alive(self, mask):
        """Those of the lanes that have not left; all lanes of a warp are not gone while it runs."""
        if self.gone is None:
            return mask
        rest = tuple(used and not gone for used, gone in zip((True,) * LANES if mask is True else mask, self.gone))
        return rest if any(rest) else mask

    def leave(self, at, condition):
        s = self.state
        if condition is None:
            self.trace.assumed[at] += 1
            return at + 1
        going = narrowed(s.mask, condition)
        if going is None:
            return at + 1
        left = (True,) * LANES if going is True else going
        self.gone = left if self.gone is None else tuple(a or b for a, b in zip(self.gone, left))
        staying = tuple(used and not gone for used, gone in zip((True,) * LANES if s.mask is True else s.mask, left))
        if any(staying):
            s.mask = staying
            return at + 1
        while self.stack:  # lanes that wait go on
            start, place, mask = self.stack.pop()
            if not all(gone or not used for used, gone in zip((True,) * LANES if mask is True else mask, self.gone)):
                s.mask = self.alive(mask)
                return place
        return None

    def branch(self, at, condition, extra):
        s, trace, i = self.state, self.trace, self.code.instructions[at]
        if extra is not None:
            condition = both(condition, extra(s))
        if i.target < 0:
            raise RunError(f"a branch that leaves the kernel: {i.text}")
        if condition is None:
            trace.assumed[at] += 1
            return i.target if at in self.code.slow_paths else at + 1
        going = narrowed(s.mask, condition)
        if going is None:
            return at + 1
        if i.target == at:
            raise RunError(f"an endless branch: {i.text}")
        if going != s.mask and "ANY" not in i.modifiers:
            staying = tuple(used and not gone for used, gone in zip((True,) * LANES if s.mask is True else s.mask, going))
            # Of a branch ahead those that fall through run first, of a loop those that go on.
            first, then = ((at + 1, staying), (i.target, going)) if i.target > at else ((i.target, going), (at + 1, staying))
            self.stack.append((None, *then))
            s.mask = first[1]
            if i.target < at:
                trace.back_edges[at] += 1
            return first[0]
        if i.target < at:
            trace.back_edges[at] += 1
        return i.target


both = lift(lambda a, b: bool(a and b))
