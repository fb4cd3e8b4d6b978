// What the kernel of a short convolution and a product that ends in one share:
// the loads of some channels' taps and past, and what becomes of a new input.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_SHORTCONVOLUTION_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_SHORTCONVOLUTION_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

class ShortConvolution {
public:
  ShortConvolution(KernelBuilder &k, seq::ShortConvolutionOp op);

  /// Of some channels: the taps and the last inputs, the oldest first, and the
  /// bias where there is one. Tiles of one type.
  struct Channels {
    llvm::SmallVector<mlir::Value> taps, past;
    mlir::Value bias;
  };
  /// Reads some channels of a view, given the place in it but for the channel.
  using Load = llvm::function_ref<mlir::Value(mlir::Value view,
                                              llvm::ArrayRef<mlir::Value> at)>;

  /// A sequence that begins here has a past of zeros, whatever its slot holds.
  Channels load(tile::SegmentOp segment, tile::TileType type, Load load);
  /// The output for the input `x`, which comes after `past`.
  mlir::Value convolve(const Channels &channels, mlir::ValueRange past,
                       mlir::Value x);

  seq::ShortConvolutionOp op;
  mlir::Value tailView; // read and written

private:
  KernelBuilder &k;
  int64_t taps;
  mlir::Value weightView, biasView;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_SHORTCONVOLUTION_H
