"""What is measured of a GPU by the kernels of calibrate_kernels.py and calibrate_memory.py, and how."""
import statistics
import time
from ctypes import c_uint32, c_uint64

from . import calibrate_kernels as kernels
from . import calibrate_memory as memory
from .driver import Arguments

NEVER = 0x7fedcba9  # what no result is
SEED = 0x2f1
BIG = 2 << 30
# Of the memory that kernels write to: 8 MB for clocks, then what they are given as b, then a map of boxes.
OUT_BYTES, SPARE, MAP = 16 << 20, 8 << 20, 12 << 20
REPEATS = 3
ALIGNMENT = 1 << 10  # of shared memory that is taken at the launch


def entry(name: str, unit: str, values: list[float], how: str, raw: dict | None = None) -> dict:
    """A parameter: the median of repeats, how far they lie apart, and the numbers."""
    middle = statistics.median(values)
    spread = (max(values) - min(values)) / abs(middle) if middle else 0.0
    return {"name": name, "unit": unit, "value": round(middle, 5), "spread": round(spread, 4), "how": how,
            "raw": {"repeats": [round(value, 5) for value in values], **(raw or {})}}


def rounded(value: float) -> float:
    return float(f"{value:.6g}")


class Bench:
    """A GPU with the memory that kernels are given."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.out = gpu.alloc(OUT_BYTES)
        gpu.fill(self.out, 0, OUT_BYTES // 4)
        self.buffers: list[int] = []

    def big(self, which: int) -> int:
        """One of two buffers of 2 GB, made when it is first asked for."""
        while len(self.buffers) <= which:
            address = self.gpu.alloc(BIG)
            self.gpu.fill(address, 0x3f803f80, BIG // 4)
            self.buffers.append(address)
        return self.buffers[which]

    def forget(self) -> None:
        """Fills the L2 cache with what nobody reads."""
        self.gpu.fill(self.big(1), 0x3f803f80, (256 << 20) // 4)

    def arguments(self, n: int, k: int = SEED, a: int = 0, b: int = 0, m: int = NEVER) -> Arguments:
        addresses = (self.out, a or self.out, b or self.out + SPARE)
        return Arguments([*map(c_uint64, addresses), *map(c_uint32, (n, m, k))])

    def run(self, text: str, grid: int, block: int, shared: int = 0, cluster: int = 0, **values) -> list[int]:
        """The cycles that each block has taken, from its first warp's start to its last one's end."""
        warps = block // 32
        self.gpu.load(text).launch(grid, block, self.arguments(**values), shared, cluster)
        self.gpu.wait()
        clocks = self.gpu.read_u64(self.out + kernels.TIMES, 2 * warps * grid)
        blocks = [clocks[2 * warps * i:2 * warps * (i + 1)] for i in range(grid)]
        return [max(block[1::2]) - min(block[::2]) for block in blocks]

    def groups(self) -> list[int]:
        """The cycles that each warp group of the first block of the last run has taken, for two groups."""
        clocks = self.gpu.read_u64(self.out + kernels.TIMES, 16)
        return [max(clocks[1:8:2]) - min(clocks[0:8:2]), max(clocks[9:16:2]) - min(clocks[8:16:2])]

    def cycles(self, text: str, grid: int, block: int, repeats: int = REPEATS, before=None, **values) -> list[float]:
        """Of a block, the mean of all: a run that warms up, then the repeats."""
        results = []
        for repeat in range(repeats + 1):
            if before:
                before()
            taken = self.run(text, grid, block, **values)
            if repeat:
                results.append(sum(taken) / len(taken))
        return results

    def seconds(self, text: str, grid: int, block: int, repeats: int = REPEATS, before=None, **values) -> list[float]:
        """By events of the GPU: a run that warms up, then the repeats."""
        kernel, arguments = self.gpu.load(text), self.arguments(**values)
        results = []
        for repeat in range(repeats + 1):
            if before:
                before()
            taken = self.gpu.seconds(lambda: kernel.launch(grid, block, arguments))
            if repeat:
                results.append(taken)
        return results


def clocks(bench: Bench) -> list[dict]:
    sms, values = bench.gpu.sms, []
    for repeat in range(60):  # some 100 ms: clocks rise first
        cycles = bench.run(kernels.CLOCKS, 2 * sms, 256, n=20000)
        nanoseconds = bench.gpu.read_u64(bench.out + SPARE, 2 * sms)
        if repeat >= 55:
            values.append(sum(cycles) / max(1, sum(nanoseconds)))
    return [entry("sm_clock", "GHz", values, "clock64 against globaltimer, all SMs multiplying and adding, after 0.1 s of it")]


def arithmetic(op: str):
    def measure(bench: Bench) -> list[dict]:
        turns = 48
        one = kernels.chains(op, 1)
        steps = turns * kernels.steps_of(op)
        latency = [c / steps for c in bench.cycles(one, 1, 32, n=turns)]
        chains = 4 if kernels.steps_of(op) <= 8 else 8
        many = kernels.chains(op, chains)
        total = turns * max(1, kernels.steps_of(op) // chains) * chains
        raw, values = {}, []
        for warps in (1, 4, 8, 16):
            values = [c * min(warps, 4) / (total * warps) for c in bench.cycles(many, 1, 32 * warps, n=turns)]
            raw[f"{warps} warps"] = [rounded(value) for value in values]
        what = kernels.MADE_OF.get(op, "one instruction")
        return [entry(f"{op}.latency", "cycles", latency, f"a dependent chain of one warp, {what} a step"),
                entry(f"{op}.issue", "cycles of a scheduler a step", values, f"16 warps on one SM, {chains} chains each, {what} a step",
                      raw)]
    return measure


def shared_rate(what: str):
    def measure(bench: Bench) -> list[dict]:
        raw, values, text = {}, [], kernels.shared_memory(what)
        size = 128 if what == "lds32" else 512
        for warps in (1, 4, 8, 16, 32):
            values = [warps * 200 * 8 * size / c for c in bench.cycles(text, 1, 32 * warps, n=200, k=0)]
            raw[f"{warps} warps"] = [rounded(value) for value in values]
        return [entry(f"shared.{what}", "bytes/cycle/SM", values, "32 warps of one SM, no conflicts", raw)]
    return measure


def shared_latency(bench: Bench) -> list[dict]:
    return [entry("shared.latency", "cycles", [c / (32 * 100) for c in bench.cycles(kernels.SHARED_CHASE, 1, 32, n=100)],
                  "a chain of 32-bit words, one warp")]


def tensor_warp(what: str):
    def measure(bench: Bench) -> list[dict]:
        turns = 200
        latency = [c / (16 * turns) for c in bench.cycles(kernels.mma(what, 1), 1, 32, n=turns)]
        raw, values, text = {}, [], kernels.mma(what, 8)
        for warps in (1, 4, 8, 16):
            values = [c * min(warps, 4) / (16 * turns * warps) for c in bench.cycles(text, 1, 32 * warps, n=turns)]
            raw[f"{warps} warps"] = [rounded(value) for value in values]
        return [entry(f"mma.{what}.latency", "cycles", latency, "a chain through the accumulators, one warp"),
                entry(f"mma.{what}.issue", "cycles of a scheduler an instruction", values, "16 warps of one SM, 8 accumulators each", raw)]
    return measure


def tensor_group(n: int, registers: bool):
    def measure(bench: Bench) -> list[dict]:
        turns, raw, values = 400, {}, []
        text = kernels.wgmma(n, registers, 4)
        for groups in (1, 2):
            values = [c / (4 * turns * groups) for c in bench.cycles(text, 1, 128 * groups, n=turns)]
            raw[f"{groups} groups"] = [rounded(value) for value in values]
        latency = [c / (4 * turns) for c in bench.cycles(kernels.wgmma(n, registers, 1), 1, 128, n=turns)]
        four = [c / turns for c in bench.cycles(kernels.wgmma(n, registers, -4), 1, 128, n=turns)]
        name = f"wgmma.m64n{n}k16.{'rs' if registers else 'ss'}"
        sms = bench.gpu.sms
        flops = [sms * 2 * 4000 * 4 * 2 * 64 * n * 16 / s / 1e12 for s in bench.seconds(text, sms, 256, n=4000)]
        return [entry(f"{name}.rate", "cycles of an SM an instruction", values,
                      "two warp groups, four products in flight each, swizzle of 128 bytes", raw),
                entry(f"{name}.latency", "cycles", latency, "one warp group: fence, one product, commit, wait for it"),
                entry(f"{name}.latency_of_four", "cycles", four, "one warp group: fence, four products, commit, wait for them"),
                entry(f"{name}.chip", "TFLOP/s", flops, "all SMs, two warp groups each, for some ms")]
    return measure


def tensor_beside_loads(bench: Bench) -> list[dict]:
    turns, results = 400, []
    for n in (64, 128, 256):
        text, products, loads = kernels.wgmma(n, False, 4, True), [], []
        for _ in range(REPEATS + 1):
            bench.run(text, 1, 256, n=turns, k=0)
            first, second = bench.groups()
            products.append(first / (4 * turns))
            loads.append(turns * 16 * 4 * 512 / second)
        how = "one warp group multiplies, another one reads shared memory by 16 bytes a lane, 32 KB for each four products"
        results += [entry(f"wgmma.m64n{n}k16.ss.beside_loads", "cycles an instruction", products[1:], how),
                    entry(f"shared.lds128.beside_wgmma_n{n}", "bytes/cycle/SM", loads[1:], how)]
    return results


def barriers(bench: Bench) -> list[dict]:
    results, text = [], kernels.barrier()
    for warps in (1, 2, 4, 8, 16, 32):
        results.append(entry(f"barrier.{warps}_warps", "cycles", [c / (16 * 100) for c in bench.cycles(text, 1, 32 * warps, n=100)],
                             "bar.sync of all warps, one after the other"))
    return results


def mbarriers(bench: Bench) -> list[dict]:
    text = kernels.mbarrier()
    return [entry(f"mbarrier.{warps}_warps", "cycles", [c / 500 for c in bench.cycles(text, 1, 32 * warps, n=500)],
                  "all threads arrive, and try_wait for the phase") for warps in (1, 4, 8)]


# Loads or stores at once by a thread, threads of a block, blocks of an SM.
SHAPES = [(4, 256, 2), (4, 256, 4), (4, 256, 8), (8, 256, 4), (1, 1024, 2), (2, 1024, 2), (4, 1024, 1), (4, 1024, 2), (8, 512, 2)]


def dram_rate(what: str):
    def measure(bench: Bench) -> list[dict]:
        raw, best = {}, None
        moved = 2 if what == "copy" else 1
        for unroll, threads, blocks in SHAPES:
            grid = blocks * bench.gpu.sms
            turns = BIG // (grid * threads * 16 * unroll)
            size = moved * turns * grid * threads * 16 * unroll
            values = [size / s / 1e12 for s in bench.seconds(memory.stream(what, unroll), grid, threads, repeats=5, n=turns, k=BIG - 1,
                                                             a=bench.big(0), b=bench.big(1))]
            raw[f"{blocks} blocks of {threads}, {unroll} at once"] = [rounded(value) for value in values]
            if best is None or statistics.median(values) > statistics.median(best):
                best = values
        return [entry(f"dram.{what}", "TB/s", best, "2 GB by 16-byte accesses, the best of the shapes; read and written bytes count", raw)]
    return measure


def dram_few(bench: Bench) -> list[dict]:
    results = []
    for grid in (1, 8, 16, 32, 66, bench.gpu.sms):
        raw, best = {}, [0.0]
        for unroll, threads in ((4, 256), (4, 1024), (8, 1024)):
            turns = max(1, (32 << 20) // (threads * 16 * unroll)) if grid < 66 else (8 << 20) // (threads * 16 * unroll)
            size = turns * grid * threads * 16 * unroll
            values = [size / s / 1e9 / grid for s in bench.seconds(memory.stream("read", unroll), grid, threads, n=turns, k=BIG - 1,
                                                                   a=bench.big(0), before=bench.forget)]
            raw[f"{threads} threads, {unroll} at once"] = [rounded(value) for value in values]
            if statistics.median(values) > statistics.median(best):
                best = values
        results.append(entry(f"dram.read.{grid}_blocks", "GB/s of a block", best, "blocks on SMs of their own read what L2 has not", raw))
    return results


def latencies(bench: Bench) -> list[dict]:
    gpu, results = bench.gpu, []

    def link(entries: int) -> None:
        gpu.load(memory.LINK).launch((entries + 255) // 256, 256, bench.arguments(n=1, k=entries, a=bench.big(0)))

    for name, size in (("dram.latency", 1 << 30), ("dram.latency_256MB", 256 << 20)):
        link(size >> 7)
        values = [c / 2000 for c in bench.cycles(memory.chase("cg"), 1, 32, before=bench.forget, n=250, k=0, a=bench.big(0))]
        results.append(entry(name, "cycles", values, f"a chain through {size >> 20} MB in no order, one warp, L2 filled with other data"))
    link((8 << 20) >> 7)
    values = [c / 8000 for c in bench.cycles(memory.chase("cg"), 1, 32, n=1000, k=8192, a=bench.big(0))]
    results.append(entry("l2.latency", "cycles", values,
                         "a chain through 8 MB that is in L2, not by L1, one warp"))
    bench.run(memory.CHASE_RECORDED, 1, 32, n=1, k=0, a=bench.big(0))
    words = gpu.read_u64(bench.out + SPARE, memory.RECORDS // 2)
    each = sorted([word & 0xffffffff for word in words] + [word >> 32 for word in words])
    shares = {f"{share} %": each[min(len(each) - 1, len(each) * share // 100)] for share in (1, 5, 25, 50, 75, 95, 99)}
    results.append(entry("l2.latency_spread", "cycles", [float(shares["95 %"] - shares["5 %"])],
                         "each link by itself, with the clock's cost: the 95th less the 5th percentile; near and far halves", shares))
    link((16 << 10) >> 7)
    results.append(entry("l1.latency", "cycles", [c / 8000 for c in bench.cycles(memory.chase("ca"), 1, 32, n=1000, k=64, a=bench.big(0))],
                         "a chain through 16 KB that is in L1, one warp"))
    return results


def l2_rate(bench: Bench) -> list[dict]:
    sms, results, window = bench.gpu.sms, [], 16 << 20
    for grid in (1, 8, 32, 66, sms, 2 * sms):
        raw, best = {}, [0.0]
        for unroll, threads in ((2, 1024), (4, 1024), (8, 512)):
            turns = (4 << 20 if grid > 66 else 16 << 20) // (threads * 16 * unroll)
            size = turns * threads * 16 * unroll * max(1, grid // sms)
            values = [size / c for c in bench.cycles(memory.stream("read", unroll), grid, threads, n=turns, k=window - 1, a=bench.big(0))]
            raw[f"{threads} threads, {unroll} at once"] = [rounded(value) for value in values]
            if statistics.median(values) > statistics.median(best):
                best = values
        how = "blocks of as many SMs, or two on each, read 16 MB that are in L2"
        results.append(entry(f"l2.read.{grid}_blocks", "bytes/cycle/SM", best, how, raw))
    for what in ("read", "write"):
        for name, grid in (("all", 2 * sms), ("one_block", 1)):
            turns = (8 << 20) // (1024 * 16 * 4)
            values = [grid * (8 << 20) / s / 1e12 for s in bench.seconds(
                memory.stream(what, 4), grid, 1024, n=turns, k=window - 1, a=bench.big(0), b=bench.big(1))]
            results.append(entry(f"l2.{what}.{name}", "TB/s", values, "16 MB again and again, by events"))
    values = [100 * (64 << 10) / c for c in bench.cycles(memory.stream("read", 4), 1, 1024, n=100, k=(64 << 10) - 1, a=bench.big(0))]
    results.append(entry("l1.read", "bytes/cycle/SM", values, "1024 threads of one SM read 64 KB that are in L1, 16 bytes each"))
    return results


def async_copies(bench: Bench) -> list[dict]:
    results, room, source = [], 4 * memory.ASYNC_ROOM + ALIGNMENT, bench.big(0)
    for name, mask, before in (("l2", (4 << 20) - 1, None), ("dram", BIG - 1, bench.forget)):
        values = [c / 200 for c in bench.cycles(memory.cp_async("latency"), 1, 32, before=before, n=200, k=mask, a=source, shared=room)]
        results.append(entry(f"cp_async.latency.{name}", "cycles", values, "one copy of 512 bytes of a warp, waited for; 200 in a row"))
    values = [c / (8 * 100) for c in bench.cycles(memory.cp_async("issue"), 1, 32, n=100, k=(64 << 10) - 1, a=source, shared=room)]
    results.append(entry("cp_async.issue", "cycles", values, "eight copies in a row of one warp, until the last is issued, each"))
    near, sms = (16 << 20) - 1, bench.gpu.sms
    for name, grid, mask in (("one_sm.l2", 1, near), ("all.l2", sms, near), ("all.dram", sms, BIG - 1)):
        values = [1000 * 256 * 64 / c for c in bench.cycles(memory.cp_async("rate"), grid, 256, n=1000, k=mask, a=source, shared=room)]
        results.append(entry(f"cp_async.rate.{name}", "bytes/cycle/SM", values, "8 warps of an SM, four turns of 16 KB in flight"))
    return results


def bulk_copies(tensor: bool):
    def measure(bench: Bench) -> list[dict]:
        gpu, sms, results = bench.gpu, bench.gpu.sms, []
        text, prefix = memory.bulk(tensor), "tma" if tensor else "bulk"
        source = bench.big(0)
        if tensor:
            source = bench.out + MAP
            gpu.write(source, gpu.tensor_map(bench.big(0), BIG // 8192, 4096, 64))
        for size in (8192,) if tensor else (4096, 16384):
            # Places of the map are boxes of 64 x 64: 64 of them in a row.
            far, near = BIG // size - 1, (8 << 20) // size - 1
            for name, mask, before in (("l2", near, None), ("dram", far, bench.forget)):
                values = [c / 200 for c in bench.cycles(text, 1, 32, before=before, n=200, m=size, k=mask << 5 | 1, a=source,
                                                        shared=size + ALIGNMENT)]
                how = "one copy, waited for by its barrier; 200 in a row"
                results.append(entry(f"{prefix}.{size}.latency.{name}", "cycles", values, how))
            for name, grid, mask in (("one_sm.l2", 1, near), ("all.l2", sms, near), ("one_sm.dram", 1, far), ("all.dram", sms, far)):
                raw, best, turns = {}, [0.0], (4 << 20) // size
                for stages in (2, 4, 8, 12):
                    values = [turns * size / c for c in bench.cycles(
                        text, grid, 32, before=bench.forget if mask == far else None, n=turns, m=size, k=mask << 5 | stages, a=source,
                        shared=stages * size + ALIGNMENT)]
                    raw[f"{stages} in flight"] = [rounded(value) for value in values]
                    if statistics.median(values) > statistics.median(best):
                        best = values
                how = "one thread of each SM, the best number in flight"
                results.append(entry(f"{prefix}.{size}.rate.{name}", "bytes/cycle/SM", best, how, raw))
        return results
    return measure


LAUNCHES = 200


def launches(bench: Bench) -> list[dict]:
    gpu, results = bench.gpu, []
    plain = gpu.load(kernels.empty())
    long, busy, arguments = gpu.load(kernels.CLOCKS), bench.arguments(n=40000), bench.arguments(n=1)
    kinds = [("plain", plain, [0, 0], False), ("carveout", plain, [0, 100 << 10], False)]
    if gpu.hopper:
        chained = gpu.load(kernels.empty(True))
        kinds += [("programmatic", chained, [0, 0], True), ("programmatic_carveout", chained, [0, 100 << 10], True)]
    for name, kernel, shared, programmatic in kinds:
        for grid in (1, gpu.sms, 8 * gpu.sms):
            on_gpu, on_cpu = [], []

            def work(kernel=kernel, shared=shared, programmatic=programmatic, grid=grid, on_cpu=on_cpu):
                begin = time.perf_counter()
                for i in range(LAUNCHES):
                    kernel.launch(grid, 128, arguments, shared[i % 2], 0, programmatic and i > 0)
                on_cpu.append((time.perf_counter() - begin) / LAUNCHES * 1e6)
            work()
            gpu.wait()
            for _ in range(5):
                # The launches wait for what the GPU does meanwhile, so that none is waited for.
                long.launch(2 * gpu.sms, 256, busy)
                on_gpu.append(gpu.seconds(work) / LAUNCHES * 1e6)
            about = f"{LAUNCHES} empty kernels of {grid} blocks in a row"
            results.append(entry(f"launch.stream.{name}.{grid}", "us", on_gpu, f"{about} behind a long one, by events",
                                 {"cpu_us": [rounded(value) for value in on_cpu[1:]]}))
            graph = gpu.graph(work)
            try:
                again = [gpu.seconds(lambda: gpu.call("cuGraphLaunch", graph, gpu.stream)) / LAUNCHES * 1e6 for _ in range(7)]
            finally:
                gpu.call("cuGraphExecDestroy", graph)
            results.append(entry(f"launch.graph.{name}.{grid}", "us", again[2:], f"{about}, as a graph, by events"))
    return results


def atomics(bench: Bench) -> list[dict]:
    sms, results = bench.gpu.sms, []
    for name, apart in (("one_address", 0), ("in_a_row", 4), ("sectors", 32)):
        turns = 16 if apart == 0 else 128
        grid = sms if apart == 0 else 4 * sms
        values = [grid * 256 * turns / s / 1e9 for s in bench.seconds(memory.REDUCE, grid, 256, n=turns, k=apart, a=bench.big(1))]
        how = f"all SMs, neighbours' addresses {apart} bytes apart"
        results.append(entry(f"atomic.red_f32.{name}", "additions/ns", values, how))
    values = [c / 1000 for c in bench.cycles(memory.ATOMIC_CHAIN, 1, 32, n=1000, k=0, a=bench.big(1))]
    results.append(entry("atomic.add_u32.latency", "cycles", values, "a warp's additions to 32 words, each waits for the one before"))
    return results


def grid_barrier(bench: Bench) -> list[dict]:
    turns, counter = 200, bench.out + SPARE
    return [entry(f"grid_barrier.{threads}_threads", "us", [s / turns * 1e6 for s in bench.seconds(
        memory.GRID_BARRIER, bench.gpu.sms, threads, before=lambda: bench.gpu.fill(counter, 0, 64), n=turns, a=counter)],
        "a block on each SM; an addition at one address, and reading until all have come") for threads in (128, 512)]


def cluster_reads(bench: Bench) -> list[dict]:
    results = []
    for size in (2, 4):
        values = [c / (8 * 200) for c in bench.cycles(memory.cluster(False), size, 32, cluster=size, n=200)]
        how = "a chain of words in the next block's shared memory, with one addition"
        results.append(entry(f"cluster.{size}.latency", "cycles", values, how))
        for name, grid in (("one", size), ("all", 128)):
            raw, best = {}, [0.0]
            for threads in (128, 256, 512, 1024):
                values = [200 * 8 * 16 * threads / c for c in bench.cycles(memory.cluster(True), grid, threads, cluster=size, n=200, k=0)]
                raw[f"{threads} threads"] = [rounded(value) for value in values]
                if statistics.median(values) > statistics.median(best):
                    best = values
            how = f"each block reads the next one's shared memory, 16 bytes a thread; {grid} blocks"
            results.append(entry(f"cluster.{size}.rate.{name}", "bytes/cycle/SM", best, how, raw))
    return results


# Name -> whether only Hopper has it, what is measured. What matters most comes first.
MEASURES = {"clocks": (False, clocks), "dram.read": (False, dram_rate("read")), "dram.write": (False, dram_rate("write")),
            "dram.copy": (False, dram_rate("copy")), "latencies": (False, latencies), "l2.rate": (False, l2_rate),
            "dram.few": (False, dram_few), "launches": (False, launches), "shared.latency": (False, shared_latency)}
MEASURES |= {f"shared.{what}": (False, shared_rate(what)) for what in ("lds128", "lds32", "ldmatrix", "sts128")}
MEASURES |= {f"mma.{what}": (False, tensor_warp(what)) for what in ("m16n8k16_bf16", "m16n8k16_f16", "m16n8k8_tf32")}
MEASURES |= {f"wgmma.{n}.{'rs' if registers else 'ss'}": (True, tensor_group(n, registers))
             for n in (64, 128, 256) for registers in (False, True)}
MEASURES |= {"wgmma.beside_loads": (True, tensor_beside_loads), "barriers": (False, barriers), "mbarriers": (True, mbarriers),
             "cp_async": (False, async_copies), "bulk": (True, bulk_copies(False)), "tma": (True, bulk_copies(True)),
             "atomics": (False, atomics), "grid_barrier": (False, grid_barrier), "cluster": (True, cluster_reads)}
MEASURES |= {op: (False, arithmetic(op)) for op in kernels.OPS}
