// Files that are compiled from recorded checkpoints.
#ifndef EFFC_TEST_E2E_FAMILYFILE_H
#define EFFC_TEST_E2E_FAMILYFILE_H

#include "test/e2e/Process.h"

#include <string>
#include <vector>

namespace effc::test {

/// The folder of the case `name`, "family/case".
inline std::string familyFolder(const std::string &name) {
  return EFFC_GOLDENS "/families/" + name;
}

/// Compiles it to `file`.
inline Finished compileFamily(const std::string &name, const std::string &file,
                              const std::vector<std::string> &options) {
  std::vector<std::string> all = {EFFC_PROGRAM, "compile", familyFolder(name),
                                  "-o", file};
  all.insert(all.end(), options.begin(), options.end());
  return runProgram(all);
}

/// The same with small calls, which take little time to compile.
inline Finished compileSmallFamily(const std::string &name,
                                   const std::string &file,
                                   std::vector<std::string> options) {
  options.insert(options.end(), {"--prefill-rows", "16", "--max-batch", "2"});
  return compileFamily(name, file, options);
}

} // namespace effc::test

#endif // EFFC_TEST_E2E_FAMILYFILE_H
