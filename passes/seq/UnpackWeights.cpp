// Matrices of blocks that a GPU's products of many rows read -> unpacked to 16 bits by a
// kernel of their own.
//
//   %w = seq.parameter @up : tensor<352x96x!q4_0>
//   %u = seq.kernel "layers.0.up" (%a = %x, %b = %w) -> ... { seq.linear %a, %b ... }
// becomes
//   %n = seq.kernel "layers.0.up.weight" (%b = %w) -> (tensor<352x96x!q4_0>)
//       attributes {narrow = array<i64: 0>, narrow_to = bf16} { seq.yield %b }
//   %u = seq.kernel "layers.0.up" (%a = %x, %b = %n) -> ... { seq.linear %a, %b ... }
//
// The product rounds what it unpacks to the nearest bf16 anyway, and then takes the
// matrix as one that a checkpoint has so.
#include "passes/seq/Passes.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Storage.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel_facts/KernelWeights.h"
#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/RoundedOperands.h"
#include "passes/kernel_facts/SingleRows.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_UNPACKWEIGHTSPASS
#include "passes/seq/Passes.h.inc"

namespace {

/// Whether the root alone reads a tensor of its kernel's body, as its matrix.
bool isMatrixOf(Operation *root, Value tensor) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    return seq::isViewOp(op) ? isMatrixOf(root, op->getResult(0))
                             : op == root && use.getOperandNumber() == 1;
  });
}

struct UnpackWeightsPass : impl::UnpackWeightsPassBase<UnpackWeightsPass> {
  using UnpackWeightsPassBase::UnpackWeightsPassBase;

  void runOnOperation() override {
    target = tile::getTarget(getOperation());
    if (!target ||
        !areOperandsNarrow(target.getDevice(), target.getRoundedTo()))
      return;
    nameOfNarrow.clear();
    llvm::raw_string_ostream(nameOfNarrow) << target.getRoundedTo();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto entry = function->getAttrOfType<seq::EntryAttr>("seq.entry")) {
        unpacked.clear();
        outputRows.clear();
        for (auto kernel :
             llvm::make_early_inc_range(function.getOps<seq::KernelOp>()))
          unpackFor(kernel, entry);
      }
  }

private:
  void unpackFor(seq::KernelOp kernel, seq::EntryAttr entry) {
    noteOutputRows(kernel);
    Operation *root = kernel.getRootOp();
    for (OpOperand &input : kernel->getOpOperands()) {
      BlockArgument tensor =
          kernel.getBody().getArgument(input.getOperandNumber());
      seq::WeightOp weight = weightInKernel(tensor);
      // Of a table single rows are read, and unpacked, anyway.
      if (!root || !weight || isa<seq::EmbeddingOp, seq::GatherRowsOp>(root) ||
          !isInBlocks(weight))
        continue;
      std::string reason = whyNot(kernel, root, tensor, entry);
      InFlightDiagnostic remark = emitRemark(kernel.getLoc());
      remark << "in " << stringifyEntryKind(entry.getKind()) << "_"
             << entry.getRows() << " a matrix in blocks is unpacked ";
      if (!reason.empty()) {
        remark << "by each item that reads it: " << reason;
        continue;
      }
      remark << "once, to " << nameOfNarrow << ", and multiplied from there";
      input.set(unpack(kernel, input.get(), weight));
    }
  }

  static bool isInBlocks(seq::WeightOp weight) {
    return isa<storage::BlockType>(
        cast<RankedTensorType>(weight.getType()).getElementType());
  }

  void noteOutputRows(seq::KernelOp kernel) {
    if (kernel.getBody().getOps<seq::SelectRowsOp>().empty() &&
        llvm::none_of(kernel.getInputs(),
                      [&](Value input) { return outputRows.contains(input); }))
      return;
    outputRows.insert(kernel.result_begin(), kernel.result_end());
  }

  /// Empty where the matrix is unpacked ahead of the product.
  std::string whyNot(seq::KernelOp kernel, Operation *root,
                     BlockArgument tensor, seq::EntryAttr entry) const {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!isa<seq::LinearOp>(root) || outputRows.contains(kernel.getResult(0)))
      return ("'" + root->getName().getStringRef() + "' reads it for " +
              (seq::isDenseOp(root) ? "rows that are outputs"
                                    : "rows that tokens choose"))
          .str();
    if (type.getRank() != 2 || !isMatrixOf(root, tensor))
      return "it is no single matrix";
    DenseShape shape = DenseShape::of(root);
    if (areSingleRows(entry, target.getBitStable(), shape.inner))
      return "rows are few enough to be taken one by one";
    if (!roundsRows(root, entry, target, type.getElementType()))
      return "the product rounds nothing";
    auto storage = storage::Storage::get(type.getElementType());
    if (!paysToUnpack(target, entry.getRows(), shape.outputs * shape.inner,
                      storage.bytes(shape.outputs * shape.inner)))
      return "of so few weights that takes less time";
    return "";
  }

  /// In front of the first kernel that reads it; others of the entry take the same.
  Value unpack(seq::KernelOp reader, Value parameter, seq::WeightOp weight) {
    Value &known = unpacked[weight];
    if (known)
      return known;
    OpBuilder b(reader);
    auto kernel = seq::KernelOp::create(
        b, reader.getLoc(), parameter.getType(),
        b.getStringAttr(reader.getName() + ".weight"), parameter,
        /*root=*/IntegerAttr(), b.getDenseI64ArrayAttr({0}),
        TypeAttr::get(target.getRoundedTo()));
    Block *body = b.createBlock(&kernel.getBody());
    seq::YieldOp::create(
        b, reader.getLoc(),
        ValueRange{body->addArgument(parameter.getType(), reader.getLoc())});
    return known = kernel.getResult(0);
  }

  tile::TargetAttr target;
  std::string nameOfNarrow;                    ///< what products round to
  llvm::DenseMap<Operation *, Value> unpacked; ///< weights of an entry
  llvm::DenseSet<Value> outputRows; ///< values with a row for each output
};
} // namespace
} // namespace effc
