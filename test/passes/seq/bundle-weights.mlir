// RUN: effc-opt %s --seq-bundle-weights > %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file %t.mlir
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK --implicit-check-not=fallback
// RUN: effc-opt %t.mlir --seq-bundle-weights 2> /dev/null | FileCheck %s
// RUN: sed 's/ bundle = 512,//' %s | effc-opt --seq-bundle-weights 2>&1 | FileCheck %s --check-prefix=BLOCKS

// Where the target has none every weight keeps its blocks.
// BLOCKS-NOT: bundles

!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
!long = !storage.block<"long", elements = 1024, bytes = 1026, digits = [1024],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
module attributes {
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        bundle = 512,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {

// As many blocks as the target takes, and fewer where rows have no such multiple.
// CHECK: seq.weight @table source("table") bundles(16) : tensor<19x1024x!q8_0>
// CHECK: seq.weight @up source("up") bundles(8) : tensor<352x768x!q8_0>
// CHECK: seq.weight @experts source("experts") bundles(4) : tensor<6x40x640x!q8_0>
// Rows of no whole bundle stay as they are, and so does what is not in blocks.
// CHECK: seq.weight @short source("short") : tensor<40x96x!q8_0>
// CHECK: seq.weight @longer source("longer") : tensor<40x2048x!long>
// CHECK: seq.weight @wide source("wide") : tensor<64x1024xbf16>
// REMARK: remark: weight 'table' lies in bundles of 16 blocks: first their codes, then their scales
// REMARK: remark: fallback: rows of 96 q8_0 lie block by block, which a GPU reads by narrow loads: there are bundles of 128 elements and multiples
// REMARK: remark: fallback: rows of 2048 long lie block by block, which a GPU reads by narrow loads: there are no bundles of such blocks of 1024 elements
seq.weight @table source("table") : tensor<19x1024x!q8_0>
seq.weight @up source("up") : tensor<352x768x!q8_0>
seq.weight @experts source("experts") : tensor<6x40x640x!q8_0>
seq.weight @short source("short") : tensor<40x96x!q8_0>
seq.weight @longer source("longer") : tensor<40x2048x!long>
seq.weight @wide source("wide") : tensor<64x1024xbf16>
}
