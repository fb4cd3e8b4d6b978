"""sass_model computes the integers of machine code as the instructions do, against Python's own numbers."""
import random
import unittest

import snippets
from sass_model import lanes, launch, warp

MASK = lanes.MASK


def run(text: str, registers=None, predicates=None, **options):
    """The state of warp 0 after some instructions."""
    running = warp.Warp(warp.Code(snippets.code(text + "\nEXIT")), snippets.plain_launch(**options), 0, 0)
    for number, value in (registers or {}).items():
        running.state.plain[number] = value
    for number, value in (predicates or {}).items():
        running.state.predicates[False][number] = value
    running.run()
    return running.state


class Integers(unittest.TestCase):
    def setUp(self):
        self.draw = random.Random(1)

    def numbers(self):
        return [self.draw.choice([self.draw.getrandbits(32), self.draw.getrandbits(4), MASK - self.draw.getrandbits(4), 0]) for _ in range(4)]

    def test_sums_of_64_bits_carry(self):
        for _ in range(200):
            a, b, c, d = self.numbers()
            state = run("IADD3 R4, P0, R0, R2, RZ\nIADD3.X R5, R1, R3, RZ, P0, !PT", {0: a, 1: b, 2: c, 3: d})
            self.assertEqual(state.plain[5] << 32 | state.plain[4], (b << 32 | a) + (d << 32 | c) & (1 << 64) - 1)

    def test_differences_of_64_bits_borrow(self):
        for _ in range(200):
            a, b, c, d = self.numbers()
            state = run("IADD3 R4, P0, -R0, R2, RZ\nIADD3.X R5, ~R1, R3, RZ, P0, !PT", {0: a, 1: b, 2: c, 3: d})
            self.assertEqual(state.plain[5] << 32 | state.plain[4], (d << 32 | c) - (b << 32 | a) & (1 << 64) - 1)

    def test_sums_of_three_carry_twice(self):
        state = run("IADD3 R4, P0, P1, R0, R1, R2\nIADD3.X R5, RZ, RZ, RZ, P0, P1", {0: MASK, 1: MASK, 2: MASK})
        self.assertEqual(state.plain[5] << 32 | state.plain[4], 3 * MASK)

    def test_products(self):
        for _ in range(200):
            a, b, c, d = self.numbers()
            state = run("IMAD R4, R0, R1, R2\nIMAD.WIDE.U32 R6, R0, R1, R2\nIMAD.WIDE R8, R0, R1, RZ\nIMAD.HI.U32 R10, R0, R1, RZ",
                        {0: a, 1: b, 2: c, 3: d})
            self.assertEqual(state.plain[4], a * b + c & MASK)
            self.assertEqual(state.plain[7] << 32 | state.plain[6], a * b + (d << 32 | c) & (1 << 64) - 1)
            self.assertEqual(state.plain[9] << 32 | state.plain[8], lanes.signed(a) * lanes.signed(b) & (1 << 64) - 1)
            self.assertEqual(state.plain[10], a * b >> 32)

    def test_addresses_of_elements(self):
        for _ in range(200):
            a, b, c, d = self.numbers()
            state = run("LEA R4, P0, R0, R2, 0x5\nLEA.HI.X R5, R0, R3, R1, 0x5, P0", {0: a, 1: b, 2: c, 3: d})
            self.assertEqual(state.plain[5] << 32 | state.plain[4], ((b << 32 | a) << 5) + (d << 32 | c) & (1 << 64) - 1)

    def test_shifts(self):
        for _ in range(200):
            a, b, c, _ = self.numbers()
            count = c % 40
            state = run(f"SHF.L.U32 R4, R0, {count:#x}, RZ\nSHF.R.U32.HI R5, RZ, {count:#x}, R0\nSHF.R.S32.HI R6, RZ, {count:#x}, R0\n"
                        f"SHF.R.U64 R7, R0, {count:#x}, R1\nSHF.L.U64.HI R8, R0, {count:#x}, R1", {0: a, 1: b})
            both = b << 32 | a
            self.assertEqual(state.plain[4:9], [a << count & MASK, a >> count, lanes.signed(a) >> count & MASK, both >> count & MASK,
                                                both << count >> 32 & MASK])

    def test_comparisons_of_64_bits(self):
        for name, compare in (("LT", lambda x, y: x < y), ("GE", lambda x, y: x >= y), ("NE", lambda x, y: x != y), ("EQ", lambda x, y: x == y)):
            for _ in range(100):
                a, b, c, d = self.numbers()
                d = self.draw.choice([b, d])
                state = run(f"ISETP.{name}.U32.AND P0, PT, R0, R2, PT\nISETP.{name}.AND.EX P1, PT, R1, R3, PT, P0", {0: a, 1: b, 2: c, 3: d})
                signed = [lanes.signed(high) << 32 | low for high, low in ((b, a), (d, c))]
                self.assertEqual(state.predicates[False][1], compare(*signed), (name, a, b, c, d))

    def test_logic_and_bytes(self):
        for _ in range(100):
            a, b, c, _ = self.numbers()
            state = run("LOP3.LUT R4, R0, R1, R2, 0xe8, !PT\nPRMT R5, R0, 0x9521, R1\nSGXT R6, R0, 0x9\nP2R R7, PR, RZ, 0x5", {0: a, 1: b, 2: c},
                        {0: True, 1: True, 2: False})
            sign = 0xFF if a >> 15 & 1 else 0
            self.assertEqual(state.plain[4], a & b | a & c | b & c)
            self.assertEqual(state.plain[5], sign << 24 | (b >> 8 & 255) << 16 | (a >> 16 & 255) << 8 | (a >> 8 & 255))
            self.assertEqual(state.plain[6], lanes.signed((a & 511) << 23 & MASK) >> 23 & MASK)
            self.assertEqual(state.plain[7], 1)

    def test_what_is_unknown_stays_unknown(self):
        state = run("FADD R4, R0, R1\nIADD3 R5, R4, 0x1, RZ\nLOP3.LUT R6, R4, RZ, RZ, 0xc0, !PT\nISETP.LT.AND P0, PT, R5, 0x1, PT", {0: 1, 1: 2})
        self.assertEqual(state.plain[4:7], [None, None, 0])
        self.assertIsNone(state.predicates[False][0])

    def test_lanes_differ(self):
        state = run("S2R R0, SR_TID.X\nISETP.GE.AND P0, PT, R0, 0x8, PT\n@P0 IADD3 R1, R0, 0x64, RZ\nSEL R2, R0, 0x7, !P0", {1: 5})
        self.assertEqual(state.plain[1], tuple(lane + 100 if lane >= 8 else 5 for lane in range(32)))
        self.assertEqual(state.plain[2], tuple(lane if lane < 8 else 7 for lane in range(32)))


