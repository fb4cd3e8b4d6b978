// What an output may not be: a pipe, or a file of the model. Nothing is changed.
// RUN: rm -rf %t && mkdir %t && cp -r %goldens/mamba2/f32_plain %t/model
// RUN: mkfifo %t/pipe
// RUN: not effc-compile %t/model -o %t/pipe 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: effc: error: cannot write {{.*}}/pipe: it is not a regular file
// RUN: not effc-compile %t/model -o %t/model/config.json 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: effc: error: cannot write {{.*}}/model/config.json: it is a file of the model
// RUN: not effc-compile %t/model -o %t/out.effc --remarks %t/model/config.json 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: effc: error: cannot write {{.*}}/config.json: it is a file of the model
// RUN: cd %t/model && not effc-compile . -o ../out.effc --remarks config.json 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: effc: error: cannot write config.json: it is a file of the model
// RUN: cd %t/model && not effc-compile . -o ../out.effc --remarks remarks.txt 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: effc: error: cannot write remarks.txt: remarks do not go into the model's folder
// RUN: not effc-compile %t/model -o %t/out.effc --dump-phases %t/model/. 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: effc: error: cannot write {{.*}}: modules of phases do not go into the model's folder
// RUN: diff -r %t/model %goldens/mamba2/f32_plain

// Nor a file that cannot be made there, which is found before there is a model to compile.
// RUN: not effc-compile %t/model -o %t/nowhere/out.effc --dump-phases %t/early 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: effc: error: cannot write {{.*}}/nowhere/out.effc: No such file or directory
// RUN: not test -e %t/early && not test -e %t/nowhere

// Nor the module that is compiled, by whatever name, nor the weights that it names.
// RUN: effc-compile %t/model --compile-to import -o %t/00-import.mlir && cp %t/00-import.mlir %t/kept
// RUN: ln -s 00-import.mlir %t/link && ln %t/00-import.mlir %t/hard
// RUN: sh -c 'cd %t; for option in "-o 00-import.mlir" "-o link" "-o hard" "-o hard --compile-to seq" "-o x --remarks link" "-o x --dump-phases ."; do effc-compile %t/00-import.mlir --weights-from model $option; echo status $?; done' 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: sh -c 'cd %t; for option in "-o model/model.safetensors" "-o x --remarks model/model.safetensors"; do effc-compile %t/00-import.mlir --weights-from model $option; echo status $?; done' 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// OWN-COUNT-6: effc: error: cannot write {{.*}}: it is a file of the model
// WEIGHTS-COUNT-2: effc: error: cannot write {{.*}}: it is a file of the model
// RUN: cmp %t/00-import.mlir %t/kept && diff -r %t/model %goldens/mamba2/f32_plain

// Nor two outputs in one file, whether it is there or not.
// RUN: not effc-compile %t/model -o %t/both --remarks %t/./both 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: effc: error: cannot write {{.*}}/both: it is the output and the file of remarks at once
// RUN: not effc-compile %t/model -o %t/x --dump-phases %t/dump --remarks %t/dump/10-seq.mlir 2>&1 | FileCheck %s --check-prefix=DUMPED
// DUMPED: effc: error: cannot write {{.*}}/10-seq.mlir: it is the file of remarks and the module of phase seq at once
// RUN: not test -e %t/both && not test -e %t/dump && not test -e %t/x

// A link names the file that it points to.
// RUN: effc-compile %t/model --no-optimise -o %t/real.effc && ln -s real.effc %t/link.effc
// RUN: effc-compile %t/model --no-optimise -o %t/link.effc --strip-ir && test -L %t/link.effc
// RUN: not cmp -s %t/real.effc %goldens/artifacts/1.0.effc

// A chunk that does not divide the rows becomes another one, in a remark that can
// be made an error: 4 is the largest length up to 7 that divides 16.
// RUN: effc-compile %t/model --no-optimise -o %t/out.effc --force-form chunkwise:7 --prefill-rows 16 --remarks - 2>&1 | FileCheck %s --check-prefix=CHUNK
// CHUNK: fallback: form in prefill_16: chunkwise of 4 instead of 7, which does not divide the entry's rows
// RUN: not effc-compile %t/model --no-optimise -o %t/out.effc --force-form chunkwise:7 --prefill-rows 16 --werror=fallback 2>&1 | FileCheck %s --check-prefix=WERROR
// WERROR: effc: error: layers.0.ssd: fallback: form in prefill_16

