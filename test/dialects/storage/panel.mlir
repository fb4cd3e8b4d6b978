// RUN: effc-opt %s | effc-opt | FileCheck %s

!q4_1 = !storage.block<"q4_1", elements = 32, bytes = 20, digits = [2, 16],
  code = uint [4 at 32 [4, 8]], scale = [f16 [16 at 0 [0, 0]]],
  plus = [f16 [16 at 16 [0, 0]]]>

// CHECK: seq.weight @a source("a") panels : tensor<5x96x!q4_1>
seq.weight @a source("a") panels : tensor<5x96x!q4_1>
// CHECK: func.func private @f(!tile.view<48x64x!storage.panel<!q4_1>, [64, 1]>)
func.func private @f(!tile.view<48x64x!storage.panel<!q4_1>, [64, 1]>)
// CHECK: func.func private @g(!tile.view<?x64x!storage.digits<3>, [64, 1]>)
func.func private @g(!tile.view<?x64x!storage.digits<3>, [64, 1]>)
