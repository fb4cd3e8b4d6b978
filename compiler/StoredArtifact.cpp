#include "compiler/StoredArtifact.h"

#include "compiler/StoredForward.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Panels.h"

#include <cstring>

using namespace effc;

namespace {

/// The module of a file, read when a weight in panels is wanted.
class StoredTypes {
public:
  explicit StoredTypes(std::string bytecode) {
    model.seqBytecode = std::move(bytecode);
  }

  /// What blocks a weight has. Fails where the module cannot be read or says nothing
  /// of it.
  llvm::Expected<storage::BlockType> blocksOf(llvm::StringRef symbol) {
    if (!wasRead)
      if (llvm::Error error = forward.read(model))
        return std::move(error);
    wasRead = true;
    auto weight = forward.getModule().lookupSymbol<seq::WeightOp>(symbol);
    auto type = weight
                    ? llvm::dyn_cast<storage::BlockType>(
                          llvm::cast<mlir::RankedTensorType>(weight.getType())
                              .getElementType())
                    : storage::BlockType();
    if (!type || !storage::hasPanels(type))
      return llvm::createStringError("the file has weight '" + symbol +
                                     "' in panels, but its module does not say "
                                     "of which blocks");
    return type;
  }

private:
  StoredModel model;
  StoredForward forward;
  bool wasRead = false;
};

} // namespace

/// Copies a weight's rows without their padding.
static StoredWeight denseWeight(const effc_weight_info_t &info) {
  StoredWeight weight;
  weight.shape.assign(info.shape, info.shape + info.rank);
  uint64_t rows = info.rank == 1 ? 1
                                 : (info.shape[0] + info.rows_together - 1) /
                                       info.rows_together;
  size_t bytes = info.row_bytes;
  weight.bytes.resize(rows * bytes);
  for (uint64_t row = 0; row < rows; ++row)
    std::memcpy(weight.bytes.data() + row * bytes,
                info.data + row * info.row_stride_bytes, bytes);
  return weight;
}

std::function<llvm::Expected<StoredWeight>(llvm::StringRef symbol)>
effc::weightsOf(const Model &model, std::string seqBytecode) {
  auto types = std::make_shared<StoredTypes>(std::move(seqBytecode));
  return [&model, types](llvm::StringRef name) -> llvm::Expected<StoredWeight> {
    for (const effc_weight_info_t &info : model.weights()) {
      if (name != info.name)
        continue;
      StoredWeight weight = denseWeight(info);
      if (info.rows_together == 1)
        return weight;
      llvm::Expected<storage::BlockType> rows = types->blocksOf(name);
      if (!rows)
        return rows.takeError();
      uint64_t columns = weight.shape[1];
      if (columns % rows->getElements() != 0 ||
          weight.bytes.size() !=
              storage::panelBytes(*rows, weight.shape[0], columns))
        return llvm::createStringError("the file has other panels of weight '" +
                                       name + "' than its module");
      weight.bytes = storage::PanelOrder(*rows).unpack(weight.shape[0], columns,
                                                       weight.bytes);
      return weight;
    }
    return llvm::createStringError("the file has no weight '" + name + "'");
  };
}
