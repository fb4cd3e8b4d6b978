// A directory of a test's own, removed with all it holds.
#ifndef EFFC_TEST_UNIT_FRONTEND_TEMPORARYDIRECTORY_H
#define EFFC_TEST_UNIT_FRONTEND_TEMPORARYDIRECTORY_H

#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace effc::test {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    llvm::SmallString<128> made;
    if (llvm::sys::fs::createUniqueDirectory("effc-test", made))
      ADD_FAILURE() << "no temporary directory";
    path = made.str().str();
  }
  ~TemporaryDirectory() { llvm::sys::fs::remove_directories(path); }

  std::string file(llvm::StringRef name) const {
    return path + "/" + name.str();
  }
  /// Writes a file and returns its path.
  std::string write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::ofstream(file(name), std::ios::binary)
        .write(bytes.data(), bytes.size());
    return file(name);
  }

  std::string path;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_TEMPORARYDIRECTORY_H
