// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK: plan.binary @host isa "x86-64-v3" kernels ["embed"] offsets [0] stack_bytes [64] code dense<-61> : tensor<1xi8>
plan.binary @host isa "x86-64-v3" kernels ["embed"] offsets [0] stack_bytes [64] code dense<[195]> : tensor<1xi8>
