#include "compiler/StoredArtifact.h"

#include "compiler/StoredForward.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Bundles.h"
#include "dialects/storage/Panels.h"

#include <cstring>

using namespace effc;

namespace {

/// The module of a file, read when a weight is wanted that may be in another order.
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
    if (!type)
      return llvm::createStringError("the file has weight '" + symbol +
                                     "' in blocks, but its module does not say "
                                     "in which");
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

static llvm::Error expectBytes(const StoredWeight &weight, uint64_t bytes) {
  if (weight.bytes.size() == bytes)
    return llvm::Error::success();
  return llvm::createStringError("in " + llvm::Twine(weight.bytes.size()) +
                                 " bytes, which take " + llvm::Twine(bytes) +
                                 " as the module has them");
}

// From panels to rows.
static llvm::Error unpackPanels(StoredWeight &weight,
                                storage::BlockType blocks) {
  uint64_t columns = weight.shape[1];
  if (!storage::hasPanels(blocks) || columns % blocks.getElements() != 0)
    return llvm::createStringError("in panels, of which its blocks have none");
  if (llvm::Error error = expectBytes(
          weight, storage::panelBytes(blocks, weight.shape[0], columns)))
    return error;
  weight.bytes = storage::PanelOrder(blocks).unpack(weight.shape[0], columns,
                                                    weight.bytes);
  return llvm::Error::success();
}

// From bundles of so many elements to blocks.
static llvm::Error unpackBundles(StoredWeight &weight,
                                 storage::BlockType blocks, int64_t together) {
  int64_t count = together / blocks.getElements(),
          columns = weight.shape.back();
  if (together % blocks.getElements() != 0 ||
      storage::blocksOfBundle(blocks, columns, together) != count)
    return llvm::createStringError("in bundles of " + llvm::Twine(together) +
                                   " elements, of which its blocks have none");
  storage::BlockType bundle = storage::bundleOf(blocks, count);
  uint64_t elements = 1;
  for (uint64_t extent : weight.shape)
    elements *= extent;
  if (llvm::Error error = expectBytes(weight, elements / bundle.getElements() *
                                                  bundle.getBytes()))
    return error;
  weight.bytes = storage::BundleOrder(blocks, count).unpack(weight.bytes);
  return llvm::Error::success();
}

// By its elements, or by its bytes where it has one block (`blocksOfBundle`).
static bool isInBundles(const effc_weight_info_t &info,
                        storage::BlockType blocks) {
  return info.columns_together != blocks.getElements() ||
         info.row_bytes != info.shape[info.rank - 1] / blocks.getElements() *
                               blocks.getBytes();
}

std::function<llvm::Expected<StoredWeight>(llvm::StringRef symbol)>
effc::weightsOf(const Model &model, std::string seqBytecode) {
  auto types = std::make_shared<StoredTypes>(std::move(seqBytecode));
  return [&model, types](llvm::StringRef name) -> llvm::Expected<StoredWeight> {
    for (const effc_weight_info_t &info : model.weights()) {
      if (name != info.name)
        continue;
      StoredWeight weight = denseWeight(info);
      if (info.columns_together == 1)
        return weight;
      llvm::Expected<storage::BlockType> blocks = types->blocksOf(name);
      if (!blocks)
        return blocks.takeError();
      llvm::Error error = llvm::Error::success();
      if (info.rows_together > 1)
        error = unpackPanels(weight, *blocks);
      else if (isInBundles(info, *blocks))
        error = unpackBundles(weight, *blocks, info.columns_together);
      if (error)
        return llvm::createStringError("the file has weight '" + name + "' " +
                                       llvm::toString(std::move(error)));
      return weight;
    }
    return llvm::createStringError("the file has no weight '" + name + "'");
  };
}
