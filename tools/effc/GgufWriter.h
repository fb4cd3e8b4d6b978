// Small GGUF files of f32 tensors (frontend/gguf/Header.h has the format).
#ifndef EFFC_TOOLS_EFFC_GGUFWRITER_H
#define EFFC_TOOLS_EFFC_GGUFWRITER_H

#include "runtime/src/PartialFile.h"
#include "tools/terminal/Signals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effc::cli {

class GgufWriter {
public:
  static constexpr size_t kMostNameBytes = 63; ///< of a tensor

  /// Begins the file beside `path`. Throws Failure where none can be made there.
  explicit GgufWriter(const std::string &path);
  void text(const std::string &key, const std::string &value);
  void texts(const std::string &key, const std::vector<std::string> &values);
  void number(const std::string &key, uint32_t value);
  /// `shape`: the innermost dimension last. Throws Failure where the format takes no
  /// name of that length.
  void floats(const std::string &name, const std::vector<uint64_t> &shape,
              const std::vector<float> &numbers);

  /// Writes all, and puts the file into its place. Throws Failure where that fails.
  void finish();

private:
  void check(int code) const;

  std::string path;
  rt::PartialFile file; // goes where this does without finish()
  std::optional<RemoveOnSignal> removal;
  std::string keys, tensors, data;
  uint64_t keyCount = 0, tensorCount = 0;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_GGUFWRITER_H
