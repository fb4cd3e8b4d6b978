// RUN: rm -rf %t && mkdir %t

// Wrong usage is one line and status 2, a compilation that fails status 1; neither
// leaves a file. `sh` hands out the status.

// RUN: sh -c 'effc-compile; echo status $?' 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: effc: error: MODEL is required{{$}}
// MODEL-NEXT: effc: note: see effc compile --help
// MODEL-NEXT: status 2
// RUN: sh -c 'effc-compile a --target moon -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: effc: error: unknown target 'moon'; this compiler knows: host, x86-64-v3-vnni, x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, aarch64-dotprod, aarch64-i8mm, sm_80, sm_86, sm_89, sm_90a, sm_100, sm_120, sim_80, sim_90a{{$}}
// TARGET-NEXT: effc: note: see effc compile --help
// TARGET-NEXT: status 2
// RUN: sh -c 'effc-compile a --compile-to=moon; echo status $?' 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: effc: error: unknown phase 'moon'; phases are import, seq, tile, plan, binary, artifact{{$}}
// PHASE-NEXT: effc: note: see effc compile --help
// PHASE-NEXT: status 2
// RUN: sh -c 'effc-compile a; echo status $?' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: effc: error: an artifact needs a file: -o OUT.effc{{$}}
// OUTPUT-NEXT: effc: note: see effc compile --help
// OUTPUT-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --prefill-rows=64,16; echo status $?' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: effc: error: --prefill-rows expects ascending numbers{{$}}
// ROWS-NEXT: effc: note: see effc compile --help
// ROWS-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --prefill-rows=0; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOROWS
// NOROWS: effc: error: --prefill-rows: expects a whole number from 1 to 4096, but got '0'{{$}}
// NOROWS-NEXT: effc: note: see effc compile --help
// NOROWS-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --max-context=0; echo status $?' 2>&1 | FileCheck %s --check-prefix=CONTEXT
// CONTEXT: effc: error: --max-context: expects a whole number from 1 to 281474976710656, but got '0'{{$}}
// CONTEXT-NEXT: effc: note: see effc compile --help
// CONTEXT-NEXT: status 2
// RUN: sh -c 'for option in --prefill-rows=16,4097 --max-batch=x --window=0 "--window 8 --sinks -1"; do effc-compile a -o %t/x $option; echo status $?; done' 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: effc: error: --prefill-rows: expects a whole number from 1 to 4096, but got '4097'{{$}}
// NUMBERS: effc: error: --max-batch: expects a whole number from 1 to 4096, but got 'x'{{$}}
// NUMBERS: effc: error: --window: expects a whole number from 1 to 1073741824, but got '0'{{$}}
// NUMBERS: effc: error: --sinks: expects a whole number from 1 to 1073741824, but got '-1'{{$}}
// NUMBERS-NEXT: effc: note: see effc compile --help
// NUMBERS-NEXT: status 2
// RUN: sh -c 'effc-compile %S/../e2e/models/window.mlir -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOWEIGHTS
// NOWEIGHTS: effc: error: the model has no weights; name their directory with --weights-from, make some up with tools/random_weights.py, or compile shapes alone with --weights none{{$}}
// NOWEIGHTS-NEXT: status 1
// RUN: sh -c 'effc-compile a -o %t/x --sinks=4; echo status $?' 2>&1 | FileCheck %s --check-prefix=SINKS
// SINKS: effc: error: --sinks requires --window
// SINKS-NEXT: effc: note: see effc compile --help
// SINKS-NEXT: status 2
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/x --window=40; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOKEYS
// NOKEYS: effc: error: a window of 40 tokens is asked for, but no layer of the model keeps keys (--window){{$}}
// NOKEYS-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/families/rodimus/plus -o %t/x --window=11; echo status $?' 2>&1 | FileCheck %s --check-prefix=KEPTOWN
// KEPTOWN: effc: error: a window of 11 tokens is asked for, but the layers of the model that keep keys see at most the last 11 (--window){{$}}
// KEPTOWN-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/families/rodimus/plus -o %t/x --window=10 --sinks=2; echo status $?' 2>&1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: effc: error: a window of 10 tokens beside the first 2 is asked for, but the layers of the model that keep keys see at most the last 11 (--window){{$}}
// BESIDE-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/families/llama/streaming -o %t/x --window=18 --sinks=3; echo status $?' 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: effc: error: expects --sinks and --window to be at most the 20 positions of the model, but got 3 and 18{{$}}
// LONG-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/families/gpt2/plain -o %t/x --window=40; echo status $?' 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: effc: error: expects positions that turn keys or lower their scores beside --window, but got a table of positions{{$}}
// TABLE-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/families/effc_masked_mixer/plain -o %t/x --window=8; echo status $?' 2>&1 | FileCheck %s --check-prefix=PAIRS
// PAIRS: effc: error: expects positions that turn keys or lower their scores beside --window, but got weights of positions in 'blocks.0.0.mixer.weight'{{$}}

