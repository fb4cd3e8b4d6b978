// RUN: rm -rf %t && mkdir -p %t/bin && cp %S/../codegen/nvptx/Inputs/ptxas.sh %t/bin/ptxas && chmod +x %t/bin/ptxas
// RUN: env CUDA_HOME=%t effc-compile %goldens/mamba2/f32_plain --target host,sm_80 --prefill-rows 16 --max-batch 1 -o %t/gpu.effc
// RUN: effc inspect %t/gpu.effc | FileCheck %s --check-prefix=TEXT
// RUN: effc inspect %t/gpu.effc --json | FileCheck %s --check-prefix=JSON
// RUN: env CUDA_HOME=%t effc-compile %goldens/mamba2/f32_plain --target host,sim_80 --prefill-rows 16 --max-batch 1 -o %t/sim.effc
// RUN: effc inspect %t/sim.effc | FileCheck %s --check-prefix=NONE
// RUN: effc inspect %t/sim.effc --json | FileCheck %s --check-prefix=NONE

// A file's cubins depend on the ptxas that made them, so the file says which one
// it was (the one here is a script); without cubins there is none to name.

// TEXT: compiled by effc {{.*}}, LLVM {{[0-9.]+}}, ptxas 12.8.93{{$}}
// JSON: "provenance": {
// JSON: "ptxas": "12.8.93"
// NONE-NOT: ptxas

// Nor is there where no ptxas was found, and the file has PTX alone.
// RUN: %if ptxas %{ true %} %else %{ effc-compile %goldens/mamba2/f32_plain --target sm_80 --prefill-rows 16 --max-batch 1 -o %t/ptx.effc && effc inspect %t/ptx.effc | FileCheck %s --check-prefix=NONE %}
