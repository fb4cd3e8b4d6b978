// The line that an error of a model's text is about, with a caret.
#include "compiler/SourceLines.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace effc;

namespace {

class SourceLines : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> made;
    ASSERT_FALSE(
        llvm::sys::fs::createTemporaryFile("effc-lines", "mlir", made));
    path = made.str().str();
    std::error_code code;
    llvm::raw_fd_ostream file(path, code);
    file << "module {\n\tseq.tanh %x\r\n" << std::string(300, 'a') << "b\n";
  }
  void TearDown() override { llvm::sys::fs::remove(path); }
  std::string path;
};

TEST_F(SourceLines, FollowTheFirstLine) {
  EXPECT_EQ(withSourceLine(path + ":2:11: no value\nnote: why", path),
            path + ":2:11: no value\n   seq.tanh %x\n            ^\nnote: why");
  std::string name = llvm::sys::path::filename(path).str();
  EXPECT_EQ(withSourceLine(name + ":1:1: no module", path),
            name + ":1:1: no module\n  module {\n  ^");
}

TEST_F(SourceLines, ShowAPartOfALongLine) {
  EXPECT_EQ(withSourceLine(path + ":3:301: here", path),
            path + ":3:301: here\n  " + std::string(40, 'a') + "b\n  " +
                std::string(40, ' ') + "^");
}

TEST_F(SourceLines, AreLeftOutWithoutAPlace) {
  for (std::string message :
       {path + ": cannot be read", std::string("other.mlir:1:1: no"),
        path + ":9:1: past the end", path + ":1:40: past the line",
        path + ":0:0: nowhere", path + ":1: no column"})
    EXPECT_EQ(withSourceLine(message, path), message);
  std::error_code code;
  llvm::raw_fd_ostream(path, code) << "// A model.\n";
  EXPECT_EQ(withSourceLine(path + ":1:1: no module", path),
            path + ":1:1: no module");
  EXPECT_EQ(withSourceLine("gone.mlir:1:1: no", "gone.mlir"),
            "gone.mlir:1:1: no");
}

} // namespace
