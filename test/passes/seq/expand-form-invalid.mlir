// RUN: effc-opt %s --split-input-file --verify-diagnostics --seq-expand-form
// RUN: not effc-opt %s --split-input-file --seq-expand-form="form=chunkwise chunk=0" 2>&1 | FileCheck %s

// Without an option each mixer must name its form; a form needs a static T.

// CHECK: seq-expand-form expects 'chunk' of at least 1, but got 0

func.func @no_form(%x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>,
                   %b: tensor<7x2x3xf32>, %h: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects a 'form', but got none}}
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @dynamic_tokens(%x: tensor<?x6x5xf32>, %dt: tensor<?x6xf32>,
                          %b: tensor<?x2x3xf32>, %h: tensor<6xf32>,
                          %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects a static T to derive a form, but got 'tensor<?x6x5xf32>'}}
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h) state(%s)
      {form = #seq.form<kind = step>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}
