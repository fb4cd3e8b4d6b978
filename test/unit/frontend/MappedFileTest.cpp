#include "frontend/checkpoint/MappedFile.h"

#include "frontend/checkpoint/BusErrorGuard.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc::frontend;
using effc::test::outcome;
using effc::test::TemporaryDirectory;

static std::string opening(const std::string &path) {
  return outcome(MappedFile::open(path, "file"));
}

TEST(MappedFile, ReadsAndViews) {
  TemporaryDirectory directory;
  auto file =
      llvm::cantFail(MappedFile::open(directory.write("a", "0123456789"), "a"));
  EXPECT_EQ(file->size(), 10u);
  uint8_t out[3];
  EXPECT_EQ(outcome(file->read(4, out)), "success");
  EXPECT_EQ(llvm::toStringRef(llvm::ArrayRef<uint8_t>(out)), "456");
  EXPECT_EQ(llvm::toStringRef(llvm::cantFail(file->view(7, 3))), "789");
  EXPECT_TRUE(llvm::cantFail(file->view(10, 0)).empty());
}

TEST(MappedFile, RefusesRangesOutsideOfTheFile) {
  TemporaryDirectory directory;
  auto file =
      llvm::cantFail(MappedFile::open(directory.write("a", "0123456789"), "a"));
  EXPECT_EQ(outcome(file->view(8, 3)),
            "a: expects 3 bytes at offset 8, but the file has 10");
  EXPECT_EQ(outcome(file->view(11, 0)),
            "a: expects 0 bytes at offset 11, but the file has 10");
  EXPECT_EQ(outcome(file->view(2, ~uint64_t(0))),
            "a: expects 18446744073709551615 bytes at offset 2, but the file "
            "has 10");
}

TEST(MappedFile, OpensAnEmptyFile) {
  TemporaryDirectory directory;
  auto file = llvm::cantFail(MappedFile::open(directory.write("a", ""), "a"));
  EXPECT_EQ(file->size(), 0u);
  EXPECT_TRUE(llvm::cantFail(file->view(0, 0)).empty());
}

TEST(MappedFile, RefusesWhatIsNotAFile) {
  TemporaryDirectory directory;
  EXPECT_EQ(opening(directory.path), "expects '" + directory.path +
                                         "' to be a file, but got a directory");
  EXPECT_EQ(opening("/dev/zero"),
            "expects '/dev/zero' to be a file, but got a device");
  // Nobody writes to the pipe: opening it must not wait.
  std::string pipe = directory.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(opening(pipe),
            "expects '" + pipe + "' to be a file, but got a pipe");
}

TEST(MappedFile, RefusesWhatCannotBeOpened) {
  TemporaryDirectory directory;
  std::string missing = directory.file("missing");
  EXPECT_EQ(opening(missing),
            "cannot open '" + missing + "': no such file or directory");
  std::string loop = directory.file("loop");
  ASSERT_EQ(symlink(loop.c_str(), loop.c_str()), 0);
  EXPECT_EQ(opening(loop),
            "cannot open '" + loop + "': too many levels of symbolic links");
}

