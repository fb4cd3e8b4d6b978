// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK: plan.binary @host isa "x86-64-v3" kernels ["embed"] offsets [0] stack_bytes [64] code dense<-61> : tensor<1xi8>
plan.binary @host isa "x86-64-v3" kernels ["embed"] offsets [0] stack_bytes [64] code dense<[195]> : tensor<1xi8>

// CHECK: plan.binary @sm_90a isa "sm_90a" kernels ["linear"] offsets [0] stack_bytes [0] box_maps {{\[\[}}#tile.box_map<operand = 1, rows = 768, columns = 192, pitch = 192, box_rows = 64, box_columns = 64, bf16>]] code
plan.binary @sm_90a isa "sm_90a" kernels ["linear"] offsets [0] stack_bytes [0] box_maps [[#tile.box_map<operand = 1, rows = 768, columns = 192, pitch = 192, box_rows = 64, box_columns = 64, bf16>]] code dense<[195]> : tensor<1xi8>
