// What the rows of a model without logits hold, as tensors of a file.
#ifndef EFFC_TOOLS_EFFC_ROWPARTS_H
#define EFFC_TOOLS_EFFC_ROWPARTS_H

#include "tools/effc/Inputs.h"
#include "tools/effc/SafetensorsWriter.h"

#include <span>
#include <string>
#include <vector>

namespace effc::cli {

/// Numbers of a row that become a tensor of their own for each sequence.
struct RowPart {
  std::string name;
  size_t first = 0, count = 0;
  std::vector<uint64_t> shape; ///< of one row's numbers
};

/// The inner values of a file that was compiled with --tap, or all of a row as
/// "hidden".
std::vector<RowPart> partsOf(const Model &model);

/// Writes NAME.0, NAME.1, ... for each part, of each sequence the rows.
class RowPartWriter {
public:
  /// `rows` are those of each sequence. Throws Failure when the file cannot be made.
  RowPartWriter(const std::string &path, std::vector<RowPart> parts,
                std::span<const uint64_t> rows);

  /// `rows` are whole rows of `width` numbers, from row `first` of the sequence on.
  void write(size_t sequence, uint64_t first, std::span<const float> rows,
             size_t width);
  void finish() { writer.finish(); }

private:
  std::vector<RowPart> parts;
  SafetensorsWriter writer;
  std::vector<float> numbers; // of one part
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_ROWPARTS_H
