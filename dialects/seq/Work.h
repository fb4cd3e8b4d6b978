// How many floating-point operations a model takes.
#ifndef EFFC_DIALECTS_SEQ_WORK_H
#define EFFC_DIALECTS_SEQ_WORK_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <vector>

namespace effc::seq {

/// FLOPs that no way of computing a model avoids; a multiplication with its
/// addition counts as two. What is linear in the width (norms, gates,
/// convolutions, decays) is left out: it is small, and how it is done is not
/// fixed.
struct Work {
  /// What a token takes for each earlier token that it sees, itself included.
  struct Keys {
    /// The most that it sees; 0: all there are.
    uint64_t window = 0;
    uint64_t flops = 0;   // for each
    uint64_t counted = 0; // of them in `perToken`: the mean of a full context
  };
  /// Of each token: 2 I O of every linear op, 2 for each number of product
  /// keys, and the mixers in their cheapest form.
  uint64_t perToken = 0;
  /// Of each token whose logits are wanted: 2 D N of the head.
  uint64_t perOutputRow = 0;
  /// Of windows, an element for each length; of `perToken` a part.
  std::vector<Keys> keys;
};

/// Counts the ops within `op`, a function or a kernel. A linear mixer with H
/// heads of K x V states takes the least of the step, 5 K V, and of chunks of C
/// tokens, 4 K V + C (K + V), with C at least 16, for each token and head; a
/// retrieval 2 for each number of the rows that a token chooses; a window 2 (K
/// + V) for each head and key in sight: the keys of the window, or, where every
/// key is in sight, half of those that the table holds, the mean over a
/// sequence that fills it; of chosen blocks all of their keys. Each mean of a
/// block that a query is scored with takes 2 K, mixed with its mean value 2 V
/// more, by its tokens a share of that each.
Work countWork(mlir::Operation *op);

/// What the papers' tables count with.
struct PublishedSettings {
  /// Tokens of a sequence, all of whose logits are wanted.
  uint64_t tokens = 2048;
  /// Tokens of a chunk of a linear mixer; 0: such mixers are not counted, as
  /// by profilers that do not see their kernels.
  uint64_t chunk = 64;
};

/// FLOPs of one sequence, forward, as papers count them: 2 for a multiplication
/// with its addition; the lookup of an embedding as the product with its table;
/// squares of a causal softmax, of a chunk and of a masked mixer in full; 2 for
/// each number that is turned by its position and for each tap of a
/// convolution; no norms, activations, gates or softmax. A linear mixer takes
/// chunks of C tokens: 4 K V for each head, and 2 C K for each group, 2 C V for
/// each head.
struct PublishedWork {
  uint64_t layers = 0;
  /// Of the table of embeddings and of the head.
  uint64_t embeddings = 0;

  uint64_t sum() const { return layers + embeddings; }
};

PublishedWork countPublishedWork(mlir::Operation *op,
                                 const PublishedSettings &settings);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_WORK_H