class Flow(unittest.TestCase):
    def trace(self, text, **options):
        running = warp.Warp(warp.Code(snippets.code(text)), snippets.plain_launch(**options), 0, 0)
        return running, running.run()

    def test_loops_run_as_often_as_arguments_say(self):
        _, trace = self.trace("MOV R0, RZ\ntop:\nIADD3 R0, R0, 0x1, RZ\nISETP.LT.AND P0, PT, R0, c[0x0][0x210], PT\n@P0 BRA `(top)\nEXIT", arguments=[37])
        self.assertEqual(list(trace.back_edges.values()), [36])
        self.assertEqual(len(trace.issued), 1 + 3 * 37 + 1)

    def test_lanes_that_branch_apart_meet_again(self):
        running, trace = self.trace("""
            S2R R0, SR_TID.X
            ISETP.NE.AND P0, PT, R0, RZ, PT
            BSSY B0, `(end)
            @P0 BRA `(sync)
            MOV R1, 0x1
            sync:
            BSYNC B0
            end:
            MOV R2, 0x2
            EXIT""")
        self.assertEqual(running.state.plain[2], 2)
        self.assertEqual([running.code.instructions[at].opcode for at in trace.issued].count("BSYNC"), 2)

    def test_slow_paths_are_left_out_and_other_unknown_branches_are_told(self):
        _, trace = self.trace("""
            FCHK P0, R0, R1
            @!P0 BRA `(fast)
            CALL.REL.NOINC `(fast)
            fast:
            FSETP.GT.AND P1, PT, R0, R1, PT
            @P1 BRA `(end)
            MOV R2, 0x2
            MOV R3, 0x2
            end:
            EXIT""")
        self.assertEqual(trace.issued, [0, 1, 3, 4, 5, 6, 7])
        self.assertEqual(sorted(trace.assumed), [1, 4])

    def test_tables_are_read(self):
        tables = launch.Tables()
        tables.add(launch.REGION, (5).to_bytes(4, "little") + (9).to_bytes(4, "little"))
        running, _ = self.trace("ULDC.64 UR4, c[0x0][0x210]\nMOV R0, UR4\nMOV R1, UR5\nLDG.E R2, desc[UR6][R0.64+0x4]\nLDG.E R3, desc[UR6][R0.64+0x8]\nEXIT",
                                arguments=[launch.REGION], operands=[launch.Operand("table", 8, "l2")], tables=tables)
        self.assertEqual(running.state.plain[2:4], [9, None])

    def test_what_never_ends_is_an_error(self):
        with self.assertRaisesRegex(warp.RunError, "more than 1000 instructions"):
            running = warp.Warp(warp.Code(snippets.code("top:\nMOV R0, RZ\nBRA `(top)")), snippets.plain_launch(), 0, 0)
            running.run(1000)


if __name__ == "__main__":
    unittest.main()