// RUN: sh -c 'effc-compile %goldens/families/llama/dynamic_steps -o %t/x --max-context=64 --window=19 --sinks=2; echo status $?' 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: effc: error: expects --sinks and --window within the context that rotary positions are not stretched for, but got 2 and 19{{$}}
// DYNAMIC-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/families/gpt2/plain -o %t/x --max-context=65; echo status $?' 2>&1 | FileCheck %s --check-prefix=ROWS65
// ROWS65: expects tensor 'transformer.wpe.weight' to have a row for each of the 65 positions of the longest context, but got 64 rows{{$}}
// RUN: sh -c 'effc-compile a -o %t/x --target host,sm_80 --state-dtype int8; echo status $?' 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: effc: error: --state-dtype int8 is for the host alone, but got sm_80: expects f16 or bf16 for GPUs, or a file of its own for the host{{$}}
// BYTES-NEXT: effc: note: see effc compile --help
// BYTES-NEXT: status 2
// RUN: not effc-compile %goldens/mamba2/f32_plain -o %t --target sm_80 --no-optimise 2>&1 | FileCheck %s --check-prefix=OPTIMISE
// OPTIMISE: effc: error: --no-optimise is for the host's code, but got sm_80: expects a target of the host, or code of GPUs without it{{$}}
// RUN: sh -c 'effc-compile a -o %t/x --no-bit-stable --bit-stable; echo status $?' 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: effc: error: expects one of --bit-stable and --no-bit-stable, but got both{{$}}
// BOTH-NEXT: effc: note: see effc compile --help
// BOTH-NEXT: status 2
// RUN: sh -c 'effc-compile %S/Inputs/foreign_plugin.c -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: effc: error: expects '{{.*}}foreign_plugin.c' to be a checkpoint's directory, a GGUF file or a .mlir file, but got another file{{$}}
// OTHER-NEXT: status 1
// RUN: sh -c 'effc-compile a -o %t/x --products=f16; echo status $?' 2>&1 | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: effc: error: --products f16 rounds what GPUs multiply, but the targets are host, x86-64-v4-vnni{{$}}
// PRODUCTS-NEXT: effc: note: see effc compile --help
// PRODUCTS-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --target=host --products=bf16; echo status $?' 2>&1 | FileCheck %s --check-prefix=BF16
// BF16: effc: error: --products bf16 rounds what GPUs and x86-64-v4-bf16 multiply, but the target is host{{$}}
// BF16-NEXT: effc: note: see effc compile --help
// BF16-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --target=host,sim_80 --products=int8; echo status $?' 2>&1 | FileCheck %s --check-prefix=PANELS
// PANELS: effc: error: --products int8 rounds rows that weights in panels multiply, but code for a GPU has weights in rows: compile for the host alone, with its weights{{$}}
// PANELS-NEXT: effc: note: see effc compile --help
// PANELS-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --moon; echo status $?' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: effc: error: there is no option --moon{{$}}
// OPTION-NEXT: effc: note: see effc compile --help
// OPTION-NEXT: status 2
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/x --force-form=moon; echo status $?' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: effc: error: --force-form: expects step, quadratic, scan or chunkwise[:C] with C in 1..1024, but got 'moon'{{$}}
// FORM-NEXT: effc: note: see effc compile --help
// FORM-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --force-form=chunkwise:0; echo status $?' 2>&1 | FileCheck %s --check-prefix=CHUNK
// CHUNK: effc: error: --force-form: expects step, {{.*}} but got 'chunkwise:0'{{$}}
// CHUNK-NEXT: effc: note: see effc compile --help
// CHUNK-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --force-form=step:4; echo status $?' 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: effc: error: --force-form: expects step, {{.*}} but got 'step:4'{{$}}
// STEP-NEXT: effc: note: see effc compile --help
// STEP-NEXT: status 2
// RUN: sh -c 'effc-compile %t/none -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: effc: error: {{.*}}none
// NONE-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/none/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: effc: error: {{.*}}none/x
// FOLDER-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/x --remarks=%t/none/r; echo status $?' 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: effc: error: cannot write {{.*}}none/r: {{.*}}
// REMARKS-NEXT: status 1
// RUN: sh -c 'effc-compile %s --compile-to=import; echo status $?' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: effc: error: {{.*}}
// EMPTY-NEXT: status 1
// RUN: sh -c 'effc-compile a -o %t/x --weights=elsewhere; echo status $?' 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: effc: error: --weights: elsewhere not in {embed,reference,none}
// WEIGHTS-NEXT: effc: note: see effc compile --help
// WEIGHTS-NEXT: status 2
// RUN: sh -c 'effc-compile a b -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: effc: error: nothing takes 'b'
// TWO-NEXT: effc: note: see effc compile --help
// TWO-NEXT: status 2
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain --weights-from=%t -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: effc: error: weights are read from the checkpoint '{{.*}}f32_plain': no other directory can be given
// FROM-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o /dev/zero; echo status $?' 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: effc: error: cannot write /dev/zero: it is not a regular file
// DEVICE-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t; echo status $?' 2>&1 | FileCheck %s --check-prefix=DIRECTORY
// DIRECTORY: effc: error: cannot write {{.*}}: it is not a regular file
// DIRECTORY-NEXT: status 1
// RUN: ls %t | count 0

