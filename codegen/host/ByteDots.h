// Sums of products of bytes: the instructions that an ISA level has for them.
#ifndef EFFC_CODEGEN_HOST_BYTEDOTS_H
#define EFFC_CODEGEN_HOST_BYTEDOTS_H

#include "mlir/IR/Builders.h"

namespace effc::host {

/// sum += the products of four unsigned and four signed bytes, in each of `lanes`
/// 32-bit lanes. All sums are exact, so that every level gives the same.
class ByteDots {
public:
  /// By what the module's target has; `lanes` of a register.
  ByteDots(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
           int64_t lanes);

  /// Sums of `count` accumulators in turn.
  struct Sums {
    llvm::SmallVector<mlir::Value> words; ///< i32 lanes; null: zeros
    /// i16 lanes, two for a word, that await being added, of how many steps; null
    /// where there are none. Of codes of 8 bits `high` has the products of the upper
    /// half.
    llvm::SmallVector<mlir::Value> pairs, high;
    int64_t steps = 0;
  };
  Sums zeros(size_t count) {
    Sums sums;
    for (auto *each : {&sums.words, &sums.pairs, &sums.high})
      each->assign(count, {});
    return sums;
  }

  /// Adds a step: `codes` (i32 lanes of four unsigned bytes of at most `most`) with
  /// one word of four signed bytes for each accumulator (i32, the same for all lanes).
  void add(Sums &sums, mlir::Value codes, int64_t most,
           llvm::ArrayRef<mlir::Value> words);
  /// The sums as i32 lanes.
  llvm::SmallVector<mlir::Value> finish(Sums &sums);

  /// `table` of 16 bytes at the index that each byte of `codes` is.
  mlir::Value lookup(mlir::Value codes, llvm::ArrayRef<int64_t> table);

private:
  mlir::VectorType words() const;
  mlir::Value asBytes(mlir::Value words);
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type result,
                   mlir::ValueRange arguments);
  void flush(Sums &sums);
  mlir::Value addPair(mlir::Value sum, mlir::Value codes, mlir::Value word);

  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t lanes;
  bool quads; ///< one instruction multiplies and adds four bytes
  struct Names;
  const Names &names; ///< of the instructions on registers of so many lanes
};

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_BYTEDOTS_H
