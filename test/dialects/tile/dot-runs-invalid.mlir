// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @dot_runs1_rows(%acc: !tile.tile<5x16xf32, accumulator>, %w: !tile.tile<6x64xf32, accumulator>, %x: !tile.tile<64xf32, row>) {
  // expected-error @+1 {{expects blocks of the same rows, with columns of the tile for each of the sums, a power of two, but got '!tile.tile<5x16xf32, accumulator>' and '!tile.tile<6x64xf32, accumulator>'}}
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<5x16xf32, accumulator>, !tile.tile<6x64xf32, accumulator>, !tile.tile<64xf32, row>
  return
}

// -----

// 48 columns are three for each of 16 sums.
func.func @dot_runs1_run(%acc: !tile.tile<6x16xf32, accumulator>, %w: !tile.tile<6x48xf32, accumulator>, %x: !tile.tile<48xf32, row>) {
  // expected-error @+1 {{expects blocks of the same rows, with columns of the tile for each of the sums, a power of two, but got '!tile.tile<6x16xf32, accumulator>' and '!tile.tile<6x48xf32, accumulator>'}}
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<6x16xf32, accumulator>, !tile.tile<6x48xf32, accumulator>, !tile.tile<48xf32, row>
  return
}

// -----

func.func @dot_runs2(%acc: !tile.tile<6x16xf32, accumulator>, %w: !tile.tile<6x64xf32, accumulator>, %x: !tile.tile<32xf32, row>) {
  // expected-error @+1 {{expects a row of 64 columns, but got '!tile.tile<32xf32, row>'}}
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<6x16xf32, accumulator>, !tile.tile<6x64xf32, accumulator>, !tile.tile<32xf32, row>
  return
}

// -----

// Of runs of 8, each of which has two sums, a thread has 2 sums, not 4.
func.func @dot_runs3_sums(%acc: !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>>,
                          %w: !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
                          %x: !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 8>>) {
  // expected-error @+1 {{expects the sums of what a thread has of the tile, and a row that lies as the tile does}}
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>>,
      !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
      !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 8>>
  return
}

// -----

func.func @dot_runs3_row(%acc: !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>,
                         %w: !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
                         %x: !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 8, vector = 8>>) {
  // expected-error @+1 {{expects the sums of what a thread has of the tile, and a row that lies as the tile does}}
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>,
      !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
      !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 8, vector = 8>>
  return
}
