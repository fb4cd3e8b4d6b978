// Sums of products of bytes: the instructions that an ISA level has for them.
#ifndef EFFC_CODEGEN_HOST_BYTEDOTS_H
#define EFFC_CODEGEN_HOST_BYTEDOTS_H

#include "dialects/tile/Tile.h"

#include "mlir/IR/Builders.h"

#include <memory>

namespace effc::host {

/// sum += the products of four bytes of codes and four signed bytes, in each of
/// `lanes` 32-bit lanes. All sums are exact, so that every level gives the same.
class ByteDots {
public:
  /// By what the target of the module that `op` is in has; `lanes` of a register.
  static std::unique_ptr<ByteDots> of(mlir::OpBuilder &b, mlir::Location loc,
                                      mlir::Operation *op, int64_t lanes);
  virtual ~ByteDots() = default;

  /// Whether codes of 8 bits come as signed bytes, else as unsigned ones. Codes of
  /// fewer bits are the same either way.
  virtual bool takesSignedCodes() const = 0;
  /// How many rows of digits share what is read of the codes. Bits do not depend
  /// on it.
  virtual int64_t rowsAtOnce(int64_t registers) const = 0;
  /// How many of a panel's parts, each a vector, share what is read of the digits of so
  /// many accumulators.
  virtual int64_t partsAtOnce(int64_t parts, size_t accumulators) const {
    return parts;
  }

  /// Sums of `count` accumulators in turn. What they are made of is an
  /// implementation's own: null values are zeros.
  struct Sums {
    llvm::SmallVector<mlir::Value> words; ///< i32 lanes
    /// i16 lanes, two for a word, that await being added, of how many steps; null
    /// where there are none. Of codes of 8 bits `high` has the products of the upper
    /// half.
    llvm::SmallVector<mlir::Value> pairs, high;
    int64_t steps = 0;
    /// A step that is multiplied together with the next one: codes and digits.
    mlir::Value codes;
    llvm::SmallVector<mlir::Value> digits;
  };
  Sums zeros(size_t count) {
    Sums sums;
    for (auto *each : {&sums.words, &sums.pairs, &sums.high})
      each->assign(count, {});
    return sums;
  }

  /// Where the digits of an accumulator lie in a group.
  struct Row {
    mlir::Value base;
    int64_t offset; ///< in bytes
  };
  /// Step `step` of the digits of all accumulators, four bytes each, as add() takes
  /// them. Steps come in order, from an even one on.
  virtual llvm::SmallVector<mlir::Value> load(llvm::ArrayRef<Row> rows,
                                              int64_t step) = 0;
  /// Adds a step: `codes` (i32 lanes of four bytes, unsigned ones of at most `most`)
  /// with the digits of each accumulator, the same for all lanes.
  virtual void add(Sums &sums, mlir::Value codes, int64_t most,
                   llvm::ArrayRef<mlir::Value> digits) = 0;
  /// The sums as i32 lanes, after an even number of steps.
  virtual llvm::SmallVector<mlir::Value> finish(Sums &sums) = 0;

  /// `table` of 16 bytes at the index that each byte of `codes` is.
  virtual mlir::Value lookup(mlir::Value codes,
                             llvm::ArrayRef<int64_t> table) = 0;

protected:
  ByteDots(mlir::OpBuilder &b, mlir::Location loc, int64_t lanes)
      : b(b), loc(loc), lanes(lanes) {}

  mlir::VectorType words() const;
  mlir::Value splat(mlir::VectorType type, int64_t value);
  mlir::Value load(mlir::Type type, const Row &row, int64_t bytes);
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type result,
                   mlir::ValueRange arguments);

  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t lanes;
};

/// Of unsigned bytes by signed ones: `hasQuads` says that four products are added by
/// one instruction.
std::unique_ptr<ByteDots> makeX86ByteDots(mlir::OpBuilder &, mlir::Location,
                                          bool hasQuads, int64_t lanes);
/// Of signed bytes: `hasMatrices` says that two rows are multiplied by two others.
std::unique_ptr<ByteDots> makeArmByteDots(mlir::OpBuilder &, mlir::Location,
                                          bool hasMatrices, int64_t lanes);

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_BYTEDOTS_H
