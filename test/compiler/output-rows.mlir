// A model whose logits are those of all rows would be compiled and give wrong tokens: `effc run` asks for the last
// row's alone.
// RUN: sed -e 's/seq.lm_head %last/seq.lm_head %r/' %S/../e2e/models/echo.mlir > %t.all.mlir
// RUN: not effc-compile %t.all.mlir --weights none -o %t.effc 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: effc: error: {{.*}}all.mlir:14:3: expects logits, the first result, with a row per output row, but got a row per token

// Nor may the rows that are chosen meet those of the tokens.
// RUN: sed -e 's/seq.lm_head %last/seq.lm_head %both/' -e 's/^ *%%logits/%%both = seq.add %%r, %%last : tensor<?x24xf32>\n&/' %S/../e2e/models/echo.mlir > %t.both.mlir
// RUN: not effc-compile %t.both.mlir --weights none -o %t.effc 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: effc: error: {{.*}}both.mlir:{{.*}}: 'seq.add' op expects operand #1 to have a row per token, but got a row per output row
// BOTH-NEXT: %both = seq.add %r, %last : tensor<?x24xf32>
// BOTH-NEXT: {{^ +\^$}}
// BOTH-NEXT: note: output rows are chosen here
