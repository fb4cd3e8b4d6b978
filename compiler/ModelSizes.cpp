#include "compiler/ModelSizes.h"

#include "dialects/plan/Plan.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Storage.h"
#include "runtime/schema/SizeLimits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

/// A process of x86-64 addresses as many bytes; weights are mapped at once.
static constexpr uint64_t kMostWeightBytes = uint64_t(1) << 47;

/// Channels of a head of attention: eight times the most that public models have
/// (512, of latent attention). Kernels hold a head's row at once, so that their
/// code grows with it: at 65536 channels LLVM takes minutes over one.
static constexpr uint64_t kMostHeadChannels = 4096;

/// With `rows` in place of dynamic dimensions; stops at the largest number.
static uint64_t bytesOf(RankedTensorType type, uint64_t rows) {
  storage::Storage storage = storage::Storage::get(type.getElementType());
  uint64_t blocks = 1;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    uint64_t extent = ShapedType::isDynamic(size) ? rows : uint64_t(size);
    if (int64_t(axis) + 1 == type.getRank())
      extent = llvm::divideCeil(extent, uint64_t(storage.blockElements()));
    blocks = llvm::SaturatingMultiply(blocks, extent);
  }
  return llvm::SaturatingMultiply(blocks, uint64_t(storage.blockBytes()));
}

/// "at most N bytes ..., but got M".
static LogicalResult refuse(Operation *op, const Twine &what, uint64_t most,
                            const Twine &unit, uint64_t found) {
  return op->emitError() << "expects " << what << " of at most " << most << " "
                         << unit << ", but got "
                         << (found == UINT64_MAX ? "more than any can have"
                                                 : Twine(found).str());
}

static LogicalResult checkWeights(ModuleOp module) {
  uint64_t sum = 0;
  for (auto weight : module.getOps<seq::WeightOp>()) {
    auto type = dyn_cast<RankedTensorType>(weight.getType());
    if (!type)
      continue;
    for (int64_t size : type.getShape())
      if (uint64_t(size) > artifact::kMaxProductExtent)
        return refuse(weight, "dimensions of a weight",
                      artifact::kMaxProductExtent, "elements", size);
    sum = llvm::SaturatingAdd(sum, bytesOf(type, 1));
    if (sum > kMostWeightBytes)
      return refuse(weight, "all weights up to this one", kMostWeightBytes,
                    "bytes", sum);
  }
  return success();
}

static LogicalResult checkStates(func::FuncOp function) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, seq::kStateNameAttr);
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!name || !type)
      continue;
    sum = llvm::SaturatingAdd(sum, bytesOf(type, 1));
    if (sum > artifact::kMaxSlotBytes)
      return refuse(function,
                    "states of a sequence, up to '" + name.getValue() + "',",
                    artifact::kMaxSlotBytes, "bytes", sum);
  }
  return success();
}

static LogicalResult checkValues(func::FuncOp function, uint64_t rows) {
  WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !storage::Storage::of(type.getElementType()))
        continue;
      // A weight's value is no copy of it.
      uint64_t most = isa<seq::ParameterOp>(op) ? kMostWeightBytes
                                                : artifact::kMaxArenaBytes;
      if (uint64_t bytes = bytesOf(type, rows); bytes > most)
        return refuse(op, "values, of " + Twine(rows) + " rows,", most, "bytes",
                      bytes);
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

static LogicalResult checkHeads(func::FuncOp function) {
  WalkResult walked = function.walk([&](seq::AttentionOp op) -> WalkResult {
    for (Value value : {Value(op.getQ()), Value(op.getV())}) {
      if (!value) // the keys are the values
        continue;
      uint64_t channels =
          cast<RankedTensorType>(value.getType()).getShape().back();
      if (channels > kMostHeadChannels)
        return refuse(op, "a head", kMostHeadChannels, "channels", channels);
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult effc::checkModelSizes(ModuleOp module, int64_t rows) {
  if (failed(checkWeights(module)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(checkStates(function)) || failed(checkValues(function, rows)) ||
        failed(checkHeads(function)))
      return failure();
  return success();
}

LogicalResult effc::checkPlanSizes(ModuleOp module) {
  auto layout =
      module->getAttrOfType<seq::StateLayoutAttr>(seq::kStateLayoutAttr);
  if (layout && uint64_t(layout.getSlotBytes()) > artifact::kMaxSlotBytes)
    return refuse(module, "states of a sequence", artifact::kMaxSlotBytes,
                  "bytes", layout.getSlotBytes());
  for (auto entry : module.getOps<plan::EntryOp>()) {
    uint64_t arena = entry.getArenaBytes().value_or(0);
    if (arena > artifact::kMaxArenaBytes)
      return refuse(entry, "values of the entry '" + entry.getSymName() + "'",
                    artifact::kMaxArenaBytes, "bytes", arena);
    uint64_t launches = llvm::range_size(entry.getOps<plan::LaunchOp>());
    if (launches > artifact::kMaxLaunches)
      return refuse(entry, "an entry", artifact::kMaxLaunches, "launches",
                    launches);
  }
  return success();
}
