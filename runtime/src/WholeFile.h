//===- WholeFile.h - Files that are read or written as a whole ------------===//
#ifndef EFFC_RUNTIME_SRC_WHOLEFILE_H
#define EFFC_RUNTIME_SRC_WHOLEFILE_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <span>
#include <string>

namespace effc::rt {

/// A regular file read through a descriptor, so that one which shrinks while it
/// is read ends in a message. Devices, pipes and folders are refused.
class RegularFile {
public:
  static Result<RegularFile> open(const std::string &path);
  RegularFile(RegularFile &&other) noexcept
      : path(std::move(other.path)), bytes(other.bytes),
        descriptor(std::exchange(other.descriptor, -1)) {}
  RegularFile &operator=(RegularFile &&) = delete;
  ~RegularFile();

  /// Its size when it was opened.
  uint64_t size() const { return bytes; }
  /// The next byte is number `offset`.
  Check seek(uint64_t offset);
  /// Fills `out` with the next bytes; fails where there are fewer.
  Check read(std::span<uint8_t> out);

private:
  RegularFile(std::string path, int descriptor)
      : path(std::move(path)), descriptor(descriptor) {}
  std::string path;
  uint64_t bytes = 0;
  int descriptor;
};

/// Writes `bytes` to `path` by way of a sibling file that is renamed at the end
/// (PartialFile.h), so that a failure leaves whatever was there. `durable`: a
/// loss of power after that does not undo it.
Check writeWholeFile(const std::string &path, std::span<const uint8_t> bytes,
                     bool durable = true);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_WHOLEFILE_H
