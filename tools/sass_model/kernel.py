"""The predicted time of one launch, and what bounds it."""
import collections
import dataclasses

from . import occupancy, steady
from .access import Box, Global, Phase
from .core import Core, Memories
from .mix import mix_of
from .pipes import cost_of
from .warp import OFF, Code, RunError, Warp

SAMPLES = 5     # blocks whose work is compared
FEW = 2         # few blocks of a grid do its work where one runs more than so many times as long as the mean
BUSY = 0.7      # a unit that works this part of the time bounds the kernel


@dataclasses.dataclass
class Prediction:
    """Of one launch. Times are seconds, `cycles_per_iteration` those of an SM with all its blocks; `dram_bytes` what cannot be avoided."""
    kernel: str
    note: str
    blocks: int
    threads: int
    registers: int
    shared_bytes: int
    blocks_per_core: int
    limit: str
    waves: float
    seconds: float
    bound: str
    iterations: int
    cycles_per_iteration: float
    cycles_per_block: float
    instructions_per_warp: int
    mix: dict
    tensor_per_iteration: float
    flops: int
    dram_bytes: int
    l2_bytes: int
    assumed: list
    unknown_addresses: int


class Predictor:
    """Predicts launches of one module; the same launch is simulated once. Not for several threads."""

    def __init__(self, functions: dict, parameters):
        self.functions, self.p = functions, parameters
        self.codes, self.costs, self.known = {}, {}, {}

    def predict(self, launch) -> Prediction:
        """RunError where the code cannot be followed or has no such kernel, Deadlock where warps wait for ever."""
        key = (launch.kernel, launch.grid, launch.flops, tuple((o.bytes, o.memory) for o in launch.operands), tuple(map(str, launch.arguments)))
        if key not in self.known:
            self.known[key] = self.simulate(launch)
        return dataclasses.replace(self.known[key], note=launch.note)

    def code(self, name: str) -> Code:
        if name not in self.functions:
            raise RunError(f"the code has no kernel {name}; it has {', '.join(sorted(self.functions))}")
        if name not in self.codes:
            self.codes[name] = Code(self.functions[name])
            self.costs[name] = [cost_of(i, self.p) for i in self.codes[name].instructions]
        return self.codes[name]

    def simulate(self, launch) -> Prediction:
        p, code = self.p, self.code(launch.kernel)
        warps = -(-launch.block_threads // 32)
        block, scale, whole, longest = self.representative(code, launch)
        loop = steady.main_loop(whole, warps)
        traces, loop = self.traces(code, launch, block, whole, loop, warps)
        held = occupancy.of(launch.registers, launch.shared_bytes, launch.block_threads, p)
        side_by_side = min(held.blocks, -(-launch.blocks // p.sms))
        repeats = loop.iterations / loop.long if loop else 1.0
        read, written = footprints(traces[-1], repeats)
        share, dram_bytes = dram_shares(launch, read, written)

        far = tuple(number for number, operand in enumerate(launch.operands) if operand.memory == "dram")

        def run(blocks: int, traces=traces, loop=loop, share=share):
            """(cycles of so many blocks side by side, cycles of an iteration, outcome of the longest run)"""
            def outcome(kept):
                memories = Memories(p, launch.blocks, share, p.l1_bytes - blocks * (launch.shared_bytes + p.shared_reserved), far)
                return Core(code.instructions, kept, blocks, memories, self.costs[launch.kernel]).run()
            long = outcome(traces[-1])
            if not loop:
                return long.cycles, 0.0, long
            each = max(0.0, long.cycles - outcome(traces[0]).cycles) / (loop.long - loop.short)
            return long.cycles + each * (loop.iterations - loop.long), each, long

        def alone(block: int) -> float:
            """Cycles of a block that has an SM to itself, and reads what no other block has."""
            whole = Warp(code, launch, block, 0).run()
            unshared = [float(number in far) for number in range(len(launch.operands))]
            return run(1, *self.traces(code, launch, block, whole, steady.main_loop(whole, warps), warps), unshared)[0]

        cycles, each, outcome = run(side_by_side)
        cycles *= scale
        full, rest = divmod(launch.blocks, side_by_side * p.sms)
        total = full * cycles
        if rest:
            last = -(-rest // p.sms)
            total += cycles if last == side_by_side else run(last)[0] * scale
        if longest is not None:
            total = max(total, alone(longest))
        seconds, floor = total / p.clock, dram_bytes / p.dram_bytes_per_second
        counts = mix_of(code.instructions, whole)
        tensor = sum(1 for index, note in zip(whole.issued, whole.notes) if note is not OFF and code.instructions[index].opcode.endswith("MMA"))
        return Prediction(
            launch.kernel, launch.note, launch.blocks, launch.block_threads, launch.registers, launch.shared_bytes, held.blocks, held.limit,
            launch.blocks / (side_by_side * p.sms), max(seconds, floor), "DRAM" if floor >= seconds else bound_of(outcome, self.p, launch),
            loop.iterations if loop else 1, each, cycles, len(whole.issued), counts, tensor / (loop.iterations if loop else 1), launch.flops,
            int(dram_bytes), int((sum(read.values()) + sum(written.values())) * launch.blocks), assumed_of(code, traces[-1]),
            sum(whole.unknown_addresses.values()))

    def representative(self, code, launch):
        """(a block, how much longer the mean of some blocks runs, the trace of the block's first warp, the block that runs longest where
        few do the work, else None)"""
        places = sorted({launch.blocks * k // SAMPLES + launch.blocks // (2 * SAMPLES) for k in range(SAMPLES)})
        if len(places) == 1 or launch.blocks < SAMPLES:
            return 0, 1.0, Warp(code, launch, 0, 0).run(), None
        runs = {}
        middle = places[len(places) // 2]
        runs[middle] = Warp(code, launch, middle, 0).run()
        most = len(runs[middle].issued)
        # Blocks of one length need no more than a look at the first and the last.
        for place in (0, places[0], places[-1]):
            runs[place] = Warp(code, launch, place, 0, counts_only=True).run()
        if any(abs(len(trace.issued) - most) > 0.02 * most for trace in runs.values()):
            for place in places:
                if place not in runs:
                    runs[place] = Warp(code, launch, place, 0, counts_only=True).run()
        longest = max(runs, key=lambda place: len(runs[place].issued))
        most_issued = len(runs[longest].issued)
        # The first block stands for none but itself.
        runs = {place: trace for place, trace in runs.items() if place in places}
        mean = sum(len(trace.issued) for trace in runs.values()) / len(runs)
        block = min(runs, key=lambda place: (abs(len(runs[place].issued) - mean), abs(place - middle)))
        trace = runs[block] if block == middle else Warp(code, launch, block, 0).run()
        return block, mean / len(trace.issued), trace, longest if most_issued > FEW * mean else None

    @staticmethod
    def traces(code, launch, block, whole, loop, warps):
        """Traces of all warps for the shorter and the longer run, and the loop; one list and None where nothing repeats."""
        if loop:
            runs = [whole] + [Warp(code, launch, block, number).run(stop=(loop.branch, loop.long)) for number in range(1, warps)]
            if all(trace.stopped for trace in runs[1:]):
                return [[steady.cut(trace, loop, kept, whole) for trace in runs] for kept in (loop.short, loop.long)], loop
            # Warps with roles of their own: all of it is simulated.
        return [[whole] + [Warp(code, launch, block, number).run() for number in range(1, warps)]], None


def footprints(traces, repeats: float) -> tuple:
    """(bytes that a block reads of each operand, those that it writes), each sector once. What is left out of traces repeats what is in
    them. Operand -1 has what the model knows no address of."""
    sectors = {"read": collections.defaultdict(set), "write": collections.defaultdict(set)}
    more = {"read": collections.Counter(), "write": collections.Counter()}
    boxes, announced = collections.Counter(), collections.Counter()
    for trace in traces:
        for note in trace.notes:
            if type(note) is Global:
                kind = "write" if note.kind == "store" else "read"
                if note.sectors is None:
                    more[kind][-1] += note.requested
                else:
                    sectors[kind][note.operand].update(note.sectors)
            elif type(note) is Box:
                boxes[note.barrier, note.operand] += 1
            elif type(note) is Phase and note.kind == "arrive":
                announced[note.address] += note.bytes
    arrivals = collections.Counter()
    for (barrier, _), count in boxes.items():
        arrivals[barrier] += count
    for (barrier, operand), count in boxes.items():
        more["read"][operand] += announced[barrier] * count / arrivals[barrier]
    return tuple({operand: (32 * len(sectors[kind].get(operand, ())) + more[kind][operand]) * repeats
                  for operand in sectors[kind].keys() | more[kind].keys()} for kind in ("read", "write"))


def dram_shares(launch, read: dict, written: dict) -> tuple:
    """(of each operand the part of what blocks ask for that comes from DRAM, bytes of all that goes there and comes from there)"""
    weights = {number for number, operand in enumerate(launch.operands) if operand.memory == "dram" and operand.name.startswith("weight")}
    # Other blocks read weights that this one does not, where products are launched together: each comes once.
    are_shared = -1 not in read and not weights <= read.keys()
    # Several blocks may read the same ones, each for other rows: only the first of them waits for DRAM.
    asked_of_weights = sum(read.get(number, 0) for number in weights) * launch.blocks
    of_weights = min(1.0, sum(launch.operands[number].bytes for number in weights) / asked_of_weights) if asked_of_weights else 1.0
    share, total = [], 0.0
    for number, operand in enumerate(launch.operands):
        if are_shared and number in weights:
            share.append(of_weights)
            total += operand.bytes
            continue
        asked, given = read.get(number, 0) * launch.blocks, written.get(number, 0) * launch.blocks
        is_far = operand.memory == "dram"
        share.append(min(1.0, operand.bytes / asked) if asked and is_far else 0.0)
        total += (min(operand.bytes, asked) + min(operand.bytes, given)) * is_far
    return share, total


def bound_of(outcome, p, launch) -> str:
    """The unit that is busy most of the time, else what warps wait for."""
    busy, cycles = outcome.busy, max(1.0, outcome.cycles)
    memories = Memories(p, launch.blocks, [], 0)
    used = {"issue": outcome.issued / 4 / cycles, "tensor": busy.get("tensor", 0) / 4 / cycles, "shared memory": busy.get("memory", 0) / cycles,
            "arithmetic": max(busy.get("fma", 0), busy.get("alu", 0), busy.get("fma_heavy", 0), busy.get("special", 0)) / 4 / cycles,
            "L2": outcome.l2_bytes / memories.l2_rate / cycles, "DRAM": outcome.dram_bytes / memories.dram_rate / cycles}
    most = max(used, key=used.get)
    if used[most] >= BUSY:
        return most
    waits = {reason: time for reason, time in outcome.waits.items() if reason in NAMES}
    return NAMES[max(waits, key=waits.get)] if waits else "latency"


NAMES = {"result": "latency of results", "copy": "latency of copies", "barrier": "barriers", "tensor": "latency of products", "memory": "memory unit"}


def assumed_of(code, traces) -> list:
    """Branches on unknown numbers that the model took to fall through, as text. Slow paths, which it leaves out, are not among them."""
    met = sorted({index for trace in traces for index in trace.assumed} - code.slow_paths)
    return [f"{code.instructions[index].address:#x} {code.instructions[index].text}" for index in met]
