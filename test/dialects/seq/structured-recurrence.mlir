// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @structured_recurrence
func.func @structured_recurrence(
    %x: tensor<?x6x5xf32>,
    %source: tensor<?x6xf32>,
    %target: tensor<?x6xf32>,
    %bias: tensor<?x6xf32>,
    %log_decay: tensor<6xf32>,
    %state: tensor<6x1x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>) {
  // CHECK: seq.structured_recurrence %{{.*}} source(%{{.*}}) target(%{{.*}}) bias(%{{.*}}) decay(%{{.*}}) state(%{{.*}})
  %y, %next = seq.structured_recurrence %x source(%source) target(%target)
        bias(%bias) decay(%log_decay) state(%state)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>,
        tensor<6xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x1x5xf32>
}

// CHECK-LABEL: func.func @combined
func.func @combined(%x: tensor<?x6x5xf32>, %w: tensor<?x6xf32>, %b: tensor<?x6xf32>,
                    %decay: tensor<6xf32>, %s: tensor<6x1x5xf32>) -> tensor<?x6x5xf32> {
  // CHECK: seq.structured_recurrence %{{.*}} source(%{{.*}}) decay(%{{.*}}) state(%{{.*}}) {root = 2 : i64}
  %row, %s0 = seq.structured_recurrence %x source(%w) decay(%decay) state(%s) {root = 2 : i64}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  // CHECK: seq.structured_recurrence %{{.*}} target(%{{.*}}) bias(%{{.*}}) diagonal(%{{.*}}) state(%{{.*}})
  %column, %s1 = seq.structured_recurrence %x target(%w) bias(%b) diagonal(%w) state(%s)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  %y = seq.add %row, %column : tensor<?x6x5xf32>
  return %y : tensor<?x6x5xf32>
}
