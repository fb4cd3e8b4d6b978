#include "frontend/checkpoint/RecutTensors.h"

#include "frontend/checkpoint/ElementBytes.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace effc::frontend;

namespace {

/// Some bytes of tensors that follow one another.
class RecutTensor : public TensorMaker {
public:
  RecutTensor(std::vector<Part> all, uint64_t begin, uint64_t size)
      : begin(begin), size(size) {
    parts = std::move(all);
  }

  llvm::Expected<std::vector<uint8_t>>
  make(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> bytes) const override {
    std::vector<uint8_t> joined;
    for (llvm::ArrayRef<uint8_t> part : bytes)
      llvm::append_range(joined, part);
    return std::vector<uint8_t>(joined.begin() + int64_t(begin),
                                joined.begin() + int64_t(begin + size));
  }

private:
  uint64_t begin, size;
};

} // namespace

void effc::frontend::recutTensors(Checkpoint &checkpoint,
                                  llvm::ArrayRef<std::string> names,
                                  llvm::ArrayRef<uint64_t> rows) {
  std::vector<TensorMaker::Part> parts;
  std::vector<uint64_t> found;
  for (const std::string &name : names) {
    const CheckpointTensor *tensor = checkpoint.find(name);
    if (!tensor || tensor->entry->type.isBlocks() ||
        tensor->entry->shape.empty())
      return;
    parts.push_back({tensor->fileNumber, *tensor->entry});
    found.push_back(tensor->entry->shape.front());
  }
  const TensorEntry &first = parts.front().entry;
  llvm::ArrayRef<uint64_t> inner = llvm::ArrayRef(first.shape).drop_front();
  bool isAlike = llvm::all_of(parts, [&](const TensorMaker::Part &part) {
    return part.entry.type == first.type &&
           llvm::ArrayRef(part.entry.shape).drop_front() == inner;
  });
  auto sum = [](llvm::ArrayRef<uint64_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
  };
  if (!isAlike || llvm::ArrayRef(found) == rows || sum(found) != sum(rows))
    return;
  uint64_t elements = 1; // of a row
  for (uint64_t extent : inner)
    elements *= extent;
  std::vector<uint64_t> cuts; // bytes before a tensor, and of all
  for (uint64_t before = 0, i = 0; i <= rows.size(); ++i) {
    auto cut = bytesOf(first.type.getElement(), before * elements);
    if (!cut)
      return;
    cuts.push_back(*cut);
    before += i < rows.size() ? rows[i] : 0;
  }
  std::vector<std::vector<TensorEntry>> entries;
  for (const auto &file : checkpoint.getFiles())
    entries.emplace_back(file->getEntries());
  for (auto [i, part] : llvm::enumerate(parts))
    for (TensorEntry &entry : entries[part.file])
      if (entry.name == part.entry.name) {
        entry.shape.front() = rows[i];
        entry.maker = std::make_shared<RecutTensor>(parts, cuts[i],
                                                    cuts[i + 1] - cuts[i]);
      }
  checkpoint.replaceTensors(std::move(entries));
}
