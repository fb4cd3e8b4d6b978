// Limits of control groups, from trees of files as systems lay them out: either
// version, both, nested groups, containers, and files that say nothing.

#include "runtime/src/system/ControlGroups.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

using namespace effc::rt;

namespace {
/// A root folder of its own.
class ControlGroups : public testing::Test {
protected:
  ControlGroups() {
    std::string name = testing::TempDir() + "effc-groups-XXXXXX";
    if (!mkdtemp(name.data()))
      std::abort();
    root = name;
  }
  ~ControlGroups() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  void isIn(const std::string &groups) { write("/proc/self/cgroup", groups); }
  /// A mount of `type` at `point`, whose folder is the group `of`.
  void mount(const std::string &type, const std::string &point,
             const std::string &options = "rw", const std::string &of = "/") {
    mounts += "31 23 0:28 " + of + " " + point + " rw,relatime shared:9 - " +
              type + " " + type + " " + options + "\n";
    write("/proc/self/mountinfo",
          "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts);
  }
  GroupLimits limits() { return readGroupLimits(root); }

  static constexpr uint64_t kNone = UINT64_MAX;
  std::string root, mounts;
};
} // namespace

TEST_F(ControlGroups, NothingIsNoLimit) {
  GroupLimits found = limits();
  EXPECT_EQ(found.memory, kNone);
  EXPECT_EQ(found.swap, kNone);
  EXPECT_EQ(found.memoryAndSwap, kNone);
  EXPECT_EQ(found.cores, kNone);
}

// A service in a slice: the service's own limits and those of the slice.
TEST_F(ControlGroups, Version2TakesTheLeastOfAllAbove) {
  isIn("0::/work.slice/job.service\n");
  mount("cgroup2", "/sys/fs/cgroup", "rw,nsdelegate");
  write("/sys/fs/cgroup/work.slice/job.service/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/work.slice/job.service/memory.max", "7340032\n");
  write("/sys/fs/cgroup/work.slice/cpu.max", "350000 100000\n");
  write("/sys/fs/cgroup/work.slice/memory.max", "9437184\n");
  write("/sys/fs/cgroup/work.slice/memory.swap.max", "0\n");
  write("/sys/fs/cgroup/other.slice/memory.max", "4096\n");
  EXPECT_EQ(limits().memory, 7340032u);
  EXPECT_EQ(limits().swap, 0u);
  EXPECT_EQ(limits().memoryAndSwap, kNone);
  EXPECT_EQ(limits().cores, 3u);
  write("/sys/fs/cgroup/work.slice/memory.max", "max\n");
  write("/sys/fs/cgroup/memory.max", "5242880\n");
  EXPECT_EQ(limits().memory, 5242880u);
}

TEST_F(ControlGroups, CoresAreRoundedDownButNotToNone) {
  isIn("0::/\n");
  mount("cgroup2", "/sys/fs/cgroup");
  auto coresOf = [&](const char *text) {
    write("/sys/fs/cgroup/cpu.max", text);
    return limits().cores;
  };
  EXPECT_EQ(coresOf("199999 100000\n"), 1u);
  EXPECT_EQ(coresOf("200000 100000\n"), 2u);
  EXPECT_EQ(coresOf("1000 100000\n"), 1u);
  EXPECT_EQ(coresOf("75000 25000"), 3u);
  EXPECT_EQ(coresOf("max 100000\n"), kNone);
}

// The controllers each have a tree; the process may be elsewhere in each.
TEST_F(ControlGroups, Version1HasATreeForEachController) {
  isIn("12:memory:/lxc/box\n"
       "4:cpu,cpuacct:/batch/step_0\n"
       "3:cpuset:/\n"
       "1:name=systemd:/user.slice\n");
  mount("cgroup", "/sys/fs/cgroup/memory", "rw,memory");
  mount("cgroup", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct");
  mount("cgroup", "/sys/fs/cgroup/cpuset", "rw,cpuset");
  mount("cgroup", "/sys/fs/cgroup/systemd", "rw,xattr,name=systemd");
  const std::string memory = "/sys/fs/cgroup/memory/lxc/";
  write(memory + "box/memory.limit_in_bytes", "9223372036854771712\n");
  write(memory + "memory.limit_in_bytes", "104857600\n");
  write(memory + "box/memory.memsw.limit_in_bytes", "209715200\n");
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct/batch/";
  write(cpu + "step_0/cpu.cfs_quota_us", "-1\n");
  write(cpu + "step_0/cpu.cfs_period_us", "100000\n");
  write(cpu + "cpu.cfs_quota_us", "250000\n");
  write(cpu + "cpu.cfs_period_us", "50000\n");
  // Not of this tree.
  write("/sys/fs/cgroup/cpuset/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limits().memory, 104857600u);
  EXPECT_EQ(limits().memoryAndSwap, 209715200u);
  EXPECT_EQ(limits().swap, kNone);
  EXPECT_EQ(limits().cores, 5u);
}

// Version 1 limits while version 2 only names groups, as systemd's hybrid has it.
TEST_F(ControlGroups, BothVersionsCount) {
  isIn("5:cpu,cpuacct:/app\n6:memory:/app\n0::/app.scope\n");
  mount("cgroup2", "/sys/fs/cgroup/unified");
  mount("cgroup", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct");
  mount("cgroup", "/sys/fs/cgroup/memory", "rw,memory");
  write("/sys/fs/cgroup/unified/app.scope/cgroup.procs", "1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "400000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "8192\n");
  EXPECT_EQ(limits().cores, 4u);
  EXPECT_EQ(limits().memory, 8192u);
  write("/sys/fs/cgroup/unified/app.scope/memory.max", "4096\n");
  EXPECT_EQ(limits().memory, 4096u);
}

// A container whose /proc has the host's names, and whose mount shows its own
// group as the root of all.
TEST_F(ControlGroups, AContainerSeesItsGroupAsTheRoot) {
  isIn("9:memory:/docker/0f3a\n0::/docker/0f3a\n");
  mount("cgroup", "/sys/fs/cgroup/memory", "ro,memory", "/docker/0f3a");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "12288\n");
  EXPECT_EQ(limits().memory, 12288u);
}

// `--cgroupns=host`: the host's names, and all of the host's tree.
TEST_F(ControlGroups, AContainerWithTheHostsNames) {
  isIn("0::/system.slice/docker-0f3a.scope\n");
  mount("cgroup2", "/sys/fs/cgroup", "ro");
  write("/sys/fs/cgroup/system.slice/docker-0f3a.scope/cpu.max",
        "150000 100000\n");
  write("/sys/fs/cgroup/system.slice/docker-0f3a.scope/memory.max", "16384\n");
  EXPECT_EQ(limits().cores, 1u);
  EXPECT_EQ(limits().memory, 16384u);
}

// With a process outside of the namespace's root, or of the mount's, what can be
// seen is the folder itself.
TEST_F(ControlGroups, AGroupOutOfSight) {
  mount("cgroup2", "/sys/fs/cgroup");
  write("/sys/fs/cgroup/memory.max", "20480\n");
  isIn("0::/../other\n");
  EXPECT_EQ(limits().memory, 20480u);
  mounts.clear();
  mount("cgroup2", "/sys/fs/cgroup", "rw", "/docker/0f3a");
  for (const char *group : {"0::/docker/0f3abc\n", "0::/else\n", "0::/\n"}) {
    isIn(group);
    EXPECT_EQ(limits().memory, 20480u) << group;
  }
}

TEST_F(ControlGroups, NamesMayHoldSpacesAndColons) {
  isIn("0::/a b:c/d\n");
  mount("cgroup2", "/sys/fs/my\\040groups");
  write("/sys/fs/my groups/a b:c/memory.max", "24576\n");
  EXPECT_EQ(limits().memory, 24576u);
}

TEST_F(ControlGroups, WhatIsNoNumberIsNoLimit) {
  isIn("0::/job\n");
  mount("cgroup2", "/sys/fs/cgroup");
  const std::string job = "/sys/fs/cgroup/job/";
  for (const char *text : {"", "\n", "max\n", "-5\n", "12abc\n", "0x10\n",
                           "99999999999999999999999\n", "1 2\n"}) {
    write(job + "memory.max", text);
    EXPECT_EQ(limits().memory, kNone) << text;
  }
  for (const char *text : {"", "100000\n", "0 100000\n", "100000 0\n",
                           "5 100000 3\n", "a b\n", "100000 x\n"}) {
    write(job + "cpu.max", text);
    EXPECT_EQ(limits().cores, kNone) << text;
  }
}

TEST_F(ControlGroups, ListsThatMakeNoSense) {
  write("/sys/fs/cgroup/memory.max", "28672\n");
  for (const char *groups : {"", "\n", "0", "0:", "0::", "0::relative\n",
                             "::/\n", "x:y:z\n", ":\n:\n"}) {
    isIn(groups);
    mounts.clear();
    mount("cgroup2", "/sys/fs/cgroup");
    EXPECT_EQ(limits().memory, kNone) << groups;
  }
  isIn("0::/\n");
  for (const char *list :
       {"", "\n", "-\n", "- cgroup2 - -\n", "1 2 3 / /x rw -\n",
        "1 2 3 / /sys/fs/cgroup rw - cgroup2\n", "a\nb c\n"}) {
    write("/proc/self/mountinfo", list);
    EXPECT_EQ(limits().memory, kNone) << list;
  }
}
