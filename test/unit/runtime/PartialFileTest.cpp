// Files that appear when they are complete: what is on the disk when, whose and
// how readable it is, and what killed writers leave behind.

#include "runtime/src/PartialFile.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <vector>

using namespace effc::rt;
namespace fs = std::filesystem;

/// Told of each call of fsync() in this program, before it is done.
static std::function<void(int)> onSync;

extern "C" int fsync(int descriptor) {
  if (onSync)
    onSync(descriptor);
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace {
class PartialFiles : public testing::Test {
protected:
  PartialFiles() {
    std::string name = testing::TempDir() + "effc-partial-XXXXXX";
    if (!mkdtemp(name.data()))
      std::abort();
    folder = name;
    path = folder + "/out";
  }
  ~PartialFiles() override {
    onSync = {};
    fs::remove_all(folder);
  }

  static void put(const std::string &at, const std::string &text) {
    std::ofstream(at) << text;
  }
  static std::string contentOf(const std::string &at) {
    std::ifstream file(at);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static mode_t modeOf(const std::string &at) {
    struct stat info = {};
    EXPECT_EQ(lstat(at.c_str(), &info), 0) << at;
    return info.st_mode & 07777;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto &entry : fs::directory_iterator(folder))
      found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  static int write(const std::string &to, const std::string &text,
                   bool durable = true) {
    PartialFile file;
    if (int code = file.begin(to))
      return code;
    EXPECT_EQ(::write(file.descriptor(), text.data(), text.size()),
              ssize_t(text.size()));
    return file.finish(durable);
  }
  using Names = std::vector<std::string>;
  std::string folder, path;
};
} // namespace

TEST_F(PartialFiles, AppearWithTheirNameAlone) {
  put(path, "old");
  PartialFile file;
  ASSERT_EQ(file.begin(path), 0);
  EXPECT_EQ(names().size(), 2u);
  EXPECT_EQ(file.name().size(), path.size() + 1 + 16 + 8);
  ASSERT_EQ(::write(file.descriptor(), "new", 3), 3);
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(file.finish(true), 0);
  EXPECT_EQ(contentOf(path), "new");
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_LT(file.descriptor(), 0);
}

TEST_F(PartialFiles, GoWithTheirWriter) {
  {
    PartialFile file;
    ASSERT_EQ(file.begin(path), 0);
    PartialFile other(std::move(file));
  }
  EXPECT_EQ(names(), Names());
}

// First the content, while the old file has the name; then the folder.
TEST_F(PartialFiles, AreOnTheDiskBeforeAndAfterTheRename) {
  put(path, "old");
  std::vector<std::string> synced;
  onSync = [&](int descriptor) {
    struct stat info = {};
    fstat(descriptor, &info);
    synced.push_back((S_ISDIR(info.st_mode) ? "folder, " : "file, ") +
                     contentOf(path));
  };
  EXPECT_EQ(write(path, "new"), 0);
  EXPECT_EQ(synced, (Names{"file, old", "folder, new"}));
  synced.clear();
  EXPECT_EQ(write(path, "newer", /*durable=*/false), 0);
  EXPECT_EQ(synced, Names());
  EXPECT_EQ(contentOf(path), "newer");
}

TEST_F(PartialFiles, KeepTheModeOfWhatTheyReplace) {
  for (mode_t mode : {0600, 0640, 0755, 0444}) {
    put(path, "old");
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    PartialFile file;
    ASSERT_EQ(file.begin(path), 0);
    // Nobody else reads it meanwhile.
    EXPECT_EQ(modeOf(file.name()), 0600u);
    EXPECT_EQ(file.finish(false), 0);
    EXPECT_EQ(modeOf(path), mode);
    fs::remove(path);
  }
  mode_t mask = umask(027);
  EXPECT_EQ(write(path, "new"), 0);
  umask(mask);
  EXPECT_EQ(modeOf(path), 0640u);
}

// For who may give files away.
TEST_F(PartialFiles, KeepTheOwnerOfWhatTheyReplace) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root may give files away";
  put(path, "old");
  ASSERT_EQ(chown(path.c_str(), 1234, 2345), 0);
  EXPECT_EQ(write(path, "new"), 0);
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 1234u);
  EXPECT_EQ(info.st_gid, 2345u);
}

