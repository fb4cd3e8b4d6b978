// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @concat1_of_nothing() {
  // expected-error @+1 {{expects at least 1 operand, but got 0}}
  %y = "seq.concat"() <{axis = 0 : i64}> : () -> tensor<3x6xf32>
  return
}

// -----

func.func @concat2_negative_axis(%a: tensor<12x6xf32>) {
  // expected-error @+1 {{expects 'axis' in [0, 2), but got -1}}
  %y = seq.concat %a, %a {axis = -1 : i64}
      : (tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<12x12xf32>
  return
}

// -----

func.func @concat2_other_dimension(%a: tensor<12x6xf32>, %b: tensor<3x7xf32>) {
  // expected-error @+1 {{expects operands that differ on axis 0 alone, but got 12, 6 up to operand #0 and then 3, 7}}
  %y = seq.concat %a, %b {axis = 0 : i64}
      : (tensor<12x6xf32>, tensor<3x7xf32>) -> tensor<15x6xf32>
  return
}

// -----

func.func @concat2_other_rank(%a: tensor<12x6xf32>, %b: tensor<12xf32>) {
  // expected-error @+1 {{expects operands that differ on axis 1 alone, but got 12, 6 up to operand #0 and then 12}}
  %y = seq.concat %a, %b {axis = 1 : i64}
      : (tensor<12x6xf32>, tensor<12xf32>) -> tensor<12x7xf32>
  return
}

// -----

func.func @concat3_other_sum(%a: tensor<12x6xf32>, %b: tensor<3x6xf32>) {
  // expected-error @+1 {{expects 'y' of shape 15, 6, but got 16, 6}}
  %y = seq.concat %a, %b {axis = 0 : i64}
      : (tensor<12x6xf32>, tensor<3x6xf32>) -> tensor<16x6xf32>
  return
}
