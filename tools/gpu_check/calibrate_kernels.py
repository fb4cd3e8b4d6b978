"""PTX of small kernels that measure what an SM does in a cycle: instructions, shared memory, tensor cores, barriers.

Every kernel has the same parameters: out, a, b (addresses), n, m, k (32 bits). The first lane of each warp writes the clocks between which
it has worked to out + 256 + 16 * warp of the grid. What is computed meets m, which it never equals, so that nothing can be removed.
"""

HOPPER = "sm_90a"
PLAIN = "sm_80"
TIMES = 256  # bytes before the clocks, room for what is never written

HEAD = """.version 8.0
.target {target}
.address_size 64
{dynamic}
.visible .entry kernel(.param .u64 p_out, .param .u64 p_a, .param .u64 p_b, .param .u32 p_n, .param .u32 p_m, .param .u32 p_k)
{{
  .reg .b64 %out, %a, %b, %t0, %t1, %place;
  .reg .b32 %n, %m, %k, %thread, %lane, %warp, %block, %threads, %grid, %sink, %i, %x0, %x1;
  .reg .pred %p, %q, %more, %first;
  {shared}
  ld.param.u64 %out, [p_out];
  ld.param.u64 %a, [p_a];
  ld.param.u64 %b, [p_b];
  ld.param.u32 %n, [p_n];
  ld.param.u32 %m, [p_m];
  ld.param.u32 %k, [p_k];
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %grid, %nctaid.x;
  and.b32 %lane, %thread, 31;
  shr.u32 %warp, %thread, 5;
  setp.eq.u32 %first, %thread, 0;
  mov.u32 %sink, 0;
"""
TAIL = """
  setp.eq.u32 %p, %sink, %m;
  @%p st.global.u32 [%out], %sink;
  setp.ne.u32 %p, %lane, 0;
  @%p bra DONE;
  shr.u32 %x0, %threads, 5;
  mad.lo.u32 %x0, %block, %x0, %warp;
  mad.wide.u32 %place, %x0, 16, %out;
  st.global.v2.u64 [%place + 256], {%t0, %t1};
DONE:
  ret;
}
"""
START = "  bar.sync 0;\n  mov.u64 %t0, %clock64;\n"
STOP = "  mov.u64 %t1, %clock64;\n"


def kernel(before: str, timed: str, after: str = "", shared: str = "", target: str = PLAIN, dynamic: bool = False) -> str:
    """The text of a kernel: what comes before the clock is read, what is timed, what brings the results to %sink."""
    head = HEAD.format(target=target, shared=shared, dynamic=".extern .shared .align 1024 .b8 room[];" if dynamic else "")
    return f"{head}\n{before}\n{START}\n{timed}\n{STOP}\n{after}\n{TAIL}"


def loop(body: str, label: str = "AGAIN") -> str:
    """`body`, %n times."""
    return f"  mov.u32 %i, 0;\n{label}:\n{body}\n  add.u32 %i, %i, 1;\n  setp.lt.u32 %more, %i, %n;\n  @%more bra {label};\n"


