// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @kernel1_argument_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects block arguments of the operands' types ('tensor<?x6xf32>'), but got ('tensor<?x7xf32>')}}
  "seq.kernel"(%x) <{name = "a"}> ({
  ^bb0(%a: tensor<?x7xf32>):
    "seq.yield"() : () -> ()
  }) : (tensor<?x6xf32>) -> ()
  return
}

// -----

func.func @kernel2_yield_of_other_type(%x: tensor<?x6xf32>) {
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x7xf32>) {
    // expected-error @+1 {{expects operands of the types of the kernel's results ('tensor<?x7xf32>'), but got ('tensor<?x6xf32>')}}
    seq.yield %a : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel2_no_yield(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects a body that ends in 'seq.yield', but got 'llvm.unreachable'}}
  "seq.kernel"(%x) <{name = "a"}> ({
  ^bb0(%a: tensor<?x6xf32>):
    "llvm.unreachable"() : () -> ()
  }) : (tensor<?x6xf32>) -> ()
  return
}

// -----

func.func @kernel3_no_name(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects a 'name' that is not empty, but got ""}}
  seq.kernel "" (%a = %x : tensor<?x6xf32>) -> () {
    seq.yield
  }
  return
}

// -----

func.func @kernel_sees_no_value_from_outside(%x: tensor<?x6xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %r = seq.kernel "a" () -> (tensor<?x6xf32>) {
    // expected-error @+1 {{using value defined outside the region}}
    seq.yield %x : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel5_no_such_result(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'narrow' to list numbers of its 1 results in ascending order, but got 1 behind 0}}
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>)
      attributes {narrow = array<i64: 0, 1>, narrow_to = bf16} {
    seq.yield %a : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel5_descending(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'narrow' to list numbers of its 2 results in ascending order, but got 0 behind 1}}
  %r:2 = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>)
      attributes {narrow = array<i64: 1, 0>, narrow_to = bf16} {
    seq.yield %a, %a : tensor<?x6xf32>, tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel5_empty(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'narrow' to list a result or to be absent}}
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>)
      attributes {narrow = array<i64>, narrow_to = bf16} {
    seq.yield %a : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel5_integers(%x: tensor<?xi32>) {
  // expected-error @+1 {{expects 'narrow' to list results of f32 or of blocks, but result 0 is 'tensor<?xi32>'}}
  %r = seq.kernel "a" (%a = %x : tensor<?xi32>) -> (tensor<?xi32>)
      attributes {narrow = array<i64: 0>, narrow_to = bf16} {
    seq.yield %a : tensor<?xi32>
  }
  return
}

// -----

func.func @kernel6_alone(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'narrow' and 'narrow_to' together, but got only 'narrow'}}
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>)
      attributes {narrow = array<i64: 0>} {
    seq.yield %a : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel6_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'narrow_to' to be bf16, f16 or digits, but got 'tf32'}}
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>)
      attributes {narrow = array<i64: 0>, narrow_to = tf32} {
    seq.yield %a : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel7_no_such_op(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'root' to be the number of one of its 1 ops, but got 1 : i64}}
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>) attributes {root = 1 : i64} {
    %s = seq.silu %a : tensor<?x6xf32>
    seq.yield %s : tensor<?x6xf32>
  }
  return
}

// -----

func.func @kernel7_elementwise(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'root' to be the number of an op that is neither elementwise nor a view, but op 0 is 'seq.silu'}}
  %r = seq.kernel "a" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>) attributes {root = 0 : i64} {
    %s = seq.silu %a : tensor<?x6xf32>
    seq.yield %s : tensor<?x6xf32>
  }
  return
}
