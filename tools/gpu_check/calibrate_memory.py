"""PTX of small kernels that measure memory: DRAM, L2, copies to shared memory, atomics, other blocks of a cluster.

Parameters and clocks are those of calibrate_kernels.py.
"""
from .calibrate_kernels import HOPPER, kernel, loop, try_wait


def stream(what: str, unroll: int) -> str:
    """All blocks go through `a` (and `b`) by 16-byte accesses: n turns, each thread `unroll` at once; k is the mask of the place."""
    before = f"""  .reg .b32 %pos, %step, %chunk, %line, %mine;
  .reg .b64 %wide, %from, %to;
  .reg .b32 %s<4>, %w<{4 * unroll}>;
  shl.b32 %line, %threads, 4;
  mul.lo.u32 %chunk, %line, {unroll};
  mul.lo.u32 %pos, %block, %chunk;
  mul.lo.u32 %step, %grid, %chunk;
  shl.b32 %mine, %thread, 4;
  mov.u32 %s0, %thread;
  mov.u32 %s1, %block;
  mov.u32 %s2, %n;
  mov.u32 %s3, %k;
"""
    body = ["  and.b32 %x0, %pos, %k;\n  add.u32 %x0, %x0, %mine;\n  cvt.u64.u32 %wide, %x0;\n  add.u64 %from, %a, %wide;\n"
            "  add.u64 %to, %b, %wide;\n  add.u32 %pos, %pos, %step;\n  cvt.u64.u32 %wide, %line;"]
    words = [", ".join(f"%w{4 * u + i}" for i in range(4)) for u in range(unroll)]
    if what != "write":
        for u in range(unroll):
            body.append(f"  ld.global.v4.u32 {{{words[u]}}}, [%from];" + ("\n  add.u64 %from, %from, %wide;" if u + 1 < unroll else ""))
    for u in range(unroll):
        if what == "read":
            body += [f"  xor.b32 %s{i}, %s{i}, %w{4 * u + i};" for i in range(4)]
        else:
            data = "%s0, %s1, %s2, %s3" if what == "write" else words[u]
            body.append(f"  st.global.v4.u32 [%to], {{{data}}};" + ("\n  add.u64 %to, %to, %wide;" if u + 1 < unroll else ""))
    after = "".join(f"  xor.b32 %sink, %sink, %s{i};\n" for i in range(4)) if what == "read" else ""
    return kernel(before, loop("\n".join(body)), after)


# Entry i of k ones, 128 bytes apart, holds the address of another one; all are met before the first one comes again.
LINK = kernel("  .reg .b64 %from, %to;", """  mad.lo.u32 %x0, %block, %threads, %thread;
  mad.lo.u32 %x1, %x0, 1664525, 1013904223;
  sub.u32 %i, %k, 1;
  and.b32 %x1, %x1, %i;
  mad.wide.u32 %to, %x1, 128, %a;
  mad.wide.u32 %from, %x0, 128, %a;
  setp.lt.u32 %p, %x0, %k;
  @%p st.global.u64 [%from], %to;""")


def chase(cache: str) -> str:
    """8 * n links of a chain are followed, after 8 * k of the same without the clock; cache: ca or cg."""
    one = "\n".join(f"  ld.global.{cache}.u64 %next, [%next];" for _ in range(8))
    before = "  .reg .b64 %next;\n  mov.u64 %next, %a;\n" + loop(one, "WARM").replace("%n;", "%k;") + "  mov.u64 %next, %a;\n"
    return kernel(before, loop(one), "  cvt.u32.u64 %sink, %next;")


RECORDS = 1024
# What each of 1024 links takes, to b: 32-bit numbers of cycles, with what it costs to read the clock.
CHASE_RECORDED = kernel("  .reg .b64 %next, %s0, %s1;\n  .reg .b32 %to;\n  mov.u64 %next, %a;\n  mov.u32 %to, room;", f"""
  mov.u32 %i, 0;
AGAIN:
  mov.u64 %s0, %clock64;
  ld.global.cg.u64 %next, [%next];
  cvt.u32.u64 %x1, %next;
  st.volatile.shared.u32 [%to + {4 * RECORDS}], %x1;
  mov.u64 %s1, %clock64;
  sub.u64 %s1, %s1, %s0;
  cvt.u32.u64 %x0, %s1;
  st.volatile.shared.u32 [%to], %x0;
  add.u32 %to, %to, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, {RECORDS};
  @%p bra AGAIN;""", f"""
  mov.u32 %to, room;
  mov.u32 %i, 0;
STORED:
  ld.volatile.shared.u32 %x0, [%to];
  mad.wide.u32 %place, %i, 4, %b;
  st.global.u32 [%place], %x0;
  add.u32 %to, %to, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, {RECORDS};
  @%p bra STORED;
  cvt.u32.u64 %sink, %next;""", shared=f".shared .align 16 .b8 room[{8 * RECORDS + 64}];")

