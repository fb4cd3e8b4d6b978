// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @pipeline1_stages(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects 'extent' to be a positive multiple of 'step' and at least one stage, but got extent 8, step 4, stages 0}}
  %y = tile.pipeline stages 0 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    tile.yield %a : !tile.tile<4x6xf32, accumulator>
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline1_step(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects 'extent' to be a positive multiple of 'step' and at least one stage, but got extent 8, step 3, stages 1}}
  %y = tile.pipeline stages 1 extent 8 step 3 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    tile.yield %a : !tile.tile<4x6xf32, accumulator>
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline1_extent(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects 'extent' to be a positive multiple of 'step' and at least one stage, but got extent 0, step 4, stages 1}}
  %y = tile.pipeline stages 1 extent 0 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    tile.yield %a : !tile.tile<4x6xf32, accumulator>
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline2_argument(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects a load region that takes an index and yields tiles}}
  %y = tile.pipeline stages 1 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: i64):
    tile.yield %a : !tile.tile<4x6xf32, accumulator>
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline2_scalar(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects a load region that takes an index and yields tiles}}
  %y = tile.pipeline stages 1 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    tile.yield %f : f32
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline2_no_yield(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects a load region that takes an index and yields tiles}}
  %y = tile.pipeline stages 1 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    %z = arith.constant 0 : index
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline3_arguments(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects a compute region from the 1 loaded and 1 carried tiles to the carried ones}}
  %y = tile.pipeline stages 1 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    tile.yield %a : !tile.tile<4x6xf32, accumulator>
  } compute {
  ^bb0(%c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline3_results(%a: !tile.tile<4x6xf32, accumulator>, %f: f32) {
  // expected-error @+1 {{expects a compute region from the 1 loaded and 1 carried tiles to the carried ones}}
  %y = tile.pipeline stages 1 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
    tile.yield %a : !tile.tile<4x6xf32, accumulator>
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c, %c : !tile.tile<4x6xf32, accumulator>, !tile.tile<4x6xf32, accumulator>
  }
  return
}

// -----

func.func @pipeline2_empty(%a: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects a load region that takes an index and yields tiles}}
  %y = tile.pipeline stages 1 extent 8 step 4 iter(%a) : !tile.tile<4x6xf32, accumulator> load {
  ^bb0(%k: index):
  } compute {
  ^bb0(%l: !tile.tile<4x6xf32, accumulator>, %c: !tile.tile<4x6xf32, accumulator>):
    tile.yield %c : !tile.tile<4x6xf32, accumulator>
  }
  return
}
