// `--hidden`: the rows that the head multiplies, and neither the head nor what it alone reads.
// RUN: rm -rf %t && mkdir %t
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=import --hidden | FileCheck %s --check-prefix=IMPORT
// RUN: effc compile %goldens/mamba2/f32_plain --no-optimise -o %t/hidden.effc --hidden 2> /dev/null
// RUN: effc inspect %t/hidden.effc --json | FileCheck %s --check-prefix=INSPECT
// RUN: effc verify %t/hidden.effc --seconds 3 --device host > %t/verified
// RUN: FileCheck %s --check-prefix=VERIFY --input-file=%t/verified
// RUN: not effc run %t/hidden.effc --tokens 1,2 --print-tokens -n 1 --device host 2>&1 | FileCheck %s --check-prefix=REFUSED

// IMPORT: module attributes {{.*}}seq.hidden_width = [[WIDTH:[0-9]+]] : i64
// IMPORT-NOT: seq.lm_head
// IMPORT: return %{{[^ ]+}}, {{.*}} : tensor<?x[[WIDTH]]xf32>

// INSPECT: "hidden_width": {{[0-9]+}}
// INSPECT: "--hidden"

// VERIFY: one prefill {{.*}} ok
// VERIFY-NOT: FAILED

// REFUSED: the file was compiled with --hidden