ASYNC_ROOM = 16 << 10  # that one turn of cp_async's warps fills at most: 256 threads, four copies each


def cp_async(what: str) -> str:
    """Copies of 16 bytes a thread to shared memory, n turns; k is the mask of the place.

    latency: one copy, which is waited for. issue: eight; only their issue counts. rate: four a turn, four turns in flight."""
    before = """  .reg .b32 %pos, %step, %to, %mine;
  .reg .b64 %from, %s0, %s1, %sum, %wide;
  shl.b32 %mine, %thread, 4;
  mov.u32 %to, room;
  add.u32 %to, %to, %mine;
  shl.b32 %step, %threads, 6;
  mul.lo.u32 %pos, %block, %step;
  mul.lo.u32 %step, %step, %grid;
  mov.u64 %sum, 0;
"""
    place = "  and.b32 %x0, %pos, %k;\n  add.u32 %x0, %x0, %mine;\n  cvt.u64.u32 %from, %x0;\n  add.u64 %from, %from, %a;\n"
    if what == "rate":
        copies = "".join("  cp.async.cg.shared.global [%x1], [%from], 16;\n  add.u64 %from, %from, %wide;\n  add.u32 %x1, %x1, %x0;\n"
                         for _ in range(4))
        body = place + f"""  add.u32 %pos, %pos, %step;
  and.b32 %x1, %i, 3;
  mul.lo.u32 %x1, %x1, {ASYNC_ROOM};
  add.u32 %x1, %x1, %to;
  shl.b32 %x0, %threads, 4;
  cvt.u64.u32 %wide, %x0;
{copies}  cp.async.commit_group;
  cp.async.wait_group 3;"""
        return kernel(before, loop(body) + "  cp.async.wait_group 0;\n", "  ld.shared.u32 %sink, [%to];", dynamic=True)
    if what == "latency":
        body = place + "  add.u32 %pos, %pos, 18944;\n  cp.async.cg.shared.global [%to], [%from], 16;\n  cp.async.commit_group;\n" \
            "  cp.async.wait_group 0;"
        return kernel(before, loop(body), "  ld.shared.u32 %sink, [%to];", dynamic=True)
    copies = "".join(f"  cp.async.cg.shared.global [%to + {512 * i}], [%from + {512 * i}], 16;\n" for i in range(8))
    body = place + "  add.u32 %pos, %pos, 4096;\n  mov.u64 %s0, %clock64;\n" + copies + """  mov.u64 %s1, %clock64;
  sub.u64 %s1, %s1, %s0;
  add.u64 %sum, %sum, %s1;
  cp.async.commit_group;
  cp.async.wait_group 0;"""
    return kernel(before, loop(body), "  mov.u64 %t0, 0;\n  mov.u64 %t1, %sum;\n  ld.shared.u32 %sink, [%to];", dynamic=True)


MOST_STAGES = 32


def bulk(tensor: bool) -> str:
    """One thread of a block keeps k & 31 copies of m bytes in flight, n in all, into a ring in shared memory.

    From `a` in a row, or boxes of 64 x 64 bf16 of the matrix of 4096 columns that the map at `a` describes. k >> 5 is the mask of the
    place, in units of copies."""
    before = f"""  .reg .b32 %bars, %rings, %stage, %parity, %ahead, %mask, %at, %bar, %unit, %stages, %px, %py;
  .reg .b64 %from;
  mov.u32 %bars, bars;
  mov.u32 %rings, room;
  and.b32 %stages, %k, 31;
  shr.u32 %mask, %k, 5;
  @!%first bra READY;
  mov.u32 %i, 0;
INIT:
  mad.lo.u32 %bar, %i, 8, %bars;
  mbarrier.init.shared::cta.b64 [%bar], 1;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, {MOST_STAGES};
  @%p bra INIT;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
READY:
  bar.sync 0;
  mov.u32 %unit, %block;
  mov.u32 %ahead, 0;
"""
    place = """  and.b32 %x0, %unit, %mask;
  mad.wide.u32 %from, %x0, %m, %a;
"""
    copied = "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%at], [%from], %m, [%bar];\n"
    if tensor:
        place = """  and.b32 %x0, %unit, %mask;
  and.b32 %px, %x0, 63;
  shl.b32 %px, %px, 6;
  shr.u32 %py, %x0, 6;
  shl.b32 %py, %py, 6;
"""
        copied = "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%at], [%a, {%px, %py}], [%bar];\n"
    # %stage says where, %ahead counts what was begun.
    issue = """  mad.lo.u32 %bar, %stage, 8, %bars;
  mad.lo.u32 %at, %stage, %m, %rings;
""" + place + "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], %m;\n" + copied + """  add.u32 %unit, %unit, %grid;
  add.u32 %ahead, %ahead, 1;
"""
    timed = """  @!%first bra OVER;
  mov.u32 %stage, 0;
BEGIN:
""" + issue + """  add.u32 %stage, %stage, 1;
  setp.lt.u32 %p, %stage, %stages;
  setp.lt.and.u32 %p, %ahead, %n, %p;
  @%p bra BEGIN;
  mov.u32 %stage, 0;
  mov.u32 %parity, 0;
""" + loop("  mad.lo.u32 %bar, %stage, 8, %bars;\n" + try_wait("%bar", "%parity", "COPIED") + """  setp.ge.u32 %p, %ahead, %n;
  @%p bra NO_MORE;
""" + issue + """NO_MORE:
  add.u32 %stage, %stage, 1;
  setp.lt.u32 %p, %stage, %stages;
  @%p bra SAME_ROUND;
  mov.u32 %stage, 0;
  xor.b32 %parity, %parity, 1;
SAME_ROUND:
""") + "OVER:\n"
    return kernel(before, timed, "  ld.shared.u32 %x0, [%rings];\n  and.b32 %sink, %x0, 1;\n", target=HOPPER, dynamic=True,
                  shared=f".shared .align 8 .b8 bars[{8 * MOST_STAGES}];")


