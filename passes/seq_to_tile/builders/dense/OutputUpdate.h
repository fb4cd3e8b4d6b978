// An op that takes outputs of a product whose rows are taken one by one and keeps a
// state of them, as the product's kernel computes it (OutputUpdates.h).
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTUPDATE_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTUPDATE_H

#include "passes/kernel_facts/TakenOutputs.h"
#include "passes/seq_to_tile/KernelBuilder.h"

#include <memory>

namespace effc {

/// Where an item's outputs of a row lie among those that an update takes: channels
/// of one head. `segment` is the sequence whose only token of the call the row is.
struct OutputPlace {
  tile::SegmentOp segment;
  mlir::Value head, channel;
  mlir::Value count;   ///< how many there are; null: as many as the tile has
  tile::TileType type; ///< a column
};

class OutputUpdate {
public:
  OutputUpdate(KernelBuilder &k, mlir::Operation *op)
      : taken(TakenOutputs::of(op)), op(op), k(k) {}
  virtual ~OutputUpdate() = default;

  /// What `load` gives, tiles of `type` and numbers.
  virtual llvm::SmallVector<mlir::Type>
  loadedTypes(tile::TileType type) const = 0;
  /// Reads all that is needed besides the outputs, ahead of the product.
  virtual llvm::SmallVector<mlir::Value> load(OutputPlace place) = 0;
  /// What the outputs `y` become, given what was loaded; stores the state.
  virtual mlir::Value apply(OutputPlace place, mlir::ValueRange loaded,
                            mlir::Value y) = 0;

  mlir::Value getResult() const { return op->getResult(0); }

  const TakenOutputs taken;
  mlir::Operation *const op;

protected:
  KernelBuilder &k;
};

/// A short convolution (OutputConvolution.cpp).
std::unique_ptr<OutputUpdate>
createOutputConvolution(KernelBuilder &k, seq::ShortConvolutionOp op);
/// A recurrence whose channels do not meet (OutputRecurrence.cpp). Null, with a
/// diagnostic on the mixer, where its token map is more than a product for each
/// channel.
std::unique_ptr<OutputUpdate>
createOutputRecurrence(KernelBuilder &k, seq::MixerOpInterface mixer);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTUPDATE_H
