//===- SafetensorsWriter.h - f32 tensors into a .safetensors file ---------===//
#ifndef EFFC_TOOLS_EFFC_SAFETENSORSWRITER_H
#define EFFC_TOOLS_EFFC_SAFETENSORSWRITER_H

#include "runtime/src/PartialFile.h"
#include "tools/terminal/Signals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effc::cli {

/// Writes rows in any order to tensors whose shapes are known from the start.
/// The file appears under its name only when all is written (PartialFile.h): until
/// then it is a sibling, which goes when the writer goes without finish(), or when
/// a signal ends the process.
class SafetensorsWriter {
public:
  struct Tensor {
    std::string name;
    uint64_t rows;
    std::vector<uint64_t> shape; // of a row

    uint64_t columns() const;
  };

  /// Throws Failure when the file cannot be made.
  SafetensorsWriter(std::string path, std::vector<Tensor> tensors);
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter &) = delete;
  SafetensorsWriter &operator=(const SafetensorsWriter &) = delete;

  /// Writes `count` rows of tensor `index` from row `firstRow` on.
  void write(size_t index, uint64_t firstRow, const float *rows,
             uint64_t count);

  /// Gives the file its name, when the disk has it.
  void finish();

private:
  void writeAt(uint64_t offset, const void *bytes, uint64_t size);
  /// Removes what has been written.
  void abandon();
  /// Throws Failure with what the system says of `code`.
  [[noreturn]] void fail(int code);

  std::string path;
  std::vector<Tensor> tensors;
  std::vector<uint64_t> offsets; // of each tensor in the file
  rt::PartialFile file;
  std::optional<RemoveOnSignal> removal; // as long as the sibling is there
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SAFETENSORSWRITER_H
