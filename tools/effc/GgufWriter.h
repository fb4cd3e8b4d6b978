// Small GGUF files of f32 tensors (frontend/gguf/Header.h has the format).
#ifndef EFFC_TOOLS_EFFC_GGUFWRITER_H
#define EFFC_TOOLS_EFFC_GGUFWRITER_H

#include <cstdint>
#include <string>
#include <vector>

namespace effc::cli {

class GgufWriter {
public:
  void text(const std::string &key, const std::string &value);
  void texts(const std::string &key, const std::vector<std::string> &values);
  void number(const std::string &key, uint32_t value);
  /// `shape`: the innermost dimension last. Throws Failure where the format takes no
  /// name of that length.
  void floats(const std::string &name, const std::vector<uint64_t> &shape,
              const std::vector<float> &numbers);

  /// Throws Failure where the file cannot be made.
  void write(const std::string &path) const;

private:
  std::string keys, tensors, data;
  uint64_t keyCount = 0, tensorCount = 0;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_GGUFWRITER_H
