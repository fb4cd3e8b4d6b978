// What an entry of a file of importances is called that effc writes.
#ifndef EFFC_FRONTEND_IMPORTANCE_ENTRYNAMES_H
#define EFFC_FRONTEND_IMPORTANCE_ENTRYNAMES_H

#include "dialects/seq/Seq.h"
#include "frontend/importance/LibraryNames.h"

#include <string>
#include <vector>

namespace effc::frontend {

class EntryNames {
public:
  EntryNames() = default;
  /// `modelType` is that of config.json. `isGguf`: the weights' columns lie as in a
  /// GGUF file. `hasExperts`: whether the model has experts.
  EntryNames(llvm::StringRef modelType, bool isGguf, bool hasExperts)
      : library(modelType, isGguf), hasExperts(hasExperts) {}

  /// Of a matrix that all tokens are multiplied by: for each tensor it is made of the
  /// name that llama.cpp has, where it knows the tensor, or else the checkpoint's. The
  /// weight's own name where that is longer than a GGUF file takes, and of blocks.
  std::vector<std::string> ofMatrix(seq::WeightOp weight) const;
  /// Of experts' matrices, one after another in `weight`: llama.cpp's, or else those of
  /// one tensor that has all of them, or the weight's.
  std::vector<std::string> ofExperts(seq::WeightOp weight) const;

private:
  LibraryNames library;
  bool hasExperts = false;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_IMPORTANCE_ENTRYNAMES_H
