// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @await1_slots(%i: index, %r: !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) {
  // expected-error @+1 {{expects one result for each ring, its tile with one slot}}
  %a = tile.await %r[%i] pending 1
      : (!tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) -> !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  return
}

// -----

func.func @await1_count(%i: index, %r: !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) {
  // expected-error @+1 {{expects one result for each ring, its tile with one slot}}
  tile.await %r[%i] pending 1 : (!tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) -> ()
  return
}
