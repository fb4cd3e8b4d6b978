//===- MappedFile.h - A regular file's bytes ------------------------------===//
#ifndef EFFC_RUNTIME_SRC_MAPPEDFILE_H
#define EFFC_RUNTIME_SRC_MAPPEDFILE_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

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

  /// Gives the whole pages of a part back; they read as zeros afterwards. For
  /// anonymous memory.
  void release(uint64_t offset, uint64_t size);
  /// Commits the pages of a part, which takes half as long as one by one when they
  /// are touched. Where the system does not know how, nothing happens.
  void populate(uint64_t offset, uint64_t size);
  /// Has the system commit no huge page where one byte is touched.
  void commitSmallPages();
  /// Has the system commit huge pages where it has them, 2 MiB at the first byte.
  void commitHugePages();

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

/// How a file's bytes are had. Mapped: the system brings pages as they are
/// touched and shares them between processes; whoever truncates the file in
/// place ends its readers by SIGBUS. Copied: read once into memory of our own;
/// afterwards nothing that happens to the file matters.
enum class Access { Mapped, Copied };

/// A regular file, read-only. Anything else (a directory, a pipe, a device) is
/// refused before it is read from.
class MappedFile {
public:
  static Result<MappedFile> open(const std::string &path,
                                 Access access = Access::Mapped);
  MappedFile(MappedFile &&other) noexcept
      : contents(std::move(other.contents)), access(other.access),
        descriptor(std::exchange(other.descriptor, -1)) {}
  ~MappedFile();

  std::span<const uint8_t> bytes() const {
    return {contents.data(), contents.size()};
  }

  /// Maps a part of the file once more (or copies it once more), readable and
  /// executable, never writable.
  Result<Mapping> mapExecutable(uint64_t offset, uint64_t size) const;

private:
  MappedFile() = default;
  Check map(const std::string &path, uint64_t size);
  Check copy(const std::string &path, uint64_t size);
  Result<Mapping> copyExecutable(uint64_t offset, uint64_t size) const;

  Mapping contents;
  Access access = Access::Mapped;
  int descriptor = -1;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_MAPPEDFILE_H
