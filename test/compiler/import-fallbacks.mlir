// What the import does not do as asked is said even where nobody asks for remarks, and
// --werror fallback refuses it, as what later phases do.
// RUN: rm -rf %t && mkdir %t

// Blocks that a checkpoint has are rounded a second time: mxfp4 to q8_0.
// RUN: effc compile %goldens/families/gpt_oss/mxfp4_bf16 -o %t/x.effc --target host --weights-type Q8_0 --no-optimise --prefill-rows 16 --max-batch 1 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: effc: warning: import: weights of mxfp4 are rounded a second time, to q8_0, and lose more than the wide ones would{{$}}
// TWICE-NEXT: effc: note: 1 choice is not what was asked for or not the fast one: see '--remarks -'
// RUN: not effc compile %goldens/families/gpt_oss/mxfp4_bf16 -o %t/none.effc --target host --weights-type '*=Q8_0' --werror fallback 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: effc: error: import: fallback: weights of mxfp4 are rounded a second time, to q8_0
// RUN: not test -e %t/none.effc

// Matrices of which a file says no importance: its one matrix is blk.0.attn_q.
// RUN: sh -c '{ printf "\001\000\000\000\023\000\000\000blk.0.attn_q.weight\001\000\000\000\040\000\000\000"; for i in $(seq 32); do printf "\000\000\200\077"; done; } > %t/one.dat'
// RUN: not effc compile %goldens/families/qwen2/windows_above -o %t/none.effc --weights-type q4_0 --importance %t/one.dat --werror fallback --remarks %t/remarks 2>&1 | FileCheck %s --check-prefix=IMPORTANCE
// IMPORTANCE: effc: error: import: fallback: matrix 'layers.0.attention.key' is rounded without importance, since 'one.dat' has none of it
// The remarks of the import are all there.
// RUN: FileCheck %s --check-prefix=ALL < %t/remarks
// ALL: remark: import: fallback: matrix 'layers.0.attention.key'
// ALL: remark: import: fallback: matrix 'layers.1.attention.query'
// RUN: not test -e %t/none.effc

// Settings of generation that effc does not follow lose nothing of the model: they are
// said, and no error.
// RUN: cp -r %goldens/mamba2/f32_plain %t/model && echo '{"num_beams": 4}' > %t/model/generation_config.json
// RUN: effc compile %t/model -o %t/x.effc --target host --no-optimise --prefill-rows 16 --max-batch 1 --werror fallback 2>&1 | FileCheck %s --check-prefix=BEAMS
// BEAMS: effc: warning: import: generation_config.json: 'num_beams' is not followed{{$}}
// RUN: effc compile %t/model -o %t/x.effc --target host --no-optimise --prefill-rows 16 --max-batch 1 --remarks - 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: remark: import: warning: generation_config.json: 'num_beams' is not followed{{$}}
// REMARKS: remark: in all {{[0-9]+}}: 1 warning,
