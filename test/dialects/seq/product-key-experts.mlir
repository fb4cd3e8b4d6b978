// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 3 heads choose 4 of 49 experts of 5 channels.

// CHECK-LABEL: func.func @product_key_experts
func.func @product_key_experts(%x: tensor<?x5xf32>, %scores: tensor<?x2x3x7xf32>,
                               %down: tensor<49x5xbf16>, %up: tensor<49x5xbf16>) -> tensor<?x5xf32> {
  // CHECK: seq.product_key_experts %{{.*}}, %{{.*}} parameters(%{{.*}}, %{{.*}}) {nonlinearity = #seq.nonlinearity<gelu>, top_k = 4 : i64} : (tensor<?x5xf32>, tensor<?x2x3x7xf32>), (tensor<49x5xbf16>, tensor<49x5xbf16>)
  %y = seq.product_key_experts %x, %scores parameters(%down, %up)
      {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<gelu>}
      : (tensor<?x5xf32>, tensor<?x2x3x7xf32>),
        (tensor<49x5xbf16>, tensor<49x5xbf16>)
  return %y : tensor<?x5xf32>
}
