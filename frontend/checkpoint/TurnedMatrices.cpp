#include "frontend/checkpoint/TurnedMatrices.h"

#include "frontend/checkpoint/ElementBytes.h"
#include "frontend/checkpoint/Refusal.h"

#include <cstring>

using namespace effc::frontend;

namespace {

class TurnedMatrices : public TensorMaker {
public:
  TurnedMatrices(Part part) { parts.push_back(std::move(part)); }

  llvm::Expected<std::vector<uint8_t>>
  make(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> bytes) const override {
    const TensorEntry &entry = parts.front().entry;
    uint64_t matrices = entry.shape[0], rows = entry.shape[1],
             columns = entry.shape[2],
             each = *bytesOf(entry.type.getElement(), 1);
    std::vector<uint8_t> turned(bytes.front().size());
    const uint8_t *from = bytes.front().data();
    for (uint64_t matrix = 0; matrix < matrices; ++matrix) {
      uint8_t *into = turned.data() + matrix * rows * columns * each;
      for (uint64_t row = 0; row < rows; ++row)
        for (uint64_t column = 0; column < columns; ++column, from += each)
          std::memcpy(into + (column * rows + row) * each, from, each);
    }
    return turned;
  }
};

} // namespace

llvm::Error effc::frontend::turnMatrices(Checkpoint &checkpoint,
                                         llvm::ArrayRef<std::string> names,
                                         llvm::ArrayRef<uint64_t> shape) {
  std::vector<std::vector<TensorEntry>> entries;
  for (const auto &[number, file] : llvm::enumerate(checkpoint.getFiles())) {
    std::vector<TensorEntry> &own = entries.emplace_back(file->getEntries());
    for (TensorEntry &entry : own) {
      if (!llvm::is_contained(names, entry.name) || entry.type.isBlocks())
        continue;
      if (llvm::ArrayRef(entry.shape) != shape)
        return refuse(file->getFile().getName() + ": expects tensor " +
                      quote(entry.name) + " of shape " + describeShape(shape) +
                      ", but got " + describeShape(entry.shape));
      if (!bytesOf(entry.type.getElement(), 1))
        return refuse(file->getFile().getName() + ": expects tensor " +
                      quote(entry.name) +
                      " of elements that are whole bytes, but got " +
                      entry.type.getName());
      auto maker = std::make_shared<TurnedMatrices>(
          TensorMaker::Part{uint32_t(number), entry});
      entry.shape = {shape[0] * shape[2], shape[1]};
      entry.maker = std::move(maker);
    }
  }
  checkpoint.replaceTensors(std::move(entries));
  return llvm::Error::success();
}
