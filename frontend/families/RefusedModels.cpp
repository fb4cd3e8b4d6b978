// Models that are known and not read, each with the reason: from
// flash-linear-attention 0.6, but for those that the importers read.
#include "frontend/families/Family.h"

using namespace effc::frontend;

llvm::ArrayRef<RefusedModel> effc::frontend::getRefusedModels() {
  static constexpr RefusedModel models[] = {
      {"abc",
       "its slots take keys and values by a running log of a sum of "
       "exponentials, in two recurrences around a softmax, and no importer "
       "joins these parts yet"},
      {"bitnet",
       "its products round tokens to 8 bits and weights to three values as "
       "they run, which no importer says yet"},
      {"cat",
       "a compressor with weights of its own makes one row of each chunk "
       "of tokens, and a decoder attends to these rows by chunks"},
      {"cyclic_flow_attention",
       "a learned clock moves memories of keys and values through slots, "
       "and a query chooses among the slots by what they hold"},
      {"deltaformer",
       "each value is corrected by a softmax over all corrected values "
       "before it, which no op computes"},
      {"gdn2", "flash-linear-attention has its layer and no model of it; the "
               "explicit layout has the layer as part 'gated_delta_rule_2'"},
      {"mesa_net",
       "each token solves a K x K system by conjugate gradients, some 30 "
       "reads of one state, and a linear recurrence is read once"},
      {"mla", "its latent attention has other tensors than DeepSeek's, and no "
              "importer reads them yet"},
      {"mom", "a router sends each token to a few of several memories, whose "
              "convolutions and recurrences see no others"},
      {"momentum_deltanet",
       "flash-linear-attention has its layer and no model of it; the "
       "explicit layout has the layer as part 'momentum_delta_rule'"},
      {"parallax",
       "a second product with the keys corrects its output under the same "
       "softmax, and seq.attention has one product"},
      {"path_attn",
       "between a key and a query stand the reflections of all tokens "
       "between them, so that each token changes all keys that are kept"},
      {"precond_gated_deltanet",
       "a running sum of squared keys rescales the keys that it writes, "
       "and no importer writes that step yet"},
      {"precond_kda",
       "a running sum of squared keys rescales the keys that it writes, "
       "and no importer writes that step yet"},
      {"raven",
       "a router opens the best slots for each token, and no op by itself "
       "keeps the best numbers of a row"},
      {"stickbreaking_attn",
       "weights of keys are products of sigmoids over the keys behind "
       "them, and seq.attention has a softmax alone"},
      {"wall_transformer",
       "scores decay by gates of each channel between key and query, and a "
       "softmax over such scores has no kernel"},
  };
  return models;
}
