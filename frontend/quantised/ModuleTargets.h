// Which modules a group of compressed-tensors' configuration is for.
#ifndef EFFC_FRONTEND_QUANTISED_MODULETARGETS_H
#define EFFC_FRONTEND_QUANTISED_MODULETARGETS_H

#include "frontend/checkpoint/ConfigReader.h"

#include "llvm/Support/Regex.h"

namespace effc::frontend {

/// Names of modules, patterns of such ("re:" and a regular expression from the start of
/// the name on) and names of their classes ("Linear").
class ModuleTargets {
public:
  /// Reads a list of texts. Problems, such as a pattern that is no POSIX one and might
  /// mean another thing, are the reader's.
  static ModuleTargets read(ConfigReader &config, llvm::StringRef key);

  /// The number of the list that `module` belongs to: of the first that has its name,
  /// else a pattern of it, else a class, which a tensor does not tell: one list alone
  /// may have some. Fails where there is none, or several have classes.
  static llvm::Expected<size_t> find(llvm::ArrayRef<ModuleTargets> lists,
                                     llvm::StringRef module);

private:
  std::vector<std::string> names, patterns;
  bool hasClasses = false;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISED_MODULETARGETS_H
