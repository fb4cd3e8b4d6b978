// Buffered writing to a sibling file, renamed at the end.
#include "codegen/artifact/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace effc::codegen;

static constexpr size_t kBufferBytes = 1 << 20;

Expected<OutputFile> OutputFile::create(StringRef path) {
  // A name of another file means that file; a device or a pipe cannot be
  // replaced by a finished file.
  SmallString<128> target(path);
  if (sys::fs::exists(path)) {
    if (!sys::fs::is_regular_file(path))
      return createStringError("cannot write " + path +
                               ": it is not a regular file");
    sys::fs::real_path(path, target);
  }
  int descriptor = -1;
  SmallString<128> sibling;
  if (std::error_code code = sys::fs::createUniqueFile(
          Twine(target) + ".%%%%%%.partial", descriptor, sibling,
          sys::fs::OF_None, 0644))
    return createStringError("cannot write " + path + ": " + code.message());
  sys::RemoveFileOnSignal(sibling);
  return OutputFile(target, sibling, descriptor);
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path(std::move(other.path)), sibling(std::move(other.sibling)),
      descriptor(std::exchange(other.descriptor, -1)), at(other.at),
      pending(std::move(other.pending)) {}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  removeSibling();
}

void OutputFile::removeSibling() {
  sys::fs::remove(sibling);
  sys::DontRemoveFileOnSignal(sibling);
}

Error OutputFile::failure(StringRef what, int code) const {
  return createStringError("cannot " + what + " " + path + ": " +
                           std::strerror(code));
}

static int writeAll(int descriptor, ArrayRef<uint8_t> bytes, int64_t offset) {
  while (!bytes.empty()) {
    ssize_t written =
        offset < 0 ? ::write(descriptor, bytes.data(), bytes.size())
                   : ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    bytes = bytes.drop_front(written);
    if (offset >= 0)
      offset += written;
  }
  return 0;
}

Error OutputFile::flush() {
  if (int code = writeAll(descriptor, pending, -1))
    return failure("write", code);
  pending.clear();
  return Error::success();
}

Error OutputFile::write(ArrayRef<uint8_t> bytes) {
  pending.insert(pending.end(), bytes.begin(), bytes.end());
  at += bytes.size();
  return pending.size() >= kBufferBytes ? flush() : Error::success();
}

Error OutputFile::align(uint64_t alignment) {
  std::vector<uint8_t> zeros((alignment - at % alignment) % alignment, 0);
  return write(zeros);
}

Error OutputFile::rewriteStart(ArrayRef<uint8_t> bytes) {
  if (Error error = flush())
    return error;
  if (int code = writeAll(descriptor, bytes, 0))
    return failure("write", code);
  return Error::success();
}

Error OutputFile::commit() {
  if (Error error = flush())
    return error;
  if (::close(std::exchange(descriptor, -1)) != 0) {
    int code = errno;
    removeSibling();
    return failure("write", code);
  }
  if (std::error_code code = sys::fs::rename(sibling, path)) {
    removeSibling();
    return createStringError("cannot write " + path + ": " + code.message());
  }
  sys::DontRemoveFileOnSignal(sibling);
  return Error::success();
}
