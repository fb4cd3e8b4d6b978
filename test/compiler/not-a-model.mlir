// What is given as a model and is none: each says what it is and what to do.
// RUN: rm -rf %t && mkdir -p %t/model %t/cache/snapshots && cd %t

// RUN: not effc-compile org/a-model -o x 2>&1 | FileCheck %s --check-prefix=HUB
// HUB: effc: error: cannot open 'org/a-model': no such file or directory; of a model on a hub, download the files first (hf download org/a-model --local-dir DIR) and name their directory{{$}}
// RUN: not effc-compile %t/none/at/all -o x 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: effc: error: cannot open '{{.*}}/none/at/all': no such file or directory{{$}}
// RUN: printf 'GGUF\3\0\0\0' > m.gguf && not effc-compile m.gguf -o x 2>&1 | FileCheck %s --check-prefix=GGUF
// GGUF: effc: error: m.gguf: ends at byte 8, within the header{{$}}
// RUN: printf 'PK\3\4' > m.pt && not effc-compile m.pt -o x 2>&1 | FileCheck %s --check-prefix=ZIP
// ZIP: but got a ZIP file, as torch.save writes: convert it to safetensors (tools/convert_pickle.py){{$}}
// RUN: cp %goldens/mamba2/f32_plain/* model
// RUN: not effc-compile model/model.safetensors -o x 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not effc-compile model/config.json -o x 2>&1 | FileCheck %s --check-prefix=PART
// PART: but got a file of a checkpoint: name the directory that it is in{{$}}
// RUN: effc-compile model --no-optimise -o m.effc && not effc-compile m.effc -o x 2>&1 | FileCheck %s --check-prefix=COMPILED
// COMPILED: but got a compiled model: effc run takes it{{$}}
// RUN: not effc-compile cache -o x 2>&1 | FileCheck %s --check-prefix=CACHE
// CACHE: expects 'model.safetensors' in 'cache', but found a cache of a hub: name the folder in 'snapshots' that has 'config.json'{{$}}
// RUN: not env TMPDIR=/nowhere effc-compile model -o x 2>&1 | FileCheck %s --check-prefix=TMPDIR
// TMPDIR: cannot make a temporary folder in '/nowhere': no such file or directory; TMPDIR names the folder: set it to one that can be written to{{$}}
// RUN: printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' > model/config.json && not effc-compile model -o x 2>&1 | FileCheck %s --check-prefix=POINTER
// POINTER: effc: error: config.json: is a Git LFS pointer in the place of the file: fetch the file itself (git lfs pull){{$}}

// A key that the user answers for is in the provenance, once, in order.
// RUN: sed 's/"model_type"/"idea": 1, "a.b": 2, "model_type"/' %goldens/mamba2/f32_plain/config.json > model/config.json
// RUN: not effc-compile model -o x 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown keys 'idea' and 'a.b' are refused
// RUN: effc-compile model --no-optimise -o m.effc --allow idea --allow a.b,idea --remarks - 2>&1 | FileCheck %s --check-prefix=ALLOWED
// ALLOWED: remark: import: config.json: 'idea' is ignored: --allow idea
// RUN: grep -a -q -- '--allow=a.b,idea' m.effc
// RUN: not effc-compile %s -o x --allow idea 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: a module has no 'config.json' of which a key could be allowed
