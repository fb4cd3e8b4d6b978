// What memory there is, and that a copy of a file is held against it.

#include "runtime/src/system/SystemMemory.h"
#include "runtime/src/MappedFile.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sys/sysinfo.h>

using namespace effc::rt;

namespace {
class Folder {
public:
  Folder() {
    std::string name = testing::TempDir() + "effc-memory-XXXXXX";
    if (!mkdtemp(name.data()))
      std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string at(const std::string &name) const { return path + "/" + name; }

private:
  std::string path;
};
} // namespace

static void write(const std::string &path, const std::string &text) {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(SystemMemory, IsWhatAGroupGrantsWhereThatIsLess) {
  Folder root;
  struct sysinfo machine;
  ASSERT_EQ(sysinfo(&machine), 0);
  uint64_t all =
      (uint64_t(machine.totalram) + machine.totalswap) * machine.mem_unit;
  EXPECT_EQ(systemMemory(root.at("")), all);
  write(root.at("proc/self/cgroup"), "0::/outer/inner\n");
  write(root.at("proc/self/mountinfo"),
        "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 "
        "rw\n");
  write(root.at("sys/fs/cgroup/outer/inner/memory.max"), "max\n");
  write(root.at("sys/fs/cgroup/outer/memory.max"), "7340032\n");
  write(root.at("sys/fs/cgroup/outer/memory.swap.max"), "0\n");
  EXPECT_EQ(systemMemory(root.at("")), 7340032u);
}

TEST(SystemMemory, WhatIsInUseIsNotLeft) {
  constexpr size_t kBytes = size_t(64) << 20;
  uint64_t before = memoryLeft();
  EXPECT_LE(before, systemMemory());
  auto memory = std::make_unique_for_overwrite<char[]>(kBytes);
  std::memset(memory.get(), 1, kBytes);
  asm volatile("" ::"r"(memory.get()) : "memory"); // or nobody would write it
  // What else the process takes meanwhile is far less.
  EXPECT_LT(memoryLeft(), before - kBytes / 2);
  EXPECT_GT(memoryLeft(), before - 2 * kBytes);
}

// A file of holes that is larger than all memory: without the check reading it
// would end the process.
TEST(SystemMemory, ACopyThatCannotFitIsRefused) {
  Folder folder;
  std::string path = folder.at("large");
  std::ofstream(path).put('x');
  uint64_t size = systemMemory();
  std::filesystem::resize_file(path, size);
  uint64_t before = memoryLeft();
  Result<MappedFile> copied = MappedFile::open(path, Access::Copied);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, EFFC_OUT_OF_MEMORY);
  std::string start = "a copy of '" + path + "' takes " +
                      std::to_string(size + size / 512 + (8 << 20)) +
                      " bytes with what goes with it, but of the " +
                      std::to_string(size) +
                      " bytes that the system grants this process ";
  EXPECT_EQ(copied.error().message.find(start), 0u) << copied.error().message;
  EXPECT_GT(memoryLeft() + (uint64_t(64) << 20), before);
  EXPECT_TRUE(MappedFile::open(path, Access::Mapped));
}
