// What an entry of a file of importances is called that effc writes.
#ifndef EFFC_FRONTEND_IMPORTANCE_ENTRYNAMES_H
#define EFFC_FRONTEND_IMPORTANCE_ENTRYNAMES_H

#include "dialects/seq/Seq.h"

#include <string>
#include <vector>

namespace effc::frontend {

class EntryNames {
public:
  EntryNames() = default;
  /// `modelType` is that of config.json. `isGguf`: the weights' columns lie as in a
  /// GGUF file.
  EntryNames(llvm::StringRef modelType, bool isGguf)
      : modelType(modelType), isGguf(isGguf) {}

  /// Of a matrix that all tokens are multiplied by: for each tensor it is made of the
  /// name that llama.cpp has, where it knows the tensor, or else the checkpoint's. The
  /// weight's own name where that is longer than a GGUF file takes, and of blocks.
  std::vector<std::string> ofMatrix(seq::WeightOp weight) const;
  /// Of experts' matrices, one after another in `weight`: llama.cpp's, of one tensor
  /// that has all of them its own, or else the weight's.
  std::vector<std::string> ofExperts(seq::WeightOp weight) const;

private:
  struct Known {
    std::string name; // empty: llama.cpp knows none
    bool isExperts = false;
  };
  Known knownNameOf(llvm::StringRef source) const;

  std::string modelType;
  bool isGguf = false;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_IMPORTANCE_ENTRYNAMES_H