# One step of a chain, of float or integer registers: {x} is the chain's, and {g} an integer of its own; {c}, {d}, a float {f} and integers
# {l}, {h} are constants that change from step to step, so that two steps never become one; {p} is a condition.
OPS = {
    "ffma": ("f", "fma.rn.f32 {x}, {x}, {c}, {d};"),
    "fadd": ("f", "add.rn.f32 {x}, {x}, {c};"),
    "fmul": ("f", "mul.rn.f32 {x}, {x}, {c};"),
    "fmin": ("f", "min.f32 {x}, {x}, {c};\n  max.f32 {x}, {x}, {d};"),
    "hfma2_bf16": ("b", "fma.rn.bf16x2 {x}, {x}, {c}, {d};"),
    "imad": ("b", "mad.lo.u32 {x}, {x}, {c}, {d};"),
    "add_xor": ("b", "add.u32 {x}, {x}, {c};\n  xor.b32 {x}, {x}, {d};"),
    "iadd3": ("b", "mov.b32 %x0, {x};\n  add.u32 {x}, {x}, {g};\n  add.u32 {x}, {x}, {c};\n  mov.b32 {g}, %x0;"),
    "lop3": ("b", "lop3.b32 {x}, {x}, {c}, {d}, 0x6a;"),
    "shf": ("b", "shf.l.wrap.b32 {x}, {x}, {c}, {d};"),
    "prmt": ("b", "prmt.b32 {x}, {x}, {c}, {d};"),
    "sel": ("b", "selp.b32 {x}, {x}, {c}, {p};"),
    "ex2": ("f", "ex2.approx.ftz.f32 {x}, {x};"),
    "rcp": ("f", "rcp.approx.ftz.f32 {x}, {x};\n  mov.b32 %x0, {x};\n  lop3.b32 %x0, %x0, {l}, {l}, 0x3c;\n  mov.b32 {x}, %x0;"),
    "lg2": ("f", "lg2.approx.ftz.f32 {x}, {x};"),
    "rsqrt": ("f", "rsqrt.approx.ftz.f32 {x}, {x};"),
    "tanh": ("f", "tanh.approx.f32 {x}, {x};"),
    "cvt_bf16x2": ("b", "mov.b32 %fx, {x};\n  cvt.rn.bf16x2.f32 {x}, %fx, {f};"),
    "cvt_f16": ("f", "cvt.rn.f16.f32 %hx, {x};\n  cvt.f32.f16 {x}, %hx;"),
    "cvt_tf32": ("b", "mov.b32 %fx, {x};\n  cvt.rna.tf32.f32 {x}, %fx;"),
    "i2f": ("b", "cvt.rn.f32.s32 %fx, {x};\n  mov.b32 {x}, %fx;"),
    "f2i": ("b", "mov.b32 %fx, {x};\n  cvt.rzi.s32.f32 {x}, %fx;"),
    "ffma_lop3": ("f", "fma.rn.f32 {x}, {x}, {c}, {d};\n  lop3.b32 {g}, {g}, {l}, {h}, 0x6a;"),
    "ffma_imad": ("f", "fma.rn.f32 {x}, {x}, {c}, {d};\n  mad.lo.u32 {g}, {g}, {l}, {h};"),
    "ffma_ex2": ("f", "fma.rn.f32 {x}, {x}, {c}, {d};\n  mov.b32 %fx, {g};\n  ex2.approx.ftz.f32 %fx, %fx;\n  mov.b32 {g}, %fx;"),
    "lop3_ex2": ("b", "lop3.b32 {x}, {x}, {c}, {d}, 0x6a;\n  mov.b32 %fx, {g};\n  ex2.approx.ftz.f32 %fx, %fx;\n  mov.b32 {g}, %fx;"),
    "redux": ("b", "redux.sync.add.s32 {x}, {x}, 0xffffffff;"),
    "shfl": ("b", "shfl.sync.bfly.b32 {x}, {x}, {lane}, 31, 0xffffffff;"),
    "div_rn": ("f", "div.rn.f32 {x}, {c}, {x};"),
    "div_full": ("f", "div.full.f32 {x}, {c}, {x};"),
    "sqrt_rn": ("f", "sqrt.rn.f32 {x}, {x};"),
}
STEPS = {"div_rn": 8, "div_full": 16, "sqrt_rn": 8}
# What a step is, where it is not one instruction.
MADE_OF = {"add_xor": "an addition and an exclusive or", "fmin": "a minimum and a maximum", "cvt_f16": "to f16 and back",
           "cvt_tf32": "three instructions",
           "rcp": "a reciprocal and an exclusive or", "div_rn": "a whole division", "div_full": "a whole division",
           "sqrt_rn": "a whole root",
           "ffma_lop3": "one of either", "ffma_imad": "one of either", "ffma_ex2": "one of either", "lop3_ex2": "one of either"}


def steps_of(op: str) -> int:
    """How often a chain's step is written in the loop."""
    return STEPS.get(op, 64)


