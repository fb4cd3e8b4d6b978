// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @shift1(%a: !tile.tile<4x16xf32, operand>) {
  // expected-error @+1 {{expects a row and gives one of its shape, but got '!tile.tile<4x16xf32, operand>'}}
  %b = tile.shift %a by 1 : !tile.tile<4x16xf32, operand>
  return
}
