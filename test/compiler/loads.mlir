// What no runtime would load is not written, and what was there stays. No part of
// this tokenizer is too large, but what its steps make of one of its tokens is.
// RUN: rm -rf %t && mkdir %t && cp -r %goldens/mamba2/f32_plain %t/model
// RUN: sh -c 'step="{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aaaaaaaaaa\"}"; echo "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[$step,$step,$step,$step,$step,$step,$step]},\"added_tokens\":[{\"id\":1,\"content\":\"a@\",\"normalized\":true}],\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}},\"decoder\":{\"type\":\"Fuse\"}}"' > %t/model/tokenizer.json
// RUN: echo there > %t/out.effc
// RUN: not effc-compile %t/model -o %t/out.effc 2>&1 | FileCheck %s
// CHECK: effc: error: '{{.*}}/out.effc' is not written, since no runtime would load it: tokenizer: added token 1: the normalizer makes more than {{[0-9]+}} bytes of a tokenizer of {{[0-9]+}} bytes: 4194304, and 64 for each byte, are expected to do
// RUN: grep there %t/out.effc && ls %t | FileCheck %s --check-prefix=LEFT
// LEFT: model
// LEFT-NEXT: out.effc
// LEFT-NOT: partial
