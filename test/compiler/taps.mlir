// `--tap`: inner values in place of logits, and nothing that only logits need.
// RUN: rm -rf %t && mkdir %t
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=import --tap 'layers\.1\.ssd:(dt|b)' --tap embeddings | FileCheck %s --check-prefix=IMPORT
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=import --tap 'layers\.1\.ssd:log_decay' | FileCheck %s --check-prefix=DECAY
// RUN: effc-compile %goldens/families/recurrent_gemma/plain --compile-to=import --tap 'layers\.0\.lru:value.*' | FileCheck %s --check-prefix=START
// RUN: effc compile %goldens/families/recurrent_gemma/plain --no-optimise -o %t/start.effc --tap 'layers\.0\.lru:value.*' 2> /dev/null
// RUN: effc verify %t/start.effc --seconds 3 --device host > %t/started
// RUN: FileCheck %s --check-prefix=VERIFY --input-file=%t/started
// RUN: effc compile %goldens/mamba2/f32_plain --no-optimise -o %t/taps.effc --tap 'layers\.1\.ssd:(dt|b)' --tap embeddings 2> /dev/null
// RUN: effc inspect %t/taps.effc --json | FileCheck %s --check-prefix=INSPECT
// RUN: effc verify %t/taps.effc --seconds 3 --device host > %t/verified
// RUN: FileCheck %s --check-prefix=VERIFY --input-file=%t/verified
// RUN: effc compile %goldens/mamba2/f32_plain -o %t/decays.effc --tap 'layers.*ssd:(log_decay|value)' 2> /dev/null
// RUN: effc verify %t/decays.effc --seconds 3 --device host > %t/judged
// RUN: FileCheck %s --check-prefix=VERIFY --input-file=%t/judged
// RUN: not effc run %t/taps.effc --tokens 1,2 --print-tokens -n 1 --device host 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not effc eval %t/taps.effc --tokens %goldens/mamba2/f32_plain/tokens.json --hidden %t/out --device host 2>&1 | FileCheck %s --check-prefix=EVAL
// RUN: not effc-compile %goldens/mamba2/f32_plain --compile-to=import --tap layers.1.sdd 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not effc-compile %goldens/mamba2/f32_plain --compile-to=import --tap 'layers.1.(ssd' 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not effc-compile %goldens/mamba2/f32_plain --compile-to=import --tap embeddings --hidden 2>&1 | FileCheck %s --check-prefix=BOTH

// IMPORT: module attributes {{.*}}seq.hidden_width = 46 : i64
// IMPORT-SAME: seq.taps = [#seq.tap<name = "embeddings", shape = [24]>, #seq.tap<name = "layers.1.ssd:dt", shape = [6]>, #seq.tap<name = "layers.1.ssd:b", shape = [1, 16]>]
// IMPORT-NOT: @lm_head
// IMPORT: seq.concat
// IMPORT: return %{{[^ ]+}}, {{.*}} : tensor<?x46xf32>

// What the mixer makes of its operands is a step in front of it, which has the rate of the decay, an op of parameters
// alone. Of the other quantities, and of the other layer's, there is none.
// DECAY: seq.taps = [#seq.tap<name = "layers.1.ssd:log_decay", shape = [6]>]
// DECAY-NOT: seq.recurrence
// DECAY: %[[DECAY:[^ ]+]] = seq.recurrence tokens(%[[DT:[^ ]+]] = %{{[^ ]+}} : tensor<?x6xf32>) parameters(%[[A:[^ ]+]] = %{{[^ ]+}} : tensor<6xf32>, %[[BIAS:[^ ]+]] = %{{[^ ]+}} : tensor<6xf32>) states() -> (tensor<?x6xf32>), () {
// DECAY-NEXT: %[[SUM:[^ ]+]] = seq.add %[[DT]], %[[BIAS]]
// DECAY: %[[STEP:[^ ]+]] = seq.softplus %[[SUM]]
// DECAY: %[[EXP:[^ ]+]] = seq.exp %[[A]]
// DECAY-NEXT: %[[RATE:[^ ]+]] = seq.neg %[[EXP]]
// DECAY-NEXT: %[[PRODUCT:[^ ]+]] = seq.contract %[[RATE]], %{{[^ ]+}} {{.*}} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
// DECAY-NEXT: seq.yield %[[PRODUCT]]
// DECAY-NOT: seq.recurrence
// DECAY: seq.ssd
// DECAY-NOT: seq.recurrence
// DECAY: seq.select_rows %[[DECAY]],

// A step gets no positions: which tokens are the first of a text is an operand, computed once for both quantities.
// START: seq.taps = [#seq.tap<name = "layers.0.lru:value", shape = [3, 8]>, #seq.tap<name = "layers.0.lru:value_log_decay", shape = [3, 8]>]
// START: %[[FIRST:[^ ]+]] = seq.at_start %{{[^ ]+}} : tensor<?xi32> -> tensor<?xf32>
// START-NOT: seq.at_start
// START: %{{[^ ]+}} = seq.recurrence tokens(%{{[^ ]+}} = %[[FIRST]] : tensor<?xf32>
// START: seq.sqrt
// START-NOT: seq.at_start
// START: %{{[^ ]+}} = seq.recurrence tokens(%{{[^ ]+}} = %[[FIRST]] : tensor<?xf32>
// START-NOT: seq.sqrt
// START: seq.rg_lru

// INSPECT: "hidden_width": 46
// INSPECT-NEXT: "taps": [
// INSPECT: "name": "embeddings"
// INSPECT: "--tap=layers\\.1\\.ssd:(dt|b)|embeddings"

// VERIFY: one prefill {{.*}} ok
// VERIFY-NOT: FAILED

// REFUSED: the file was compiled with --tap: it gives inner values
// EVAL: gives inner values: effc compile --hidden makes a file that gives hidden states
// NONE: --tap 'layers.1.sdd' matches no inner value; this model has, N being a number: {{.*}}embeddings{{.*}}layers.N.ssd:log_decay{{.*}}layers.N.ssd:dt
// BROKEN: --tap expects a regular expression, but got 'layers.1.(ssd': {{.+}}
// BOTH: --hidden and --tap both say what is given in place of logits
