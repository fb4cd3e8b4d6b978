// What an output may not be: a pipe, or a file of the model. Nothing is changed.
// RUN: rm -rf %t && mkdir %t && cp -r %goldens/mamba2/f32_plain %t/model
// RUN: mkfifo %t/pipe
// RUN: not effc-compile %t/model -o %t/pipe 2>&1 | FileCheck %s --check-prefix=PIPE
// PIPE: effc: error: cannot write {{.*}}/pipe: it is not a regular file
// RUN: not effc-compile %t/model -o %t/model/config.json 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: effc: error: cannot write {{.*}}/model/config.json: it is a file of the model
// RUN: not effc-compile %t/model -o %t/out.effc --remarks %t/model/config.json 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: effc: error: cannot write {{.*}}/config.json: remarks do not go into the model's folder
// RUN: cmp %t/model/config.json %goldens/mamba2/f32_plain/config.json

// A link names the file that it points to.
// RUN: effc-compile %t/model -o %t/real.effc && ln -s real.effc %t/link.effc
// RUN: effc-compile %t/model -o %t/link.effc --strip-ir && test -L %t/link.effc
// RUN: not cmp -s %t/real.effc %goldens/artifacts/1.0.effc

// A chunk that does not divide the rows becomes another one, in a remark that can
// be made an error: 4 is the largest length up to 7 that divides 16.
// RUN: effc-compile %t/model -o %t/out.effc --force-form chunkwise:7 --prefill-rows 16 --remarks - 2>&1 | FileCheck %s --check-prefix=CHUNK
// CHUNK: fallback: form in prefill_16: chunkwise of 4 instead of 7, which does not divide the entry's rows
// RUN: not effc-compile %t/model -o %t/out.effc --force-form chunkwise:7 --prefill-rows 16 --werror=fallback 2>&1 | FileCheck %s --check-prefix=WERROR
// WERROR: effc: error: layers.0.ssd: fallback: form in prefill_16
