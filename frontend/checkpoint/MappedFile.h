// A file of a checkpoint, mapped read-only.
//
// Only regular files are opened; anything else (a directory, a FIFO, a device)
// is refused without reading from it, and opening never blocks.
//
// What holds when somebody changes the file meanwhile:
// - the compiler does not die of it (BusErrorGuard.h), and no access leaves the
//   mapping;
// - read() and view() refuse a file whose size or time of modification is not
//   what it was when it was opened, or whose pages were found missing;
// - bytes seen through a view may be those of the changed file. Whoever has
// used
//   views calls checkUnchanged() before trusting what was made of them;
// - a file replaced by renaming another one over it is not changed: the mapping
//   keeps the old one.
#ifndef EFFC_FRONTEND_CHECKPOINT_MAPPEDFILE_H
#define EFFC_FRONTEND_CHECKPOINT_MAPPEDFILE_H

#include "frontend/checkpoint/BusErrorGuard.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

namespace effc::frontend {

class MappedFile {
public:
  /// Opens and maps `path`; messages call the file `name`.
  static llvm::Expected<std::unique_ptr<MappedFile>> open(llvm::StringRef path,
                                                          llvm::StringRef name);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  const std::string &getName() const { return name; }
  uint64_t size() const { return bytes; }

  /// Copies the bytes from `offset` on into all of `out`.
  llvm::Error read(uint64_t offset, llvm::MutableArrayRef<uint8_t> out) const;

  /// The bytes [offset, offset + count), valid as long as the file is open.
  /// They may start at any address.
  llvm::Expected<llvm::ArrayRef<uint8_t>> view(uint64_t offset,
                                               uint64_t count) const;

  /// Fails if the file is not what it was when it was opened.
  llvm::Error checkUnchanged() const;

  /// XXH3-64 of all bytes.
  llvm::Expected<uint64_t> checksum() const;

private:
  MappedFile() = default;
  llvm::Error checkRange(uint64_t offset, uint64_t count) const;

  std::string name;
  int descriptor = -1;
  uint64_t bytes = 0;
  timespec modified = {};
  const uint8_t *address = nullptr;
  std::unique_ptr<BusErrorGuard> guard;
};

/// The whole of a file of at most `mostBytes`. Fails where it begins like
/// something else that came in its place (ForeignFile.h).
llvm::Expected<std::string>
readTextFile(llvm::StringRef path, llvm::StringRef name, uint64_t mostBytes);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_MAPPEDFILE_H
