"""sass_model reads what nvdisasm prints."""
import unittest

import snippets
from sass_model import sass

LISTING = """\t.section\t.text.kernel,"ax",@progbits
.text.kernel:
        /*0000*/                   S2R R0, SR_TID.X ;                                   /* 0x0000000000007919 */
                                                                                        /* 0x000e220000002100 */
.L_x_1:
        /*0010*/              @!P1 IADD3 R2, P0, R0.reuse, -0x10, RZ ;                  /* 0x000000ff0000d210 */
                                                                                        /* 0x001fe40007f1e0ff */
        /*0020*/               @P0 BRA `(.L_x_1) ;                                      /* 0x0000000000000947 */
                                                                                        /* 0x000fea0003800000 */
        /*0030*/                   EXIT ;                                               /* 0x000000000000794d */
                                                                                        /* 0x000fea0003800000 */
"""


class Reading(unittest.TestCase):
    def test_instructions_have_their_control_bits(self):
        first, second, branch, last = sass.parse(LISTING)["kernel"]
        self.assertEqual((first.opcode, first.operands), ("S2R", ("R0", "SR_TID.X")))
        self.assertEqual((first.stall, first.write_barrier, first.read_barrier, first.waits), (1, 0, 7, 0))
        self.assertEqual((second.predicate, second.negated, second.operands), ("P1", True, ("R2", "P0", "R0.reuse", "-0x10", "RZ")))
        self.assertEqual((second.stall, second.waits), (2, 1))
        self.assertEqual(branch.target, 1)
        self.assertEqual(last.opcode, "EXIT")

    def test_other_text_is_refused(self):
        with self.assertRaisesRegex(sass.SassError, "nvdisasm -hex"):
            sass.parse("no listing")

    def test_snippets_are_the_same(self):
        loop, = [i for i in snippets.code("top:\nMOV R1, 0x1\n@P0 BRA `(top) | 5") if i.opcode == "BRA"]
        self.assertEqual((loop.target, loop.stall), (0, 5))


if __name__ == "__main__":
    unittest.main()
