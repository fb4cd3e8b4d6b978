// RUN: not effc-opt %s --seq-choose-forms=force=diagonal 2>&1 | FileCheck %s -DFORM=diagonal
// RUN: not effc-opt %s --seq-choose-forms=force=step:4 2>&1 | FileCheck %s -DFORM=step:4
// RUN: not effc-opt %s --seq-choose-forms=force=quadratic:16 2>&1 | FileCheck %s -DFORM=quadratic:16
// RUN: not effc-opt %s --seq-choose-forms=force=chunkwise: 2>&1 | FileCheck %s -DFORM=chunkwise:
// RUN: not effc-opt %s --seq-choose-forms=force=chunkwise:0 2>&1 | FileCheck %s -DFORM=chunkwise:0
// RUN: not effc-opt %s --seq-choose-forms=force=chunkwise:-8 2>&1 | FileCheck %s -DFORM=chunkwise:-8
// RUN: not effc-opt %s --seq-choose-forms=force=chunkwise:1025 2>&1 | FileCheck %s -DFORM=chunkwise:1025
// RUN: not effc-opt %s --seq-choose-forms=force=chunkwise:8x 2>&1 | FileCheck %s -DFORM=chunkwise:8x
// RUN: not effc-opt %s --seq-choose-forms=force=chunkwise:8:8 2>&1 | FileCheck %s -DFORM=chunkwise:8:8
// RUN: echo "module {}" | not effc-opt --seq-choose-forms 2>&1 | FileCheck %s --check-prefix=TARGET

// CHECK: error: expects a form step, quadratic, scan or chunkwise[:C] with C in 1..1024, but got '[[FORM]]'
// TARGET: error: expects 'tile.target' on the module
module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {
}
