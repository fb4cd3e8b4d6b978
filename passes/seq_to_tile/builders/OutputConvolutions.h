// Short convolutions of the outputs of a product with a single row, which the
// product's kernel computes: its items own whole outputs, and of the tokens
// before only the tail is needed.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTCONVOLUTIONS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTCONVOLUTIONS_H

#include "passes/seq_to_tile/builders/ShortConvolution.h"

namespace effc {

class OutputConvolutions {
public:
  /// Those in the kernel's body, whose core has `outputs` outputs and computes
  /// up to `tile` of them at once.
  OutputConvolutions(KernelBuilder &k, int64_t outputs, int64_t tile);

  bool isEmpty() const { return convolutions.empty(); }
  /// Runs of up to `tile` outputs, each in one convolution or in none.
  int64_t getRuns() const { return runs; }
  /// The first output of run number `run`, and how many it has; null: `tile`.
  /// Reads what its convolution needs besides.
  std::pair<mlir::Value, mlir::Value> begin(mlir::Value run);
  /// Convolves the run's outputs `y` of `row` and moves the tail. What is left
  /// to store is a value of the kernel and its tile.
  std::pair<mlir::Value, mlir::Value> finish(mlir::Value row, mlir::Value y);

private:
  /// Outputs that have a convolution, or none.
  struct Section {
    int64_t begin, end, firstRun;
    ShortConvolution *convolution;
    ShortConvolution::Channels channels; ///< of the item's outputs
    mlir::Value trips;                   ///< 1 for its runs, 0 for others
  };
  mlir::SmallVector<mlir::Value>
  onlyIn(const Section &section, int64_t tiles,
         llvm::function_ref<mlir::SmallVector<mlir::Value>()> body);
  bool isAll() const;
  mlir::Value convolve(const Section &section, mlir::Value y);

  KernelBuilder &k;
  int64_t tile, runs = 0;
  mlir::Value coreResult;
  tile::TileType type;
  std::vector<ShortConvolution> convolutions;
  std::vector<Section> sections;
  tile::SegmentOp segment;
  mlir::Value first, count;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_OUTPUTCONVOLUTIONS_H