// States in bf16 give up what is the default, the same bits however a prompt is cut,
// unless that is given up by name.
// RUN: effc-compile %t/model --no-optimise -o %t/out.effc --state-dtype bf16 --remarks - 2>&1 | FileCheck %s --check-prefix=ROUNDED
// ROUNDED: remark: {{.*}}: fallback: state 'layers.0-1.ssd' is stored as 'bf16': it is rounded at the end of every call
// RUN: not effc-compile %t/model --no-optimise -o %t/none.effc --state-dtype bf16 --werror=fallback 2>&1 | FileCheck %s --check-prefix=UNSTABLE
// UNSTABLE: effc: error: {{.*}}fallback: state 'layers.0.ssd' is stored as 'bf16'
// UNSTABLE-NEXT: note: no fallback without bit stability, which is the default (--no-bit-stable)
// RUN: not test -e %t/none.effc
// RUN: effc-compile %t/model --no-optimise -o %t/out.effc --state-dtype bf16 --no-bit-stable --werror=fallback
// Nor are they where these bits are asked for by name; keys and values are rounded when
// they are made, but on a GPU where a call ends.
// RUN: not effc-compile %t/model --no-optimise -o %t/none.effc --state-dtype bf16 --bit-stable 2>&1 | FileCheck %s --check-prefix=STABLE
// STABLE: effc: error: --bit-stable cannot hold with --state-dtype bf16 for host: state 'layers.0.ssd' is rounded where a call ends, so that results depend on how prompts are cut and packed{{$}}
// RUN: effc-compile %goldens/families/gemma3/text_linear --no-optimise -o %t/out.effc --state-dtype f16 --bit-stable --werror=fallback
// RUN: not effc-compile %goldens/families/gemma3/text_linear --no-optimise -o %t/none.effc --target host,sm_80 --state-dtype f16 --bit-stable 2>&1 | FileCheck %s --check-prefix=STABLE-GPU
// Of 8 bits are keys and values alone; a number for each token stays as it is.
// RUN: effc-compile %goldens/families/gemma3/text_linear --no-optimise -o %t/out.effc --state-dtype int8 --bit-stable --werror=fallback --remarks - 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: remark: {{.*}}: state '{{.*}}' is stored as 8 bits, with a scale for each head and token (int8_8_f32): what a token adds is rounded when it is made
// A model that keeps none does not get what was asked for.
// RUN: effc-compile %t/model --no-optimise -o %t/out.effc --state-dtype int8 --bit-stable 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not='is stored as'
// NONE: effc: warning: {{.*}}all states stay as they are: 8 bits are for keys and values, and the model keeps none for each head{{$}}
// RUN: not effc-compile %t/model --no-optimise -o %t/none.effc --state-dtype int8 --werror=fallback 2>&1 | FileCheck %s --check-prefix=NOKEYS
// NOKEYS: effc: error: {{.*}}fallback: all states stay as they are
// Where values are a part of the keys' rows, these have 16 bits.
// RUN: effc-compile %goldens/families/kimi_linear/latent_only --no-optimise -o %t/out.effc --state-dtype int8 --remarks - 2>&1 | FileCheck %s --check-prefix=LATENT
// LATENT: is stored as 'f16', not in 8 bits, since values are a part of its rows or these are too long: what a token adds is rounded when it is made
// STABLE-GPU: effc: error: --bit-stable cannot hold with --state-dtype f16 for sm_80: state '{{.*}}' is rounded where a call ends
// RUN: not test -e %t/none.effc

// A longest context says nothing about states of a fixed size, and is recorded.
// RUN: effc-compile %t/model --no-optimise -o %t/out.effc --max-context 4099 --werror=fallback --remarks - 2>&1 | FileCheck %s --check-prefix=CONTEXT
// CONTEXT: remark: {{.*}}a longest context of 4099 positions has no effect: no state grows with the position
// RUN: grep -q -e --max-context=4099 %t/out.effc

// The remarks of a compilation that fails explain it; one that has not begun leaves
// those of the last.
// RUN: not effc-compile %t/model --no-optimise -o %t/none.effc --force-form chunkwise:7 --prefill-rows 16 --werror=fallback --remarks %t/why
// RUN: FileCheck %s --check-prefix=WHY < %t/why
// WHY: remark: {{.*}}
// RUN: cp %t/why %t/why.kept && not effc-compile %t/model --no-optimise -o %t/model/config.json --remarks %t/why && cmp %t/why %t/why.kept
// RUN: ls %t | not grep partial
