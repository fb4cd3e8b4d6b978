// How many floating-point operations a model takes.
#ifndef EFFC_DIALECTS_SEQ_WORK_H
#define EFFC_DIALECTS_SEQ_WORK_H

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace effc::seq {

/// FLOPs that no way of computing a model avoids; a multiplication with its
/// addition counts as two. What is linear in the width (norms, gates,
/// convolutions, decays) is left out: it is small, and how it is done is not
/// fixed.
struct Work {
  /// Of each token: 2 I O of every linear op, 2 for each number of product
  /// keys, and the mixers in their cheapest form.
  uint64_t perToken = 0;
  /// Of each token whose logits are wanted: 2 D N of the head.
  uint64_t perOutputRow = 0;
};

/// Counts the ops within `op`, a function or a kernel. A linear mixer with H
/// heads of K x V states takes the least of the step, 5 K V, and of chunks of C
/// tokens, 4 K V + C (K + V), with C at least 16, for each token and head; a
/// retrieval 2 for each number of the rows that a token chooses; a window 2 (K
/// + V) for each head and key in sight: the keys of the window, or, where every
/// key is in sight, half of those that the table holds, the mean over a
/// sequence that fills it.
Work countWork(mlir::Operation *op);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_WORK_H
