//===- TextFile.h - A file that is written whole or not at all ------------===//
#ifndef EFFC_TOOLS_EFFC_TEXTFILE_H
#define EFFC_TOOLS_EFFC_TEXTFILE_H

#include <string>

namespace effc::cli {

/// Makes `text` what the file at `path` has, durably; signals wait meanwhile. Throws
/// Failure; then what was there is there still.
void writeTextFile(const std::string &path, const std::string &text);
/// The same, and signals do not wait: for programs in which none of them ends
/// everything at once.
void replaceTextFile(const std::string &path, const std::string &text);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_TEXTFILE_H
