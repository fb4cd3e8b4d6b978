// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @read1(%x: !tile.view<?x24xf32, [3352, 1]>, %row: index) {
  // expected-error @+1 {{expects 2 indices, one for each dimension of the view, but got 1}}
  %a = tile.read %x[%row] : !tile.view<?x24xf32, [3352, 1]> -> f32
  return
}

// -----

func.func @read2_index_from_float(%x: !tile.view<?xbf16, [1]>, %row: index) {
  // expected-error @+1 {{expects a result of type f32 from elements of 'bf16', but got 'index'}}
  %a = tile.read %x[%row] : !tile.view<?xbf16, [1]> -> index
  return
}

// -----

func.func @read2_float_from_integer(%x: !tile.view<?xi64, [1]>, %row: index) {
  // expected-error @+1 {{expects a result of type index from elements of 'i64', but got 'f32'}}
  %a = tile.read %x[%row] : !tile.view<?xi64, [1]> -> f32
  return
}
