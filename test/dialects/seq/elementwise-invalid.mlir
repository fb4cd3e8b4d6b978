// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by; the generic form is used
// because the syntax has room for one type only.

func.func @add1_no_implicit_broadcast(%a: tensor<?x6xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {a, b, y} have same type}}
  %y = "seq.add"(%a, %b) : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @sub1_no_implicit_broadcast(%a: tensor<?x6xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {a, b, y} have same type}}
  %y = "seq.sub"(%a, %b) : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @mul1_no_implicit_broadcast(%a: tensor<?x6xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {a, b, y} have same type}}
  %y = "seq.mul"(%a, %b) : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @neg1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.neg"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @exp1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.exp"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @sigmoid1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.sigmoid"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @silu1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.silu"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @softplus1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.softplus"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @gelu1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.gelu"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @div1_no_implicit_broadcast(%a: tensor<?x6xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {a, b, y} have same type}}
  %y = "seq.div"(%a, %b) : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gelu_tanh1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.gelu_tanh"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @max1_no_implicit_broadcast(%a: tensor<?x6xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {a, b, y} have same type}}
  %y = "seq.max"(%a, %b) : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @log_sigmoid1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.log_sigmoid"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @tanh1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.tanh"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @relu1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.relu"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @log1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.log"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @sqrt1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.sqrt"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @abs1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.abs"(%x) : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scale1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.scale"(%x) {factor = 2.0 : f64} : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scale2_factor_without_end(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects a finite 'factor', but got 0x7FF0000000000000 : f64}}
  %y = seq.scale %x by 0x7FF0000000000000 : tensor<?x6xf32>
  return
}

// -----

func.func @cos1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.cos"(%x) : (tensor<?x6xf32>) -> tensor<?x7xf32>
  return
}

// -----

func.func @sin1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.sin"(%x) : (tensor<?x6xf32>) -> tensor<?x7xf32>
  return
}
