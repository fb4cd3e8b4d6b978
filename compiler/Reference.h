// The reference's answer to a whole model.
#ifndef EFFC_COMPILER_REFERENCE_H
#define EFFC_COMPILER_REFERENCE_H

#include "compiler/StoredModel.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace effc {

/// A form that every mixer is expanded to before evaluation; none: the op's own
/// meaning.
enum class ReferenceForm { None, Step, Chunkwise, Quadratic };

struct ReferenceRequest {
  ReferenceForm form = ReferenceForm::None;
  int64_t chunk = 0;   // of Chunkwise
  bool single = false; // f32 arithmetic in place of double
};

/// The logits [tokens, vocabulary] of a sequence from its start, evaluated op
/// by op. Slow: some nanoseconds for each product. All weights are held in the
/// precision of the evaluation.
llvm::Expected<std::vector<double>>
evaluateReference(const StoredModel &model, llvm::ArrayRef<int32_t> tokens,
                  const ReferenceRequest &request);

} // namespace effc

#endif // EFFC_COMPILER_REFERENCE_H
