// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @map1(%a: !tile.tile<6x4xf32, operand>) {
  // expected-error @+1 {{expects input 0 to fit a result of 4 rows and 6 columns, but got '!tile.tile<6x4xf32, operand>'}}
  %b = tile.map(%a) : (!tile.tile<6x4xf32, operand>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%e: f32):
    tile.yield %e : f32
  }
  return
}

// -----

func.func @map2_row(%c: f32, %a: !tile.tile<4xf32, row>) {
  // expected-error @+1 {{expects input 1 to fit a result of 4 rows and 6 columns, but got '!tile.tile<4xf32, row>'}}
  %b = tile.map(%c, %a) : (f32, !tile.tile<4xf32, row>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%d: f32, %e: f32):
    tile.yield %e : f32
  }
  return
}

// -----

func.func @map2_column(%a: !tile.tile<6xf32, column>) {
  // expected-error @+1 {{expects input 0 to fit a result of 4 rows and 6 columns, but got '!tile.tile<6xf32, column>'}}
  %b = tile.map(%a) : (!tile.tile<6xf32, column>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%e: f32):
    tile.yield %e : f32
  }
  return
}

// -----

func.func @map3_too_few_arguments(%a: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects a region with 2 f32 arguments, one for each input, but got 1}}
  %b = tile.map(%a, %a) : (!tile.tile<4x6xf32, accumulator>, !tile.tile<4x6xf32, accumulator>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%e: f32):
    tile.yield %e : f32
  }
  return
}

// -----

func.func @map3_yields_nothing(%a: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects the region to yield one f32}}
  %b = tile.map(%a) : (!tile.tile<4x6xf32, accumulator>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%e: f32):
    tile.yield
  }
  return
}

// -----

func.func @map3_does_not_yield(%a: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects a non-empty block}}
  %b = tile.map(%a) : (!tile.tile<4x6xf32, accumulator>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%e: f32):
  }
  return
}

// -----

func.func @map4(%a: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects scalar arithmetic in its region, but got 'tile.count'}}
  %b = tile.map(%a) : (!tile.tile<4x6xf32, accumulator>) -> !tile.tile<4x6xf32, accumulator> {
  ^bb0(%e: f32):
    // expected-note @+1 {{the map region is applied to one element at a time}}
    %c = tile.count rows
    tile.yield %e : f32
  }
  return
}

// -----

func.func @row_index_outside() {
  // expected-error @+1 {{expects parent op 'tile.map'}}
  %r = tile.row_index
  return
}

// -----

func.func @column_index_outside() {
  // expected-error @+1 {{expects parent op 'tile.map'}}
  %r = tile.column_index
  return
}