# n additions to a float by each thread, k bytes apart from those of its neighbour.
REDUCE = kernel("  .reg .b64 %at;\n  mad.lo.u32 %x0, %block, %threads, %thread;\n  mad.wide.u32 %at, %x0, %k, %a;",
                loop("  red.global.add.f32 [%at], 0f3f800000;"))
# A chain of additions whose results are waited for, a word a lane: the result says where the next one is, which is always here.
ATOMIC_CHAIN = kernel("  .reg .b64 %at, %from;\n  mad.wide.u32 %from, %lane, 4, %a;\n  mov.u64 %at, %from;\n  mov.u32 %x0, 0;",
                      loop("  atom.global.add.u32 %x0, [%at], %k;\n  and.b32 %x1, %x0, %k;\n  mad.wide.u32 %at, %x1, 4, %from;"),
                      "  mov.u32 %sink, %x1;")
# n barriers of all blocks by a counter at `a` that begins with 0.
GRID_BARRIER = kernel("  .reg .b32 %goal, %tries;\n  mov.u32 %goal, 0;", loop("""  bar.sync 0;
  add.u32 %goal, %goal, %grid;
  @!%first bra PASSED;
  red.release.gpu.global.add.u32 [%a], 1;
  mov.u32 %tries, 0;
SPIN:
  ld.acquire.gpu.global.u32 %x0, [%a];
  setp.ge.u32 %p, %x0, %goal;
  @%p bra PASSED;
  add.u32 %tries, %tries, 1;
  setp.lt.u32 %p, %tries, 100000;
  @%p bra SPIN;
PASSED:
  bar.sync 0;"""))


def cluster(rate: bool) -> str:
    """Reads of the next block's shared memory: a chain of 32-bit words, or 16 bytes a thread, eight at once."""
    before = """  .reg .b32 %rank, %size, %there, %next, %here, %w<32>;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %size, %cluster_nctarank;
  add.u32 %rank, %rank, 1;
  setp.ge.u32 %p, %rank, %size;
  @%p mov.u32 %rank, 0;
  mov.u32 %here, room;
  mapa.shared::cluster.u32 %there, %here, %rank;
  shl.b32 %x0, %thread, 2;
  add.u32 %x1, %x0, 132;
  and.b32 %x1, %x1, 4095;
WRITE:
  add.u32 %i, %here, %x0;
  st.shared.u32 [%i], %x1;
  shl.b32 %i, %threads, 2;
  add.u32 %x0, %x0, %i;
  add.u32 %x1, %x0, 132;
  and.b32 %x1, %x1, 4095;
  setp.lt.u32 %p, %x0, 32768;
  @%p bra WRITE;
  mov.u32 %next, %there;
"""
    before += """  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
"""
    after = "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
    shared = ".shared .align 1024 .b8 room[32768];"
    if not rate:
        body = "\n".join("  ld.shared::cluster.u32 %x0, [%next];\n  add.u32 %next, %there, %x0;" for _ in range(8))
        return kernel(before, loop(body), after + "  mov.u32 %sink, %next;", target=HOPPER, shared=shared)
    body = ["  xor.b32 %next, %next, %k;"]
    for u in range(8):
        words = ", ".join(f"%w{4 * u + i}" for i in range(4))
        body.append(f"  ld.shared::cluster.v4.u32 {{{words}}}, [%next + {4096 * u}];")
    body += [f"  xor.b32 %sink, %sink, %w{i};" for i in range(32)]
    before += "  and.b32 %x0, %thread, 255;\n  shl.b32 %x0, %x0, 4;\n  add.u32 %next, %there, %x0;\n"
    return kernel(before, loop("\n".join(body)), after, target=HOPPER, shared=shared)
