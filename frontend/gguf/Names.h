// Between the names of a GGUF file and those of a family: what a tensor of the
// file is called there, and what messages that name the family's are about.
#ifndef EFFC_FRONTEND_GGUF_NAMES_H
#define EFFC_FRONTEND_GGUF_NAMES_H

#include "frontend/gguf/Architecture.h"

namespace effc::frontend {

/// A tensor's row and what its pattern stands for.
struct GgufNameMatch {
  const GgufTensorRow *row = nullptr;
  /// The digits that '*' stood for, and ".weight" or ".bias"; may be empty.
  std::string layer, suffix;

  /// The family's name; `expert` stands for '#'.
  std::string nameOf(std::optional<uint64_t> expert = {}) const;
  /// The names of parts, in their order.
  std::vector<std::string> nameParts() const;
};

/// Says of a name whether the file has a tensor of it.
using GgufTensorIsThere = llvm::function_ref<bool(llvm::StringRef name)>;

/// The first row whose pattern a tensor's name fits; none where no does.
std::optional<GgufNameMatch> matchGgufName(const GgufArchitecture &architecture,
                                           llvm::StringRef given,
                                           GgufTensorIsThere isThere);

/// The file's name of what a family calls `name`, and what it is there. Of several
/// rows it is the first one's whose tensor is there, or else the first one's.
struct GgufGivenName {
  std::string name; // empty: no row has it
  /// Which of several matrices in one tensor.
  std::optional<uint64_t> expert;
  /// Whether the converter put the columns in another order.
  bool hasOtherColumns = false;
};
GgufGivenName findGivenName(const GgufArchitecture &architecture,
                            llvm::StringRef name, GgufTensorIsThere isThere);

/// The file's name of what the family calls `name`; empty where no row has it.
std::string givenNameOf(const GgufArchitecture &architecture,
                        llvm::StringRef name, GgufTensorIsThere isThere);

/// A message in which quoted names of fields and of the family's tensors are
/// replaced by what the file has, and 'config.json' by the file's name.
std::string sayInGgufNames(llvm::StringRef message,
                           const GgufArchitecture &architecture,
                           const llvm::StringMap<std::string> &fields,
                           GgufTensorIsThere isThere, llvm::StringRef file);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_NAMES_H
