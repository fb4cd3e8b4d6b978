// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @recurrence1_no_token(%s: tensor<6xf32>) {
  // expected-error @+1 {{expects at least 1 token operand, but got 0}}
  %y, %last = seq.recurrence tokens() parameters() states(%b = %s : tensor<6xf32>)
      -> (tensor<?x6xf32>), (tensor<6xf32>) {
    seq.yield %b, %b : tensor<6xf32>, tensor<6xf32>
  }
  return
}

// -----

func.func @recurrence2_tokens_with_rows(%x: tensor<?x6xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{expects block arguments ('tensor<6xf32>', 'tensor<6xf32>'), but got ('tensor<7x6xf32>', 'tensor<6xf32>')}}
  %r:2 = "seq.recurrence"(%x, %s) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%a: tensor<7x6xf32>, %b: tensor<6xf32>):
    seq.yield %b, %b : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<?x6xf32>, tensor<6xf32>) -> (tensor<?x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @recurrence3_other_result(%x: tensor<?x6xf32>, %s: tensor<5xf32>) {
  %y, %last = seq.recurrence tokens(%a = %x : tensor<?x6xf32>) parameters()
      states(%b = %s : tensor<5xf32>) -> (tensor<?x6xf32>), (tensor<5xf32>) {
    // expected-error @+1 {{expects operands ('tensor<6xf32>', 'tensor<5xf32>'), but got ('tensor<5xf32>', 'tensor<5xf32>')}}
    seq.yield %b, %b : tensor<5xf32>, tensor<5xf32>
  }
  return
}

// -----

func.func @recurrence4_other_state(%x: tensor<?x6xf32>, %s: tensor<6xf32>) {
  // expected-error @+1 {{expects next states of the states' types ('tensor<6xf32>'), but got ('tensor<5xf32>')}}
  %r:2 = "seq.recurrence"(%x, %s) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%a: tensor<6xf32>, %b: tensor<6xf32>):
    seq.yield %b, %b : tensor<6xf32>, tensor<6xf32>
  }) : (tensor<?x6xf32>, tensor<6xf32>) -> (tensor<?x6xf32>, tensor<5xf32>)
  return
}

// -----

func.func @recurrence5_other_op(%x: tensor<?x6xf32>, %s: tensor<6xf32>) {
  %y, %last = seq.recurrence tokens(%a = %x : tensor<?x6xf32>) parameters()
      states(%b = %s : tensor<6xf32>) -> (tensor<?x6xf32>), (tensor<6xf32>) {
    // expected-error @+1 {{expects to stand outside the body of 'seq.recurrence', which holds elementwise ops}}
    %c = seq.reshape %a : tensor<6xf32> -> tensor<6xf32>
    seq.yield %c, %b : tensor<6xf32>, tensor<6xf32>
  }
  return
}

// -----

func.func @recurrence3_state_before_result(%x: tensor<?x6xf32>, %s: tensor<5xf32>) {
  %y, %last = seq.recurrence tokens(%a = %x : tensor<?x6xf32>) parameters()
      states(%b = %s : tensor<5xf32>) -> (tensor<?x6xf32>), (tensor<5xf32>) {
    // expected-error @+2 {{expects operands ('tensor<6xf32>', 'tensor<5xf32>'), but got ('tensor<5xf32>', 'tensor<6xf32>')}}
    // expected-note @+1 {{the types are those expected in another order: the result's row comes first}}
    seq.yield %b, %a : tensor<5xf32>, tensor<6xf32>
  }
  return
}
