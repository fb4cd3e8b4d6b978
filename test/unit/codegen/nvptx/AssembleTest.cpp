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

// As ptxas 13.0 words it: products that run one by one, and a wait and a fence
// that it put between them itself.
TEST_F(Assemble, TellsWhoseProductsAreSerialised) {
  const std::string module = "; printf '\\177ELF%060d' 7 > \"$5\"";
  for (const char *line :
       {"(C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources for the wgmma "
        "pipeline in the function 'dot'",
        "(C7517) warpgroup.wait is injected in around line 12 by compiler to "
        "allow use of registers defined by GMMA in function 'dot'",
        "(C7519) warpgroup.arrive is injected in around line 13 by compiler to "
        "allow use of registers in GMMA in function 'dot'"}) {
    llvm::Expected<Cubin> cubin = assembleBy(
        "echo \"ptxas info    : " + std::string(line) +
        "\";"
        "echo \"ptxas info    : Compiling entry function 'dot' for 'sm_90a'\";"
        "echo \"ptxas info    : Used 30 registers, used 0 barriers\";"
        "echo \"ptxas info    : Compiling entry function 'sum' for 'sm_90a'\"" +
        module);
    ASSERT_TRUE(!!cubin) << llvm::toString(cubin.takeError());
    EXPECT_EQ(cubin->serialised, "ptxas info    : " + std::string(line) + "\n");
    EXPECT_TRUE(cubin->kernels["dot"].isSerialised);
    EXPECT_EQ(cubin->kernels["dot"].registers, 30);
    EXPECT_FALSE(cubin->kernels["sum"].isSerialised);
  }
}

// Other notes on performance, of which 'setmaxnreg' has some, are none of that.
TEST_F(Assemble, PassesOverOtherNotes) {
  llvm::Expected<Cubin> cubin = assembleBy(
      "echo \"ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' "
      "ignored; C7510 is named in passing in function 'dot'\""
      "; printf '\\177ELF%060d' 7 > \"$5\"");
  ASSERT_TRUE(!!cubin) << llvm::toString(cubin.takeError());
  EXPECT_EQ(cubin->serialised, "");
  EXPECT_FALSE(cubin->kernels["dot"].isSerialised);
}

TEST_F(Assemble, SaysWhatTheAssemblerSays) {
  EXPECT_EQ(messageBy("echo bad >&2; exit 3"),
            "ptxas cannot assemble the kernels for sm_80: bad");
}

} // namespace
