#include "tools/effc/RowParts.h"

using namespace effc;
using namespace effc::cli;

std::vector<RowPart> effc::cli::partsOf(const Model &model) {
  std::vector<RowPart> parts;
  for (const effc_tap_t &tap : model.taps())
    parts.push_back({tap.name, tap.first, tap.count,
                     std::vector<uint64_t>(tap.shape, tap.shape + tap.rank)});
  if (parts.empty())
    parts.push_back({"hidden", 0, model.rowWidth(), {model.rowWidth()}});
  return parts;
}

static std::vector<SafetensorsWriter::Tensor>
tensorsOf(std::span<const RowPart> parts, std::span<const uint64_t> rows) {
  std::vector<SafetensorsWriter::Tensor> tensors;
  for (size_t i = 0; i < rows.size(); ++i)
    for (const RowPart &part : parts)
      tensors.push_back(
          {part.name + "." + std::to_string(i), rows[i], part.shape});
  return tensors;
}

RowPartWriter::RowPartWriter(const std::string &path,
                             std::vector<RowPart> given,
                             std::span<const uint64_t> rows)
    : parts(std::move(given)), writer(path, tensorsOf(parts, rows)) {}

void RowPartWriter::write(size_t sequence, uint64_t first,
                          std::span<const float> rows, size_t width) {
  size_t count = rows.size() / width;
  for (size_t p = 0; p < parts.size(); ++p) {
    const RowPart &part = parts[p];
    numbers.clear();
    for (size_t row = 0; row < count; ++row) {
      std::span<const float> own =
          rows.subspan(row * width + part.first, part.count);
      numbers.insert(numbers.end(), own.begin(), own.end());
    }
    writer.write(sequence * parts.size() + p, first, numbers.data(), count);
  }
}
