// RUN: effc-opt %s --seq-expand-form --remarks-filter=seq-expand-form 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// Without an option each mixer takes the form it names, and a remark says which
// and why. Fewer tokens than a chunk are one block: no scan is left.

// REMARK: remark: [Passed] form | Category:seq-expand-form | Function=mixed
// REMARK-SAME: 'seq.ssd' takes the form 'step': class 'linear' with a real decay per 'head'
// REMARK: 'seq.ssd' takes the form 'chunkwise' with chunks of 2 tokens
// REMARK: 'seq.ssd' takes the form 'chunkwise' with chunks of 64 tokens

// CHECK-LABEL: func.func @mixed
// CHECK: seq.scan chunk 1
// CHECK: seq.scan chunk 2
// CHECK-NOT: seq.scan
// CHECK-NOT: seq.ssd
func.func @mixed(%x: tensor<6x3x5xf32>, %dt: tensor<6x3xf32>, %b: tensor<6x1x4xf32>,
                 %h: tensor<3xf32>, %s: tensor<3x4x5xf32>)
    -> (tensor<6x3x5xf32>, tensor<3x4x5xf32>) {
  %y0, %s0 = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h) state(%s)
      {form = #seq.form<kind = step>}
      : (tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6x1x4xf32>, tensor<6x1x4xf32>),
        (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>), tensor<3x4x5xf32>
  %y1, %s1 = seq.ssd %y0, %dt, %b, %b parameters(%h, %h, %h) state(%s0)
      {form = #seq.form<kind = chunkwise, chunk = 2>}
      : (tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6x1x4xf32>, tensor<6x1x4xf32>),
        (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>), tensor<3x4x5xf32>
  %y2, %s2 = seq.ssd %y1, %dt, %b, %b parameters(%h, %h, %h) state(%s1)
      {form = #seq.form<kind = chunkwise, chunk = 64>}
      : (tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6x1x4xf32>, tensor<6x1x4xf32>),
        (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>), tensor<3x4x5xf32>
  return %y2, %s2 : tensor<6x3x5xf32>, tensor<3x4x5xf32>
}
