#include "runtime/src/WholeFile.h"

#include "runtime/src/PartialFile.h"

#include <cerrno>
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

Check RegularFile::seek(uint64_t offset) {
  if (lseek(descriptor, static_cast<off_t>(offset), SEEK_SET) < 0)
    return fail(EFFC_IO_ERROR, "cannot read '", path,
                "': ", std::strerror(errno));
  return {};
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

Check rt::writeWholeFile(const std::string &path,
                         std::span<const uint8_t> bytes, bool durable) {
  PartialFile file;
  int code = file.begin(path);
  if (code == PartialFile::kNotRegular)
    return fail(EFFC_IO_ERROR, "cannot write '", path,
                "': it is not a regular file");
  if (!code)
    code = writeAll(file.descriptor(), bytes);
  if (!code)
    code = file.finish(durable);
  if (code)
    return fail(EFFC_IO_ERROR, "cannot write '", path,
                "': ", std::strerror(code));
  return {};
}
