// Buffered writing to a sibling file, renamed at the end.
#include "codegen/artifact/OutputFile.h"

#include "llvm/Support/Signals.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace effc::codegen;

static constexpr size_t kBufferBytes = 1 << 20;

Expected<OutputFile> OutputFile::create(StringRef path) {
  rt::PartialFile file;
  int code = file.begin(path.str());
  if (code == rt::PartialFile::kNotRegular)
    return createStringError("cannot write " + path +
                             ": it is not a regular file");
  if (code)
    return createStringError("cannot write " + path + ": " +
                             std::strerror(code));
  sys::RemoveFileOnSignal(file.name());
  return OutputFile(path, std::move(file));
}

OutputFile::~OutputFile() {
  if (file.descriptor() < 0)
    return;
  std::string sibling = file.name();
  file.abandon();
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
  if (int code = writeAll(file.descriptor(), pending, -1))
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
  if (int code = writeAll(file.descriptor(), bytes, 0))
    return failure("write", code);
  return Error::success();
}

Error OutputFile::commit(bool durable) {
  if (Error error = flush())
    return error;
  std::string sibling = file.name();
  int code = file.finish(durable);
  sys::DontRemoveFileOnSignal(sibling);
  return code ? failure("write", code) : Error::success();
}
