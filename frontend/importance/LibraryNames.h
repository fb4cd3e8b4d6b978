// What llama.cpp calls the tensors of a checkpoint, by the tables of architectures: what
// an entry of a file of importances is looked for under, and what it is written as.
#ifndef EFFC_FRONTEND_IMPORTANCE_LIBRARYNAMES_H
#define EFFC_FRONTEND_IMPORTANCE_LIBRARYNAMES_H

#include "frontend/gguf/Names.h"

#include <optional>
#include <string>
#include <vector>

namespace effc::frontend {

/// A tensor of llama.cpp's that a tensor of a checkpoint is, or is a part of.
struct LibraryName {
  std::string name;
  /// Which matrix of it that is; none: all.
  std::optional<uint64_t> expert;
  /// Whether it has a matrix of each expert.
  bool isOfExperts = false;
};

class LibraryNames {
public:
  LibraryNames() = default;
  /// `modelType` is that of config.json, or empty. `isGguf`: columns lie as in a GGUF
  /// file; elsewhere a tensor whose columns its converter orders anew has no name.
  LibraryNames(llvm::StringRef modelType, bool isGguf);

  /// The first name, of those that any architecture has for `source`, whose tensor is
  /// there: what several call so is the same matrix in all, but the model's own
  /// architectures come first.
  std::optional<LibraryName> find(llvm::StringRef source,
                                  GgufTensorIsThere isThere) const;
  /// The names that the model's own architectures have: of a tensor that llama.cpp holds
  /// in parts those of all parts. Empty: there are none. `hasExperts`: whether the model
  /// has, since what every token passes may be called otherwise beside them.
  std::vector<LibraryName> own(llvm::StringRef source, bool hasExperts) const;

private:
  std::vector<const GgufArchitecture *> architectures; // its own first
  size_t owned = 0;
  bool isGguf = false;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_IMPORTANCE_LIBRARYNAMES_H
