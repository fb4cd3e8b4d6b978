// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @trapezoidal_ssd
func.func @trapezoidal_ssd(
    %x: tensor<?x6x5xf32>,
    %dt: tensor<?x6xf32>,
    %rate: tensor<?x6xf32>,
    %share: tensor<?x6xf32>,
    %b: tensor<?x6x3xf32>,
    %c: tensor<?x6x3xf32>,
    %x_before: tensor<?x6x5xf32>,
    %b_before: tensor<?x6x3xf32>,
    %written_before: tensor<?x6xf32>,
    %d: tensor<6xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.trapezoidal_ssd %{{.*}}, %{{.*}} parameters(%{{.*}}) state(%{{.*}}) :
  %y, %next = seq.trapezoidal_ssd %x, %dt, %rate, %share, %b, %c, %x_before, %b_before,
        %written_before parameters(%d) state(%state)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>,
        tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
        tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
