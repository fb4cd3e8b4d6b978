// A file that appears whole or not at all.
#ifndef EFFC_CODEGEN_ARTIFACT_OUTPUTFILE_H
#define EFFC_CODEGEN_ARTIFACT_OUTPUTFILE_H

#include "runtime/src/PartialFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace effc::codegen {

/// Writes to a sibling of `path` and renames it at the end (PartialFile.h).
/// Destroying an uncommitted file removes the sibling, and so does a signal that
/// ends the process (by LLVM's handlers; what cannot be caught leaves it).
class OutputFile {
public:
  static llvm::Expected<OutputFile> create(llvm::StringRef path);
  OutputFile(OutputFile &&other) noexcept = default;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  uint64_t position() const { return at; }
  llvm::Error write(llvm::ArrayRef<uint8_t> bytes);
  /// Writes zeros up to the next multiple of `alignment`.
  llvm::Error align(uint64_t alignment);
  /// Overwrites bytes at the start of the file.
  llvm::Error rewriteStart(llvm::ArrayRef<uint8_t> bytes);
  /// Hands all that was written to the system.
  llvm::Error flush();
  /// Where the file is until it has its name.
  llvm::StringRef name() const { return file.name(); }
  /// Flushes and gives the file its name. `durable`: when the disk has it.
  llvm::Error commit(bool durable = true);

private:
  OutputFile(llvm::StringRef path, rt::PartialFile file)
      : path(path), file(std::move(file)) {}
  llvm::Error failure(llvm::StringRef what, int code) const;

  std::string path;
  rt::PartialFile file;
  uint64_t at = 0;
  std::vector<uint8_t> pending;
};

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_OUTPUTFILE_H
