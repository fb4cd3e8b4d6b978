"""sass_model's simulation of an SM, on code whose time is known by hand."""
import types
import unittest

import snippets
from sass_model import access, core, kernel, launch, occupancy, parameters, steady, warp

P = parameters.load()


def simulate(text: str, warps=1, blocks=1, share=(), **options):
    """(outcome, instructions) of equal warps of some blocks on one SM of a full chip."""
    code = warp.Code(snippets.code(text))
    made = snippets.plain_launch(threads=32 * warps, **options)
    traces = [warp.Warp(code, made, 0, number).run() for number in range(warps)]
    memories = core.Memories(P, P.sms, list(share), P.l1_bytes)
    return core.Core(code.instructions, traces, blocks, memories).run()


class Times(unittest.TestCase):
    def test_stalls_are_what_the_assembler_wrote(self):
        self.assertEqual(simulate("NOP | 4\nNOP | 6\nEXIT | 5").cycles, 15)

    def test_a_sub_core_issues_one_instruction_a_cycle(self):
        text = "NOP\n" * 100 + "EXIT"
        self.assertEqual(simulate(text, warps=1).cycles, 101)
        self.assertEqual(simulate(text, warps=4).cycles, 101)       # one on each sub-core
        self.assertAlmostEqual(simulate(text, warps=16).cycles, 4 * 101, delta=4)

    def test_units_take_their_time(self):
        self.assertAlmostEqual(simulate("MUFU.EX2 R0, R1 | 1\n" * 50 + "EXIT", warps=8).cycles, 2 * 50 * P.special, delta=2 * P.special)
        self.assertAlmostEqual(simulate("FFMA R0, R1, R2, R3\n" * 50 + "EXIT", warps=8).cycles, 2 * 50 * P.fma, delta=4)

    def test_a_load_is_waited_for_where_its_result_is_used(self):
        operand = launch.Operand("x", 1 << 20, "l2")
        text = "ULDC.64 UR4, c[0x0][0x210]\nMOV R2, UR4\nMOV R3, UR5\nLDG.E R0, desc[UR6][R2.64] | 1 0\nFADD R1, R0, R0 | 1 7 7 1\nEXIT"
        near, far = (simulate(text, share=[share], arguments=[launch.REGION], operands=[operand]).cycles for share in (0, 1))
        self.assertAlmostEqual(near, P.l2_latency, delta=12)
        self.assertAlmostEqual(far, P.dram_latency, delta=12)

    def test_bytes_of_l2_take_their_time(self):
        operand = launch.Operand("x", 1 << 20, "l2")
        text = "S2R R2, SR_TID.X\nIMAD.WIDE.U32 R2, R2, 0x10, RZ\n" + "".join(
            f"LDG.E.128.STRONG.GPU R4, desc[UR6][R2.64+{(1 << 42) + 0x10000 * k:#x}] | 1 0\n" for k in range(64)) + "NOP | 1 7 7 1\nEXIT"
        outcome = simulate(text, operands=[operand])
        self.assertEqual(outcome.l2_bytes, 64 * 512)
        self.assertAlmostEqual(outcome.cycles, 64 * 512 / P.l2_bytes_per_cycle + P.l2_latency / 2, delta=0.1 * outcome.cycles)

    def test_barriers_wait_for_the_last_warp(self):
        text = "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 0x20, PT\n@P0 BRA `(late)\nBRA `(meet)\nlate:\n" + "NOP | 15\n" * 20 + \
            "meet:\nBAR.SYNC.DEFER_BLOCKING 0x0\nEXIT"
        self.assertAlmostEqual(simulate(text, warps=2).cycles, 300 + P.barrier_latency, delta=12)

    def test_boxes_end_phases(self):
        text = """
            UMOV UR4, 0x400
            UMOV UR6, 0x1ffffe
            SYNCS.EXCH.64 URZ, [UR4], UR6
            MOV R2, 0x2000
            UMOV UR8, 0x800
            UMOV UR9, 0x400
            MOV R3, RZ
            ISETP.EQ.AND P0, PT, R3, RZ, PT
            ELECT P1, URZ, PT
            @P1 SYNCS.ARRIVE.TRANS64 RZ, [UR4], R2
            UTMALDG.2D [UR8], [UR14]
            SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3
            EXIT"""
        self.assertAlmostEqual(simulate(text).cycles, max(P.tma_latency, 0x2000 / P.l2_bytes_per_cycle + P.tma_latency / 2), delta=20)

    def test_a_barrier_that_nobody_comes_to_is_an_error(self):
        with self.assertRaisesRegex(core.Deadlock, "wait for ever"):
            simulate("UMOV UR4, 0x400\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], RZ\nEXIT")


