// Results that rounded products alone read -> bf16 or f16 in memory; those whose every
// reader tolerates rounding -> bf16.
//
//   %n = seq.kernel "layers.0.norm" (...) -> (tensor<?x96xf32>) { ... }
//   %y = seq.kernel "layers.0.in_proj" (%a = %n, %b = %w) -> ... {
//     %p = seq.linear %a, %b ...
// becomes
//   %n = seq.kernel "layers.0.norm" (...) -> (tensor<?x96xf32>)
//       attributes {narrow = array<i64: 0>, narrow_to = bf16} { ... }
//
// The nearest bf16 of the nearest bf16 is itself, so it does not matter to a
// product that rounds its rows whether they were rounded before. What else tolerates
// rounding gets other bits (dialects/seq/RoundingTolerance.h). tf32 takes as much
// memory as f32.
#include "passes/seq/Passes.h"

#include "dialects/plan/MemoryLayout.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/RoundingTolerance.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/DenseKind.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel_facts/KernelWeights.h"
#include "passes/kernel_facts/RoundedOperands.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_NARROWRESULTSPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// How a result is read by all that read it.
struct Reading {
  bool onlyRounded = true; ///< as rows that a product rounds
  bool isExact = false;    ///< as rows that a product does not round
  /// An element at which something begins to read and which, rounded, is not
  /// aligned.
  std::optional<int64_t> unaligned;
};

struct NarrowResultsPass : impl::NarrowResultsPassBase<NarrowResultsPass> {
  using NarrowResultsPassBase::NarrowResultsPassBase;

  void runOnOperation() override {
    target = tile::getTarget(getOperation());
    stored = target ? target.getRoundedTo() : Type();
    std::optional<storage::DenseKind> kind = storage::denseKindOf(stored);
    if (!kind)
      return;
    narrowBytes = storage::bytesOf(*kind);
    nameOfStored.clear();
    tolerance = {};
    llvm::raw_string_ostream(nameOfStored) << stored;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto entry = function->getAttrOfType<seq::EntryAttr>("seq.entry"))
        for (auto kernel : function.getOps<seq::KernelOp>())
          narrowResults(kernel, entry);
  }

  void narrowResults(seq::KernelOp kernel, seq::EntryAttr entry) {
    SmallVector<int64_t> narrow;
    for (OpResult result : kernel.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.getElementType().isF32() || result.use_empty())
        continue;
      Reading reading;
      for (OpOperand &use : result.getUses())
        addUse(reading, use, entry);
      // Of a row alone products round nothing either, and selected rows are few.
      bool isTolerated =
          !reading.onlyRounded && !reading.isExact && handsOnRounded(target) &&
          entry.getRows() > 1 &&
          !isa_and_nonnull<seq::SelectRowsOp>(kernel.getRootOp()) &&
          tolerance.ofReads(result);
      if (!reading.onlyRounded && !isTolerated)
        continue;
      InFlightDiagnostic remark = emitRemark(kernel.getLoc());
      remark << "kernel '" << kernel.getName() << "' hands on result "
             << result.getResultNumber() << " as ";
      if (reading.unaligned) {
        remark << "f32: what reads it begins at element " << *reading.unaligned
               << ", which as " << nameOfStored << " is no multiple of "
               << plan::kRowAlignment << " bytes";
        continue;
      }
      remark << nameOfStored
             << (isTolerated ? ": all that reads it tolerates rounding"
                             : ": only products that round it read it");
      narrow.push_back(result.getResultNumber());
    }
    if (narrow.empty())
      return;
    kernel.setNarrow(narrow);
    kernel.setNarrowTo(stored);
  }

  void addUse(Reading &reading, OpOperand &use, seq::EntryAttr entry) {
    auto reader = dyn_cast<seq::KernelOp>(use.getOwner());
    if (!reader) {
      reading.onlyRounded = false;
      return;
    }
    BlockArgument tensor = reader.getBody().getArgument(use.getOperandNumber());
    addReads(reading, tensor,
             plan::arenaStrides(cast<RankedTensorType>(tensor.getType())), 0,
             entry);
  }

  // Reads of `tensor`, whose elements lie `strides` apart from `first` on.
  void addReads(Reading &reading, Value tensor, ArrayRef<int64_t> strides,
                int64_t first, seq::EntryAttr entry) {
    for (OpOperand &use : tensor.getUses()) {
      Operation *op = use.getOwner();
      if (auto slice = dyn_cast<seq::SliceOp>(op))
        addReads(reading, slice.getResult(), strides,
                 first + slice.getOffset() * strides[slice.getAxis()], entry);
      else if (auto reshape = dyn_cast<seq::ReshapeOp>(op))
        addReads(reading, reshape.getResult(),
                 plan::denseStrides(
                     cast<RankedTensorType>(reshape.getResult().getType())),
                 first, entry);
      else
        addRead(reading, use, first, entry);
    }
  }

  // A read of numbers from element `first` on.
  void addRead(Reading &reading, OpOperand &use, int64_t first,
               seq::EntryAttr entry) {
    Operation *op = use.getOwner();
    bool isRow = seq::isDenseOp(op) && use.getOperandNumber() == 0;
    bool isRounded =
        isRow && roundsRows(op, entry, target, storedTypeOf(op->getOperand(1)));
    reading.onlyRounded &= isRounded;
    reading.isExact |= isRow && !isRounded;
    // What is not aligned as f32 is read element by element anyway.
    int64_t wideBytes = storage::bytesOf(storage::DenseKind::F32);
    bool isAligned = first * narrowBytes % plan::kRowAlignment == 0,
         wasAligned = first * wideBytes % plan::kRowAlignment == 0;
    if (!isAligned && (isRounded || wasAligned))
      reading.unaligned = first;
  }

  // Null where a tensor of a kernel's body is no weight.
  static Type storedTypeOf(Value tensor) {
    seq::WeightOp weight = weightInKernel(tensor);
    return weight ? cast<RankedTensorType>(weight.getType()).getElementType()
                  : Type();
  }

  tile::TargetAttr target;
  seq::RoundingTolerance tolerance; // only attributes change
  Type stored;                      // what products round to
  int64_t narrowBytes = 0;          // of one of these
  std::string nameOfStored;
};
} // namespace
} // namespace effc
