#include "runtime/src/WholeFile.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc;
using namespace effc::rt;

Result<RegularFile> RegularFile::open(const std::string &path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  RegularFile file(path,
                   ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.descriptor < 0)
    return fail(EFFC_IO_ERROR, "cannot open '", path,
                "': ", std::strerror(errno));
  struct stat info;
  if (fstat(file.descriptor, &info) != 0)
    return fail(EFFC_IO_ERROR, "cannot read '", path,
                "': ", std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail(EFFC_IO_ERROR, "'", path, "' is not a regular file");
  file.bytes = static_cast<uint64_t>(info.st_size);
  return file;
}

RegularFile::~RegularFile() {
  if (descriptor >= 0)
    close(descriptor);
}

Check RegularFile::read(std::span<uint8_t> out) {
  while (!out.empty()) {
    ssize_t count = ::read(descriptor, out.data(), out.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(EFFC_IO_ERROR, "cannot read '", path,
                  "': ", std::strerror(errno));
    if (count == 0)
      return fail(EFFC_BAD_DATA, "'", path, "' ended while it was read");
    out = out.subspan(static_cast<size_t>(count));
  }
  return {};
}

/// Returns an errno, or 0.
static int writeAll(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errno;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

/// Makes a new file beside `target` and names it in `sibling`; negative, with
/// errno, when that fails.
static int createSibling(const std::string &target, std::string &sibling) {
  for (int attempt = 0;; ++attempt) {
    sibling = target + "." + std::to_string(getpid()) + "-" +
              std::to_string(attempt) + ".partial";
    int descriptor =
        ::open(sibling.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST || attempt == 1000)
      return descriptor;
  }
}

Check rt::writeWholeFile(const std::string &path,
                         std::span<const uint8_t> bytes) {
  auto failure = [&](int code) {
    return fail(EFFC_IO_ERROR, "cannot write '", path,
                "': ", std::strerror(code));
  };
  std::string target = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode))
      return fail(EFFC_IO_ERROR, "cannot write '", path,
                  "': it is not a regular file");
    char *real = realpath(path.c_str(), nullptr);
    if (!real)
      return failure(errno);
    target = real;
    std::free(real);
  }
  std::string sibling;
  int descriptor = createSibling(target, sibling);
  if (descriptor < 0)
    return failure(errno);
  int code = writeAll(descriptor, bytes);
  if (close(descriptor) != 0 && !code)
    code = errno;
  if (!code && std::rename(sibling.c_str(), target.c_str()) != 0)
    code = errno;
  if (code) {
    unlink(sibling.c_str());
    return failure(code);
  }
  return {};
}