// A list takes one argument, so that the model may stand behind it.
// RUN: sh -c 'effc-compile --prefill-rows 16,64 %t/none -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sh -c 'effc-compile a --dense library --target host,sim_80 -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=DENSE
// DENSE: effc: error: --dense library leaves products to cuBLASLt, which runs on GPUs: expects a target such as sm_80, but got host,sim_80
// DENSE-NEXT: effc: note: see effc compile --help
// DENSE-NEXT: status 2
// RUN: sh -c 'effc-compile a --dense library --target sm_80 --products f32 -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=DENSE-EXACT
// DENSE-EXACT: effc: error: --dense library multiplies bf16 by bf16 or f16 by f16, but activations stay f32 with --products f32
// RUN: sh -c 'effc-compile a --dense library --target sm_80 --products bf16 --bit-stable -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=DENSE-STABLE
// DENSE-STABLE: effc: error: --bit-stable cannot hold with --dense library: a library adds in another order for other numbers of rows

// A full disk, for which a limit on the size of files stands: 16 blocks of 512 bytes.
// RUN: sh -c 'trap "" XFSZ; ulimit -f 16; effc-compile %goldens/mamba2/f32_plain -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: effc: error: {{.*}}cannot write {{.*}}: File too large
// FULL-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain --compile-to=import >/dev/full; echo status $? >&2' 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: effc: error: cannot write standard output: No space left on device
// PRINT-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/x --remarks=/dev/full; echo status $?' 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: effc: error: cannot write /dev/full: No space left on device
// REMARK-NEXT: status 1
// RUN: rm -f %t/x
// RUN: ls %t | count 0

// An output that is a file of the model: also by another name, and a shard.
// RUN: cp -r %goldens/layouts/sharded_bf16 %t/model
// RUN: ln -s %t/model/config.json %t/link
// RUN: sh -c 'effc-compile %t/model -o %t/model/config.json; echo status $?' 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: sh -c 'effc-compile %t/model -o %t/link; echo status $?' 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: sh -c 'effc-compile %t/model -o %t/model/model-00002-of-00005.safetensors; echo status $?' 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: sh -c 'effc-compile %t/model -o %t/model/model.safetensors.index.json; echo status $?' 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: effc: error: cannot write {{.*}}: it is a file of the model
// OWN-NEXT: status 1
// RUN: diff -r %goldens/layouts/sharded_bf16 %t/model

// Two compilations of one output at the same time: each is whole, the later one stays.
// RUN: sh -c 'effc-compile %t/model -o %t/x & effc-compile %t/model -o %t/x; wait'
// RUN: effc-compile %t/model -o %t/y
// RUN: cmp %t/x %t/y
