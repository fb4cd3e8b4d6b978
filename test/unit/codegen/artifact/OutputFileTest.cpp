// A file appears whole or not at all: whatever ends the writing, the folder
// holds what it held before.
#include "codegen/artifact/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace effc::codegen;

namespace {

class OutputFileTest : public testing::Test {
protected:
  OutputFileTest() {
    llvm::SmallString<128> made;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("effc-output", made));
    folder = made.str().str();
    path = folder + "/out";
  }
  ~OutputFileTest() override { llvm::sys::fs::remove_directories(folder); }

  static std::string outcome(llvm::Error error) {
    return error ? llvm::toString(std::move(error)) : "success";
  }
  static std::string creating(llvm::StringRef path) {
    auto file = OutputFile::create(path);
    return file ? "success" : llvm::toString(file.takeError());
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      found.push_back(entry.path().filename());
    llvm::sort(found);
    return found;
  }
  std::string content() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void writeOld() const { std::ofstream(path) << "old"; }

  /// More than is held back before it is written.
  const std::vector<uint8_t> large = std::vector<uint8_t>(3 << 20, 'x');
  std::string folder, path;
};

} // namespace

TEST_F(OutputFileTest, AppearsWhenItIsCommitted) {
  writeOld();
  auto file = llvm::cantFail(OutputFile::create(path));
  EXPECT_EQ(outcome(file.write(large)), "success");
  EXPECT_EQ(outcome(file.align(4096)), "success");
  EXPECT_EQ(file.position() % 4096, 0u);
  uint8_t start[] = {'n', 'e', 'w'};
  EXPECT_EQ(outcome(file.rewriteStart(start)), "success");
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(outcome(file.commit()), "success");
  EXPECT_EQ(content().substr(0, 5), "newxx");
  EXPECT_EQ(content().size(), file.position());
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFileTest, GoesWithoutACommit) {
  writeOld();
  {
    auto file = llvm::cantFail(OutputFile::create(path));
    EXPECT_EQ(outcome(file.write(large)), "success");
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFileTest, GoesWithASignal) {
  writeOld();
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    pid_t child = fork();
    if (child == 0) {
      auto file = llvm::cantFail(OutputFile::create(path));
      llvm::cantFail(file.write(large));
      raise(signal);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(content(), "old");
    EXPECT_EQ(names(), std::vector<std::string>{"out"});
  }
}

// A limit on the size of files stands for a full disk.
TEST_F(OutputFileTest, GoesWhenTheDiskIsFull) {
  writeOld();
  pid_t child = fork();
  if (child == 0) {
    rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    int status = 1;
    {
      auto file = llvm::cantFail(OutputFile::create(path));
      std::string found = outcome(file.write(large));
      status = found == "cannot write " + path + ": File too large" ? 0 : 2;
    }
    _exit(status);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

// As another user, since root may write anywhere.
TEST_F(OutputFileTest, NeedsAFolderThatCanBeWritten) {
  writeOld();
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0)
      _exit(3);
    _exit(creating(path) == "cannot write " + path + ": Permission denied" ? 0
                                                                           : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(content(), "old");
}

// Each has a sibling of its own; the last one to end wins.
TEST_F(OutputFileTest, TwoWritersDoNotMeet) {
  auto first = llvm::cantFail(OutputFile::create(path));
  auto second = llvm::cantFail(OutputFile::create(path));
  uint8_t one[] = {'1'}, two[] = {'2', '2'};
  EXPECT_EQ(outcome(second.write(two)), "success");
  EXPECT_EQ(outcome(first.write(one)), "success");
  EXPECT_EQ(outcome(second.commit()), "success");
  EXPECT_EQ(content(), "22");
  EXPECT_EQ(outcome(first.commit()), "success");
  EXPECT_EQ(content(), "1");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(OutputFileTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(creating(folder),
            "cannot write " + folder + ": it is not a regular file");
  EXPECT_EQ(creating("/dev/zero"),
            "cannot write /dev/zero: it is not a regular file");
  EXPECT_EQ(creating(folder + "/missing/out"),
            "cannot write " + folder +
                "/missing/out: No such file or directory");
  EXPECT_TRUE(names().empty());
}

// What a killed compilation left goes with the next; its mode stays a file's own.
TEST_F(OutputFileTest, ReplacesAsWritersOfStatesDo) {
  writeOld();
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  std::ofstream(path + ".4f00aa.partial") << "left behind";
  auto file = llvm::cantFail(OutputFile::create(path));
  EXPECT_EQ(outcome(file.commit()), "success");
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

// A link is followed, so that what it names is written.
TEST_F(OutputFileTest, FollowsALink) {
  writeOld();
  std::string link = folder + "/link";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  auto file = llvm::cantFail(OutputFile::create(link));
  uint8_t bytes[] = {'n'};
  EXPECT_EQ(outcome(file.write(bytes)), "success");
  EXPECT_EQ(outcome(file.commit()), "success");
  EXPECT_EQ(content(), "n");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  // Also to what is not there yet.
  std::filesystem::remove(path);
  auto missing = llvm::cantFail(OutputFile::create(link));
  EXPECT_EQ(outcome(missing.commit()), "success");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}
