// The reference's answer to a whole model.
#ifndef EFFC_COMPILER_REFERENCE_H
#define EFFC_COMPILER_REFERENCE_H

#include "compiler/StoredModel.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace effc {

/// A form that every mixer is expanded to before evaluation; none: the op's own
/// meaning.
enum class ReferenceForm { None, Step, Chunkwise, Quadratic };

/// Which mixers a form was derived for.
struct ReferenceCoverage {
  int64_t expanded = 0;
  /// Why others stayed as they are, a line each.
  std::vector<std::string> kept;
};

struct ReferenceRequest {
  ReferenceForm form = ReferenceForm::None;
  int64_t chunk = 0;   // of Chunkwise
  bool single = false; // f32 arithmetic in place of double
  /// Rows that are multiplied with weights of blocks are rounded to integers of so
  /// many signed bytes, with a scale for each 32 columns, as host products of the
  /// kinds int8 and int16 do; 0: not.
  int64_t rowDigits = 0;
};

/// The logits [tokens, vocabulary] of a sequence from its start, evaluated op
/// by op. Slow: some nanoseconds for each product. A weight is held in the
/// precision of the evaluation while some op reads it. A mixer that the form does not cover is
/// evaluated by its own meaning; `coverage`, unless null, says which.
llvm::Expected<std::vector<double>>
evaluateReference(const StoredModel &model, llvm::ArrayRef<int32_t> tokens,
                  const ReferenceRequest &request,
                  ReferenceCoverage *coverage = nullptr);

} // namespace effc

#endif // EFFC_COMPILER_REFERENCE_H
