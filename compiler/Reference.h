// The reference's answer to a whole model.
#ifndef EFFC_COMPILER_REFERENCE_H
#define EFFC_COMPILER_REFERENCE_H

#include "compiler/StoredModel.h"
#include "compiler/Target.h"

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
  /// Rows that are multiplied with weights are rounded as the host's products of that
  /// kind do: with weights in blocks to integers of 8 or 16 bits, with a scale for each
  /// 32 columns, with weights in bf16 to bf16. Of other kinds they are not.
  Products rows = Products::Exact;
  /// Rows and the weights that they are multiplied with, of any type, are rounded as a
  /// GPU's products of that kind do instead. What products round besides, the tokens
  /// that mixers multiply, is not.
  bool ofGpu = false;
  /// Of a GPU whose products round to bf16: what kernels may hand on so
  /// (`seq::RoundingTolerance`) is rounded as well, wherever it lies.
  bool narrowResults = false;
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
