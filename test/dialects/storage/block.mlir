// RUN: effc-opt %s | effc-opt | FileCheck %s
// A description is written once, under the name of the storage.

// CHECK-DAG: !q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32], code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
// CHECK-DAG: !q4_k = !storage.block<"q4_k", elements = 256, bytes = 144, digits = [2, 2, 2, 32], code = uint [4 at 128 [512, 256, 4, 8]], scale = [f16 [16 at 0 [0, 0, 0, 0]], uint [4 at 32 [64, 16, 8, 0], 2 at 36 [2, 16, 8, 0]]], minus = [f16 [16 at 16 [0, 0, 0, 0]], uint [4 at 64 [36, 16, 8, 0], 2 at 68 [2, 16, 8, 0]]]>
// CHECK-DAG: !zeros = !storage.block<"zeros", elements = 4, bytes = 5, digits = [2, 2], code = uint [4 at 0 [4, 8]], zero = [uint [8 at 16 [0, 0]] bias 1], scale = [f16 [16 at 24 [0, 0]]]>
// CHECK-DAG: !eighths = !storage.block<"eighths", elements = 4, bytes = 5, digits = [4], code = e5m2 [8 at 8 [8]], scale = [e4m3 [8 at 0 [0]]]>
// CHECK-DAG: !codes = !storage.block<"codes", elements = 2, bytes = 1, digits = [2], code = uint [4 at 0 [4]] table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]>
!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
!q4_k = !storage.block<"q4_k", elements = 256, bytes = 144, digits = [2, 2, 2, 32],
  code = uint [4 at 128 [512, 256, 4, 8]],
  scale = [f16 [16 at 0 [0, 0, 0, 0]], uint [4 at 32 [64, 16, 8, 0], 2 at 36 [2, 16, 8, 0]]],
  minus = [f16 [16 at 16 [0, 0, 0, 0]], uint [4 at 64 [36, 16, 8, 0], 2 at 68 [2, 16, 8, 0]]]>
!codes = !storage.block<"codes", elements = 2, bytes = 1, digits = [2],
  code = uint [4 at 0 [4]] table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]>

// CHECK: seq.weight @a source("a") : tensor<5x96x!q8_0>
seq.weight @a source("a") : tensor<5x96x!q8_0>
// CHECK: seq.weight @b source("b") : tensor<7x3x256x!q4_k>
seq.weight @b source("b") : tensor<7x3x256x!q4_k>
// CHECK: func.func private @f(!tile.view<?x64x!codes, [64, 1]>)
func.func private @f(!tile.view<?x64x!codes, [64, 1]>)
// CHECK: attributes {field = #storage.field<uint [4 at 48 [4, 64, 8], 1 at 16 [16, 8, 1]] bias -16>}
func.func private @g() attributes {
  field = #storage.field<uint [4 at 48 [4, 64, 8], 1 at 16 [16, 8, 1]] bias -16>}

!zeros = !storage.block<"zeros", elements = 4, bytes = 5, digits = [2, 2],
  code = uint [4 at 0 [4, 8]], zero = [uint [8 at 16 [0, 0]] bias 1],
  scale = [f16 [16 at 24 [0, 0]]]>
// CHECK: func.func private @zeros(!tile.view<?x64x!zeros, [64, 1]>)
func.func private @zeros(!tile.view<?x64x!zeros, [64, 1]>)
!eighths = !storage.block<"eighths", elements = 4, bytes = 5, digits = [4],
  code = e5m2 [8 at 8 [8]], scale = [e4m3 [8 at 0 [0]]]>
// CHECK: func.func private @eighths(!tile.view<?x64x!eighths, [64, 1]>)
func.func private @eighths(!tile.view<?x64x!eighths, [64, 1]>)
