// What the kernels share in which a short convolution is computed: the loads of
// some channels' taps and past, and what becomes of a new input.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_SHORTCONVOLUTION_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_SHORTCONVOLUTION_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// Items that share the rows of a sequence and a block of channels, on a GPU in
/// prefill, for `KernelSizes`: as many as give every core its share, and no more
/// than there are tiles of rows in a call of such a size. 1 elsewhere.
int64_t convolutionPartsOf(seq::ShortConvolutionOp op, const CallContext &call);

class ShortConvolution {
public:
  ShortConvolution(KernelBuilder &k, seq::ShortConvolutionOp op,
                   bool writesTail = true);

  /// Of some channels: the taps and the last inputs, the oldest first, and the
  /// bias where there is one. Tiles of one type.
  struct Channels {
    llvm::SmallVector<mlir::Value> taps, past;
    mlir::Value bias;
  };
  /// Reads some channels of a view, given the place in it but for the channel.
  using Load = llvm::function_ref<mlir::Value(mlir::Value view,
                                              llvm::ArrayRef<mlir::Value> at)>;

  /// One tap; the bias, null where there is none.
  mlir::Value loadTap(mlir::Value tap, Load load) {
    return load(weightView, {tap});
  }
  mlir::Value loadBias(Load load) {
    return biasView ? load(biasView, {}) : mlir::Value();
  }
  /// All of them; a sequence that begins here has a past of zeros, whatever its
  /// slot holds.
  Channels load(tile::SegmentOp segment, tile::TileType type, Load load);
  /// The output for the input `x`, which comes after `past`.
  mlir::Value convolve(const Channels &channels, mlir::ValueRange past,
                       mlir::Value x);
  /// The same in parts: `sum` (null: 0) and the products of so many taps and
  /// inputs, in their order; with `isLast` what becomes of that. Taps and sum
  /// may be rows where inputs are blocks.
  mlir::Value addTaps(mlir::Value sum, mlir::ValueRange taps,
                      mlir::ValueRange inputs, bool isLast);

  seq::ShortConvolutionOp op;
  int64_t taps;
  mlir::Value tailView; // of the op's channels alone

private:
  KernelBuilder &k;
  mlir::Value weightView, biasView;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_SHORTCONVOLUTION_H
