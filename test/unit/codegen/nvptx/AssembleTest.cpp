// What an assembler gives is a module that a driver can load, or an error; the
// assemblers are shell scripts.
#include "codegen/nvptx/Ptx.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace effc::nvptx;
namespace fs = std::filesystem;

namespace {

class Assemble : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "effc-ptxas-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Assembles with a script that is given "-o OUTPUT SOURCE" behind three
  /// options.
  llvm::Expected<Cubin> assembleBy(const std::string &script) {
    fs::path ptxas = folder / "ptxas";
    std::ofstream(ptxas) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(ptxas, fs::perms::owner_all);
    return assemble(ptxas.string(), ".version 8.0", "sm_80");
  }
  std::string messageBy(const std::string &script) {
    llvm::Expected<Cubin> cubin = assembleBy(script);
    return cubin ? "nothing is wrong" : llvm::toString(cubin.takeError());
  }

  fs::path folder;
};

// An ELF header has 64 bytes.
TEST_F(Assemble, GivesWhatIsWritten) {
  llvm::Expected<Cubin> cubin = assembleBy("printf '\\177ELF%060d' 7 > \"$5\"");
  ASSERT_TRUE(!!cubin) << llvm::toString(cubin.takeError());
  EXPECT_EQ(cubin->bytes.size(), 64u);
}

TEST_F(Assemble, NeedsAModule) {
  const std::string start =
      "ptxas says that it has assembled the kernels for sm_80, but wrote ";
  EXPECT_EQ(messageBy("exit 0"), start + "0 bytes that are no ELF file");
  EXPECT_EQ(messageBy("printf '\\177ELF' > \"$5\""),
            start + "4 bytes that are no ELF file");
  EXPECT_EQ(messageBy("echo odd >&2; printf '%070d' 7 > \"$5\""),
            start + "70 bytes that are no ELF file: odd");
}

TEST_F(Assemble, SaysWhatTheAssemblerSays) {
  EXPECT_EQ(messageBy("echo bad >&2; exit 3"),
            "ptxas cannot assemble the kernels for sm_80: bad");
}

} // namespace
