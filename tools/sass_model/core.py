"""One SM runs the traces of some blocks side by side: four sub-cores issue in order, with the stall counts and scoreboards that ptxas
wrote; units, memories and barriers are queues. Times are cycles."""
import collections
import dataclasses
import heapq
import re

from .access import Barrier, Box, Global, Phase, Shared
from .pipes import cost_of
from .warp import OFF

KEPT = re.compile(r"^0x([0-9a-f]+)$")


class Deadlock(RuntimeError):
    """Warps that wait for what never comes: the model follows something wrongly."""


@dataclasses.dataclass
class Outcome:
    """`waits`: cycles that warps were ready for nothing but this, summed over warps; `busy`: cycles of each unit."""
    cycles: float
    issued: int
    busy: dict
    waits: dict
    l2_bytes: float
    dram_bytes: float
    requests: dict


class Memories:
    """Rates of the SM's part of L2 and DRAM. `dram_share`: of each operand the part of its bytes that are not in L2; `far`: operands that
    are written back to DRAM."""

    def __init__(self, parameters, active_sms: int, dram_share: list, l1_bytes: float, far: tuple = ()):
        spare = parameters.sms / max(1, min(parameters.sms, active_sms))
        self.p = parameters
        self.l2_rate = min(parameters.l2_most_bytes_per_cycle, parameters.l2_bytes_per_cycle * spare)
        own = parameters.dram_bytes_per_second / parameters.sms / parameters.clock
        self.dram_rate = own * min(parameters.dram_most_share, spare)
        self.share, self.far = dram_share, far
        self.l2_free = self.dram_free = 0.0
        self.l2_bytes = self.dram_bytes = 0.0
        self.cache, self.cache_sectors = collections.OrderedDict(), max(0, int(l1_bytes)) // 32
        self.requests = collections.Counter()

    def missing(self, access: Global, salt: int) -> int:
        """Sectors that the first cache has not."""
        if access.sectors is None:
            return -(-access.requested // 32)
        if not access.cached:
            return len(access.sectors)
        missing = 0
        for sector in access.sectors:
            key = (sector, salt)
            if key in self.cache:
                self.cache.move_to_end(key)
            else:
                missing += 1
                self.cache[key] = None
                if len(self.cache) > self.cache_sectors:
                    self.cache.popitem(last=False)
        return missing

    def fetch(self, operand: int, size: float, start: float, latency: float, dram_latency: float) -> float:
        """When `size` bytes that are asked for at `start` are there."""
        share = self.share[operand] if 0 <= operand < len(self.share) else 0.0
        self.requests[operand] += size
        self.l2_free = max(self.l2_free, start) + size / self.l2_rate
        self.l2_bytes += size
        done = max(start + latency, self.l2_free + latency / 2)
        if share > 0:
            self.dram_free = max(self.dram_free, start) + size * share / self.dram_rate
            self.dram_bytes += size * share
            late = dram_latency if share > 0.4 else latency
            done = max(done, start + late, self.dram_free + late / 2)
        return done

    def store(self, operand: int, size: float, start: float) -> None:
        self.l2_free = max(self.l2_free, start) + size / self.l2_rate
        self.l2_bytes += size
        if operand in self.far:
            self.dram_free = max(self.dram_free, start) + size / self.dram_rate
            self.dram_bytes += size


class MemoryBarrier:
    """An mbarrier: a phase is over when `needed` arrivals and all announced bytes have come."""

    def __init__(self, needed: int):
        self.needed, self.arrived, self.expected, self.copied = needed, 0, 0, 0.0
        self.phase, self.ready, self.waiting = 0, 0.0, []
        self.copies = []  # times at which boxes that belong to the running phase are there


class Lane:  # what the simulation holds of one warp
    __slots__ = ("block", "core", "number", "issued", "notes", "at", "boards", "groups", "pending", "group_products", "done", "reason")

    def __init__(self, block, core, number, trace):
        self.block, self.core, self.number, self.issued, self.notes = block, core, number, trace.issued, trace.notes
        self.at, self.boards, self.groups, self.pending, self.group_products = 0, [0.0] * 6, [], 0.0, []
        self.done, self.reason = None, ""


class Core:
    """A run of equal blocks that start together; `traces` has one for each warp of a block."""

    def __init__(self, instructions, traces, blocks: int, memories: Memories, costs=None):
        self.p, self.memories = memories.p, memories
        self.instructions = instructions
        self.costs = costs or [cost_of(i, self.p) for i in instructions]
        self.warps = [Lane(block, (block * len(traces) + number) % 4, number, trace)
                      for block in range(blocks) for number, trace in enumerate(traces)]
        self.per_block = len(traces)
        self.free = collections.defaultdict(float)
        self.queues = [[] for _ in range(4)]
        self.clock = [0.0] * 4
        self.named, self.barriers = collections.defaultdict(list), {}
        self.busy, self.waits = collections.Counter(), collections.Counter()
        self.total = 0
        self.copy_bytes = self.bytes_of_copies(traces)

    def bytes_of_copies(self, traces) -> float:
        """Bytes of one box: those announced to a barrier over the boxes that arrive at it."""
        announced, boxes = collections.Counter(), collections.Counter()
        for trace in traces:
            for note in trace.notes:
                if type(note) is Phase and note.kind == "arrive":
                    announced[note.address] += note.bytes
                elif type(note) is Box:
                    boxes[note.barrier] += 1
        return {address: announced[address] / count for address, count in boxes.items()}

    def run(self) -> Outcome:
        for number, warp in enumerate(self.warps):
            heapq.heappush(self.queues[warp.core], (0.0, number))
        while True:
            best = None
            for core in range(4):
                if self.queues[core]:
                    time = max(self.queues[core][0][0], self.clock[core])
                    if best is None or time < best[0]:
                        best = (time, core)
            if best is None:
                break
            self.step(*best)
        stuck = [warp for warp in self.warps if warp.done is None]
        if stuck:
            raise Deadlock(f"{len(stuck)} warps wait for ever, the first at {self.instructions[stuck[0].issued[stuck[0].at]].text}")
        m = self.memories
        return Outcome(max(warp.done for warp in self.warps), self.total, dict(self.busy), dict(self.waits), m.l2_bytes, m.dram_bytes,
                       dict(m.requests))

    def step(self, time: float, core: int) -> None:
        ready, number = heapq.heappop(self.queues[core])
        warp = self.warps[number]
        index = warp.issued[warp.at]
        i, cost, note = self.instructions[index], self.costs[index], warp.notes[warp.at]
        off = note is OFF
        need, reason = ready, "stall"
        if i.waits:
            for board in range(6):
                if i.waits >> board & 1 and warp.boards[board] > need:
                    need, reason = warp.boards[board], "result"
        if i.opcode == "DEPBAR":
            need, reason = self.await_copies(warp, i, need, reason)
        elif i.opcode == "WARPGROUP" and "DEPBAR" in i.modifiers:
            kept = int(i.operands[-1], 16) if i.operands and KEPT.match(i.operands[-1]) else 0
            if len(warp.group_products) > kept:
                done = warp.group_products[-1 - kept]
                if done > need:
                    need, reason = done, "tensor"
        elif type(note) is Phase and note.kind == "wait":
            barrier = self.barrier(warp, note)
            if note.number is not None and barrier.phase & 1 == note.number:
                barrier.waiting.append(number)
                warp.reason = "copy"
                return
            if barrier.ready > need:
                need, reason = barrier.ready, "copy"
        pipe = None
        memory = not off and type(note) in (Shared, Global)
        if memory or (cost.pipe == "memory" and not off):
            pipe = "memory"
        elif cost.pipe != "none" and not off:
            pipe = (cost.pipe, core)
        if pipe:
            limit = self.free[pipe] - (self.p.memory_queue if pipe == "memory" else 0)
            if limit > need:
                need, reason = limit, cost.pipe if pipe != "memory" else "memory"
        if need > time + 1e-9:
            self.waits[reason] += need - time
            heapq.heappush(self.queues[core], (need, number))
            return
        self.issue(time, core, number, warp, i, cost, note, pipe, off)

    def await_copies(self, warp, i, need, reason):
        found = KEPT.match(i.operands[-1]) if i.operands else None
        kept = int(found[1], 16) if found else 0
        if len(warp.groups) > kept:
            done = max(warp.groups[:len(warp.groups) - kept])
            warp.groups = warp.groups[len(warp.groups) - kept:] if kept else []
            if done > need:
                return done, "copy"
        return need, reason

    def barrier(self, warp, note) -> MemoryBarrier:
        return self.barriers.setdefault((warp.block, note.address), MemoryBarrier(1))

    def issue(self, time, core, number, warp, i, cost, note, pipe, off) -> None:
        self.clock[core] = time + 1
        self.total += 1
        done = time
        if pipe:
            busy = cost.busy
            if type(note) is Shared:
                busy = note.passes * 128 / self.p.shared_bytes_per_cycle
            elif type(note) is Global:
                busy = max(note.lines, note.requested / (64 if note.kind == "store" else 128)) + (note.kind == "copy")
            begin = max(self.free[pipe], time)
            self.free[pipe] = done = begin + busy
            self.busy[pipe if pipe == "memory" else pipe[0]] += busy
        if not off:
            done = self.effect(time, done, warp, i, cost, note, pipe)
        else:
            for board in (i.write_barrier, i.read_barrier):
                if board < 6:
                    warp.boards[board] = max(warp.boards[board], time + 4)
        warp.at += 1
        after = time + max(1, i.stall)
        if type(note) is Barrier and not note.arrives_only and not off:
            self.meet(time, number, warp, note)
            return
        if type(note) is Barrier and not off:
            self.meet(time, None, warp, note)
        self.next(number, warp, after, done)

    def next(self, number, warp, after, done=0.0) -> None:
        if warp.at >= len(warp.issued):
            warp.done = max(after, done)
        else:
            heapq.heappush(self.queues[warp.core], (after, number))

    def meet(self, time, number, warp, note) -> None:
        key = (warp.block, note.number)
        waiting = self.named[key]
        waiting.append((number, time))
        if len(waiting) < (-(-note.threads // 32) if note.threads else self.per_block):
            return
        at = max(when for _, when in waiting) + self.p.barrier_latency
        for other, when in waiting:
            if other is not None:
                self.waits["barrier"] += at - when
                self.next(other, self.warps[other], at)
        self.named[key] = []

    def effect(self, time, done, warp, i, cost, note, pipe) -> float:
        """What an instruction does to memories, barriers and its warp's scoreboards; when its result is there."""
        p, kind = self.p, type(note)
        written, read = time + cost.latency, time + p.read_release
        if kind is Global:
            done, read = self.global_access(warp, note, done)
            written = done
        elif kind is Shared:
            written, read = done + p.shared_latency, done + p.read_release
            done = written
        elif kind is Box:
            self.copy_box(time, warp, note)
        elif kind is Phase:
            self.phase(time, warp, note)
        elif i.opcode.endswith("GMMA"):
            # B, and A where it is in shared memory, are read from there for the warp group.
            self.free["memory"] = max(self.free["memory"], time) + cost.busy / 8
            self.busy["memory"] += cost.busy / 8
            written, read = done + cost.latency, done
            if any(operand.startswith("gsb") for operand in i.operands):
                warp.group_products.append(written)
        elif i.opcode == "LDGDEPBAR":
            warp.groups.append(max(warp.pending, time))
            warp.pending = 0.0
        elif pipe:
            written = done + (cost.latency if i.write_barrier < 6 else 0)
            read = max(read, done) if pipe == "memory" else read
        for board, when in ((i.write_barrier, written), (i.read_barrier, read)):
            if board < 6:
                warp.boards[board] = max(warp.boards[board], when)
        return max(done, time)

    def global_access(self, warp, note, done) -> tuple:
        p, m = self.p, self.memories
        if note.kind == "store":
            m.store(note.operand, len(note.sectors) * 32 if note.sectors is not None else note.requested, done)
            return done, done + p.read_release
        missing = m.missing(note, warp.block)
        there = m.fetch(note.operand, missing * 32, done, p.l2_latency, p.dram_latency) if missing else done + p.l1_latency
        if note.kind == "copy":
            warp.pending = max(warp.pending, there)
            return there, max(self.free["memory"], done) + p.read_release
        return there, done + p.read_release

    def copy_box(self, time, warp, note) -> None:
        p, size = self.p, self.copy_bytes.get(note.barrier, 0.0)
        self.free["memory"] = max(self.free["memory"], time) + size / p.shared_bytes_per_cycle
        self.busy["memory"] += size / p.shared_bytes_per_cycle
        there = self.memories.fetch(note.operand, size, time, p.tma_latency, p.tma_dram_latency)
        barrier = self.barriers.setdefault((warp.block, note.barrier), MemoryBarrier(1))
        barrier.copied += size
        barrier.copies.append(there)
        self.finish(barrier, time)

    def phase(self, time, warp, note) -> None:
        barrier = self.barrier(warp, note)
        if note.kind == "init":
            barrier.needed = note.number or 1
        elif note.kind == "arrive":
            barrier.arrived += note.number
            barrier.expected += note.bytes
            self.finish(barrier, time)

    def finish(self, barrier, time) -> None:
        """Ends a phase that is over: those who wait for it go on when its last copy is there."""
        if barrier.arrived < barrier.needed or barrier.copied + 0.5 < barrier.expected:
            return
        barrier.ready = max([time, *barrier.copies])
        barrier.phase += 1
        barrier.arrived, barrier.expected, barrier.copied, barrier.copies = 0, 0, 0.0, []
        for number in barrier.waiting:
            warp = self.warps[number]
            self.waits["copy"] += max(0.0, barrier.ready - time)
            heapq.heappush(self.queues[warp.core], (barrier.ready, number))
        barrier.waiting = []
