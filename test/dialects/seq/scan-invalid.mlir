// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @scan1_chunk_of_nothing(%x: tensor<12x6xf32>) {
  // expected-error @+1 {{expects 'chunk' of at least 1, but got 0}}
  %y = "seq.scan"(%x) <{chunk = 0 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: tensor<1x6xf32>):
    seq.yield %a : tensor<1x6xf32>
  }) : (tensor<12x6xf32>) -> tensor<12x6xf32>
  return
}

// -----

func.func @scan2_not_a_multiple(%x: tensor<12x6xf32>) {
  // expected-error @+1 {{expects T to be a multiple of 'chunk' 5, but got 12}}
  %y = seq.scan chunk 5 tokens(%a = %x : tensor<12x6xf32>) states()
      -> (tensor<12x6xf32>), () {
    seq.yield %a : tensor<5x6xf32>
  }
  return
}

// -----

func.func @scan2_two_lengths(%x: tensor<12x6xf32>, %z: tensor<8x6xf32>) {
  // expected-error @+1 {{expects token operands and results with one T = 12, but got 8}}
  %y = seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>, %b = %z : tensor<8x6xf32>) states()
      -> (tensor<12x6xf32>), () {
    seq.yield %a : tensor<4x6xf32>
  }
  return
}

// -----

func.func @scan2_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expects tokens of shape T,..., but got a scalar}}
  seq.scan chunk 4 tokens(%a = %x : tensor<f32>) states() -> (), () {
    seq.yield
  }
  return
}

// -----

func.func @scan3_argument_of_all_rows(%x: tensor<12x6xf32>) {
  // expected-error @+1 {{expects block arguments ('tensor<4x6xf32>'), but got ('tensor<12x6xf32>')}}
  "seq.scan"(%x) <{chunk = 4 : i64, operandSegmentSizes = array<i32: 1, 0>, resultSegmentSizes = array<i32: 0, 0>}> ({
  ^bb0(%a: tensor<12x6xf32>):
    seq.yield
  }) : (tensor<12x6xf32>) -> ()
  return
}

// -----

func.func @scan4_yield_of_other_rows(%x: tensor<12x6xf32>, %z: tensor<3x6xf32>) {
  %y = seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>) states()
      -> (tensor<12x6xf32>), () {
    // expected-error @+1 {{expects operands ('tensor<4x6xf32>'), but got ('tensor<3x6xf32>')}}
    seq.yield %z : tensor<3x6xf32>
  }
  return
}

// -----

func.func @scan4_result_of_other_length(%x: tensor<12x6xf32>) {
  // expected-error @+1 {{expects token operands and results with one T = 12, but got 8}}
  %y = seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>) states()
      -> (tensor<8x6xf32>), () {
    seq.yield %a : tensor<4x6xf32>
  }
  return
}

// -----

func.func @scan4_no_yield(%x: tensor<12x6xf32>) {
  // expected-error @+1 {{expects a body that ends in 'seq.yield', but got 'llvm.unreachable'}}
  seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>) states() -> (), () {
    "llvm.unreachable"() : () -> ()
  }
  return
}

// -----

func.func @scan5_next_state_of_other_type(%x: tensor<12x6xf32>, %s0: tensor<6xf32>) {
  // expected-error @+1 {{expects next states of the states' types ('tensor<6xf32>'), but got ('tensor<7xf32>')}}
  %last = seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>)
      states(%s = %s0 : tensor<6xf32>) -> (), (tensor<7xf32>) {
    seq.yield %s : tensor<6xf32>
  }
  return
}

// -----

func.func @scan6_no_tokens(%s0: tensor<6xf32>) {
  // expected-error @+1 {{expects at least 1 token operand, but got 0}}
  %last = seq.scan chunk 4 tokens() states(%s = %s0 : tensor<6xf32>)
      -> (), (tensor<6xf32>) {
    seq.yield %s : tensor<6xf32>
  }
  return
}
