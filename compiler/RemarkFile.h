// The file that remarks go to.
#ifndef EFFC_COMPILER_REMARKFILE_H
#define EFFC_COMPILER_REMARKFILE_H

#include "codegen/artifact/OutputFile.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace effc {

/// Takes the lines of a compilation's remarks: a file appears under its name when
/// close() is called, also after a compilation that failed.
class RemarkFile {
public:
  /// A file; "-" or an empty name: standard error. A device or a pipe is
  /// written to as it is. Fails where the file cannot be made.
  llvm::Error open(llvm::StringRef path);
  void write(llvm::StringRef remark);
  /// To be called once. Fails where something could not be written.
  llvm::Error close();

private:
  std::string path;
  std::unique_ptr<llvm::raw_fd_ostream> stream; // a device or a pipe
  std::optional<codegen::OutputFile> file;
  std::string failure; // of the first write that failed
};

} // namespace effc

#endif // EFFC_COMPILER_REMARKFILE_H