def chains(op: str, count: int) -> str:
    """`count` independent chains of an instruction, some 64 instructions in all in a turn of the loop."""
    kind, text = OPS[op]
    each = max(1, steps_of(op) // count)
    before = ["  .reg .f32 %f<8>, %fc<8>, %fx;\n  .reg .b16 %hx;\n  .reg .b32 %b<8>, %bc<8>, %g<8>;\n  .reg .pred %s<4>;",
              "  and.b32 %x0, %k, 1;\n  setp.eq.u32 %s0, %x0, 1;\n  and.b32 %x0, %k, 2;\n  setp.eq.u32 %s1, %x0, 2;",
              "  and.b32 %x0, %k, 4;\n  setp.eq.u32 %s2, %x0, 4;\n  and.b32 %x0, %k, 8;\n  setp.eq.u32 %s3, %x0, 8;"]
    for i in range(8):
        # Numbers near 1 that the assembler cannot know.
        before.append(f"  mad.lo.u32 %x0, %thread, {i * 37 + 11}, %k;\n  and.b32 %x1, %x0, 0x1fff;\n  or.b32 %x1, %x1, 0x3f7ff000;\n"
                      f"  mov.b32 %f{i}, %x1;\n  mov.b32 %b{i}, %x1;\n  mov.b32 %g{i}, %x1;\n"
                      f"  mad.lo.u32 %x0, %k, {i * 53 + 7}, {i};\n  and.b32 %x1, %x0, 0x1fff;\n  or.b32 %x1, %x1, 0x3f7ff000;\n"
                      f"  mov.b32 %fc{i}, %x1;\n  mov.b32 %bc{i}, %x1;")
    body = []
    for step in range(each):
        for chain in range(count):
            c, d = (step + chain) % 8, (step + chain + 3) % 8
            body.append("  " + text.format(x=f"%{kind}{chain}", c=f"%{kind}c{c}", d=f"%{kind}c{d}", f=f"%fc{c}", g=f"%g{chain}",
                                           l=f"%bc{c}", h=f"%bc{d}", p=f"%s{step % 4}", lane=1 << (step % 5)))
    after = "".join(f"  mov.b32 %x0, %{kind}{i};\n  xor.b32 %sink, %sink, %x0;\n  xor.b32 %sink, %sink, %g{i};\n"
                    for i in range(count))
    return kernel("\n".join(before), loop("\n".join(body)), after)


CLOCKS = kernel("  .reg .b64 %g0, %g1, %g;\n  .reg .f32 %f<4>;\n  mov.u64 %g0, %globaltimer;\n  cvt.rn.f32.u32 %f0, %thread;\n"
                "  cvt.rn.f32.u32 %f1, %k;\n  mov.f32 %f2, %f1;\n  mov.f32 %f3, %f0;\n  mov.u64 %g0, %globaltimer;",
                loop("\n".join("  fma.rn.f32 %f0, %f0, %f1, %f2;\n  fma.rn.f32 %f3, %f3, %f1, %f2;" for _ in range(32))),
                """  mov.u64 %g1, %globaltimer;
  add.f32 %f0, %f0, %f3;
  mov.b32 %x0, %f0;
  xor.b32 %sink, %sink, %x0;
  sub.u64 %g, %g1, %g0;
  mad.wide.u32 %place, %block, 8, %b;
  @%first st.global.u64 [%place], %g;""")

EMPTY = """.version 8.0
.target {target}
.address_size 64
{dynamic}
.visible .entry kernel(.param .u64 p_out, .param .u64 p_a, .param .u64 p_b, .param .u32 p_n, .param .u32 p_m, .param .u32 p_k)
{{
{body}
  ret;
}}
"""


def empty(programmatic: bool = False) -> str:
    body = "  griddepcontrol.launch_dependents;\n  griddepcontrol.wait;" if programmatic else ""
    return EMPTY.format(target=HOPPER if programmatic else PLAIN, dynamic="", body=body)


# Pseudo-random pairs of bf16 between 1 and 2, or -1 and -2, in all of `bytes` of shared memory.
def fill_shared(size: int) -> str:
    return f"""  .reg .b32 %fill, %word, %last;
  mov.u32 %fill, room;
  add.u32 %last, %fill, {size};
  shl.b32 %x0, %thread, 2;
  add.u32 %fill, %fill, %x0;
FILL:
  mad.lo.u32 %word, %fill, 0x9e3779b1, %k;
  shr.u32 %x0, %word, 15;
  xor.b32 %word, %word, %x0;
  mul.lo.u32 %word, %word, 0x85ebca77;
  and.b32 %word, %word, 0x807f807f;
  or.b32 %word, %word, 0x3f803f80;
  st.shared.u32 [%fill], %word;
  shl.b32 %x0, %threads, 2;
  add.u32 %fill, %fill, %x0;
  setp.lt.u32 %p, %fill, %last;
  @%p bra FILL;
  bar.sync 0;
"""


def shared_memory(what: str) -> str:
    """Loads or stores of 512 bytes a warp without conflicts, eight in a turn of the loop, none of a place twice, which an assembler would
    leave out; the place changes with %k, which nobody knows to be 0."""
    room = 32 << 10
    before = fill_shared(room) + f"""  .reg .b32 %w<4>, %at, %s<4>;
  and.b32 %x0, %warp, 7;
  shl.b32 %x0, %x0, 9;
  shl.b32 %x1, %lane, 4;
  add.u32 %x0, %x0, %x1;
  mov.u32 %at, room;
  add.u32 %at, %at, %x0;
  mov.u32 %s0, %thread;
  mov.u32 %s1, %lane;
  mov.u32 %s2, %k;
  mov.u32 %s3, %m;
"""
    form = {"lds128": "  ld.shared.v4.u32 {{%w0, %w1, %w2, %w3}}, [%at + {at}];",
            "lds32": "  ld.shared.u32 %w0, [%at + {at}];",
            "ldmatrix": "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%w0, %w1, %w2, %w3}}, [%at + {at}];",
            "sts128": "  st.shared.v4.u32 [%at + {at}], {{%s0, %s1, %s2, %s3}};"}[what]
    used = "" if what == "sts128" else "  xor.b32 %s0, %s0, %w0;\n" if what == "lds32" else \
        "".join(f"  xor.b32 %s{i}, %s{i}, %w{i};\n" for i in range(4))
    if what == "lds32":
        # A word a lane.
        before += "  mul.lo.u32 %x1, %lane, 12;\n  sub.u32 %at, %at, %x1;\n"
    body = "\n".join(form.format(at=4096 * i) + "\n" + used for i in range(8)) + "\n  xor.b32 %at, %at, %k;"
    after = "".join(f"  xor.b32 %sink, %sink, %s{i};\n" for i in range(4))
    if what == "sts128":
        after += "  ld.shared.u32 %w0, [%at];\n  xor.b32 %sink, %sink, %w0;\n"
    return kernel(before, loop(body), after, shared=f".shared .align 1024 .b8 room[{room}];")


# A chase in shared memory: each of 32 words holds the place of another one, a warp's lanes go the same way.
SHARED_CHASE = kernel("""  .reg .b32 %at, %next;
  mov.u32 %at, room;
  shl.b32 %x0, %thread, 2;
  add.u32 %x1, %x0, 20;
  and.b32 %x1, %x1, 127;
  add.u32 %x1, %x1, %at;
  add.u32 %x0, %x0, %at;
  st.shared.u32 [%x0], %x1;
  mov.u32 %next, %at;""", loop("\n".join("  ld.shared.u32 %next, [%next];" for _ in range(32))), "  mov.u32 %sink, %next;",
                      shared=".shared .align 16 .b8 room[4096];")


def mma(what: str, count: int) -> str:
    """`count` independent products of a warp on tensor cores, each of which adds to its own result; 16 in a turn of the loop."""
    form = {"m16n8k16_bf16": ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2), "m16n8k16_f16": ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2),
            "m16n8k8_tf32": ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2), "m16n8k8_bf16": ("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1)}
    name, a_words, b_words = form[what]
    before = [f"  .reg .b32 %ra<{a_words * 2}>, %rb<{b_words * 2}>;\n  .reg .f32 %c<{4 * count}>;"]
    for i, register in enumerate([f"%ra{i}" for i in range(2 * a_words)] + [f"%rb{i}" for i in range(2 * b_words)]):
        before.append(f"  mad.lo.u32 %x0, %thread, {i * 40503 + 0x9e3779b1}, %k;\n  mul.lo.u32 %x0, %x0, 0x85ebca77;\n"
                      f"  shr.u32 %x1, %x0, 13;\n"
                      f"  xor.b32 %x0, %x0, %x1;\n  and.b32 %x0, %x0, {'0x807fe000' if 'tf32' in what else '0x807f807f'};\n"
                      f"  or.b32 {register}, %x0, {'0x3f800000' if 'tf32' in what else '0x3f803f80' if 'bf16' in what else '0x3c003c00'};")
    before += [f"  mov.f32 %c{i}, 0f00000000;" for i in range(4 * count)]
    body = []
    for step in range(16):
        c = ", ".join(f"%c{4 * (step % count) + i}" for i in range(4))
        turn = step // count % 2
        a = ", ".join(f"%ra{a_words * turn + i}" for i in range(a_words))
        b = ", ".join(f"%rb{b_words * turn + i}" for i in range(b_words))
        body.append(f"  mma.sync.aligned.{name} {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};")
    after = "".join(f"  mov.b32 %x0, %c{i};\n  xor.b32 %sink, %sink, %x0;\n" for i in range(4 * count))
    return kernel("\n".join(before), loop("\n".join(body)), after)


WGMMA_ROOM = 48 << 10


def wgmma(n: int, registers: bool, together: int, beside: bool = False) -> str:
    """Products of a warp group, 64 x n x 64 in a turn of the loop, of operands in shared memory or A in registers.

    Four together: a turn's are waited for in the next one. One, or -4: each, or a turn's, are waited for at once. Beside them the second
    group may read shared memory instead, 16 times 512 bytes a warp and turn."""
    in_flight = together == 4
    last_of = range(3, 4) if together < 0 else range(4)
    accumulators = ", ".join(f"%c{i}" for i in range(n // 2))
    before = fill_shared(WGMMA_ROOM) + f"""  .reg .f32 %c<{n // 2}>;
  .reg .b32 %ra<4>, %row;
  .reg .b64 %da, %db, %high;
  fence.proxy.async;
  shr.u32 %x0, %warp, 2;
  shl.b32 %x0, %x0, 13;
  mov.u32 %x1, room;
  add.u32 %x0, %x0, %x1;
  shr.u32 %x0, %x0, 4;
  and.b32 %x0, %x0, 0x3fff;
  cvt.u64.u32 %da, %x0;
  add.u32 %x1, %x1, 16384;
  shr.u32 %x1, %x1, 4;
  and.b32 %x1, %x1, 0x3fff;
  cvt.u64.u32 %db, %x1;
  or.b64 %da, %da, 0x4000004000010000;
  or.b64 %db, %db, 0x4000004000010000;
""" + "".join(f"  mov.f32 %c{i}, 0f00000000;\n" for i in range(n // 2)) + "".join(
        f"  mad.lo.u32 %x0, %thread, {i * 977 + 0x9e3779b1}, %k;\n  and.b32 %x0, %x0, 0x807f807f;\n  or.b32 %ra{i}, %x0, 0x3f803f80;\n"
        for i in range(4)) + "  bar.sync 0;\n"
    body = []
    if in_flight:
        body.append("  wgmma.fence.sync.aligned;")
    for step in range(4):
        if not in_flight and (step == 0 or together == 1):
            body.append("  wgmma.fence.sync.aligned;")
        a = "{%ra0, %ra1, %ra2, %ra3}" if registers else f"%da{step}"
        transposed = "0" if registers else "0, 0"
        body.append(f"  wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16 {{{accumulators}}}, {a}, %db{step}, 1, 1, 1, {transposed};")
        if not in_flight and step in last_of:
            body.append("  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;")
    if in_flight:
        body.append("  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 1;")
    steps = "".join(f"  .reg .b64 %da{i}, %db{i};\n  add.u64 %da{i}, %da, {2 * i};\n  add.u64 %db{i}, %db, {2 * i};\n" for i in range(4))
    timed = loop("\n".join(body)) + "  wgmma.wait_group.sync.aligned 0;\n"
    if beside:
        steps += """  .reg .b32 %w<4>, %s, %at;
  and.b32 %x0, %thread, 127;
  shl.b32 %x0, %x0, 4;
  mov.u32 %at, room;
  add.u32 %at, %at, %x0;
  mov.u32 %s, 0;
  setp.lt.u32 %q, %thread, 128;
"""
        reads = "\n".join(f"  ld.shared.v4.u32 {{%w0, %w1, %w2, %w3}}, [%at + {2048 * step}];\n" + "".join(
            f"  xor.b32 %s, %s, %w{i};\n" for i in range(4)) for step in range(16))
        timed = "  @%q bra PRODUCTS;\n" + loop(reads + "\n  xor.b32 %at, %at, %k;", "READ") + \
            "  xor.b32 %sink, %sink, %s;\n  bra OVER;\nPRODUCTS:\n" + timed + "OVER:\n"
    after = "".join(f"  mov.b32 %x0, %c{i};\n  xor.b32 %sink, %sink, %x0;\n" for i in range(n // 2))
    return kernel(before + steps, timed, after, target=HOPPER, shared=f".shared .align 1024 .b8 room[{WGMMA_ROOM}];")


def barrier() -> str:
    """16 barriers of all warps in a turn of the loop."""
    return kernel("", loop("  bar.sync 0;\n" * 16))


def try_wait(mbarrier: str, parity: str, label: str) -> str:
    """Waits for a phase, 20,000 tries at most; %x0 is used."""
    return f"""  mov.u32 %x0, 0;
{label}:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [{mbarrier}], {parity};
  @%p bra {label}_OVER;
  add.u32 %x0, %x0, 1;
  setp.lt.u32 %p, %x0, 20000;
  @%p bra {label};
{label}_OVER:
"""


def mbarrier() -> str:
    """All threads arrive and wait for the phase, again and again."""
    before = """  .reg .b32 %bar, %parity;
  .reg .b64 %state;
  mov.u32 %bar, room;
  mov.u32 %parity, 0;
  @%first mbarrier.init.shared::cta.b64 [%bar], %threads;
  bar.sync 0;
"""
    body = "  mbarrier.arrive.shared::cta.b64 %state, [%bar];\n" + try_wait("%bar", "%parity", "ARRIVED") + \
        "  xor.b32 %parity, %parity, 1;\n"
    return kernel(before, loop(body), target=HOPPER, shared=".shared .align 8 .b8 room[16];")
