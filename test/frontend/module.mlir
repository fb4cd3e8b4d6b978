// RUN: effc-compile %s --compile-to=import --weights-from=%goldens/mamba2/f32_plain | FileCheck %s
// RUN: effc-compile %s --compile-to=import | FileCheck %s
// RUN: not effc-compile %s --compile-to=import --weights-from=%goldens/mamba2/f32_conv3 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not effc-compile %s --compile-to=import --weights-from=%t-missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not effc-compile %s --compile-to=import --dtype=bf16 2>&1 | FileCheck %s --check-prefix=DTYPE

// A model need not be a checkpoint of a known family: a module names its weights
// itself. This one predicts from the current token alone, with the embeddings of
// the checkpoint `f32_plain` (97 tokens of width 24; `f32_conv3` has 61).

// CHECK: seq.weight @table source("backbone.embeddings.weight") : tensor<97x24xf32>
// SHAPE: error: model.safetensors: expects tensor 'backbone.embeddings.weight' of shape 97x24, but got 61x24
// MISSING: error: cannot open '{{.*}}-missing': no such file or directory
// DTYPE: error: a module states the types of its weights: no other type can be given
module attributes {seq.model = #seq.model<family = "bigram", vocabulary = 97, width = 24, max_context = 0>} {
  seq.weight @table source("backbone.embeddings.weight") : tensor<97x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %output_rows: tensor<?xi32>) -> tensor<?x97xf32> {
    %w = seq.parameter @table : tensor<97x24xf32>
    %x = seq.embedding %tokens, %w : (tensor<?xi32>, tensor<97x24xf32>) -> tensor<?x24xf32>
    %y = seq.select_rows %x, %output_rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %y, %w : (tensor<?x24xf32>, tensor<97x24xf32>) -> tensor<?x97xf32>
    return %logits : tensor<?x97xf32>
  }
}
