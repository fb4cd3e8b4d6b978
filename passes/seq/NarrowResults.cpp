// Results that rounded products alone read -> bf16, f16 or digits in memory.
//
//   %n = seq.kernel "layers.0.norm" (...) -> (tensor<?x96xf32>) { ... }
//   %y = seq.kernel "layers.0.in_proj" (%a = %n, %b = %w) -> ... {
//     %p = seq.linear %a, %b ...
// becomes
//   %n = seq.kernel "layers.0.norm" (...) -> (tensor<?x96xf32>)
//       attributes {narrow = array<i64: 0>, narrow_to = bf16} { ... }
//
// The nearest bf16 of the nearest bf16 is itself, so it does not matter to a
// product that rounds its rows whether they were rounded before. tf32 takes as
// much memory as f32. On the host products with matrices in panels take digits,
// which whoever writes the rows makes once for all of them.
#include "passes/seq/Passes.h"

#include "dialects/plan/MemoryLayout.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel_facts/RoundedOperands.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_NARROWRESULTSPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// How a result is read by all that read it.
struct Reading {
  bool onlyRounded = true; ///< as rows that a product rounds
  /// An element at which a product begins to read where, as narrow, it cannot.
  std::optional<int64_t> unaligned;
};

struct NarrowResultsPass : impl::NarrowResultsPassBase<NarrowResultsPass> {
  using NarrowResultsPassBase::NarrowResultsPassBase;

  void runOnOperation() override {
    tile::TargetAttr target = tile::getTarget(getOperation());
    if (!target)
      return;
    Type rounded = target.getRoundedTo();
    if (target.getDigits() > 0)
      stored = storage::DigitsType::get(&getContext(), target.getDigits());
    else if (rounded && !rounded.isTF32())
      stored = rounded;
    else
      return;
    nameOfStored.clear();
    llvm::raw_string_ostream(nameOfStored) << stored;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto entry = function->getAttrOfType<seq::EntryAttr>("seq.entry"))
        for (auto kernel : function.getOps<seq::KernelOp>())
          narrowResults(kernel, entry);
  }

  bool isDigits() const { return isa<storage::DigitsType>(stored); }

  void narrowResults(seq::KernelOp kernel, seq::EntryAttr entry) {
    SmallVector<int64_t> narrow;
    for (OpResult result : kernel.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.getElementType().isF32() || result.use_empty())
        continue;
      Reading reading;
      for (OpOperand &use : result.getUses())
        addUse(reading, use, entry);
      if (!reading.onlyRounded || (isDigits() && !writesBlocks(kernel, type)))
        continue;
      InFlightDiagnostic remark = emitRemark(kernel.getLoc());
      remark << "kernel '" << kernel.getName() << "' hands on result "
             << result.getResultNumber() << " as ";
      if (reading.unaligned) {
        remark << "f32: a product that rounds it begins to read at element "
               << *reading.unaligned << ", which as " << nameOfStored
               << (isDigits() ? " is inside a block of "
                              : " is no multiple of ")
               << boundary() << (isDigits() ? " elements" : " bytes");
        continue;
      }
      remark << nameOfStored << ": only products that round it read it";
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

  /// What a product has to begin to read at a multiple of: elements of digits, else
  /// bytes.
  int64_t boundary() const {
    return isDigits() ? storage::Storage::get(stored).blockElements()
                      : plan::kRowAlignment;
  }
  int64_t unitsBefore(int64_t element) const {
    return isDigits() ? element
                      : element * storage::Storage::get(stored).blockBytes();
  }

  /// Whether the host's kernel writes a result of `type` in whole blocks.
  bool writesBlocks(seq::KernelOp kernel, RankedTensorType type) const {
    auto whole = [&](int64_t columns) { return columns % boundary() == 0; };
    Operation *core = kernel.getCoreOp();
    if (!whole(type.getShape().back()))
      return false;
    if (!core || isa<seq::RmsNormOp>(core))
      return true;
    if (auto norm = dyn_cast<seq::GatedRmsNormOp>(core))
      return whole(type.getShape().back() / norm.getGroups());
    if (auto mixer = dyn_cast<seq::MixerOpInterface>(core))
      return mixer.getStructure().getMixerClass() == seq::MixerClass::Window;
    return isa<seq::LinearOp>(core) && isInPanels(core->getOperand(1));
  }

  /// Whether a tensor of a kernel's body is a weight in panels.
  static bool isInPanels(Value tensor) {
    auto argument = dyn_cast<BlockArgument>(tensor);
    auto kernel =
        argument ? dyn_cast<seq::KernelOp>(argument.getOwner()->getParentOp())
                 : seq::KernelOp();
    auto parameter = kernel ? kernel.getInputs()[argument.getArgNumber()]
                                  .getDefiningOp<seq::ParameterOp>()
                            : seq::ParameterOp();
    if (!parameter)
      return false;
    auto weight = SymbolTable::lookupNearestSymbolFrom<seq::WeightOp>(
        parameter, parameter.getWeightAttr());
    return weight && weight.getPanels();
  }

  /// Whether a product rounds its rows to what is stored.
  bool rounds(Operation *product, seq::EntryAttr entry) const {
    return isDigits() ? isInPanels(product->getOperand(1))
                      : roundsRows(product, entry, tile::isBitStable(product));
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
      else if (!seq::isDenseOp(op) || use.getOperandNumber() != 0 ||
               !rounds(op, entry))
        reading.onlyRounded = false;
      else if (unitsBefore(first) % boundary() != 0)
        reading.unaligned = first;
    }
  }

  Type stored; // what products round to
  std::string nameOfStored;
};
} // namespace
} // namespace effc
