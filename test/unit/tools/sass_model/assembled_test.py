"""sass_model follows what ptxas makes of PTX: trip counts, addresses by all kinds of integer arithmetic, divergence, files of cubins.
Left out where there is no ptxas or no nvdisasm, and says so."""
import sys
import unittest

import snippets
from sass_model import access, kernel, launch, parameters, warp

# out[f(thread, block, n)] for an f of divisions of 64 and 32 bits, remainders, bounds, conditions and a loop of n steps.
PTX = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry places(.param .u64 out, .param .u64 n, .param .u64 d)
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %l<24>;
  ld.param.u64 %l0, [out]; ld.param.u64 %l1, [n]; ld.param.u64 %l2, [d];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
  cvt.u64.u32 %l3, %r0; cvt.u64.u32 %l4, %r1;
  mad.lo.u64 %l5, %l4, 1000003, %l3;
  mov.u64 %l6, 0; mov.u64 %l7, 0;
again:
  add.u64 %l7, %l7, %l5;
  rem.u64 %l8, %l7, %l2;
  div.u64 %l9, %l7, %l2;
  xor.b64 %l7, %l8, %l9;
  add.u64 %l6, %l6, 1;
  setp.lt.u64 %p0, %l6, %l1;
  @%p0 bra again;
  rem.u64 %l10, %l7, 4096;
  cvt.u32.u64 %r2, %l10;
  div.u32 %r3, %r2, 7;
  rem.s32 %r4, %r2, 13;
  max.s32 %r5, %r3, %r4;
  cvt.u32.u64 %r6, %l1;
  add.s32 %r6, %r6, 2;
  sub.s32 %r7, 100, %r5;
  div.s32 %r8, %r7, %r6;
  add.s32 %r9, %r8, %r6;
  min.s32 %r9, %r9, 40;
  max.s32 %r9, %r9, 0;
  add.s32 %r5, %r5, %r9;
  setp.gt.u32 %p1, %r0, 11;
  @%p1 add.u32 %r5, %r5, 3;
  mul.wide.u32 %l11, %r5, 32;
  add.u64 %l12, %l0, %l11;
  st.global.u32 [%l12], %r5;
  ret;
}
"""


def place(thread: int, block: int, n: int, d: int) -> int:
    step, value = block * 1000003 + thread, 0
    for _ in range(n):
        value += step
        value = value % d ^ value // d
    low = value % 4096
    most = max(low // 7, low % 13)
    quotient = abs(100 - most) // (n + 2) * (1 if most <= 100 else -1)
    return most + max(0, min(quotient + n + 2, 40)) + (3 if thread > 11 else 0)


@unittest.skipIf(snippets.missing_tools(), snippets.missing_tools())
class Assembled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions, cls.kernels = snippets.assemble(PTX)

    def test_addresses_and_trips(self):
        code = warp.Code(self.functions["places"])
        for block, n, d in ((0, 1, 3), (5, 4, 1 << 33), (77, 9, 1000), (123456, 3, 17)):
            made = snippets.plain_launch([launch.REGION, n, d], [launch.Operand("out", 1 << 20, "l2")], grid=200000)
            trace = warp.Warp(code, made, block, 0).run()
            stored, = [note for note in trace.notes if type(note) is access.Global and note.kind == "store"]
            self.assertEqual(set(stored.sectors), {(launch.REGION + 32 * place(thread, block, n, d)) // 32 for thread in range(32)}, (block, n, d))
            self.assertEqual(trace.assumed, {})

    def test_the_cubin_says_what_a_kernel_takes(self):
        made, = self.kernels
        self.assertEqual((made.name, made.parameters), ("places", [(0, 8), (8, 8), (16, 8)]))
        self.assertGreater(made.registers, 8)

    def test_a_description_is_a_launch(self):
        description = {"grid": [10, 1, 1], "threads": 64, "arguments": [{"bytes": 65536, "memory": "dram"}, 6, 17]}
        made = launch.described(self.kernels[0], 90, description)
        prediction = kernel.Predictor(self.functions, parameters.load()).predict(made)
        self.assertEqual((prediction.blocks, prediction.threads, prediction.unknown_addresses), (10, 64, 0))
        with self.assertRaisesRegex(launch.LaunchError, "grid"):
            launch.described(self.kernels[0], 90, {"arguments": []})


if __name__ == "__main__":
    if snippets.missing_tools():
        print(snippets.missing_tools(), file=sys.stderr)
    unittest.main()