// A link stays one; what it leads to is written, be it there or not.
TEST_F(PartialFiles, FollowLinks) {
  fs::create_directory(folder + "/below");
  ASSERT_EQ(symlink("below/next", (folder + "/first").c_str()), 0);
  ASSERT_EQ(symlink("../real", (folder + "/below/next").c_str()), 0);
  EXPECT_EQ(write(folder + "/first", "one"), 0);
  EXPECT_EQ(contentOf(folder + "/real"), "one");
  EXPECT_EQ(write(folder + "/first", "two"), 0);
  EXPECT_EQ(contentOf(folder + "/real"), "two");
  EXPECT_TRUE(fs::is_symlink(folder + "/first"));
  EXPECT_TRUE(fs::is_symlink(folder + "/below/next"));
  EXPECT_EQ(names(), (Names{"below", "first", "real"}));
  ASSERT_EQ(symlink((folder + "/none/file").c_str(), path.c_str()), 0);
  EXPECT_EQ(write(path, "three"), ENOENT);
  ASSERT_EQ(symlink("round", (folder + "/round").c_str()), 0);
  EXPECT_EQ(write(folder + "/round", "four"), ELOOP);
}

TEST_F(PartialFiles, RefuseWhatIsNoFile) {
  EXPECT_EQ(write(folder, "x"), PartialFile::kNotRegular);
  EXPECT_EQ(write("/dev/null", "x"), PartialFile::kNotRegular);
  ASSERT_EQ(symlink("/dev/null", path.c_str()), 0);
  EXPECT_EQ(write(path, "x"), PartialFile::kNotRegular);
  EXPECT_EQ(write("", "x"), ENOENT);
  EXPECT_EQ(write(folder + "/none/out", "x"), ENOENT);
}

TEST_F(PartialFiles, RemoveWhatNobodyWritesAnyMore) {
  for (const char *stale : {"out.123-0.partial", "out.0a1f9c.partial",
                            "out.00112233445566ff.partial"})
    put(folder + "/" + stale, "left behind");
  // Other names, other files.
  const Names others = {"other.123-0.partial", "out.partial", "out..partial",
                        "out.notes.partial", "out.12.partial.txt"};
  for (const std::string &other : others)
    put(folder + "/" + other, "somebody's");
  fs::create_directory(folder + "/out.77.partial");
  EXPECT_EQ(write(path, "new"), 0);
  Names expected = others;
  expected.insert(expected.end(), {"out", "out.77.partial"});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names(), expected);
}

TEST_F(PartialFiles, ALivingWriterIsLeftAlone) {
  PartialFile first, second;
  ASSERT_EQ(first.begin(path), 0);
  ASSERT_EQ(second.begin(path), 0);
  EXPECT_NE(first.name(), second.name());
  ASSERT_EQ(::write(first.descriptor(), "1", 1), 1);
  ASSERT_EQ(::write(second.descriptor(), "2", 1), 1);
  EXPECT_EQ(second.finish(true), 0);
  EXPECT_EQ(contentOf(path), "2");
  EXPECT_EQ(first.finish(true), 0);
  EXPECT_EQ(contentOf(path), "1");
  EXPECT_EQ(names(), Names{"out"});
}

TEST_F(PartialFiles, AKilledWriterLeavesOneForTheNext) {
  put(path, "old");
  pid_t child = fork();
  if (child == 0) {
    PartialFile file;
    if (file.begin(path) == 0)
      raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(names().size(), 2u);
  EXPECT_EQ(contentOf(path), "old");
  EXPECT_EQ(write(path, "new"), 0);
  EXPECT_EQ(names(), Names{"out"});
}

// NAME_MAX is 255, with the sibling's ending too.
TEST_F(PartialFiles, MayHaveTheLongestNames) {
  std::string longest = folder + "/" + std::string(255, 'n');
  EXPECT_EQ(write(longest, "new"), 0);
  EXPECT_EQ(contentOf(longest), "new");
  EXPECT_EQ(write(longest + "n", "new"), ENAMETOOLONG);
}