TEST(MappedFile, RefusesAFileWithoutPermission) {
  TemporaryDirectory directory;
  std::string path = directory.write("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  ASSERT_EQ(chmod(directory.path.c_str(), 0755), 0);
  // root may read everything, so it asks as nobody.
  bool isRoot = geteuid() == 0;
  if (isRoot)
    ASSERT_EQ(seteuid(65534), 0);
  std::string found = opening(path);
  if (isRoot)
    ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(found, "cannot open '" + path + "': permission denied");
}

TEST(MappedFile, NoticesTruncation) {
  TemporaryDirectory directory;
  std::string path = directory.write("a", std::string(10'000, 'x'));
  auto file = llvm::cantFail(MappedFile::open(path, "a"));
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  std::string expected =
      "a: had 10000 bytes when it was opened and has 100 now";
  EXPECT_EQ(outcome(file->view(0, 50)), expected);
  uint8_t out[50];
  EXPECT_EQ(outcome(file->read(0, out)), expected);
  EXPECT_EQ(outcome(file->checksum()), expected);
}

// The view was given before the file shrank; touching it raises SIGBUS.
TEST(MappedFile, SurvivesTruncationUnderAView) {
  TemporaryDirectory directory;
  std::string path = directory.write("a", std::string(100'000, 'x'));
  auto file = llvm::cantFail(MappedFile::open(path, "a"));
  llvm::ArrayRef<uint8_t> bytes = llvm::cantFail(file->view(0, 100'000));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  unsigned sum = 0;
  for (uint8_t byte : bytes)
    sum += byte;
  EXPECT_EQ(sum, 0u);
  // Growing it back to the old size hides nothing.
  ASSERT_EQ(truncate(path.c_str(), 100'000), 0);
  EXPECT_EQ(outcome(file->checkUnchanged()),
            "a: was written to while it was read");
}

// Another library's handler has taken our place since the file was opened.
TEST(MappedFile, SurvivesAForeignHandler) {
  TemporaryDirectory directory;
  std::string path = directory.write("a", std::string(100'000, 'x'));
  auto file = llvm::cantFail(MappedFile::open(path, "a"));
  struct sigaction foreign = {}, before = {};
  foreign.sa_handler = SIG_DFL;
  ASSERT_EQ(sigaction(SIGBUS, &foreign, &before), 0);
  llvm::ArrayRef<uint8_t> bytes = llvm::cantFail(file->view(0, 100'000));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(bytes[50'000], 0);
}

TEST(MappedFile, NoticesWritesOfTheSameSize) {
  TemporaryDirectory directory;
  std::string path = directory.write("a", "0123456789");
  auto file = llvm::cantFail(MappedFile::open(path, "a"));
  timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_EQ(outcome(file->view(0, 5)), "a: was written to while it was read");
}

TEST(MappedFile, KeepsAFileThatWasReplaced) {
  TemporaryDirectory directory;
  std::string path = directory.write("a", "0123456789");
  auto file = llvm::cantFail(MappedFile::open(path, "a"));
  ASSERT_EQ(rename(directory.write("b", "other").c_str(), path.c_str()), 0);
  EXPECT_EQ(llvm::toStringRef(llvm::cantFail(file->view(0, 10))), "0123456789");
}

// XXH3-64 of "abc", and of nothing, from the algorithm's published vectors.
TEST(MappedFile, Checksum) {
  TemporaryDirectory directory;
  auto of = [&](llvm::StringRef bytes) {
    auto file =
        llvm::cantFail(MappedFile::open(directory.write("a", bytes), "a"));
    return llvm::cantFail(file->checksum());
  };
  EXPECT_EQ(of(""), 0x2d06800538d394c2u);
  EXPECT_EQ(of("abc"), 0x78af5f94892f3950u);
  // More than one block of reading; the blocks must not matter.
  std::string big(2'500'000, 'q');
  EXPECT_EQ(of(big), of(big));
  EXPECT_NE(of(big), of(big.substr(1)));
}

TEST(MappedFile, ReadTextFileLimitsTheSize) {
  TemporaryDirectory directory;
  std::string path = directory.write("a", "0123456789");
  EXPECT_EQ(llvm::cantFail(readTextFile(path, "a", 10)), "0123456789");
  EXPECT_EQ(outcome(readTextFile(path, "a", 9)),
            "a: expects at most 9 bytes, but got 10");
}

// A place is free again when its guard is gone.
TEST(BusErrorGuard, GivesPlacesBack) {
  size_t bytes = sysconf(_SC_PAGESIZE);
  void *page =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<BusErrorGuard>> guards;
    for (size_t i = 0; i < kMostGuardedRanges; ++i) {
      guards.push_back(std::make_unique<BusErrorGuard>());
      EXPECT_TRUE(guards.back()->cover(page, bytes));
    }
    BusErrorGuard oneTooMany;
    EXPECT_FALSE(oneTooMany.cover(page, bytes));
    EXPECT_FALSE(oneTooMany.hasFaulted());
  }
  munmap(page, bytes);
}
