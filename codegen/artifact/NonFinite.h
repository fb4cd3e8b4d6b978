// Elements of a checkpoint's tensors that are no finite numbers.
#ifndef EFFC_CODEGEN_ARTIFACT_NONFINITE_H
#define EFFC_CODEGEN_ARTIFACT_NONFINITE_H

#include "codegen/artifact/Artifact.h"

#include <optional>

namespace effc::codegen {

struct NonFinite {
  std::string place; ///< "[3, 5]", as the tensor lies in its file
  bool isNaN = false;
  std::string text; ///< "NaN", "inf" or "-inf"
};

/// The first NaN of a tensor, or else its first infinity; absent where all
/// elements are finite.
std::optional<NonFinite> findNonFinite(const SourceTensor &tensor);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_NONFINITE_H
