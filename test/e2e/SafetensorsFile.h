//===- SafetensorsFile.h - Reads a .safetensors file, for tests -----------===//
#ifndef EFFC_TEST_E2E_SAFETENSORSFILE_H
#define EFFC_TEST_E2E_SAFETENSORSFILE_H

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace effc::test {

/// A whole file in memory. Trusts its writer: a file that is none throws
/// std::runtime_error, and that is all.
class SafetensorsFile {
public:
  struct Tensor {
    std::string dtype;
    std::vector<uint64_t> shape;
    std::span<const uint8_t> bytes;

    uint64_t columns() const { return shape.empty() ? 1 : shape.back(); }
    /// F32 or F64, whichever it holds.
    std::vector<double> values() const;
  };

  static SafetensorsFile read(const std::string &path);

  const std::map<std::string, Tensor> &tensors() const { return byName; }
  /// Throws when there is none.
  const Tensor &tensor(const std::string &name) const;

private:
  std::vector<uint8_t> contents;
  std::map<std::string, Tensor> byName;
};

} // namespace effc::test

#endif // EFFC_TEST_E2E_SAFETENSORSFILE_H
