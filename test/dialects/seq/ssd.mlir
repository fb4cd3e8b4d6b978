// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 6 heads in 2 groups, 3 key and 5 value channels; T dynamic, then static.

// CHECK-LABEL: func.func @ssd
func.func @ssd(%x: tensor<?x6x5xf32>, %dt: tensor<?x6xf32>, %b: tensor<?x2x3xf32>,
               %c: tensor<?x2x3xf32>, %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>,
               %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // CHECK: seq.ssd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} parameters(%{{.*}}, %{{.*}}, %{{.*}}) state(%{{.*}}) {dt_max = 1.000000e-01 : f64} : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d)
      state(%s) {dt_max = 0.1 : f64}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>,
         tensor<?x2x3xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>),
        tensor<6x3x5xf32>
  return
}

// CHECK-LABEL: func.func @ssd_step_with_form
func.func @ssd_step_with_form(%x: tensor<1x6x5xf32>, %dt: tensor<1x6xf32>,
                              %b: tensor<1x2x3xf32>, %h: tensor<6xf32>,
                              %s: tensor<6x3x5xf32>) {
  // CHECK: seq.ssd {{.*}} {dt_min = 0.000000e+00 : f64, form = #seq.form<kind = step>}
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h)
      state(%s) {dt_min = 0.0 : f64, form = #seq.form<kind = step>}
      : (tensor<1x6x5xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>,
         tensor<1x2x3xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>),
        tensor<6x3x5xf32>
  return
}
