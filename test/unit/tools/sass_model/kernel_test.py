"""What a launch reads and writes, which part of it comes from DRAM, and what a kernel issues."""
import unittest

import snippets
from sass_model import kernel, launch, mix, parameters, warp

P = parameters.load()
# y[i] = x[i] of 16 bytes a thread; x is operand 0, y operand 1.
COPY = """
    S2R R0, SR_TID.X
    S2R R1, SR_CTAID.X
    IMAD R0, R1, c[0x0][0x0], R0
    ULDC.64 UR4, c[0x0][0x210]
    ULDC.64 UR6, c[0x0][0x218]
    IMAD.U32 R6, RZ, RZ, UR4
    IMAD.U32 R7, RZ, RZ, UR5
    IMAD.WIDE.U32 R2, R0, 0x10, R6
    IMAD.U32 R6, RZ, RZ, UR6
    IMAD.U32 R7, RZ, RZ, UR7
    IMAD.WIDE.U32 R4, R0, 0x10, R6
    LDG.E.128 R8, desc[UR8][R2.64] | 1 0
    STG.E.128 desc[UR8][R4.64], R8 | 1 7 1 1
    EXIT"""


def copying(blocks: int, memory: str, x_bytes=None) -> launch.Launch:
    size = blocks * 256 * 16
    return snippets.plain_launch([launch.REGION, 2 * launch.REGION], [launch.Operand("x", x_bytes or size, memory), launch.Operand("y", size, memory)],
                                 grid=blocks, threads=256)


class Bytes(unittest.TestCase):
    def predict(self, made):
        return kernel.Predictor({"kernel": snippets.code(COPY)}, P).predict(made)

    def test_footprints_are_what_a_block_touches(self):
        made = copying(64, "dram")
        code = warp.Code(snippets.code(COPY))
        read, written = kernel.footprints([warp.Warp(code, made, 3, number).run() for number in range(8)], 1.0)
        self.assertEqual((read, written), ({0: 4096}, {1: 4096}))

    def test_bytes_of_dram_are_read_once(self):
        made = copying(64, "dram", x_bytes=4096)  # all blocks read the same
        share, total = kernel.dram_shares(made, {0: 4096}, {1: 4096})
        self.assertEqual((share, total), ([1 / 64, 0.0], 4096 + 64 * 4096))
        self.assertEqual(kernel.dram_shares(copying(64, "l2"), {0: 4096}, {1: 4096}), ([0.0, 0.0], 0.0))

    def test_weights_that_other_blocks_read_come_as_well(self):
        made = copying(64, "dram")
        made.operands[0].bytes = 4096
        self.assertEqual(kernel.dram_shares(made, {0: 4096}, {}), ([1 / 64, 0.0], 4096))
        made.operands[1].name = "weight 7"
        self.assertEqual(kernel.dram_shares(made, {0: 4096}, {}), ([1 / 64, 1.0], 4096 + made.operands[1].bytes))

    def test_weights_that_blocks_of_other_rows_read_come_once(self):
        made = copying(64, "dram")
        for number, operand in enumerate(made.operands):
            operand.name, operand.bytes = f"weight {number}", 16 * 4096
        # 64 blocks ask for 4,096 bytes each of what are 32 times as many: half of what they ask for has come before.
        self.assertEqual(kernel.dram_shares(made, {0: 4096}, {}), ([0.5, 0.5], 2 * 16 * 4096))

    def test_a_large_copy_takes_the_time_of_its_bytes(self):
        blocks = 1 << 16
        predicted = self.predict(copying(blocks, "dram"))
        self.assertEqual(predicted.dram_bytes, 2 * blocks * 4096)
        floor = predicted.dram_bytes / P.dram_bytes_per_second
        self.assertGreaterEqual(predicted.seconds, floor)
        self.assertLess(predicted.seconds, 1.3 * floor)
        self.assertEqual(predicted.bound, "DRAM")

    def test_few_blocks_wait_for_latency(self):
        predicted = self.predict(copying(4, "dram"))
        self.assertGreater(predicted.seconds, P.dram_latency / P.clock)
        self.assertLess(predicted.seconds, 2 * P.dram_latency / P.clock)
        self.assertEqual(predicted.bound, "latency of results")

    def test_a_grid_takes_no_less_than_the_one_block_that_works(self):
        alone = """
            S2R R1, SR_CTAID.X
            ISETP.NE.AND P0, PT, R1, RZ, PT
            @P0 EXIT""" + COPY
        predicted = kernel.Predictor({"kernel": snippets.code(alone)}, P).predict(copying(64, "dram"))
        self.assertGreater(predicted.seconds, P.dram_latency / P.clock)
        self.assertLess(predicted.seconds, 2 * P.dram_latency / P.clock)

    def test_kernels_that_are_not_there(self):
        with self.assertRaisesRegex(warp.RunError, "no kernel kernel; it has other"):
            kernel.Predictor({"other": snippets.code(COPY)}, P).predict(copying(1, "l2"))

    def test_a_mix_has_what_is_issued(self):
        instructions = snippets.code("FFMA R0, R1, R2, R3\nFSEL R0, R1, R2, P0\n@!PT MOV R1, R2\nHMMA.16816.F32.BF16 R4, R8, R12, R4\nEXIT")
        trace = warp.Warp(warp.Code(instructions), snippets.plain_launch(), 0, 0).run()
        self.assertEqual(mix.mix_of(instructions, trace), {"float": 1, "masks": 1, "off": 1, "other": 1, "tensor": 1})


if __name__ == "__main__":
    unittest.main()
