// A stored model whose logits are what ops inside it give, to find the op from
// which on two evaluations differ.
#ifndef EFFC_COMPILER_OPPROBE_H
#define EFFC_COMPILER_OPPROBE_H

#include "compiler/StoredModel.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace effc {

/// One value of a probe: columns [offset, offset + columns) of a row.
struct ProbedValue {
  std::string op;     // "layers.3.in_proj (seq.linear)"
  std::string layer;  // "layers.3"; empty outside of the layers
  size_t stretch = 0; // number of the run of ops, all of one layer, it is from
  int64_t offset = 0, columns = 0;
};

struct OpProbe {
  StoredModel model;
  /// The sequence in the probe's own vocabulary, which has the tokens of the
  /// sequence alone.
  std::vector<int32_t> tokens;
  std::vector<ProbedValue> values; // in the order of the ops
  int64_t columns = 0;             // of a row
};

/// What each stretch of ops of one layer hands on: the first that differs says
/// where to look.
llvm::Expected<OpProbe> probeStretches(const StoredModel &model,
                                       llvm::ArrayRef<int32_t> tokens);

/// Every result within one stretch, as probeStretches() numbers them.
llvm::Expected<OpProbe> probeStretch(const StoredModel &model, size_t stretch,
                                     llvm::ArrayRef<int32_t> tokens);

} // namespace effc

#endif // EFFC_COMPILER_OPPROBE_H
