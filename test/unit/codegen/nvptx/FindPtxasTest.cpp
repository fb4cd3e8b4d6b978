// The assembler of a wheel is found where the `python3` on the PATH has its
// packages, and nowhere else; its version is what it says.
#include "codegen/nvptx/Ptx.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace effc::nvptx;
namespace fs = std::filesystem;

namespace {

class PtxasOfWheel : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "effc-ptxas-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = std::getenv("PATH");
    fs::create_directories(folder / "bin");
    setenv("PATH", (folder / "bin").c_str(), /*overwrite=*/1);
  }
  void TearDown() override {
    setenv("PATH", path.c_str(), /*overwrite=*/1);
    fs::remove_all(folder);
  }

  void writeProgram(const fs::path &name, const std::string &text) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  /// A Python whose packages are in `sites`.
  void writePython(const std::string &sites) {
    writeProgram("bin/python3", "printf '%s\\n' " + sites);
  }

  fs::path folder;
  std::string path;
};

TEST_F(PtxasOfWheel, IsInThePackagesOfPython) {
  writeProgram("second/nvidia/cu13/bin/ptxas", "exit 0");
  writeProgram("second/nvidia/cuda_nvcc/bin/ptxas", "exit 0");
  fs::create_directories(folder / "first/nvidia/cublas/lib");
  writePython("'' /nowhere " + (folder / "first").string() + " " +
              (folder / "second").string());
  EXPECT_EQ(findPtxasOfWheel(),
            (folder / "second/nvidia/cu13/bin/ptxas").string());
}

TEST_F(PtxasOfWheel, IsAProgram) {
  fs::create_directories(folder / "site/nvidia/cu13/bin");
  std::ofstream(folder / "site/nvidia/cu13/bin/ptxas") << "no program\n";
  writePython((folder / "site").string());
  EXPECT_EQ(findPtxasOfWheel(), std::nullopt);
}

TEST_F(PtxasOfWheel, IsAbsentWithoutPython) {
  EXPECT_EQ(findPtxasOfWheel(), std::nullopt);
  writeProgram("bin/python3", "echo " + folder.string() + "; exit 3");
  writeProgram("nvidia/cu13/bin/ptxas", "exit 0");
  EXPECT_EQ(findPtxasOfWheel(), std::nullopt);
}

TEST_F(PtxasOfWheel, SaysItsVersion) {
  auto versionBy = [&](const std::string &text) {
    writeProgram("ptxas", text);
    return versionOfPtxas((folder / "ptxas").string());
  };
  EXPECT_EQ(
      versionBy("[ \"$*\" = --version ] && "
                "echo 'ptxas: NVIDIA (R) Ptx optimizing assembler' && "
                "echo 'Cuda compilation tools, release 13.0, V13.0.88' && "
                "echo 'Build cuda_13.0.r13.0/compiler.36424714_0'"),
      "13.0.88");
  EXPECT_EQ(versionBy("echo Verbose"), std::nullopt);
  EXPECT_EQ(versionBy("echo ', V13.0.88'; exit 3"), std::nullopt);
  EXPECT_EQ(versionOfPtxas((folder / "nowhere").string()), std::nullopt);
}

} // namespace
