//===- MappedFile.h - A regular file, seen through mmap -------------------===//
#ifndef EFFC_RUNTIME_SRC_MAPPEDFILE_H
#define EFFC_RUNTIME_SRC_MAPPEDFILE_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <span>
#include <string>

namespace effc::rt {

/// A stretch of pages, given back when the object goes.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept { swap(other); }
  Mapping &operator=(Mapping &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping();

  /// Zeroed memory of at least `size` bytes, page aligned, committed only as it
  /// is touched. `what` names it in the error.
  static Result<Mapping> anonymous(uint64_t size, const char *what);

  uint8_t *data() const { return start; }
  uint64_t size() const { return length; }

private:
  friend class MappedFile;
  void swap(Mapping &other) {
    std::swap(base, other.base);
    std::swap(mapped, other.mapped);
    std::swap(start, other.start);
    std::swap(length, other.length);
  }

  void *base = nullptr;     // what mmap returned
  uint64_t mapped = 0;      // and its size
  uint8_t *start = nullptr; // what was asked for
  uint64_t length = 0;
};

/// A regular file mapped read-only. Anything else (a directory, a pipe, a
/// device) is refused before it is read from.
class MappedFile {
public:
  static Result<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept
      : contents(std::move(other.contents)), descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  ~MappedFile();

  std::span<const uint8_t> bytes() const {
    return {contents.data(), contents.size()};
  }

  /// Maps a part of the file once more, readable and executable, never
  /// writable.
  Result<Mapping> mapExecutable(uint64_t offset, uint64_t size) const;

private:
  MappedFile() = default;
  Mapping contents;
  int descriptor = -1;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_MAPPEDFILE_H