class Accesses(unittest.TestCase):
    def shared(self, name, addresses):
        i = snippets.code(f"{name} R0, [R1]")[0]
        return access.of_shared("read", addresses, access.width_of(i), True, i).passes

    def test_banks(self):
        self.assertEqual(self.shared("LDS", tuple(4 * lane for lane in range(32))), 1)
        self.assertEqual(self.shared("LDS", tuple(8 * lane for lane in range(32))), 2)
        self.assertEqual(self.shared("LDS", tuple(128 * lane for lane in range(32))), 32)
        self.assertEqual(self.shared("LDS", 64), 1)
        self.assertEqual(self.shared("LDS.128", tuple(16 * lane for lane in range(32))), 4)

    def test_sectors(self):
        run = types.SimpleNamespace(operand_of=lambda at: 0)
        i = snippets.code("LDG.E R0, desc[UR4][R2.64]")[0]
        self.assertEqual(len(access.of_global("load", tuple(4 * lane for lane in range(32)), 4, True, i, run).sectors), 4)
        self.assertEqual(len(access.of_global("load", tuple(64 * lane for lane in range(32)), 4, True, i, run).sectors), 32)


class Occupancy(unittest.TestCase):
    # Expected numbers are those of NVIDIA's occupancy calculator for compute capability 9.0.
    def test_limits(self):
        for registers, shared, threads, blocks, limit in ((32, 0, 256, 8, "threads"), (128, 0, 256, 2, "registers"), (138, 104472, 256, 1, "registers"),
                                                          (122, 104472, 256, 2, "registers"), (64, 100000, 128, 2, "shared memory"), (16, 0, 32, 32, "blocks")):
            held = occupancy.of(registers, shared, threads, P)
            self.assertEqual((held.blocks, held.limit), (blocks, limit), (registers, shared, threads))


class Loops(unittest.TestCase):
    TEXT = """
        MOV R0, RZ
        top:
        MUFU.EX2 R4, R5 | 1 0
        FADD R6, R4, R4 | 4 7 7 1
        BAR.SYNC.DEFER_BLOCKING 0x0
        IADD3 R0, R0, 0x1, RZ | 4
        ISETP.LT.AND P0, PT, R0, c[0x0][0x210], PT | 12
        @P0 BRA `(top) | 5
        MUFU.RCP R4, R6
        EXIT"""

    def test_the_rest_of_a_loop_is_as_long_as_what_was_simulated(self):
        made = snippets.plain_launch(arguments=[400], threads=256)
        predictor = kernel.Predictor({"kernel": snippets.code(self.TEXT)}, P)
        predicted = predictor.predict(made)
        self.assertEqual(predicted.iterations, 400)
        code = predictor.code("kernel")
        traces = [warp.Warp(code, made, 0, number).run() for number in range(8)]
        whole = core.Core(code.instructions, traces, 1, core.Memories(P, 1, [], P.l1_bytes)).run()
        self.assertAlmostEqual(predicted.cycles_per_block, whole.cycles, delta=0.01 * whole.cycles)

    def test_short_loops_are_simulated_whole(self):
        code = warp.Code(snippets.code(self.TEXT))
        self.assertIsNone(steady.main_loop(warp.Warp(code, snippets.plain_launch(arguments=[5]), 0, 0).run(), 1))


class Parameters(unittest.TestCase):
    def test_each_has_a_source(self):
        import json
        for name, entry in json.loads(parameters.FILE.read_text()).items():
            self.assertTrue(entry["source"] and entry["unit"], name)

    def test_unknown_ones_are_refused(self):
        import json
        import pathlib
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "fitted.json")
            path.write_text(json.dumps({"l2_latncy": {"value": 1, "unit": "cycles", "source": "measured"}}))
            with self.assertRaisesRegex(parameters.ParameterError, "l2_latncy"):
                parameters.load(path)
            path.write_text(json.dumps({"l2_latency": {"value": 1, "unit": "cycles", "source": "measured"}}))
            self.assertEqual(parameters.load(path).l2_latency, 1)


if __name__ == "__main__":
    unittest.main()
